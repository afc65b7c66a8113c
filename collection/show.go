package collection

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/search/snippet"
	"sheaf/store"
	"sheaf/text/chunk"
)

// pageMaker makes the results of one page.
type pageMaker struct {
	*Reader
	ctx    context.Context
	answer *answer
	// words marks the words of the query in snippets. forbidden marks the forbidden words; it is nil if there are none.
	// Both are nil until the first snippet is cut.
	words, forbidden *snippet.Highlighter
	texts            map[sheaf.ID]textOf // read once per page, so that all parts of a document agree
}

// maxShownWords limits the number of words that Words returns. wordsTime limits the time for counting the words, and
// the time for finding them. If time runs out, the page shows the text without marked words.
const (
	maxShownWords = 1000
	wordsTime     = time.Second
)

// Words returns the words in text that match a query. Each word is a list of parts, and every second part matches: see
// [snippet.Highlighter.Words]. If the query cannot be parsed, Words returns nil.
func (r *Reader) Words(ctx context.Context, query, text string) [][]string {
	if len(query) > MaxQueryBytes {
		return nil
	}
	asking, asked := context.WithTimeout(ctx, wordsTime)
	defer asked()
	parsed, err := r.read(asking, query)
	if err != nil {
		return nil
	}
	h := snippet.New(r.c.o.Analyzer, parsed.Words, rarityOf(asking, r.guard, r.guard.Chunks(asking)))
	looking, looked := context.WithTimeout(ctx, wordsTime)
	defer looked()
	return h.Words(looking, text, maxShownWords)
}

// show returns result number i in the form that callers get. It returns false if the result is now hidden, or if the
// document of the result is gone.
func (s *pageMaker) show(i int) (*Result, bool) {
	a := s.answer
	hit := &a.result.Hits[i]
	var docs documents = s.guard
	if a.documents != nil {
		docs = a.documents
	}
	if !s.guard.visible(hit.Doc) {
		return nil, false
	}
	doc := docs.SharedDocument(hit.Doc)
	if doc == nil && hit.Doc != "" {
		return nil, false
	}
	out := &Result{
		Rank: hit.Rank, ID: hit.ID, Doc: hit.Doc, Path: hit.Path, Title: hit.Title, Breadcrumb: hit.Breadcrumb,
		Hierarchy: orEmpty(hit.Hierarchy), Span: spanOf(hit.Span), Line: 1, Score: Finite(hit.Score),
		Confidence: hit.Confidence, Level: hit.Level, Matches: []Span{}, Tags: orEmpty(hit.Tags),
		Legs: make([]Leg, len(hit.Legs)), Explanation: hit.Explanation, File: s.file(hit.Doc.Tree(), hit.Path),
		Scanned: a.documents != nil,
	}
	out.Summary = search.Summary(hit.Explanation, s.c.o.Analyzer, a.request.Text, doc)
	for i, leg := range hit.Legs {
		out.Legs[i].Score = Finite(leg.Score)
		if names := a.result.Legs; i < len(names) {
			out.Legs[i].Branch = names[i]
		}
		if leg.Rank > 0 {
			out.Legs[i].Rank = &leg.Rank
		}
	}
	for _, c := range hit.Constituents {
		out.Constituents = append(out.Constituents, Constituent{c.ID, c.Title, spanOf(c.Span), Finite(c.Score)})
	}
	if a.scanned != nil {
		out.Signals = search.SignalsOf(hit)
	}
	if o := docs.Outline(hit.Doc); o != nil && o.Date.Source != 0 {
		out.Date = new(o.Date.Time)
	}
	if !a.request.Plain {
		s.cutSnippet(docs, doc, hit, out)
	}
	return out, true
}

// textOf is the text of a document, or the error that reading it gave.
type textOf struct {
	content []byte
	err     error
}

func (s *pageMaker) text(docs documents, doc sheaf.ID) ([]byte, error) {
	t, ok := s.texts[doc]
	if !ok {
		t.content, t.err = docs.text(doc)
		s.texts[doc] = t
	}
	return t.content, t.err
}

// cutSnippet adds a snippet to a result, if the text has not changed since it was indexed. doc is nil if the document
// is gone, as may happen on a later page.
func (s *pageMaker) cutSnippet(docs documents, doc *sheaf.Document, hit *search.Hit, out *Result) {
	if doc == nil {
		out.Stale = true
		return
	}
	now := doc.Part(hit.ID)
	content, err := s.text(docs, hit.Doc)
	if s.c.o.Local != nil {
		out.Unread = err
	}
	if now == nil || err != nil {
		out.Stale = true
		return
	}
	current := *hit
	current.Span, current.Body = now.Span, now.Body
	if s.words == nil {
		rarity := rarityOf(s.ctx, s.guard, s.guard.Chunks(s.ctx))
		if scanned, ok := docs.(scannedFiles); ok && s.answer.scanned != nil {
			rarity = nil // words cannot be counted
			if counter, ok := s.answer.scanned.Backend.(store.Counter); ok {
				rarity = rarityOf(s.ctx, counter, scanned.Chunks())
			}
		}
		s.words = snippet.New(s.c.o.Analyzer, s.answer.query.Words, rarity)
		if parts := sheaf.Forbidden(s.answer.query.Words); len(parts) > 0 {
			s.forbidden = snippet.New(s.c.o.Analyzer, sheaf.Bool{Should: parts}, nil)
		}
	}
	spans, own := snippetSpans(doc, &current, content, s.c.o.Passages)
	kind := chunk.KindOf(hit.Path)
	if below := spans[own:]; s.forbidden != nil && len(below) > 0 &&
		len(s.forbidden.Best(content, kind, below, 0, snippet.Width).Matches) > 0 {
		spans = spans[:own] // a snippet shows no forbidden word from under sub-headings
	}
	best := s.words.Best(content, kind, spans, own, snippet.Width)
	if len(best.Matches) == 0 && hit.ID == doc.ID {
		properties := []byte(propertiesText(doc))
		whole := []sheaf.Span{{End: len(properties)}}
		p := s.words.Best(properties, chunk.KindMarkdown, whole, 1, snippet.Width)
		if len(p.Matches) > 0 || isEmpty(best.Text) {
			best = p
			best.At = doc.Frontmatter.Start
		}
	}
	out.Snippet, out.Line = best.Text, catalog.Line(content, best.At)
	if len(best.Matches) == 0 {
		return
	}
	if kind == chunk.KindMarkdown {
		if name := chunk.BlockAt(content, best.At); name != "" { // the named block that has the match
			out.Block = hit.Doc + "#^" + sheaf.ID(name)
		}
	}
	for _, m := range best.Matches {
		out.Matches = append(out.Matches, spanOf(m))
	}
}

// isEmpty reports whether a snippet shows no text.
func isEmpty(text string) bool { return strings.Trim(text, "… ") == "" }

// maxPropertiesText limits the text from which snippets of properties are cut.
const maxPropertiesText = 64 << 10

// propertiesText returns the properties of a document that are text to search, such as "director: Ann · year: 1982".
func propertiesText(doc *sheaf.Document) string {
	var b strings.Builder
	for _, p := range doc.Properties {
		if len(p.Values) == 0 || !chunk.IsTextProperty(p.Name) || b.Len() > maxPropertiesText {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" · ")
		}
		b.WriteString(p.Name + ": ")
		for i, v := range p.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(v.String())
		}
	}
	return b.String()
}

// file returns the absolute path of a document's file, or "" for a restricted caller or a document without file.
func (r *Reader) file(tree, docPath string) string {
	root := r.view.Settings().Root(tree)
	if root == "" || r.guard.filter != nil {
		return ""
	}
	return filepath.Join(root, filepath.FromSlash(docPath))
}

// snippetSpans returns the parts of the file from which to cut a snippet of hit, the likeliest first. The first
// ownSpans spans are the hit's own text: the found passage, the body, and a joined chunk. The last span is the whole
// hit with its subsections. The spans include frontmatter only if it counts as text.
func snippetSpans(
	doc *sheaf.Document, hit *search.Hit, content []byte, cut chunk.Passages,
) (spans []sheaf.Span, ownSpans int) {
	if hit.ByMeaning && cut.Words > 0 && hit.Body.End <= len(content) {
		for i := range doc.Chunks {
			if c := &doc.Chunks[i]; c.ID == hit.ID && c.Body == hit.Body {
				spans = append(spans, cut.Span(doc, c, content, hit.Passage))
			}
		}
	}
	spans = append(spans, hit.Body)
	if len(hit.Constituents) > 0 {
		spans = append(spans, hit.Constituents[0].Span)
	}
	spans = append(spans, hit.Span)
	for i := range spans {
		if !doc.FrontmatterText && spans[i].Start < doc.Frontmatter.End {
			spans[i].Start = min(doc.Frontmatter.End, spans[i].End)
		}
	}
	all := spans[len(spans)-1]
	spans = slices.Compact(spans[:len(spans)-1])
	if ownSpans = len(spans); spans[ownSpans-1] != all {
		spans = append(spans, all)
	}
	return spans, ownSpans
}

// documents finds the documents of results.
type documents interface {
	// SharedDocument returns the document called id, or nil. The caller must not change it.
	SharedDocument(id sheaf.ID) *sheaf.Document
	Outline(doc sheaf.ID) *sheaf.Outline
	text(doc sheaf.ID) ([]byte, error)
}

// scannedFiles finds the documents of results that a scan of files found. It checks no access, because the scan skipped
// hidden files.
type scannedFiles struct{ *catalog.View }

func (f scannedFiles) text(doc sheaf.ID) ([]byte, error) { return ingest.Shown(f.View, doc) }
