package main

import (
	"bytes"
	"context"
	endian "encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/ingest"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// scriptCommands are the additional commands of scripts.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exit":         scriptCommand("exit STATUS PROGRAM ARGUMENTS...", 2, 99, expectExit),
	"binary":       scriptCommand("binary FILE", 1, 1, writeBinary),
	"utf16":        scriptCommand("utf16 FILE SOURCE", 2, 2, writeUTF16),
	"damage":       scriptCommand("damage PATTERN...", 1, 99, damage),
	"remade":       scriptCommand("remade PATTERN model|analyzer NAME", 3, 3, remade),
	"gone":         scriptCommand("gone PATTERN", 1, 1, gone),
	"until":        scriptCommand("until PROGRAM ARGUMENTS...", 1, 99, until),
	"flips":        scriptCommand("flips FOLDER PROGRAM ARGUMENTS...", 2, 99, flips),
	"killed":       scriptCommand("killed TIMES PROGRAM ARGUMENTS...", 2, 99, killed),
	"embedder":     scriptCommand("embedder NAME", 1, 1, embedder),
	"rawname":      scriptCommand("rawname FILE NAME", 2, 2, rawName),
	"tool":         scriptCommand("tool FOLDER NAME ARGUMENTS [FILE]", 3, 4, callTool),
	"unprivileged": scriptCommand("unprivileged STATUS PROGRAM ARGUMENTS...", 2, 99, unprivileged),
	"reformat":     scriptCommand("reformat container|content PATTERN...", 2, 99, reformat),
	"misread":      scriptCommand("misread INDEX VERSION", 2, 2, misread),
	"words":        scriptCommand("words FILE BYTES", 2, 2, words),
	"copies":       scriptCommand("copies FROM N TO", 3, 3, copies),
	"give":         scriptCommand("give INDEX TREE PATH TEXT", 4, 4, give),
	"scratch":      scriptCommand("scratch OFFSET PATTERN", 2, 2, scratch),
	"tmpfs":        scriptCommand("tmpfs FOLDER SIZE", 2, 2, tmpfs),
	"vanish":       vanish,
}

// scriptCommand makes a script command that accepts least to most arguments.
func scriptCommand(usage string, least, most int,
	run func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < least || len(args) > most {
			ts.Fatalf("usage: %s", usage)
		}
		run(ts, args)
	}
}

// matching returns the files that match a pattern, at least one.
func matching(ts *testscript.TestScript, pattern string) []string {
	files, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("nothing matches %q", pattern)
	}
	return files
}

// folder returns the one folder that matches a pattern.
func folder(ts *testscript.TestScript, pattern string) string {
	dirs := matching(ts, pattern)
	if len(dirs) != 1 {
		ts.Fatalf("%q matches %q, want one folder", pattern, dirs)
	}
	return dirs[0]
}

// writeOld writes a file that is one hour old. The next run reads files with a fresh time again.
func writeOld(ts *testscript.TestScript, name string, content []byte) {
	path, past := ts.MkAbs(name), time.Now().Add(-time.Hour)
	ts.Check(os.WriteFile(path, content, 0o644))
	ts.Check(os.Chtimes(path, past, past))
}

// spoil inverts every byte in the middle third of a file.
func spoil(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for i := len(content) / 3; i < 2*len(content)/3; i++ {
		content[i] ^= 0xFF
	}
	return os.WriteFile(file, content, 0o600)
}

// vanish runs "vanish URL": it removes the data at a server URL. With "!", no data may exist there.
// "vanish URL TABLE" removes a PostgreSQL table.
func vanish(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 2 && !neg {
		ctx := context.Background()
		conn, err := pgx.Connect(ctx, args[0])
		ts.Check(err)
		_, err = conn.Exec(ctx, "DROP TABLE "+args[1])
		ts.Check(errors.Join(err, conn.Close(ctx)))
		return
	}
	if len(args) != 1 {
		ts.Fatalf("usage: [!] vanish URL, or vanish URL TABLE")
	}
	method, want := http.MethodDelete, http.StatusOK
	if neg {
		method, want = http.MethodHead, http.StatusNotFound
	}
	req, err := http.NewRequest(method, args[0], nil)
	ts.Check(err)
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	ts.Check(res.Body.Close())
	if res.StatusCode != want {
		ts.Fatalf("%s %s: %s, want %d", method, args[0], res.Status, want)
	}
}

// flips runs "flips FOLDER PROGRAM ARGUMENTS...": it changes one byte of one file below the folder
// and runs the program. The program must end with status 0 and the same output as before. flips
// repeats this for bytes spread over every file.
func flips(ts *testscript.TestScript, args []string) {
	folder := ts.MkAbs(args[0])
	ts.Check(ts.Exec(args[1], args[2:]...))
	want := ts.ReadFile("stdout")
	whole := folder + ".whole"
	ts.Check(os.CopyFS(whole, os.DirFS(folder)))
	perFile := 12
	if testing.Short() {
		perFile = 3
	}
	ts.Check(filepath.WalkDir(whole, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(whole, path)
		for at := 0; at < len(content); at += max(1, len(content)/perFile) {
			ts.Check(os.RemoveAll(folder))
			ts.Check(os.CopyFS(folder, os.DirFS(whole)))
			flipped := bytes.Clone(content)
			flipped[at] ^= 0x10
			ts.Check(os.WriteFile(filepath.Join(folder, rel), flipped, 0o600))
			if err := ts.Exec(args[1], args[2:]...); err != nil {
				ts.Fatalf("byte %d of %s: %v", at, rel, err)
			}
			if got := ts.ReadFile("stdout"); got != want {
				ts.Fatalf("byte %d of %s: the answer is %s", at, rel, got)
			}
		}
		return nil
	}))
}

// damage runs "damage PATTERN...": it inverts every byte in the middle third of the files that match.
func damage(ts *testscript.TestScript, args []string) {
	for _, pattern := range args {
		for _, file := range matching(ts, pattern) {
			ts.Check(spoil(file))
		}
	}
}

// remade runs "remade PATTERN model|analyzer NAME": the matching catalog then names NAME as its model or analyzer.
func remade(ts *testscript.TestScript, args []string) {
	c, err := catalog.Open(vfs.Disk{}, folder(ts, args[0]), catalog.Options{})
	ts.Check(err)
	view := c.View()
	settings := view.Settings()
	view.Close()
	if args[1] == "model" {
		settings.Embedder = args[2]
	} else {
		settings.Analyzer = args[2]
	}
	ts.Check(c.Update(context.Background(), catalog.Update{Settings: &settings}))
	ts.Check(c.Close())
}

// gone runs "gone PATTERN": it removes the matching files and folders.
func gone(ts *testscript.TestScript, args []string) {
	for _, file := range matching(ts, args[0]) {
		ts.Check(os.RemoveAll(file))
	}
}

// until runs "until PROGRAM ARGUMENTS...": it repeats the program until the exit status is 0, for
// at most 20 seconds.
func until(ts *testscript.TestScript, args []string) {
	var err error
	for range 200 {
		if err = ts.Exec(args[0], args[1:]...); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("still fails: %v", err)
}

// writeBinary runs "binary FILE": it writes a file that is not text.
func writeBinary(ts *testscript.TestScript, args []string) {
	writeOld(ts, args[0], []byte("\x7fELF\x00\x01\x02\x00"))
}

// expectExit runs "exit STATUS PROGRAM ARGUMENTS...": the program must end with exactly STATUS.
func expectExit(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var status *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &status) {
		got = status.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit status is %d, want %d", got, want)
	}
}

// rawName runs "rawname FILE NAME": it copies a file in its folder. The new name is a quoted Go
// string, for example "b\xff.md".
func rawName(ts *testscript.TestScript, args []string) {
	name, err := strconv.Unquote(args[1])
	ts.Check(err)
	file := ts.MkAbs(args[0])
	content, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(filepath.Dir(file), name), content, 0o600))
}

// killed runs "killed TIMES PROGRAM ARGUMENTS...": it starts the program TIMES times and kills it a
// little later each time. With SHEAF_TEST_LONG it repeats this a thousand times.
func killed(ts *testscript.TestScript, args []string) {
	times, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	spread := times
	if os.Getenv("SHEAF_TEST_LONG") != "" {
		times = max(times, 1000)
	}
	for i := range times {
		cmd := exec.Command(path, args[2:]...)
		cmd.Dir, cmd.Env = ts.MkAbs("."), environment(ts)
		ts.Check(cmd.Start())
		time.Sleep(time.Duration(i%spread) * 2 * time.Millisecond)
		_ = cmd.Process.Kill() // the program may have ended
		_ = cmd.Wait()
	}
}

// environment returns the environment of programs in a script.
func environment(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"SHEAF_DATA_DIR", "NO_COLOR", "PATH", "WORK", "TMPDIR", "GORACE", "SystemRoot"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

// lookPath finds a program as a script does.
func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %s", name)
}

// words runs "words FILE BYTES": it writes random words to a file that is one hour old. The text is
// always the same.
func words(ts *testscript.TestScript, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%s%c", strconv.FormatUint(r.Uint64N(1<<36), 36), " \n"[r.IntN(2)])
	}
	writeOld(ts, args[0], []byte(b.String()))
}

// copies runs "copies FROM N TO": it writes N copies of a file into one file.
func copies(ts *testscript.TestScript, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Repeat(ts.ReadFile(args[0]), n)), 0o644))
}

// give runs "give INDEX TREE PATH TEXT": it puts a document without a file into an index.
func give(ts *testscript.TestScript, args []string) {
	index := folder(ts, args[0])
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(index), catalog.Options{})
	ts.Check(err)
	defer c.Close()
	v := c.View()
	defer v.Close()
	a, err := analysis.Parse(v.Settings().Analyzer)
	ts.Check(err)
	b, err := embedded.Open(embedded.Options{Dir: location.EngineDir(index), Analyzer: a})
	ts.Check(err)
	defer b.Close()
	o := ingest.Options{Catalog: c, Backend: b, Settings: func(*catalog.Settings) {}} // works with any settings
	_, err = ingest.Change(context.Background(), o,
		[]ingest.Given{{Tree: args[1], Path: args[2], Text: []byte(args[3])}}, nil)
	ts.Check(err)
}

// scratch runs "scratch OFFSET PATTERN": it flips one byte of each matching file. At least one file
// must match.
func scratch(ts *testscript.TestScript, args []string) {
	at, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, file := range matching(ts, args[1]) {
		data, err := os.ReadFile(file)
		ts.Check(err)
		data[at] ^= 1
		ts.Check(os.WriteFile(file, data, 0o600))
	}
}

var formatMember = regexp.MustCompile(`"format":\d+`)

// reformat runs "reformat container|content PATTERN...": the matching files then look as though another version wrote
// them. At least one file must match.
func reformat(ts *testscript.TestScript, args []string) {
	content := args[0] == "content"
	castagnoli, le := crc32.MakeTable(crc32.Castagnoli), endian.LittleEndian
	for _, pattern := range args[1:] {
		for _, file := range matching(ts, pattern) {
			data, err := os.ReadFile(file)
			ts.Check(err)
			switch {
			case filepath.Base(file) == manifest.Name && content:
				m, err := manifest.Read(vfs.Disk{}, filepath.Dir(file))
				ts.Check(err)
				if m.Payload[0] == '{' {
					m.Payload = formatMember.ReplaceAll(m.Payload, []byte(`"format":99`))
				} else {
					m.Payload[0] = 99
				}
				ts.Check(manifest.Publish(vfs.Disk{}, filepath.Dir(file), m))
				continue
			case filepath.Base(file) == manifest.Name:
				le.PutUint32(data[8:], 99)
				le.PutUint32(data[len(data)-4:], crc32.Checksum(data[:len(data)-4], castagnoli))
			default:
				at := 8
				if content {
					at = 12
				}
				le.PutUint32(data[at:], 99)
				le.PutUint32(data[60:], crc32.Checksum(data[:60], castagnoli))
			}
			ts.Check(os.WriteFile(file, data, 0o600))
		}
	}
}

// writeUTF16 runs "utf16 FILE SOURCE": it writes a text in UTF-16 with a byte order mark. The file
// is one hour old.
func writeUTF16(ts *testscript.TestScript, args []string) {
	content := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(ts.ReadFile(args[1]))) {
		content = endian.LittleEndian.AppendUint16(content, unit)
	}
	writeOld(ts, args[0], content)
}
