package catalog

import (
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/wikilink"
)

// TestEndingsHaveNumbers checks that stored links have a number for each ending of Markdown files.
func TestEndingsHaveNumbers(t *testing.T) {
	for _, ending := range wikilink.MarkdownEndings {
		check.That(t, slices.Contains(pointSuffix[:], ending),
			"pointSuffix has no entry for %s: append one, after all other kinds", ending)
	}
}

// FuzzDecodeRecord checks that decoding any bytes ends, and that a decoded record survives being
// encoded and decoded again.
func FuzzDecodeRecord(f *testing.F) {
	doc := sheaf.Document{ID: "t:a.md", Tree: "t", Path: "a.md", Title: "A", Aliases: []string{"B"}, Tags: []string{"x"},
		Properties: []sheaf.Property{{Name: "n", Values: []sheaf.Value{sheaf.NumberValue(1), sheaf.TextValue("y")},
			List: true}},
		Warnings: []sheaf.Warning{{Line: 2, Message: "w"}}, Frontmatter: sheaf.Span{Start: 0, End: 9}}
	doc.Chunks = []sheaf.Chunk{
		{ID: "t:a.md", Doc: "t:a.md", Title: "A", Hierarchy: []string{"A"}, Span: sheaf.Span{End: 40},
			Body: sheaf.Span{End: 12}, SiblingCount: 1},
		{ID: "t:a.md#b", Doc: "t:a.md", Parent: "t:a.md", Depth: 1, Position: 1, Title: "B", Slug: "b",
			Hierarchy: []string{"A", "B"}, Heading: sheaf.Span{Start: 12, End: 16}, SiblingCount: 1,
			Span: sheaf.Span{Start: 16, End: 40}, Body: sheaf.Span{Start: 16, End: 40},
			Links:  []sheaf.Link{{Kind: sheaf.LinkWiki, Target: "c", Text: "c", Span: sheaf.Span{Start: 17, End: 22}}},
			Blocks: []string{"z"}},
	}
	f.Add(encodeRecord(&Record{Document: doc,
		Date: sheaf.Dated{Time: time.UnixMilli(5).UTC(), Source: sheaf.DateModified}}))
	f.Add(encodeRecord(&Record{Document: sheaf.Document{ID: "t:a.md"}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := Record{Document: sheaf.Document{ID: "t:a.md", Tree: "t", Path: "a.md"}}
		if !decodeRecord(data, &r) {
			return
		}
		again := Record{Document: sheaf.Document{ID: "t:a.md", Tree: "t", Path: "a.md"}}
		must.That(t, decodeRecord(encodeRecord(&r), &again), "what was read cannot be read again")
		must.That(t, len(again.Document.Chunks) == len(r.Document.Chunks) && again.Document.Title == r.Document.Title,
			"%d chunks became %d", len(r.Document.Chunks), len(again.Document.Chunks))
	})
}

// TestHostileCount checks a record that claims more chunks than it holds, in a document with a long
// title. Decoding uses memory by the size of the record, not by the claim.
func TestHostileCount(t *testing.T) {
	const claimed, size, title = 1 << 13, 1 << 15, 1 << 16
	b := append(binary.AppendUvarint(nil, claimed), slices.Repeat([]byte{0xff}, size)...)
	doc := &sheaf.Document{ID: "t:a.md", Title: strings.Repeat("x", title)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := &decoder{b: b}
	decodeChunks(d, doc)
	runtime.ReadMemStats(&after)
	check.That(t, d.bad && len(doc.Chunks) == 0, "the record was read")
	if used := after.TotalAlloc - before.TotalAlloc; used > 64*(size+title) {
		t.Errorf("a record of %d bytes took %d", size+title, used)
	} else {
		t.Logf("a record of %d bytes took %d", size+title, used)
	}
}
