package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/rank"
	"sheaf/text/chunk"
)

var (
	_ rank.Facts = (*catalog.View)(nil)
)

// record returns the record of a Markdown text.
func record(t testing.TB, path, text string) catalog.Record {
	t.Helper()
	c := must.Get(chunk.New(chunk.Options{}))
	doc := c.Chunk("notes", path, []byte(text))
	return catalog.Record{
		Document: doc, Date: chunk.DateOf(&doc, time.UnixMilli(1_700_000_000_000).UTC()),
		File: catalog.FileState{Size: int64(len(text)), ModTime: 7, Hash: catalog.HashOf([]byte(text))},
	}
}

func open(t testing.TB, dir string) *catalog.Catalog {
	t.Helper()
	return openIn(t, vfs.Disk{}, dir)
}

func openIn(t testing.TB, fsys vfs.FS, dir string) *catalog.Catalog {
	t.Helper()
	c := must.Get(catalog.Open(fsys, dir, catalog.Options{}))
	t.Cleanup(func() { c.Close() })
	return c
}

func put(t testing.TB, c *catalog.Catalog, records ...catalog.Record) {
	t.Helper()
	must.Do(t, c.Update(context.Background(), catalog.Update{Put: records}))
}

const sample = "---\ntitle: A Note\naliases: [Other name, AN]\ntags: [x, y/z]\ndate: 2024-05-01\nn: 3.5\nok: " +
	"true\nlist: [1, b]\n---\nPreamble #inline ^p1\n\n# A Note\n\ntext [[Second#Part two|see]] and " +
	"[md](sub/third.md#deep)\n\n## Käse & Brot\n\nmore\n\n# Last {#own-id}\n\nend ![[picture.png]]\n"

func TestRecordsRoundTrip(t *testing.T) {
	c := open(t, t.TempDir())
	texts := map[string]string{"first.md": sample, "plain.txt": "hello\n", "empty.md": "",
		"sub/third.md": "# T\n\n## Deep\nx\n"}
	var want []catalog.Record
	for path, text := range texts {
		want = append(want, record(t, path, text))
	}
	for _, chunker := range []string{"sections", "window"} {
		k, err := chunk.New(chunk.Options{Chunker: chunker, Window: chunk.WindowOptions{Size: 5, Overlap: 2, Large: true}})
		must.Do(t, err)
		doc := k.Chunk("notes", chunker+".md", []byte(sample))
		want = append(want, catalog.Record{Document: doc, Text: []byte(sample), HasText: true})
	}
	put(t, c, want...)
	v := c.View()
	defer v.Close()
	for _, w := range want {
		got := must.Get(v.Record(w.Document.ID))
		w.Text = nil
		if !reflect.DeepEqual(*got, w) {
			t.Errorf("%s:\n got %+v\nwant %+v", w.Document.ID, *got, w)
		}
	}
	check.Equal(t, v.Docs(), len(want), "documents")
	text, err := v.Text("notes:window.md")
	check.That(t, err == nil && string(text) == sample, "stored text: %q, %v", text, err)
}

// TestHistories compares the catalog with a map after random updates of all sizes, and reopens it now and then. In the
// end no fault and few superfluous bytes are left.
func TestHistories(t *testing.T) {
	must.Whole(t, "no goroutine runs beside it")
	for seed := range uint64(6) {
		fsys := vfs.NewMem()
		c := openIn(t, fsys, "/c")
		r := rand.New(rand.NewPCG(seed, 3))
		model := map[sheaf.ID]catalog.Record{}
		for step := range 40 {
			var u catalog.Update
			few := []int{12, 12, 12, 300}[r.IntN(4)]
			for range []int{0, 1, 3, few / 2}[r.IntN(4)] {
				rec := record(t, fmt.Sprintf("d%d.md", r.IntN(few)), fmt.Sprintf("# %d%s\n\ntext %d [[d%d]]\n", r.IntN(5),
					strings.Repeat(" word", r.IntN(200)), r.IntN(1000), r.IntN(few)))
				rec.HasText = r.IntN(5) == 0
				if rec.HasText {
					rec.Text = []byte(rec.Document.Title)
				}
				u.Put = append(u.Put, rec)
			}
			for range r.IntN(3) {
				id := sheaf.ID(fmt.Sprintf("notes:d%d.md", r.IntN(few)))
				u.Delete = append(u.Delete, id)
			}
			for _, id := range u.Delete {
				delete(model, id)
			}
			for _, rec := range u.Put {
				model[rec.Document.ID] = rec
			}
			err := c.Update(context.Background(), u)
			must.That(t, err == nil, "seed %d step %d: %v", seed, step, err)
			if r.IntN(5) == 0 {
				c = openIn(t, fsys, "/c")
			}
			compare(t, c, model, fmt.Sprintf("seed %d step %d", seed, step))
		}
		fresh := openIn(t, fsys, "/fresh")
		put(t, fresh, slices.Collect(maps.Values(model))...)
		v, w := c.View(), fresh.View()
		defer v.Close()
		defer w.Close()
		if faults := v.Check(); len(faults) > 0 || v.DiskBytes() > 2*w.DiskBytes() {
			t.Errorf("seed %d: %v, %d bytes, %d when made at once", seed, faults, v.DiskBytes(), w.DiskBytes())
		}
	}
}

func compare(t *testing.T, c *catalog.Catalog, model map[sheaf.ID]catalog.Record, where string) {
	t.Helper()
	v := c.View()
	defer v.Close()
	var ids []sheaf.ID
	chunks := 0
	for id, state := range v.Files() {
		must.Equal(t, model[id].File, state, "%s: state of %s", where, id)
		ids = append(ids, id)
		chunks += len(model[id].Document.Chunks)
	}
	must.That(t, len(ids) == len(model) && slices.IsSorted(ids) && v.Docs() == len(model) && v.Chunks() == chunks,
		"%s: %d documents listed, %d and %d chunks counted, want %d and %d", where, len(ids), v.Docs(), v.Chunks(),
		len(model), chunks)
	in := map[sheaf.ID][]sheaf.ID{}
	for id, rec := range model {
		got, err := v.Record(id)
		must.That(t, err == nil && reflect.DeepEqual(got.Document, rec.Document), "%s: %s: %v", where, id, err)
		if text, err := v.Text(id); rec.HasText && (err != nil || string(text) != string(rec.Text)) {
			t.Fatalf("%s: the text of %s is %q, %v", where, id, text, err)
		}
		for i := range rec.Document.Chunks {
			for _, l := range rec.Document.Chunks[i].Links {
				to := sheaf.ID("notes:" + l.Target + ".md")
				if _, ok := model[to]; ok && to != id && !slices.Contains(in[to], id) {
					in[to] = append(in[to], id)
				}
			}
		}
	}
	for id := range model {
		slices.Sort(in[id])
		got := v.Backlinks(id)
		must.That(t, slices.Equal(got, in[id]), "%s: back-links of %s are %v, want %v", where, id, got, in[id])
	}
	must.Do(t, v.Err())
}

func TestResolve(t *testing.T) {
	c := open(t, t.TempDir())
	put(t, c, record(t, "a.md", sample), record(t, "second.md", "# Part one\n\nx\n\n## Part two\n\ny ^blk\n"),
		record(t, "sub/third.md", "# T\n\n## Deep\nx\n"),
		record(t, "docs/en/guide/start.mdx", "# S\nx"), record(t, "docs/fr/guide/start.mdx", "# S\nx"),
		record(t, "docs/en/guide/more/index.mdx", "# M\n## Own\nx"),
		record(t, "readme.md", "# Top\nx"), record(t, "fold\xe9/n\xff.md", "# X\nx [[a]]"),
		record(t, "sub/a.md", "# in sub\n"), record(t, "other/deep/note.md", "# N\nx"), record(t, "sub/readme.md", "# R\nx"),
		record(t, "sub/Re: x.md", "# Re\nx [[http: y]]"), record(t, "http: y.md", "# Y\nx"))
	v := c.View()
	defer v.Close()
	for _, l := range []struct {
		from   sheaf.ID
		kind   sheaf.LinkKind
		target string
		frag   string
		want   sheaf.ID
	}{
		{"notes:a.md", sheaf.LinkWiki, "Second", "", "notes:second.md"},
		{"notes:a.md", sheaf.LinkWiki, "Second", "Part two", "notes:second.md#part-two"},
		{"notes:a.md", sheaf.LinkWiki, "Second", "Part one#Part two", "notes:second.md#part-two"},
		{"notes:a.md", sheaf.LinkWiki, "second", "^blk", "notes:second.md#part-two"},
		{"notes:a.md", sheaf.LinkWiki, "second", "no such", "notes:second.md"},
		{"notes:a.md", sheaf.LinkWiki, "", "Käse & Brot", "notes:a.md#käse--brot"},
		{"notes:sub/third.md", sheaf.LinkWiki, "a", "", "notes:sub/a.md"},
		{"notes:sub/third.md", sheaf.LinkWiki, "/a", "", "notes:a.md"},
		{"notes:sub/third.md", sheaf.LinkWiki, "/third", "", "notes:sub/third.md"},
		{"notes:second.md", sheaf.LinkWiki, "a", "", "notes:a.md"},
		{"notes:second.md", sheaf.LinkWiki, "other NAME", "", "notes:a.md"},
		{"notes:second.md", sheaf.LinkWiki, "deep/note", "", "notes:other/deep/note.md"},
		{"notes:second.md", sheaf.LinkWiki, "sub/a.md", "", "notes:sub/a.md"},
		{"notes:sub/third.md", sheaf.LinkMarkdown, "../second.md", "part-two", "notes:second.md#part-two"},
		{"notes:sub/third.md", sheaf.LinkMarkdown, "/a.md", "own-id", "notes:a.md#own-id"},
		{"notes:a.md", sheaf.LinkMarkdown, "sub/", "", "notes:sub/readme.md"},
		{"notes:sub/a.md", sheaf.LinkMarkdown, "/", "", "notes:readme.md"},
		{"notes:a.md", sheaf.LinkMarkdown, "fold\xe9/n\xff.md", "x",
			sheaf.ChunkID(sheaf.DocumentID("notes", "fold\xe9/n\xff.md"), "x")},
		{"notes:a.md", sheaf.LinkWiki, "n\xff", "", sheaf.DocumentID("notes", "fold\xe9/n\xff.md")},
		{"notes:sub/a.md", sheaf.LinkMarkdown, "./", "", "notes:sub/readme.md"},
		{"notes:sub/a.md", sheaf.LinkMarkdown, "//host/a.md", "", ""},
		{"notes:a.md", sheaf.LinkMarkdown, "sub/third", "", "notes:sub/third.md"},
		{"notes:a.md", sheaf.LinkMarkdown, "/en/guide/start/", "", "notes:docs/en/guide/start.mdx"},
		{"notes:docs/fr/guide/a.md", sheaf.LinkMarkdown, "/guide/start", "", "notes:docs/fr/guide/start.mdx"},
		{"notes:a.md", sheaf.LinkMarkdown, "/guide/more/", "own", "notes:docs/en/guide/more/index.mdx#own"},
		{"notes:a.md", sheaf.LinkMarkdown, "/more", "", ""},
		{"notes:a.md", sheaf.LinkMarkdown, "/uide/start", "", ""},
		{"notes:a.md", sheaf.LinkMarkdown, "guide/start", "", ""},
		{"notes:a.md", sheaf.LinkMarkdown, "https://x.org/second.md", "", ""},
		{"notes:a.md", sheaf.LinkMarkdown, "sub/Re: x.md", "", "notes:sub/Re: x.md"},
		{"notes:sub/a.md", sheaf.LinkMarkdown, "Re: x.md", "", ""},
		{"notes:a.md", sheaf.LinkWiki, "re: x", "Re", "notes:sub/Re: x.md#re"},
		{"notes:a.md", sheaf.LinkEmbed, "Re: x", "", "notes:sub/Re: x.md"},
		{"notes:a.md", sheaf.LinkWiki, "http://y", "", ""},
		{"notes:a.md", sheaf.LinkMarkdown, "missing.md", "", ""},
		{"notes:a.md", sheaf.LinkWiki, "missing", "", ""},
	} {
		got, ok := v.Resolve(l.from, sheaf.Link{Kind: l.kind, Target: l.target, Fragment: l.frag})
		check.That(t, got == l.want && ok == (l.want != ""),
			"%s -> %q#%q: %q, want %q", l.from, l.target, l.frag, got, l.want)
	}
	check.Equal(t, v.FolderSize("notes", "fold\xe9"), 1, "documents in a folder with a name of any bytes")
	for folder, want := range map[string]bool{"": true, "sub": true, "other": true, "other/deep": true, "fold\xe9": true,
		"su": false, "sub/a.md": false, "none": false} {
		check.Equal(t, v.Holds("notes", folder), want, "documents in %q", folder)
	}
	check.That(t, !v.Holds("note", ""), "a tree that is not there holds documents")
	check.List(t, v.Backlinks("notes:second.md"), []sheaf.ID{"notes:a.md"}, "back-links")
	check.List(t, v.Backlinks("notes:http: y.md"), []sheaf.ID{"notes:sub/Re: x.md"}, "back-links of a name with a colon")
	refs := v.References("notes:second.md")
	check.That(t, len(refs) == 1 && refs[0].Link.Fragment == "Part two" && refs[0].From == "notes:a.md#a-note",
		"references %+v", refs)
}

// TestChunk checks that Chunk looks for a document with the whole ID first, then for a slug after the last '#'.
func TestChunk(t *testing.T) {
	c := open(t, t.TempDir())
	put(t, c, record(t, "a", "# b.md\n\nx\n"), record(t, "a#b.md", "whole\n"), record(t, "x.md", sample))
	v := c.View()
	defer v.Close()
	for id, want := range map[sheaf.ID]string{"notes:a#b.md": "a#b.md", "notes:x.md#own-id": "x.md",
		"notes:x.md": "x.md"} {
		ch, ok := v.Chunk(id)
		check.That(t, ok && ch.Doc.Path() == want && ch.ID == id, "%s: %v", id, ch)
	}
	for _, id := range []sheaf.ID{"notes:x.md#nope", "notes:none.md", "other:x.md", "", "#"} {
		ch, ok := v.Chunk(id)
		check.That(t, !ok && v.Err() == nil, "%q: %v, %v", id, ch, v.Err())
	}
}

// TestTextOfChangedFile checks when Text trusts a file: same size and time, or new time but same
// content. Any other file is stale.
func TestTextOfChangedFile(t *testing.T) {
	root := t.TempDir()
	name := filepath.Join(root, "n.md")
	write := func(text string) {
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	write("# one\n\ntext\n")
	info := must.Get(os.Stat(name))
	rec := record(t, "n.md", "# one\n\ntext\n")
	rec.File.ModTime = info.ModTime().UnixNano()
	c := open(t, t.TempDir())
	if err := c.Update(context.Background(),
		catalog.Update{Put: []catalog.Record{rec},
			Settings: &catalog.Settings{Trees: []catalog.Tree{{Name: "notes", Root: root}}}}); err != nil {
		t.Fatal(err)
	}
	v := c.View()
	defer v.Close()
	check := func(step string, stale bool) {
		t.Helper()
		text, err := v.Text("notes:n.md")
		if stale != errors.Is(err, catalog.ErrStale) || !stale && string(text) != "# one\n\ntext\n" {
			t.Errorf("%s: %q, %v", step, text, err)
		}
	}
	check("unchanged", false)
	later := info.ModTime().Add(time.Hour)
	must.Do(t, os.Chtimes(name, later, later))
	check("touched", false)
	write("# two\n\ntext\n")
	check("same size, other content", true)
	write("# one\n")
	check("shorter", true)
	must.Do(t, os.Remove(name))
	check("gone", true)
	must.Do(t, os.Remove(root))
	must.Do(t, os.WriteFile(root, nil, 0o600))
	check("a file where the folder was", true)
}

func TestLines(t *testing.T) {
	text := []byte("a\nb\r\nc\rd\n\ne")
	for at, want := range map[int]int{0: 1, 1: 1, 2: 2, 5: 3, 7: 4, 9: 5, 10: 6, 99: 6} {
		check.Equal(t, catalog.Line(text, at), want, "line of byte %d", at)
	}
	for line, want := range map[int]int{1: 0, 2: 2, 3: 5, 4: 7, 5: 9, 6: 10, 7: 11} {
		check.Equal(t, catalog.LineStart(text, line), want, "start of line %d", line)
	}
}

func TestSecondWriterIsRefused(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir), open(t, dir)
	release, err := a.Hold()
	must.Do(t, err)
	err = b.Update(context.Background(), catalog.Update{Put: []catalog.Record{record(t, "x.md", "x")}})
	check.Fails(t, err, sheaf.ErrUnavailable, "process", "refused")
	put(t, a, record(t, "y.md", "y"))
	must.Do(t, release())
	put(t, b, record(t, "x.md", "x"))
	v := b.View()
	defer v.Close()
	check.Equal(t, v.Docs(), 2, "documents of both writers")
}

// TestWarned checks that Warned lists the documents that have warnings now.
func TestWarned(t *testing.T) {
	c := open(t, t.TempDir())
	warned := func() string {
		v := c.View()
		defer v.Close()
		ids := must.Get(v.Warned())
		return fmt.Sprint(ids)
	}
	with := func(name string, n int) catalog.Record {
		r := record(t, name, "# one\n")
		r.Document.Warnings = make([]sheaf.Warning, n)
		return r
	}
	put(t, c, with("b", 1), with("a", 2), with("c", 0))
	check.Equal(t, warned(), "[notes:a notes:b]", "at first")
	put(t, c, with("a", 0), with("c", 1))
	check.Equal(t, warned(), "[notes:b notes:c]", "after a change")
}

// TestReaderFollowsRemadeIndex checks an open reader while another process removes the catalog and makes
// it again with as many updates. The reader must see the new catalog.
func TestReaderFollowsRemadeIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "c")
	put(t, open(t, dir), record(t, "old.md", "# Old\n"))
	reader := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Skipf("this platform keeps files that are open: %v", err)
	}
	time.Sleep(2 * time.Millisecond) // generations begin with the time
	put(t, open(t, dir), record(t, "new.md", "# New\n"))
	must.Do(t, reader.Reload())
	v := reader.View()
	defer v.Close()
	_, ok := v.Document("notes:new.md")
	check.That(t, ok && v.Docs() == 1, "the reader still sees the old catalog: %v", v.Err())
}

// TestOutlines checks that outlines and nodes, which ranking uses, agree with the full records of
// the documents.
func TestOutlines(t *testing.T) {
	c := open(t, t.TempDir())
	k := must.Get(chunk.New(chunk.Options{}))
	var update catalog.Update
	for i, text := range []string{
		"---\naliases: [one, eins]\nboost: 3\nname: 5 apples\nyears: [1, 2]\n---\n# One\n\na\n\n## Part\n\nb\n\n### Deep " +
			"`x`\n\nc\n\n## Part\n\nd\n\n## Größe\n\ne #tag ^block\n",
		"no heading [[one]]\n", "", "# Two\n\n# Three\n\nx\n",
	} {
		r := catalog.Record{Document: k.Chunk("t", fmt.Sprintf("f #%d/n.md", i), []byte(text)), Text: []byte(text)}
		if i == 1 {
			r.Date = sheaf.Dated{Time: time.UnixMilli(99).UTC(), Source: sheaf.DateModified}
		}
		update.Put = append(update.Put, r)
	}
	must.Do(t, c.Update(t.Context(), update))
	v := c.View()
	defer v.Close()
	chunks := 0
	for range 2 { // the second pass reads from the cache
		for id := range v.Files() {
			r := must.Get(v.Record(id))
			for i := range r.Document.Chunks {
				chunks++
				c := &r.Document.Chunks[i]
				want := *sheaf.NodeOf(c)
				want.Outline = v.Outline(id)
				if want.Parent != "" {
					want.Above = v.Outline(id).Node(want.Parent)
				}
				n := v.Node(c.ID)
				check.That(t, n != nil && *n == want, "node of %s: %+v", c.ID, n)
			}
		}
	}
	check.That(t, chunks >= 16, "%d chunks were compared", chunks)
	for _, id := range []sheaf.ID{"", "#", "t:", "t:none.md", "t:f #0/n.md#none"} {
		n := v.Node(id)
		check.That(t, n == nil, "node of %q: %+v", id, n)
	}
	check.That(t, v.Outline("t:none.md") == nil && v.Err() == nil, "a document that is not there: %v", v.Err())
}

func TestTreeNames(t *testing.T) {
	for root, want := range map[string]string{"/home/me/my notes": "my notes", "/": "root", "/a:b": "a-b", "/\xff": "-",
		"/src/api": "api-2", "/src/API": "API"} {
		check.Equal(t, catalog.TreeName(root), want, "TreeName(%q)", root)
	}
	check.Equal(t, catalog.TreeName("/srv/notes", "notes", "notes-2"), "notes-3", "name of a third folder")
}

// TestClosed checks that a closed catalog returns an error and touches no file, even during an update. Views that
// were open stay valid.
func TestClosed(t *testing.T) {
	dir := t.TempDir()
	c := open(t, dir)
	put(t, c, record(t, "a.md", sample))
	before := c.View()
	changing := make(chan struct{})
	go func() {
		defer close(changing)
		for i := 0; ; i++ {
			err := c.Update(context.Background(),
				catalog.Update{Put: []catalog.Record{record(t, fmt.Sprintf("n%d.md", i), sample)}})
			if errors.Is(err, sheaf.ErrUnavailable) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for range 2 {
		must.Do(t, c.Close())
	}
	<-changing
	if _, ok := before.Document("notes:a.md"); !ok || before.Docs() != 1 || before.Err() != nil {
		t.Errorf("a view that was open: %d documents, %v", before.Docs(), before.Err())
	}
	before.Close()
	after := c.View()
	defer after.Close()
	for id := range after.Files() {
		t.Errorf("a view of a closed catalog has %s", id)
	}
	_, hold := c.Hold()
	for name, err := range map[string]error{"View": after.Err(), "Follow": c.Follow(), "Hold": hold,
		"Update": c.Update(context.Background(), catalog.Update{})} {
		check.Is(t, err, sheaf.ErrUnavailable, "%s of a closed catalog", name)
	}
	again := open(t, dir).View()
	defer again.Close()
	_, ok := again.Document("notes:a.md")
	check.That(t, ok && again.Err() == nil, "opened again: %v", again.Err())
}
