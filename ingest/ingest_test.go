package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a folder and its index.
type world struct {
	t    *testing.T
	root string
	o    ingest.Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, root: t.TempDir()}
	w.o = w.fresh()
	return w
}

// fresh returns the options of an empty index of the folder.
func (w *world) fresh() ingest.Options {
	w.t.Helper()
	a := must.Get(analysis.New(analysis.Options{}))
	c := must.Get(catalog.Open(vfs.Disk{}, w.t.TempDir(), catalog.Options{}))
	b := must.Get(embedded.Open(embedded.Options{FS: vfs.NewMem(), Dir: "/index", Analyzer: a,
		Vectors: []store.VectorField{{Name: store.VectorBody, Dims: 256}, {Name: store.VectorTitle, Dims: 256}}}))
	w.t.Cleanup(func() { c.Close(); b.Close() })
	return ingest.Options{Catalog: c, Backend: b, Trees: []catalog.Tree{{Name: "t", Root: w.root}}, Workers: 3}
}

func (w *world) write(path, text string) {
	w.t.Helper()
	full := filepath.Join(w.root, filepath.FromSlash(path))
	must.Do(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	must.Do(w.t, os.WriteFile(full, []byte(text), 0o644))
	// The time is older than the resolution of the clock, so the next run can trust it.
	old := time.Now().Add(-time.Hour)
	must.Do(w.t, os.Chtimes(full, old, old))
}

func (w *world) run() *ingest.Report {
	w.t.Helper()
	r := must.Get(ingest.Run(context.Background(), w.o))
	return r
}

func (w *world) generation() uint64 {
	v := w.view()
	return v.Generation()
}

// state lists the chunks of the backend and the catalog, each with the words that find it.
func state(t *testing.T, o ingest.Options) string {
	t.Helper()
	v := o.Catalog.View()
	defer v.Close()
	var lines []string
	for id := range v.Files() {
		doc, ok := v.Document(id)
		must.That(t, ok, "no document %s", id)
		lines = append(lines, fmt.Sprintf("doc %s %q", id, doc.Title))
		for i := range doc.Chunks {
			lines = append(lines, fmt.Sprintf("catalog %s %v", doc.Chunks[i].ID, doc.Chunks[i].Body))
		}
	}
	all := must.Get(o.Backend.Retrieve(context.Background(),
		store.Request{Limit: store.MaxLimit, Text: &store.TextRequest{Query: sheaf.Bool{},
			Fields: []store.FieldWeight{{Name: "body", Weight: 1}}}}))
	for _, h := range all {
		lines = append(lines, "chunk "+string(h.ID))
	}
	word := must.Get(o.Backend.Retrieve(context.Background(),
		store.Request{Limit: store.MaxLimit, Text: &store.TextRequest{Query: sheaf.Match{Text: "alpha"}, K1: 1, B: 1,
			Fields: []store.FieldWeight{{Name: "body", Weight: 1}}}}))
	for _, h := range word {
		lines = append(lines, fmt.Sprintf("alpha %s %.9f", h.ID, h.Score))
	}
	return strings.Join(lines, "\n")
}

func (w *world) sameAsClean(where string) {
	w.t.Helper()
	clean := w.fresh()
	must.Get(ingest.Run(context.Background(), clean))
	if got, want := state(w.t, w.o), state(w.t, clean); got != want {
		w.t.Fatalf("%s:\n%s\na clean run gives:\n%s", where, got, want)
	}
}

func TestLifecycle(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "# A\n\nalpha [[b]]\n\n## Two\n\nbeta\n")
	w.write("sub/b.md", "---\ntags: [x]\n---\nalpha\n")
	w.write("empty.md", " \n")
	r := w.run()
	must.That(t, r.Added == 2 && len(r.Skipped) == 1 && r.Chunks == 4 && r.Changes(), "first run: %+v", r)
	generation := w.generation()
	if r := w.run(); r.Changes() || r.Unchanged != 2 || len(r.Skipped) != 1 || w.generation() != generation {
		t.Fatalf("nothing changed, but: %+v, generation %d after %d", r, w.generation(), generation)
	}
	w.sameAsClean("unchanged")

	w.write("a.md", "# A\n\nalpha again\n")
	r = w.run()
	must.That(t, r.Changed == 1 && r.Added+r.Removed == 0 && r.Unchanged == 1, "one changed: %+v", r)
	w.sameAsClean("one changed")

	now := time.Now().Add(-time.Minute)
	must.Do(t, os.Chtimes(filepath.Join(w.root, "sub/b.md"), now, now))
	if r := w.run(); r.Changed != 1 { // the time of the file is its date
		t.Fatalf("touched: %+v", r)
	}
	w.write("a.md", "# A\n\nomega again\n")
	past := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	must.Do(t, os.Chtimes(filepath.Join(w.root, "a.md"), past, past))
	must.Equal(t, w.run().Changed, 1, "another text of an older time")
	w.write("dated.md", "---\ndate: 2024-01-01\n---\nalpha\n")
	w.run()
	must.Do(t, os.Chtimes(filepath.Join(w.root, "dated.md"), now, now))
	r = w.run()
	must.That(t, r.Changed == 0 && r.Touched == 1 && r.Unchanged == 3, "touched, but dated: %+v", r)
	must.Equal(t, w.run().Touched, 0, "touched once")

	must.Do(t, os.Rename(filepath.Join(w.root, "sub/b.md"), filepath.Join(w.root, "moved.md")))
	r = w.run()
	must.That(t, r.Renamed == 1 && r.Added == 1 && r.Removed == 1, "renamed: %+v", r)
	w.sameAsClean("renamed")
	must.Do(t, os.Remove(filepath.Join(w.root, "a.md")))
	must.Equal(t, w.run().Removed, 1, "removed")
	w.sameAsClean("removed")
}

// TestSkippedFiles checks skipped files. They are in no count, and each run reports them. A run reads them once, and
// again after a change.
func TestSkippedFiles(t *testing.T) {
	w := newWorld(t)
	noise := strings.Repeat("\x00\x01\x02\x03", 100)
	w.write("a.md", "alpha\n")
	w.write("sub/binary.md", noise)
	w.write("nothing.md", "")
	w.write("blank.md", "\ufeff \n\t\n")
	w.write("picture.png", "png")
	want := "[blank.md: empty nothing.md: empty picture.png: unsupported type sub/binary.md: binary]"
	reasons := func(skipped []catalog.Skip) string {
		lines := []string{}
		for _, s := range skipped {
			lines = append(lines, s.Path+": "+s.Reason)
		}
		return fmt.Sprint(lines)
	}
	check := func(when string, r *ingest.Report, docs, bytes int) {
		t.Helper()
		v := w.view()
		listed, err := v.Skipped()
		if err != nil || v.Docs() != docs || v.SourceBytes() != int64(bytes) || reasons(r.Skipped) != want ||
			reasons(listed) != want {
			t.Errorf("%s: %d documents of %d bytes, reported %v, listed %v, %v, want %v", when, v.Docs(), v.SourceBytes(),
				reasons(r.Skipped), reasons(listed), err, want)
		}
		for id := range v.Files() {
			if doc, ok := v.Document(id); !ok || len(doc.Chunks) == 0 {
				t.Errorf("%s: %s has no chunks", when, id)
			}
		}
		if waits, err := ingest.Scan(context.Background(), w.o); err != nil || waits.Changes() ||
			reasons(waits.Skipped) != want {
			t.Errorf("%s: then waits: %+v, %v", when, waits, err)
		}
	}
	r := w.run()
	check("first run", r, 1, 6)
	generation := w.generation()
	if r = w.run(); r.Changes() || r.Bytes != 0 || w.generation() != generation {
		t.Errorf("the second run did something: %+v", r)
	}
	check("second run", r, 1, 6)

	w.write("sub/binary.md", "alpha\n")
	w.write("a.md", noise)
	r = w.run()
	if r.Added != 1 || r.Removed != 1 {
		t.Errorf("text and noise exchanged: %+v", r)
	}
	want = "[a.md: binary blank.md: empty nothing.md: empty picture.png: unsupported type]"
	check("exchanged", r, 1, 6)
	w.sameAsClean("exchanged")

	w.write("sub/binary.md", " \n")
	must.Do(t, os.Remove(filepath.Join(w.root, "a.md")))
	r = w.run()
	want = "[blank.md: empty nothing.md: empty picture.png: unsupported type sub/binary.md: empty]"
	check("all empty", r, 0, 0)
	w.sameAsClean("all empty")

	// These files are new: their times do not yet show a second change.
	for path, text := range map[string]string{"new.md": "alpha\n", "new-noise.md": noise} {
		must.Do(t, os.WriteFile(filepath.Join(w.root, path), []byte(text), 0o644))
	}
	r = w.run()
	want = "[blank.md: empty new-noise.md: binary nothing.md: empty picture.png: unsupported type sub/binary.md: empty]"
	check("new", r, 1, 6)
	r = w.run()
	check("new, again", r, 1, 6)
}

// TestBadInput checks that each bad file gets its reason and that the other files are indexed.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	w.o.Walk.MaxFileBytes = 100_000
	w.write("good.md", "# Good\n\nalpha\n")
	w.write("invalid.md", "alpha \xff\xfe\xfa here\n")
	w.write("zero.md", "alpha\x00beta\n")
	w.write("utf16.md", "\xff\xfea\x00l\x00p\x00h\x00a\x00\n\x00")
	w.write("bom.md", "\ufeff# Title\nalpha\n")
	w.write("crlf.md", "# One\r\nalpha\r# Two\rbeta\n")
	w.write("huge.md", strings.Repeat("x", 100_001))
	w.write("binary.md", strings.Repeat("\x00\x01\x02\x03", 100))
	w.write("picture.png", "png")
	w.write("broken.md", "---\na: [\n---\nalpha\n")
	w.write("bomb.md", "---\na: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n---\nalpha\n")
	w.write("odd \\ name #1 %20 'q' \".md", "alpha\n")
	w.write("line.md", strings.Repeat("alpha ", 10_000))
	w.write(".git/config.md", "alpha\n")
	w.write("node_modules/x.md", "alpha\n")
	if runtime.GOOS == "linux" { // other systems have no such names
		w.write("bytes\xff.md", "alpha\n")
	}
	outside := filepath.Join(t.TempDir(), "outside.md")
	must.Do(t, os.WriteFile(outside, []byte("alpha"), 0o644))
	for from, to := range map[string]string{"link.md": outside, "loop": w.root, "dead.md": "nowhere",
		"out": filepath.Dir(outside), "left": filepath.Dir(outside), "bin": "/bin/sh"} {
		must.Do(t, os.Symlink(to, filepath.Join(w.root, from)))
	}
	w.write(".gitignore", "left\n")
	r := w.run()
	reasons := map[string]string{}
	for _, s := range r.Skipped {
		reasons[s.Path] = s.Reason
	}
	for path, reason := range map[string]string{"huge.md": ingest.ReasonTooLarge, "binary.md": ingest.ReasonBinary,
		"picture.png": ingest.ReasonUnsupported, "link.md": ingest.ReasonLink, "dead.md": ingest.ReasonLink,
		"out": ingest.ReasonLink, "loop": ingest.ReasonLink} {
		check.Equal(t, reasons[path], reason, "%s: reason", path)
		delete(reasons, path)
	}
	check.That(t, len(reasons) == 0, "also skipped: %v", reasons)
	for _, path := range []string{"good.md", "invalid.md", "utf16.md", "bom.md", "crlf.md", "broken.md", "bomb.md",
		"odd \\ name #1 %20 'q' \".md", "line.md"} {
		found, err := w.o.Backend.Retrieve(context.Background(),
			store.Request{Limit: 5, Within: nil, Filter: sheaf.In{Column: "path", Values: []sheaf.Value{sheaf.TextValue(path)}},
				Text: &store.TextRequest{Query: sheaf.Match{Text: "alpha"}, K1: 1, B: 1,
					Fields: []store.FieldWeight{{Name: "body", Weight: 1}}}})
		check.That(t, err == nil && len(found) != 0, "%s is not found: %v", path, err)
	}
	v := w.view()
	text, err := v.Text("t:utf16.md")
	check.That(t, err == nil && string(text) == "alpha\n", "text of UTF-16: %q, %v", text, err)
	check.That(t, len(r.Warnings) >= 3, "warnings: %+v", r.Warnings)
	generation := w.generation()
	r = w.run()
	check.That(t, !r.Changes() && w.generation() == generation, "the second run wrote: %+v", r)
	w.o.Walk.FollowLinks = true
	// The run adds link.md and the file behind the link out, and reports the link back to the top.
	if r := w.run(); r.Added != 2 || !slices.ContainsFunc(r.Skipped, func(s catalog.Skip) bool {
		return s.Path == "loop" && s.Reason == ingest.ReasonLink
	}) {
		t.Errorf("links followed: %+v", r)
	}
	if _, err := ingest.Run(context.Background(),
		ingest.Options{Catalog: w.o.Catalog, Backend: w.o.Backend,
			Trees: []catalog.Tree{{Name: "t", Root: filepath.Join(w.root, "none")}}}); err == nil {
		t.Error("a folder that does not exist is no error")
	}
}

// TestHistories edits the folder at random and checks that each run ends like a clean run.
func TestHistories(t *testing.T) {
	w := newWorld(t)
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 6))
		for range 1 + r.IntN(6) {
			name := fmt.Sprintf("d%d/n%d.md", r.IntN(3), r.IntN(8))
			full := filepath.Join(w.root, filepath.FromSlash(name))
			switch r.IntN(5) {
			case 0:
				_ = os.Remove(full)
			case 1:
				_ = os.Rename(full, filepath.Join(w.root, fmt.Sprintf("moved%d.md", r.IntN(5))))
			case 2:
				_ = os.RemoveAll(filepath.Dir(full))
			default:
				w.write(name, fmt.Sprintf("# %d\n\nalpha %s\n", r.IntN(9), strings.Repeat("x ", r.IntN(9))))
			}
		}
		w.run()
		w.sameAsClean(fmt.Sprintf("seed %d", seed))
	}
}

// TestWatch checks that Watch indexes saved files, also in new folders and after an editor's
// rename.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	w.write("a.md", "alpha\n")
	ctx, stop := context.WithTimeout(context.Background(), 60*time.Second)
	defer stop()
	runs := make(chan *ingest.Report, 100)
	ended := make(chan error)
	go func() {
		ended <- ingest.Watch(ctx, w.o, func(r *ingest.Report, err error) {
			check.That(t, err == nil, "%v", err)
			runs <- r
		})
	}()
	wait := func(what string, ok func(*ingest.Report) bool) {
		t.Helper()
		for {
			select {
			case r := <-runs:
				if ok(r) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("%s was not seen", what)
			}
		}
	}
	wait("the first run", func(r *ingest.Report) bool { return r.Added == 1 })
	w.write("new/deep/b.md", "alpha\n")
	wait("a file in a new folder", func(r *ingest.Report) bool { return r.Added == 1 })
	w.write("new/deep/.b.tmp", "alpha beta\n")
	must.Do(t, os.Rename(filepath.Join(w.root, "new/deep/.b.tmp"), filepath.Join(w.root, "new/deep/b.md")))
	wait("an editor's rename", func(r *ingest.Report) bool { return r.Changed == 1 })
	must.Do(t, os.Remove(filepath.Join(w.root, "a.md")))
	wait("a removal", func(r *ingest.Report) bool { return r.Removed == 1 })
	// Two files at once, and one that is removed and returns: Watch finds each change.
	w.write("one.md", "alpha\n")
	w.write("two.md", "beta\n")
	added := 0
	wait("two at once", func(r *ingest.Report) bool { added += r.Added; return added == 2 })
	must.Do(t, os.Remove(filepath.Join(w.root, "one.md")))
	w.write("one.md", "gamma\n")
	wait("another text in its place", func(r *ingest.Report) bool { return r.Changed+r.Added == 1 })
	stop()
	must.Do(t, <-ended)
}
