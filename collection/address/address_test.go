package address_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection/address"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// folderDocuments are documents that come directly from texts.
type folderDocuments struct {
	docs    map[sheaf.ID]sheaf.Document
	content map[sheaf.ID][]byte
}

func (d folderDocuments) Document(id sheaf.ID) (sheaf.Document, bool) {
	doc, ok := d.docs[id]
	return doc, ok
}

func (d folderDocuments) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	for _, doc := range d.docs {
		for _, c := range doc.Chunks {
			if c.ID == id {
				return c, true
			}
		}
	}
	return sheaf.Chunk{}, false
}

func newResolver(t *testing.T, files map[string]string) *address.Resolver {
	t.Helper()
	d := folderDocuments{map[sheaf.ID]sheaf.Document{}, map[sheaf.ID][]byte{}}
	var paths []string
	for path, text := range files {
		chunker := must.Get(chunk.For(path, chunk.Options{}))
		doc := chunker.Chunk("notes", path, []byte(text))
		d.docs[doc.ID], d.content[doc.ID] = doc, []byte(text)
		paths = append(paths, path)
	}
	root := filepath.Join(os.TempDir(), "notes")
	return &address.Resolver{
		Documents: d,
		Trees:     []catalog.Tree{{Name: "notes", Root: root}},
		Folder:    filepath.Join(root, "deep"),
		Read:      func(doc sheaf.ID) ([]byte, error) { return d.content[doc], nil },
		Paths:     func() []string { return paths },
	}
}

func TestResolve(t *testing.T) {
	r := newResolver(t, map[string]string{
		"block.md":     "First. ^top\n\n# Top\n\n# Low\n\nLast. ^End\n",
		"plain.md":     "Words.\n",
		"signs.md":     "# C# and F#\n\na\n\n# Cafe\u0301 `x`: *y*\n\nb\n",
		"git.md":       "Intro.\r\n\r\n# Undo a Commit\rText.\n\n## More\n\nmore\n",
		"deep/b.md":    "# B\n\nBody.\n",
		"odd#1:2.md":   "# Odd\n\nBody.\n",
		"odd#1:2.md:7": "A text file.\n",
		"marks.md":     "# Cafe\u0301 Men\u00fc\n\nBody.\n",
		"C# and F#.md": "# C# for F#\n\nBody.\n",
		"b\xff.md":     "A name that is not UTF-8.\n",
		"b\ufffdFF.md": "A name that the other one is shown as.\n",
	})
	for _, c := range []struct {
		text, want string
		count      int
	}{
		{"notes:git.md", "notes:git.md", 0},
		{"notes:git.md#more", "notes:git.md#more", 0},
		{"git.md", "notes:git.md", 0},
		{"b.md", "notes:deep/b.md", 0},
		{"deep/b.md", "notes:deep/b.md", 0},
		{"../git.md", "notes:git.md", 0},
		{filepath.Join(r.Trees[0].Root, "git.md"), "notes:git.md", 0},
		{"git.md#undo-a-commit", "notes:git.md#undo-a-commit", 0},
		{"git.md#Undo a commit", "notes:git.md#undo-a-commit", 0},
		{"block.md#^top", "notes:block.md", 1},
		{"block.md#^end", "notes:block.md#low", 1},
		{"signs.md#C# and F#", "notes:signs.md#c-and-f", 0},
		{"signs.md#caf\u00e9-x-y", "notes:signs.md#cafe\u0301-x-y", 0},
		{"signs.md#Caf\u00e9 `x`: y", "notes:signs.md#cafe\u0301-x-y", 0},
		{"git.md:1", "notes:git.md", 0},
		{"git.md:3", "notes:git.md#undo-a-commit", 0},
		{"git.md:4", "notes:git.md#undo-a-commit", 0},
		{"git.md:8", "notes:git.md#more", 0},
		{"git.md:4:2", "notes:git.md#undo-a-commit", 2},
		{"odd#1:2.md", "notes:odd#1:2.md", 0},
		{"odd#1:2.md#odd", "notes:odd#1:2.md#odd", 0},
		{"odd#1:2.md:3", "notes:odd#1:2.md#odd", 0},
		{"odd#1:2.md:7", "notes:odd#1:2.md:7", 0},
		{"../C# and F#.md#C# for F#", "notes:C# and F#.md#c-for-f", 0},
		{"notes:C# and F#.md#C# for F#", "notes:C# and F#.md#c-for-f", 0},
		{"../marks.md#Caf\u00e9 Men\u00fc", "notes:marks.md#cafe\u0301-men\u00fc", 0},
		{"../marks.md#CAFE\u0301 MENU\u0308", "notes:marks.md#cafe\u0301-men\u00fc", 0},
		{"../marks.md#caf\u00e9-men\u00fc", "notes:marks.md#cafe\u0301-men\u00fc", 0},
		{"b\xff.md", "notes:b\ufffdFF.md", 0},
		{"../b\ufffdFF.md", "notes:b\ufffdFF.md", 0}, // as results show the name
		{"../b\ufffdEF\ufffdBF\ufffdBDFF.md", "notes:b\ufffdEF\ufffdBF\ufffdBDFF.md", 0},
	} {
		got, err := r.Resolve(c.text)
		check.That(t, err == nil && string(got.Chunk.ID) == c.want && got.Count == c.count,
			"resolve(%q) = %q, %d lines, %v; want %q, %d", c.text, got.Chunk.ID, got.Count, err, c.want, c.count)
	}
	for text, hint := range map[string]string{
		"git.md#undo-commit":          "did you mean git.md#undo-a-commit?",
		"git.md#zzzz":                 "the headings of git.md are undo-a-commit, more",
		"block.md#^low":               "did you mean block.md#low?",
		"plain.md#low":                "plain.md has no headings",
		"gti.md":                      "did you mean git.md?",
		"other/b":                     "did you mean deep/b.md?",
		"zzzzzzzzzzzzzzz":             "path:line:count",
		"git.md:99":                   "",
		strings.Repeat("a#", 100_000): "give an identifier",
		"":                            "give an identifier",
	} {
		_, err := r.Resolve(text)
		check.Is(t, err, sheaf.ErrNotFound, "resolve(%q)", text)
		var hinted *address.NotFound
		check.That(t, hint == "" || errors.As(err, &hinted) && strings.Contains(hinted.Hint, hint),
			"resolve(%q): %#v, want the hint %q", text, err, hint)
	}
}

// TestResolveDocumentInPieces checks that the address of a document in pieces returns the whole document.
func TestResolveDocumentInPieces(t *testing.T) {
	r := newResolver(t, nil)
	text := "# Title\n\n" + strings.Repeat("Words of a long document.\n\n", 500)
	chunker := must.Get(chunk.New(chunk.Options{Chunker: "sections"}))
	doc := chunker.Chunk("notes", "long.md", []byte(text))
	must.That(t, len(doc.Chunks) >= 2, "%d chunks", len(doc.Chunks))
	d := r.Documents.(folderDocuments)
	d.docs[doc.ID], d.content[doc.ID] = doc, []byte(text)
	r.Follow = func(sheaf.ID, sheaf.Link) (sheaf.ID, bool) { return doc.ID, true }
	for _, name := range []string{"long.md", "notes:long.md", "[[long]]"} {
		got, err := r.Resolve(name)
		check.That(t, err == nil && got.Chunk.ID == doc.ID && got.Chunk.Span.End == len(text),
			"%s: %s, %v, %v; want all of it", name, got.Chunk.ID, got.Chunk.Span, err)
	}
	if got, err := r.Resolve("long.md:400"); err != nil || got.Chunk.ID == doc.ID {
		t.Errorf("a line: %s, %v", got.Chunk.ID, err)
	}
}

func TestLines(t *testing.T) {
	content := []byte("a\nb\r\nc\rd\n")
	check.Equal(t, address.LineCount(content), 4, "lines")
	if s := address.Lines(content, 2, 2); string(content[s.Start:s.End]) != "b\r\nc\r" {
		t.Errorf("lines 2 and 3 are %q", content[s.Start:s.End])
	}
	for _, n := range []int{math.MaxInt, math.MaxInt - 1} {
		if s := address.Lines(content, 2, n); string(content[s.Start:s.End]) != "b\r\nc\rd\n" {
			t.Errorf("all lines from 2, %d at most, are %q", n, content[s.Start:s.End])
		}
		s := address.Lines(content, n, n)
		check.That(t, s.Start == len(content) && s.End == len(content), "lines behind the last are %v", s)
	}
	if s := address.Lines(content, 4, 99); string(content[s.Start:s.End]) != "d\n" {
		t.Errorf("the rest from line 4 is %q", content[s.Start:s.End])
	}
}
