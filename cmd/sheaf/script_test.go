package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
)

// scriptCommands are the commands that scripts have beyond the usual ones.
var scriptCommands = map[string]func(*testscript.TestScript, bool, []string){
	"exit":         expectExit,
	"binary":       writeBinary,
	"utf16":        writeUTF16,
	"damage":       damage,
	"remodel":      remodel,
	"gone":         gone,
	"until":        until,
	"flips":        flips,
	"killed":       killed,
	"embedder":     embedder,
	"rawname":      rawName,
	"tool":         callTool,
	"unprivileged": unprivileged,
	"reformat":     reformat,
	"misread":      misread,
	"words":        words,
	"copies":       copies,
	"give":         give,
	"scratch":      scratch,
	"tmpfs":        tmpfs,
	"vanish":       vanish,
}

// vanish runs "vanish URL": it removes what a server has there; with "!" there must be nothing.
// With "vanish URL TABLE" PostgreSQL is the server.
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

// flips runs "flips FOLDER PROGRAM ARGUMENTS...": it changes one byte of one
// file below the folder and runs the program, which must end with status 0 and
// the output it has with the folder as it is; and so on for bytes spread over
// every file.
func flips(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: flips FOLDER PROGRAM ARGUMENTS...")
	}
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

// damage runs "damage PATTERN...": it turns every byte in the middle third of
// the files that match around. At least one file must match.
func damage(ts *testscript.TestScript, neg bool, args []string) {
	found := 0
	for _, pattern := range args {
		files, err := filepath.Glob(ts.MkAbs(pattern))
		ts.Check(err)
		for _, file := range files {
			content, err := os.ReadFile(file)
			ts.Check(err)
			for i := len(content) / 3; i < 2*len(content)/3; i++ {
				content[i] ^= 0xFF
			}
			ts.Check(os.WriteFile(file, content, 0o600))
			found++
		}
	}
	if neg || found == 0 {
		ts.Fatalf("nothing to damage matches %q", args)
	}
}

// remodel runs "remodel PATTERN NAME": the catalog that matches says that its index was
// made with a model of that name.
func remodel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: remodel PATTERN NAME")
	}
	dirs, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(dirs) != 1 {
		ts.Fatalf("%q matches %q, want one folder", args[0], dirs)
	}
	c, err := catalog.Open(vfs.Disk{}, dirs[0], catalog.Options{})
	ts.Check(err)
	view := c.View()
	settings := view.Settings()
	view.Close()
	settings.Embedder = args[1]
	ts.Check(c.Update(context.Background(), catalog.Update{Settings: &settings}))
	ts.Check(c.Close())
}

// gone runs "gone PATTERN": it removes the files and folders that match, at least
// one.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PATTERN")
	}
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, file := range files {
		ts.Check(os.RemoveAll(file))
	}
	if len(files) == 0 {
		ts.Fatalf("nothing matches %q", args[0])
	}
}

// until runs "until PROGRAM ARGUMENTS...": it repeats the program until it ends
// with status 0, for at most 20 seconds.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: until PROGRAM ARGUMENTS...")
	}
	var err error
	for range 200 {
		if err = ts.Exec(args[0], args[1:]...); err == nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	ts.Fatalf("still fails: %v", err)
}

// writeBinary runs "binary FILE": it makes a file that is no text, an hour
// old: files of this moment are looked at again by the next run.
func writeBinary(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: binary FILE")
	}
	path := ts.MkAbs(args[0])
	ts.Check(os.WriteFile(path, []byte("\x7fELF\x00\x01\x02\x00"), 0o644))
	past := time.Now().Add(-time.Hour)
	ts.Check(os.Chtimes(path, past, past))
}

// expectExit runs "exit STATUS PROGRAM ARGUMENTS...": the program must end
// with exactly this status.
func expectExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit STATUS PROGRAM ARGUMENTS...")
	}
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

// rawName runs "rawname FILE NAME": it copies a file beside itself under a name
// that is a quoted Go string, such as "b\xff.md".
func rawName(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rawname FILE NAME")
	}
	name, err := strconv.Unquote(args[1])
	ts.Check(err)
	file := ts.MkAbs(args[0])
	content, err := os.ReadFile(file)
	ts.Check(err)
	ts.Check(os.WriteFile(filepath.Join(filepath.Dir(file), name), content, 0o600))
}

// killed runs "killed TIMES PROGRAM ARGUMENTS...": it starts the program that
// often and kills it, each time a little later; a thousand times when
// SHEAF_TEST_LONG is set.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: killed TIMES PROGRAM ARGUMENTS...")
	}
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
		_ = cmd.Process.Kill() // it may be over
		_ = cmd.Wait()
	}
}

// environment is what programs of a script see.
func environment(ts *testscript.TestScript) (env []string) {
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"SHEAF_DATA_DIR", "NO_COLOR", "PATH", "WORK", "TMPDIR", "GORACE"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}
