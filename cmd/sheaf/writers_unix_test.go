//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// writers change a folder at random while programs keep its index up to date.
type writers struct {
	t       *testing.T
	binary  string
	root    string // what is indexed
	outside string // where links lead to
	data    string // homes, indexes and messages of the programs
	links   bool   // whether indexing follows links
	runs    int
}

// TestWriters checks that watch and serve keep an index up to date while several writers change the
// folder. The index soon equals a new index: same documents, chunks, skipped files with reasons,
// and answers. SHEAF_TEST_LONG runs more rounds, and SHEAF_TEST_SEED sets the first seed.
func TestWriters(t *testing.T) {
	seed, rounds := roundsOf(t, 2, 6, 16)
	for i := range rounds {
		t.Run(fmt.Sprint(seed+i), func(t *testing.T) {
			w := newWriters(t, (seed+i)%2 == 1)
			command := [][]string{{"watch", w.root}, {"serve", "--addr", "127.0.0.1:0", "--in", w.root}}[(seed+i)/2%2]
			watching := w.start(command...)
			w.change(seed+i, 2*time.Second, nil)
			w.end(watching)
		})
	}
}

// TestKilledWatch checks the same with a program that is killed repeatedly. The program leaves a
// valid index each time, and the next one goes on.
func TestKilledWatch(t *testing.T) {
	seed, rounds := roundsOf(t, 5, 10, 60)
	w := newWriters(t, seed%2 == 1)
	r := rand.New(rand.NewPCG(seed, 1))
	w.change(seed, 0, func() {
		for range rounds {
			watching := w.start("watch", w.root)
			time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
			check.NoError(t, watching.Process.Kill(), "kill")
			_ = watching.Wait()
			if _, err := os.Stat(filepath.Join(w.data, "index", "catalog", "MANIFEST")); err == nil {
				w.check("index")
			}
		}
	})
	watching := w.start("watch", w.root)
	w.end(watching)
}

// TestSearchDuringWrite checks that a search waits for a process that finishes writing soon, and
// finds its changes. A search does not wait for a slow process.
func TestSearchDuringWrite(t *testing.T) {
	w := newWriters(t, false)
	save := func(name string) {
		t.Helper()
		must.Do(t, os.WriteFile(filepath.Join(w.root, name+".md"), []byte("# "+name+"\n\nbody\n"), 0o644))
	}
	save("apples")
	w.run("index", 0, "index", w.root)
	c := must.Get(catalog.Open(vfs.Disk{}, filepath.Join(w.data, "index", "catalog"), catalog.Options{}))
	defer c.Close()
	for try := 1; ; try++ {
		release := must.Get(c.Hold())
		done := make(chan error, 1)
		go func() { time.Sleep(200 * time.Millisecond); done <- release() }()
		name := fmt.Sprintf("bananas%d", try)
		save(name)
		out := w.run("index", 1, "search", "--in", w.root, name)
		must.Do(t, <-done)
		if strings.Contains(out, name+".md") {
			break
		}
		if try == 10 { // a busy machine may delay the release of the lock
			t.Fatalf("not found beside another process that writes: %s", out)
		}
	}
	release := must.Get(c.Hold())
	save("cherries")
	check.Contains(t, w.run("index", 1, "search", "--in", w.root, "apples"), "apples.md")
	must.Do(t, release())
}

// roundsOf returns the first seed and the number of rounds.
func roundsOf(t *testing.T, short, usual, long uint64) (seed, rounds uint64) {
	t.Helper()
	seed, _ = strconv.ParseUint(os.Getenv("SHEAF_TEST_SEED"), 10, 64)
	switch {
	case os.Getenv("SHEAF_TEST_LONG") != "":
		return seed, long
	case testing.Short():
		return seed, short
	}
	return seed, usual
}

func newWriters(t *testing.T, links bool) *writers {
	t.Helper()
	binary := must.Get(exec.LookPath("sheaf"))
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))
	w := &writers{t: t, binary: binary, root: filepath.Join(dir, "notes"), outside: filepath.Join(dir, "outside"),
		data: filepath.Join(dir, "data"), links: links}
	for _, dir := range []string{w.root, w.outside, w.data} {
		must.Do(t, os.MkdirAll(dir, 0o755))
	}
	(&agreeing{t: t, binary: binary, root: w.root, data: w.data}).open()
	return w
}

// command returns a program for the index called index.
func (w *writers) command(index string, args ...string) *exec.Cmd {
	cmd := unprivilegedCommand(w.binary, w.data, append([]string{"--index", filepath.Join(w.data, index)}, args...)...)
	cmd.Env = append(cmd.Env, "SHEAF_MAX_FILE_SIZE=100KB", "SHEAF_LANGUAGE=en",
		"SHEAF_FOLLOW_SYMLINKS="+strconv.FormatBool(w.links))
	return cmd
}

// start starts a program. If the test fails, it shows the messages of the program.
func (w *writers) start(args ...string) *exec.Cmd {
	w.t.Helper()
	w.runs++
	name := filepath.Join(w.data, fmt.Sprintf("messages-%d", w.runs))
	out := must.Get(os.Create(name))
	defer out.Close()
	cmd := w.command("index", args...)
	cmd.Stdout, cmd.Stderr = out, out
	must.Do(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if said, err := os.ReadFile(name); w.t.Failed() && err == nil && len(said) > 0 {
			w.t.Logf("%v said:\n%s", args, said[max(0, len(said)-3000):])
		}
	})
	return cmd
}

func (w *writers) stop(cmd *exec.Cmd) {
	w.t.Helper()
	check.NoError(w.t, cmd.Process.Signal(os.Interrupt), "interrupt")
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != 130 {
		w.t.Errorf("it ended with %v", err)
	}
}

// run runs a program to its end and returns what it printed.
func (w *writers) run(index string, ok int, args ...string) string {
	w.t.Helper()
	out, _ := finished(w.t, w.command(index, args...), 0, ok)
	return out
}

func (w *writers) check(index string) {
	w.t.Helper()
	if out := w.run(index, 5, "check", "--in", w.root); !strings.Contains(out, ": 0 faults") {
		w.t.Fatalf("check: %s", out)
	}
}

// end waits until the index equals a new index of the same folder. Then it stops the program, and
// compares the answers of both indexes.
func (w *writers) end(watching *exec.Cmd) {
	w.t.Helper()
	w.run("fresh", 0, "index", w.root)
	want := w.contents("fresh")
	// This is less than the time between full scans: no change event may be missed.
	deadline := time.Now().Add(40 * time.Second)
	for differences(w.contents("index"), want) != "" {
		if time.Now().After(deadline) {
			w.t.Fatalf("the index is not what one made now is:\n%s", differences(w.contents("index"), want))
		}
		time.Sleep(200 * time.Millisecond)
	}
	w.t.Logf("%d documents and files that were left out", len(want))
	w.stop(watching)
	w.check("index")
	kept, remade := w.opened("index"), w.opened("fresh")
	for i := range 20 {
		query := vocabulary[(i*7)%len(vocabulary)] + " " + vocabulary[(i*11+3)%len(vocabulary)]
		got, want := w.results(kept, query), w.results(remade, query)
		for i, hit := range got {
			if i >= len(want) || hit != want[i] {
				w.t.Errorf("%s: hit %d differs from that of an index made now:\n%s\nwant:\n%s", query, i+1, hit,
					append(want, "")[min(i, len(want))])
				break
			}
		}
		if len(got) < len(want) {
			w.t.Errorf("%s: %d hits, and %d with an index made now", query, len(got), len(want))
		}
	}
}

// opened opens an index of the folder. Programs of another user cannot use the index afterwards.
func (w *writers) opened(index string) *collection.Collection {
	w.t.Helper()
	c := must.Get(collection.Open(w.root, collection.WithIndex(filepath.Join(w.data, index)), collection.WithoutUpdate(),
		collection.WithoutRepair()))
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// results returns the first 30 results of a query, each as JSON.
func (w *writers) results(c *collection.Collection, query string) (results []string) {
	w.t.Helper()
	answer := must.Get(c.Search(w.t.Context(), query, func(q *collection.SearchRequest) { q.Limit = 30 }))
	for _, r := range answer.Results {
		results = append(results, string(must.Get(json.Marshal(r))))
	}
	return results
}

// contents returns the documents of an index with their chunks and the skipped files, as JSON by
// path.
func (w *writers) contents(index string) map[string]string {
	w.t.Helper()
	c := must.Get(catalog.Open(vfs.Disk{}, filepath.Join(w.data, index, "catalog"), catalog.Options{}))
	defer c.Close()
	view := c.View()
	defer view.Close()
	out := map[string]string{}
	note := func(path string, value any) {
		text := must.Get(json.Marshal(value))
		out[path] = string(text)
	}
	for id := range view.Files() {
		rec, err := view.Record(id)
		if err != nil {
			return nil // replaced meanwhile
		}
		rec.File.ModTime = 0 // unknown if the file had a fresh time when it was read
		note(string(id), rec)
	}
	skipped, err := view.Skipped()
	if err != nil || view.Err() != nil {
		return nil
	}
	for _, s := range skipped {
		s.ModTime = 0
		note("left out: "+s.Path, s)
	}
	return out
}

func differences(got, want map[string]string) string {
	var b strings.Builder
	for path, value := range got {
		if want[path] != value {
			fmt.Fprintf(&b, "%q is %.600q, want %.600q\n", path, value, want[path])
		}
	}
	for path, value := range want {
		if _, ok := got[path]; !ok {
			fmt.Fprintf(&b, "%q is missing, want %.600q\n", path, value)
		}
	}
	return b.String()
}

// change lets four writers change the folder until during ends, or for a given time. Then it makes
// all files readable.
func (w *writers) change(seed uint64, long time.Duration, during func()) {
	done := make(chan struct{})
	var group sync.WaitGroup
	for i := range uint64(4) {
		group.Go(func() {
			p := &pen{writers: w, r: rand.New(rand.NewPCG(seed, 10+i))}
			for {
				select {
				case <-done:
					return
				default:
				}
				p.act()
				time.Sleep(time.Duration(p.r.ExpFloat64() * float64(6*time.Millisecond)))
			}
		})
	}
	if during != nil {
		func() {
			defer group.Wait()
			defer close(done)
			during()
		}()
	} else {
		time.Sleep(long)
		close(done)
		group.Wait()
	}
	for _, top := range []string{w.root, w.outside} {
		must.Do(w.t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist) && path == top:
				return nil
			case err != nil:
				return err
			case d.IsDir():
				return os.Chmod(path, 0o755)
			case d.Type().IsRegular():
				return os.Chmod(path, 0o644)
			}
			return nil
		}))
	}
}

// pen is one writer. It ignores errors, because others change the same files.
type pen struct {
	*writers
	r *rand.Rand
}

var (
	// Some names differ only in case or in the encoding of an accent. The system decides whether
	// they name different files. One name is not UTF-8.
	penFolders = []string{"", "", "", "a", "A", "a/b", "caf\u00e9", "cafe\u0301", ".hidden", "x.md"}
	penNames   = []string{"one.md", "One.md", "two.md", "three.md", "four.mdx", "five.txt", "r\u00e9sum\u00e9.md",
		"re\u0301sume\u0301.md", "bad\xff.md", "x.md", "six.markdown", "pic.png", ".dot.md", "tmp.md"}
	vocabulary = strings.Fields("house door garden river mountain bridge window letter winter summer engine index " +
		"query vector chunk ranking folder commit branch merge crash power memory harbour lantern meadow orchard pebble " +
		"quarry saddle timber valley")
	penRules = []string{"tmp.md\n", "*.txt\n", "a/\n", "!tmp.md\n", "one.*\n!one.md\n", "b/\n", "/x.md\n", "#\n",
		"*\n!*.md\n", "caf*/\n"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// folder returns a folder, mostly below the root.
func (p *pen) folder() string {
	if p.r.IntN(12) == 0 {
		return p.outside
	}
	return filepath.Join(p.root, pick(p.r, penFolders))
}

func (p *pen) file() string { return filepath.Join(p.folder(), pick(p.r, penNames)) }

func (p *pen) words(n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = pick(p.r, vocabulary)
	}
	return strings.Join(words, " ")
}

// text is the content of a file.
func (p *pen) text() string {
	switch p.r.IntN(16) {
	case 0:
		return ""
	case 1:
		return " \n\t\n"
	case 2:
		return strings.Repeat("\x00\x01\x02\xff", 1+p.r.IntN(500))
	case 3:
		return p.words(20000) // too large
	case 4:
		return "# " + p.words(2) + "\n\n" + p.words(8) + " \xff\xfe " + p.words(4) + "\n"
	case 5:
		whole := "---\ntitle: " + p.words(2) + "\ntags: [" + pick(p.r, vocabulary) + "]\ndate: 2024-05-01\n---\n\n" +
			p.words(20) + "\n"
		return whole[:1+p.r.IntN(len(whole))]
	case 6:
		utf16 := []byte{0xff, 0xfe}
		for _, c := range []byte("# " + p.words(12)) {
			utf16 = append(utf16, c, 0)
		}
		return string(utf16)
	case 7:
		return p.words(p.r.IntN(9000)) + "\n"
	}
	var b strings.Builder
	for range 1 + p.r.IntN(6) {
		fmt.Fprintf(&b, "%s %s\n\n%s [[%s]] [x](%s)\n\n", strings.Repeat("#", 1+p.r.IntN(3)), p.words(3),
			p.words(5+p.r.IntN(60)), "one", "../a/two.md#"+pick(p.r, vocabulary))
	}
	return b.String()
}

// act makes one random change.
func (p *pen) act() {
	name := p.file()
	_ = os.MkdirAll(filepath.Dir(name), 0o755)
	text := []byte(p.text())
	switch p.r.IntN(24) {
	default: // new file or new text
		_ = os.WriteFile(name, text, 0o644)
	case 5, 6:
		p.open(name, os.O_APPEND|os.O_WRONLY, text)
	case 7:
		_ = os.Truncate(name, int64(p.r.IntN(300)))
	case 8, 9: // write beside the file and replace it, as editors do
		aside := name + pick(p.r, []string{"~", ".tmp", ".swp", ".new.md"})
		_ = os.WriteFile(aside, text, 0o644)
		_ = os.Rename(aside, name)
	case 10: // with a temporary backup copy
		_ = os.Rename(name, name+"~")
		_ = os.WriteFile(name, text, 0o644)
		_ = os.Remove(name + "~")
	case 11, 12:
		_ = os.Rename(name, p.file())
	case 13:
		_ = os.Rename(p.folder(), filepath.Join(p.root, pick(p.r, penFolders)))
	case 14:
		_ = os.Remove(name)
	case 15:
		if dir := p.folder(); dir != p.root && p.r.IntN(2) == 0 {
			_ = os.RemoveAll(dir)
		}
	case 16:
		_ = os.Chmod(name, pick(p.r, []fs.FileMode{0o644, 0, 0o600, 0o444}))
	case 17: // another text with the same size and time
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			if old, err := os.ReadFile(name); err == nil && len(old) > 10 {
				copy(old[len(old)/2:], "omega")
				_ = os.WriteFile(name, old, 0o644)
				_ = os.Chtimes(name, info.ModTime(), info.ModTime())
			}
		}
	case 18:
		at := time.Now().Add(time.Duration(p.r.IntN(200)-100) * time.Hour)
		_ = os.Chtimes(name, at, at)
	case 19:
		_ = os.Symlink(pick(p.r, []string{p.file(), p.folder(), p.outside, filepath.Join(p.outside, "one.md"), "nowhere.md",
			"one.md", "."}), filepath.Join(p.folder(), pick(p.r, []string{"link", "link.md", "tmp.md"})))
	case 20:
		_ = os.WriteFile(filepath.Join(p.folder(), pick(p.r, []string{".gitignore", ".sheafignore"})),
			[]byte(pick(p.r, penRules)), 0o644)
	case 21:
		_ = os.Remove(filepath.Join(p.folder(), pick(p.r, []string{".gitignore", ".sheafignore", "link", "link.md"})))
	case 22:
		_ = os.Link(name, p.file())
	case 23: // a folder named like a document, then a file
		_ = os.Remove(name)
		_ = os.Mkdir(name, 0o755)
		if p.r.IntN(2) == 0 {
			_ = os.RemoveAll(name)
		}
	}
}

// open writes to an existing file.
func (p *pen) open(name string, flag int, text []byte) {
	f, err := os.OpenFile(name, flag, 0)
	if err != nil {
		return
	}
	_, _ = f.Write(text)
	_ = f.Close()
}
