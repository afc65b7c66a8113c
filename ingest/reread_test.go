package ingest_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/index/vfs/sectionfile"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model/hashed"
	"sheaf/store"
	"sheaf/text/chunk"
)

// readOtherwise changes the index as if another version made it. All documents get another title
// and other properties, and the parser version is missing.
func (w *world) readOtherwise() {
	w.t.Helper()
	v := w.view()
	settings := v.Settings()
	settings.Extra = maps.Clone(settings.Extra)
	delete(settings.Extra, "reading")
	u := catalog.Update{Settings: &settings}
	for id := range v.Files() {
		rec := must.Get(v.Record(id))
		was := *rec
		was.Document.Title, was.Document.Properties = "As it was", []sheaf.Property{{Name: "before"}}
		if was.HasText {
			was.Text = must.Get(v.Text(id))
		}
		u.Put = append(u.Put, was)
	}
	must.Do(w.t, w.o.Catalog.Update(w.t.Context(), u))
}

func (w *world) view() *catalog.View {
	v := w.o.Catalog.View()
	w.t.Cleanup(v.Close)
	return v
}

// readAgain compares the index with a new index of the folder: nothing of the earlier parser version may remain.
func (w *world) readAgain(what string) {
	w.t.Helper()
	w.sameAsClean(what)
	v := w.view()
	if ingest.Outdated(v) > 0 || len(v.Pending()) > 0 {
		w.t.Errorf("%s: %d are outdated, %v wait", what, ingest.Outdated(v), v.Pending())
	}
	counted, err := v.Properties()
	check.That(w.t, err == nil && len(counted) == 0, "%s: properties of before: %v, %v", what, counted, err)
	faults := v.Check()
	check.That(w.t, len(faults) == 0, "%s: %v", what, faults)
	generation := w.generation()
	r := w.run()
	check.That(w.t, !r.Changes() && w.generation() == generation, "%s: then a run does something: %+v", what, r)
}

// TestReread checks that the next run reads again all files that another version read or
// skipped. For all sizes of files and commits, no old filing stays in the catalog.
func TestReread(t *testing.T) {
	for _, commit := range []int64{0, 40, 100, 300} {
		w := newWorld(t)
		w.o.CommitBytes = commit
		for i := range 20 {
			w.write(fmt.Sprintf("n%02d.md", i), fmt.Sprintf("# N%d\n\nalpha beta\n%s", i, strings.Repeat("x", i*i%50)))
		}
		w.write("left.md", "\x7fELF\x00\x01\x02")
		w.run()
		w.readOtherwise()
		check.Equal(t, ingest.Outdated(w.view()), 20, "outdated")
		scanned, err := ingest.Scan(t.Context(), w.o)
		check.That(t, err == nil && scanned.Changed == 20 && len(scanned.Waiting) == 20,
			"%+v, %v: want that all wait", scanned, err)
		r := w.run()
		check.That(t, r.Changed == 20 && r.Added+r.Removed == 0 && len(r.Skipped) == 1, "%+v", r)
		w.readAgain(fmt.Sprintf("commits of %d bytes", commit))
	}
}

// TestRereadSkippedFile checks a file that another version skipped. A run reads it again,
// also after a first run that stopped before this file.
func TestRereadSkippedFile(t *testing.T) {
	w := newWorld(t)
	for i := range 9 {
		w.write(fmt.Sprintf("n%d.md", i), "# N\n\nalpha\n")
	}
	w.write("z.md", "# Z\n\nalpha\n")
	w.run()
	w.readOtherwise()
	info := must.Get(os.Stat(filepath.Join(w.root, "z.md")))
	left := []catalog.Skip{{Tree: "t", Path: "z.md", Reason: ingest.ReasonBinary, Size: info.Size(),
		ModTime: info.ModTime().UnixNano()}}
	must.Do(t, w.o.Catalog.Update(t.Context(), catalog.Update{Skipped: &left, Delete: []sheaf.ID{"t:z.md"}}))
	ctx, stop := context.WithCancel(t.Context())
	o := w.o
	o.CommitBytes, o.Backend = 20, &stopping{w.o.Backend, 2, stop}
	if _, err := ingest.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	w.run()
	w.readAgain("what was left out")
}

// TestStoppedReread stops a rereading run at each commit. It checks that nothing is lost, and that
// the next run reads only the remaining documents.
func TestStoppedReread(t *testing.T) {
	const docs = 12
	for after := 1; after <= docs; after++ {
		w := newWorld(t)
		for i := range docs {
			w.write(fmt.Sprintf("n%02d.md", i), fmt.Sprintf("# N%d\n\nalpha beta gamma\n", i))
		}
		w.run()
		w.readOtherwise()
		o, ctx := w.o, t.Context()
		o.CommitBytes = 1
		ctx, stop := context.WithCancel(ctx)
		o.Backend = &stopping{w.o.Backend, after, stop}
		if _, err := ingest.Run(ctx, o); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		v := w.view()
		check.That(t, v.Docs() == docs && (v.Chunks() == 2*docs || v.Chunks() == docs),
			"ended after %d commits: %d documents, %d chunks", after, v.Docs(), v.Chunks())
		check.Equal(t, ingest.Outdated(v), docs-after, "outdated documents after %d of %d commits", after, docs)
		o.Backend = killed{w.o.Backend} // a second stop, after the store commits and before the catalog does
		if _, err := ingest.Run(t.Context(), o); after < docs && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		check.Equal(t, w.run().Changed, docs-after, "documents that the run after %d commits reads again", after)
		w.readAgain(fmt.Sprintf("ended after %d commits", after))
	}
}

// TestRereadAfterDamagedList checks that a damaged list of pending documents makes a run read all documents again.
func TestRereadAfterDamagedList(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	w.o.Catalog = openCatalog(t, dir)
	for i := range 6 {
		w.write(fmt.Sprintf("n%d.md", i), "# N\n\nalpha\n")
	}
	w.run()
	w.readOtherwise()
	ctx, stop := context.WithCancel(t.Context())
	o := w.o
	o.CommitBytes, o.Backend = 1, &stopping{w.o.Backend, 2, stop}
	if _, err := ingest.Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	lists, err := filepath.Glob(filepath.Join(dir, "catalog-pending-*"))
	must.That(t, err == nil && len(lists) != 0, "%v, %v", lists, err)
	for _, list := range lists {
		must.Do(t, os.WriteFile(list, []byte("damaged"), 0o600))
	}
	w.o.Catalog = openCatalog(t, dir)
	changed, err := ingest.Relist(t.Context(), w.o.Catalog)
	must.That(t, changed && err == nil, "a damaged list stays: %v", err)
	check.Equal(t, ingest.Outdated(w.view()), 6, "outdated")
	w.run()
	w.readAgain("after a damaged list")
}

// TestRereadUnreadableDocumentLater checks a document that is unreadable while all others are read again. It stays
// the same, and is read again when it becomes readable.
func TestRereadUnreadableDocumentLater(t *testing.T) {
	w := newWorld(t)
	other := filepath.Join(t.TempDir(), "other")
	must.Do(t, os.Mkdir(other, 0o755))
	must.Do(t, os.WriteFile(filepath.Join(other, "o.md"), []byte("# O\n\nalpha\n"), 0o600))
	old := time.Now().Add(-time.Hour)
	must.Do(t, os.Chtimes(filepath.Join(other, "o.md"), old, old))
	w.write("a.md", "# A\n\nalpha\n")
	w.o.Trees = append(w.o.Trees, catalog.Tree{Name: "u", Root: other})
	for i := range 9 {
		w.write(fmt.Sprintf("n%d.md", i), "# N\n\nalpha\n")
	}
	dir := t.TempDir()
	w.o.Catalog = openCatalog(t, dir)
	w.run()
	w.readOtherwise()
	away := other + "-away"
	must.Do(t, os.Rename(other, away))
	w.run()
	v := w.view()
	a, _ := v.Document("t:a.md")
	o, there := v.Document("u:o.md")
	check.That(t, a.Title == "A" && there && o.Title == "As it was" && ingest.Outdated(v) == 1,
		"%q, and %q, which is not there", a.Title, o.Title)
	must.Do(t, os.Rename(away, other))
	w.run()
	o, _ = w.view().Document("u:o.md")
	check.That(t, o.Title == "O" && ingest.Outdated(w.view()) <= 0, "when it is back: %q", o.Title)
	m := must.Get(manifest.Read(vfs.Disk{}, dir))
	segments := slices.DeleteFunc(m.Files, func(name string) bool {
		return strings.Count(name, "-") > 1
	})
	check.That(t, len(segments) == 1, "how they were filed before is there still, in %v", segments)
}

// TestDocumentsOfNewerParserStay checks that this version keeps what a newer one read. The newer version later
// reads again only the documents that this version read in between.
func TestDocumentsOfNewerParserStay(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.md", "b.md", "c.md"} {
		w.write(name, "# "+name+"\n\nalpha\n")
	}
	w.run()
	w.readOtherwise()
	mark := func(version int) {
		t.Helper()
		settings := w.view().Settings()
		settings.Extra = maps.Clone(settings.Extra)
		settings.Extra["reading"] = strconv.Itoa(version)
		must.Do(t, w.o.Catalog.Update(t.Context(), catalog.Update{Settings: &settings}))
	}
	mark(ingest.ParserVersion + 1)
	r := w.run()
	check.That(t, !r.Changes() && ingest.Newer(w.view()), "what a newer version read is read again: %+v", r)
	w.write("b.md", "# Another\n\nalpha\n")
	g := ingest.Given{Tree: "g", Path: "g.md", Text: []byte("# G\n\nalpha\n")}
	put := w.o
	put.Trees = append(slices.Clone(w.o.Trees), catalog.Tree{Name: "g"})
	must.Get(ingest.Change(t.Context(), put, []ingest.Given{g}, nil))
	r = w.run()
	check.That(t, r.Changed == 1 && r.Pending == 0, "%+v", r)
	r = w.run()
	check.That(t, !r.Changes(), "again: %+v", r)
	check.Equal(t, fmt.Sprint(w.view().Pending()), "map[g:g.md:reading t:b.md:reading]", "waiting documents")
	w.o.Kept = func(sheaf.ID, catalog.Hash) (ingest.Given, bool, error) { return g, true, nil }
	mark(ingest.ParserVersion) // now this version acts as the newer one
	r = w.run()
	check.That(t, r.Changed == 2 && ingest.Outdated(w.view()) <= 0, "by the newer version: %+v", r)
	r = w.run()
	check.That(t, !r.Changes(), "by the newer version again: %+v", r)
}

// TestRereadGivenDocuments checks that given documents are read again with all their given properties. A
// document whose given form is not stored stays the same.
func TestRereadGivenDocuments(t *testing.T) {
	property := func(name, value string) sheaf.Property {
		return sheaf.Property{Name: name, Values: []sheaf.Value{sheaf.TextValue(value)}}
	}
	given := map[sheaf.ID]ingest.Given{
		"g:plain.md": {Tree: "g", Path: "plain.md", Title: "Plain", Text: []byte("alpha words\n"),
			Hash: catalog.HashOf([]byte("as kept")), Properties: []sheaf.Property{property("by", "Ann")}},
		"g:cut.md": {Tree: "g", Path: "cut.md", Title: "Cut",
			Chunks: []ingest.GivenChunk{{Slug: "one", Text: "alpha"}, {Slug: "two", Text: "beta"}}},
		"g:lost.md": {Tree: "g", Path: "lost.md", Title: "Lost", Text: []byte("# Alpha\n\nalpha\n"),
			Properties: []sheaf.Property{property("by", "Bob")}},
	}
	w := newWorld(t)
	w.write("a.md", "# A\n\nalpha\n")
	w.run()
	var docs []ingest.Given
	for id, g := range given {
		if g.Chunks != nil {
			g.Text = ingest.JoinChunks(g.Chunks)
			given[id] = g
		}
		docs = append(docs, g)
	}
	put := w.o
	put.Trees = append(slices.Clone(w.o.Trees), catalog.Tree{Name: "g"})
	must.Get(ingest.Change(t.Context(), put, docs, nil))
	w.o.Kept = func(doc sheaf.ID, hash catalog.Hash) (ingest.Given, bool, error) {
		g := given[doc]
		want := g.Hash
		check.That(t, want == (catalog.Hash{}) || want == hash, "%s is asked for by another hash", doc)
		return g, doc != "g:lost.md", nil
	}
	before, want := w.view(), state(t, w.o)
	w.readOtherwise()
	w.run()
	now := w.view()
	check.Equal(t, state(t, w.o), strings.Replace(want, `doc g:lost.md "Alpha"`, `doc g:lost.md "As it was"`, 1),
		"state, which was before %s", want)
	for id := range given {
		was := must.Get(before.Record(id))
		is := must.Get(now.Record(id))
		text, err := now.Text(id)
		if id == "g:lost.md" {
			was.Document.Properties = []sheaf.Property{{Name: "before"}} // readOtherwise set this
		}
		check.That(t, is.File == was.File && string(text) == string(given[id].Text) && err == nil &&
			fmt.Sprint(is.Document.Properties) == fmt.Sprint(was.Document.Properties),
			"%s was %+v, is %+v, %q, %v", id, was, is, text, err)
	}
	faults := now.Check()
	check.That(t, len(faults) == 0 && ingest.Outdated(now) <= 0, "%v", faults)
}

// TestGivenDocumentsReturnToEmptiedStore checks that given texts return to an emptied store, from the catalog if only
// the catalog holds them.
func TestGivenDocumentsReturnToEmptiedStore(t *testing.T) {
	w := newWorld(t)
	w.o.Trees = append(w.o.Trees, catalog.Tree{Name: "given"})
	must.Get(ingest.Change(t.Context(), w.o,
		[]ingest.Given{{Tree: "given", Path: "1", Title: "One", Text: []byte("given words")},
			{Tree: "given", Path: "2", Text: []byte("more words")}}, nil))
	w.write("a.md", "# A\n\nfile words\n")
	w.run()
	settings := catalog.Settings{Trees: w.o.Trees, Extra: map[string]string{ingest.RemakingKey: ingest.RemakingDocuments}}
	must.Do(t, w.o.Catalog.Update(t.Context(),
		catalog.Update{Settings: &settings, Delete: []sheaf.ID{"t:a.md"}}))
	w.o.Backend = w.fresh().Backend
	if r := w.run(); r.Changed != 2 || r.Added != 1 || finds(t, w.o.Backend, "words") != 3 {
		t.Errorf("%+v: %d found", r, finds(t, w.o.Backend, "words"))
	}
	if d, ok := w.view().Document("given:1"); !ok || d.Title != "One" || w.view().Docs() != 3 {
		t.Errorf("%+v in %d documents", d, w.view().Docs())
	}
}

// TestGivenWithoutVectors checks that a document given during a fault of the model gets its vectors later.
func TestGivenWithoutVectors(t *testing.T) {
	w := newWorld(t)
	m := &fakeModel{Embedder: hashed.New(256), broken: errors.New("the model is down")}
	w.o.Embedder, w.o.Settings = m, func(s *catalog.Settings) { s.Embedder = m.Model() }
	g := ingest.Given{Tree: "g", Path: "g.md", Text: []byte("# G\n\nalpha\n")}
	put := w.o
	put.Trees = append(slices.Clone(w.o.Trees), catalog.Tree{Name: "g"})
	r, err := ingest.Change(t.Context(), put, []ingest.Given{g}, nil)
	must.That(t, err == nil && r.Pending == 1, "%+v, %v", r, err)
	w.o.Kept = func(sheaf.ID, catalog.Hash) (ingest.Given, bool, error) { return g, true, nil }
	r = w.run()
	check.That(t, r.Pending == 1 && r.EmbedError != "", "while it is down: %+v", r)
	m.broken = nil
	r = w.run()
	check.That(t, r.Pending == 0 && r.Changed == 1, "when it is there: %+v", r)
}

// collecting is a store that records the chunks written to it.
type collecting struct {
	store.Backend
	mu     sync.Mutex
	chunks []store.Chunk
}

func (c *collecting) Write(_ context.Context, b store.Batch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chunks = append(c.chunks, b.Chunks...)
	return nil
}

// readAs holds the digest of the parsed texts for each version: see TestParserVersion.
var readAs = map[int]string{
	1: "825bc6e13799b582",
	2: "825bc6e13799b582", // changes tenants in frontmatter; these texts have none
	3: "825bc6e13799b582", // changes wiki links that begin with a slash; these texts have none
	4: "87e3e40d44bed6d3", // "[[text](address)]" is a Markdown link, "@/" and a question mark are read in links
	// removes attribute lists from headings and from tags; HTML anchors are places; "[[1]](#a)" is a Markdown link
	5: "700fb87af459e0d6",
	// rejects dates before year 0 and after 9999, which these texts lack; stores dates given with a text
	6: "700fb87af459e0d6",
	// Separates values of a field by positions. Reads dates, numbers and encodings as written.
	// Keeps data out of texts. Adds inline fields and tasks as columns of sections. Finds metadata
	// suffixes in windows. Joins due dates and states of tasks. Lists of links with a shared word,
	// which are absent here, have no part in vectors.
	7: "e3dbc977cd9329ef",
	// A text that is a date or number has a column of that type; soft hyphens are folded. These texts have none.
	8: "e3dbc977cd9329ef",
	// A hyphen at the end of a line of code joins no words; links to dated posts lead nowhere.
	// These texts have none.
	9:  "e3dbc977cd9329ef",
	10: "e3dbc977cd9329ef",
	11: "e3dbc977cd9329ef", // reads month names of other languages; these texts have none
	12: "e3dbc977cd9329ef", // reads a time of day after any date; these texts have none
	13: "e3dbc977cd9329ef", // reads wiki links without quotes in frontmatter, and more dates; these texts have none
	14: "e3dbc977cd9329ef", // leaves data out of frontmatter, and reads short texts in old encodings
	15: "e3dbc977cd9329ef", // lists of links may have few words beside the links, and addresses count
	16: "e3dbc977cd9329ef", // a list of links may have few words between the links of an item
	17: "e3dbc977cd9329ef", // dates a section by its field date, and warns of zero bytes; these texts have none
	// Reads files with lines in UTF-8 and in UTF-16, dates such as 11/20/2018, and names such as 202405311630.md. These
	// texts have none. The digest has no breadcrumbs.
	18: "1d9e7fcd0dd9d113",
	19: "1d9e7fcd0dd9d113", // reads no lines of whole files in UTF-16 as UTF-8; these texts have none
	// Knows more names of dates, tasks that begin with a word, fields with tags, and more signs as apostrophes. These
	// texts have none.
	20: "1d9e7fcd0dd9d113",
	// Reads more dates, numbers such as 1,000,000, HTML in words and texts in old encodings. Joins l'infor-mation.
	// These texts have none.
	21: "1d9e7fcd0dd9d113",
	22: "91637d61dbb51af0", // reads tags and entities in texts as readers see them
	23: "91637d61dbb51af0", // reads lists in fields
	24: "91637d61dbb51af0", // reads tags of several words, days of tasks without brackets
	25: "91637d61dbb51af0", // reads months, dates as whole names of files, and signs before names of fields
	// Finds YouTube in YouTube's, écran in l'écran in any language, and the property Title. These texts have none.
	26: "91637d61dbb51af0",
	// Reads more dates in names of files, more due dates, fields in fields, and l'infor-mation in any language. These
	// texts have none.
	27: "91637d61dbb51af0",
	// Dates 2018 11 25.md and 2024-W10.md by their names, and reads (std::atomic) as text. These texts have none.
	28: "91637d61dbb51af0",
	29: "91637d61dbb51af0",
	30: "91637d61dbb51af0",
	31: "157a6c2fb796b95e",
	32: "157a6c2fb796b95e",
}

// TestParserVersion checks that the parsed texts have the digest of ingest.ParserVersion. If it fails because texts
// are read in another way, raise ingest.ParserVersion and add the digest here. Old indexes then become equal to new
// ones. If only the form of the digest changed, update only the digest.
func TestParserVersion(t *testing.T) {
	w := newWorld(t)
	for path, text := range map[string]string{
		"site/_index.md": "---\ntitle: Site\ntags: [Ä, a\u0308, \"#three\"]\nweight: 3\ndate: 2024-05-06\nrelated: " +
			"\"[[Note One]]\"\nsee: [\"[[b]]\", https://example.org]\naliases: [/old/, Home]\n---\n\nWelcome to " +
			"[one](notes/one.md), [asked](/site/notes/two.md?plain=1#part), [at](@/site/notes/two.md) [[or](two.md)]] and " +
			"{{< ref \"two\" >}}.\n",
		"site/notes/index.md": "# Notes\n\nAll [[One|of them]], ![[pic.png]], [abs](/site/notes/two/#part).\n\n## Part " +
			"{#part}\n\nText #inline/tag and `#no`.\n\n<a name=\"place\"></a>\n\n## Other { #other .x }\n\nMore.\n",
		"site/notes/one.md": "+++\ntitle = \"One\"\ndraft = true\n+++\n\nSetext\n======\n\nA footnote[^1].\n\n[^1]: the " +
			"note [here](two.md).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\n# no heading\nfunc main() {}\n```\n",
		"vault/Daily.md": "due:: 2024-01-02\nowner:: [[Ann]]\n\n# Daily\n\n- [ ] task ^block\n\n> [!note] Callout\n> " +
			"text [[Daily#^block]]\n\n%% hidden %%\n\n<!-- hidden too -->\n",
		"vault/broken.md": "---\ntitle: Q3: plans\ntags: [x, 'y']\nowner: Ann # here\ncreated: {{date}}\n---\n\nText.\n",
		"vault/page.mdx":  "import X from './x'\n\n# Page\n\n<X prop={1}>inside</X>\n\n{/* no */}\n",
		"plain.txt":       "A first line\n\nand a paragraph.\n",
		"main.go":         "package main\n\nfunc main() {\n}\n",
		"empty.md":        "---\ntitle: Nothing\n---\n",
		"none.md":         "",
		"binary.md":       "\x7fELF\x00\x01",
		"utf16.md":        "\xff\xfe#\x00 \x00U\x00\n\x00",
	} {
		w.write(path, text)
		at := time.Date(2024, 7, 8, 9, 10, 11, 0, time.UTC)
		must.Do(t, os.Chtimes(filepath.Join(w.root, filepath.FromSlash(path)), at, at))
	}
	sum := sha256.New()
	suffixed := chunk.Options{Chunker: "window", Window: chunk.WindowOptions{MetadataSuffix: true}}
	for _, o := range []chunk.Options{{}, {Chunker: "sections"}, suffixed} {
		dir, st := t.TempDir(), &collecting{}
		in := w.o
		in.Catalog, in.Backend, in.Chunk = openCatalog(t, dir), st, o
		report := must.Get(ingest.Run(t.Context(), in))
		v := in.Catalog.View()
		defer v.Close()
		slices.SortFunc(st.chunks, func(a, b store.Chunk) int { return strings.Compare(string(a.ID), string(b.ID)) })
		for i := range report.Skipped {
			report.Skipped[i].ModTime = 0
		}
		parts := []any{report.Skipped, st.chunks}
		for id := range v.Files() {
			rec := must.Get(v.Record(id))
			parts = append(parts, rec.Document, rec.Date.Time.UTC(), rec.Date.Source)
		}
		for _, p := range parts {
			b := must.Get(json.Marshal(p))
			sum.Write(b)
		}
		segments, err := filepath.Glob(filepath.Join(dir, "catalog-[0-9a-f]*"))
		must.That(t, err == nil && len(segments) == 1, "%v, %v", segments, err)
		r := must.Get(sectionfile.Open(vfs.Disk{}, segments[0], "catalog", 2))
		defer r.Close()
		for _, table := range []string{"names", "targets", "labels"} {
			p := must.Get(r.Paged(table))
			b := must.Get(p.All())
			sum.Write(b)
		}
	}
	check.Equal(t, hex.EncodeToString(sum.Sum(nil)[:8]), readAs[ingest.ParserVersion],
		"digest of version %d: raise ingest.ParserVersion", ingest.ParserVersion)
}

// found returns the chunks with a word in a field, sorted.
func found(t *testing.T, b store.Backend, field, word string) (ids []sheaf.ID) {
	t.Helper()
	r := must.Get(b.Retrieve(context.Background(),
		store.Request{Limit: 100, Text: &store.TextRequest{Query: sheaf.Match{Text: word},
			Fields: []store.FieldWeight{{Name: field, Weight: 1}}, K1: store.DefaultK1, B: store.DefaultB}}))
	for _, h := range r {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

// finds counts the chunks whose text has a word.
func finds(t *testing.T, b store.Backend, word string) int {
	t.Helper()
	return len(found(t, b, sheaf.FieldBody, word))
}

// TestRelist checks that Relist writes damaged lists again, from the records and the folder.
func TestRelist(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	w.write("a.md", "# A\n\nwords\n")
	w.write("b.md", "\x7fELF\x00\x01\x02")
	w.write("c.exe", "x")
	dir := t.TempDir()
	w.o.Catalog = openCatalog(t, dir)
	want := w.run().Skipped
	must.That(t, len(want) != 0, "nothing was skipped")
	changed, err := ingest.Relist(ctx, w.o.Catalog)
	must.That(t, !changed && err == nil, "sound lists are written: %v", err)
	lists, err := filepath.Glob(filepath.Join(dir, "catalog-skipped-*"))
	must.That(t, err == nil && len(lists) != 0, "%v, %v", lists, err)
	for _, list := range lists {
		data := must.Get(os.ReadFile(list))
		for i := range data {
			data[i] ^= 0xff
		}
		must.Do(t, os.WriteFile(list, data, 0o600))
	}
	w.o.Catalog = openCatalog(t, dir)
	changed, err = ingest.Relist(ctx, w.o.Catalog)
	must.That(t, changed && err == nil, "a damaged list stays: %v", err)
	w.run()
	v := w.view()
	got, err := v.Skipped()
	byPath := func(a, b catalog.Skip) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(got, byPath)
	slices.SortFunc(want, byPath)
	check.That(t, err == nil && slices.Equal(got, want), "skipped %v, %v, want %v", got, err, want)
	faults := v.Check()
	check.That(t, len(faults) == 0, "%v", faults)
}

func openCatalog(t *testing.T, dir string) *catalog.Catalog {
	t.Helper()
	c := must.Get(catalog.Open(vfs.Disk{}, dir, catalog.Options{}))
	t.Cleanup(func() { c.Close() })
	return c
}
