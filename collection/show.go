package collection

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/search/snippet"
	"sheaf/text/chunk"
)

// showing shows results of one page.
type showing struct {
	*Reader
	ctx    context.Context
	answer *answer
	// words marks the words of the query; nil until a snippet is cut.
	words *snippet.Highlighter
	// guessed says that the store did not count a word, so that snippets may be other ones next time.
	guessed bool
	texts   map[sheaf.ID]textOf // read once a page, so that it says the same of all parts of a document
	made    map[int]*Result     // may be shown again, by place
}

// highlighter returns what marks the words of the query.
func (s *showing) highlighter() *snippet.Highlighter {
	if s.words == nil {
		rarity := s.rarity(s.ctx, &s.guessed)
		if scanned, ok := s.answer.documents.(scannedFiles); ok && s.answer.scanned != nil {
			rarity = s.scannedRarity(scanned, s.answer.scanned)
		}
		s.words = snippet.New(s.c.o.Analyzer, s.answer.query.Words, rarity)
	}
	return s.words
}

// maxShownWords is how many words of a text Words tells, and wordsTime how long it may ask the
// store how rare they are, and then look for them: a text is shown without them, too.
const (
	maxShownWords = 1000
	wordsTime     = time.Second
)

// Words are the words of a text that answer a query, as snippets mark them, each in parts of
// which every second one matches; see [snippet.Highlighter.Words]. There are none for a query that cannot be read.
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
	var guessed bool
	h := snippet.New(r.c.o.Analyzer, parsed.Words, r.rarity(asking, &guessed))
	looking, looked := context.WithTimeout(ctx, wordsTime)
	defer looked()
	return h.Words(looking, text, maxShownWords)
}

// show returns a result; false when the caller may not see it any more, or its document is gone. A result that was
// shown of the same state of the index is shown again while its file is the same.
func (s *showing) show(i int) (*Result, bool) {
	a := s.answer
	hit := &a.result.Hits[i]
	same := s.told && a.at == s.at && a.documents == nil && !a.request.Plain
	var docs documents = s.guard
	if a.documents != nil {
		docs = a.documents
	}
	if same {
		if before := a.shownBefore(i); before != nil && s.view.Unchanged(hit.Doc) {
			return before, true
		}
	}
	if !s.guard.visible(hit.Doc) {
		return nil, false
	}
	doc := docs.SharedDocument(hit.Doc)
	if doc == nil && !same && hit.Doc != "" {
		return nil, false
	}
	shown := s.result(docs, hit)
	if a.request.Plain {
		return shown, true
	}
	s.cutSnippet(docs, doc, hit, shown)
	if same && !shown.Stale && !s.guessed {
		s.made[i] = shown
	}
	return shown, true
}

// textOf is the text of a document, or why there is none.
type textOf struct {
	content []byte
	err     error
}

func (s *showing) text(docs documents, doc sheaf.ID) ([]byte, error) {
	t, ok := s.texts[doc]
	if !ok {
		if t.content, t.err = docs.text(doc); t.err != nil && s.c.o.Local != nil && s.answer.documents == nil {
			_, t.err = ingest.Shown(s.view, doc) // names the file
		}
		s.texts[doc] = t
	}
	return t.content, t.err
}

// result returns what is shown of a hit, without its snippet.
func (s *showing) result(docs documents, hit *search.Hit) *Result {
	out := &Result{
		Rank: hit.Rank, ID: hit.ID, Doc: hit.Doc, Path: hit.Path, Title: hit.Title, Breadcrumb: hit.Breadcrumb,
		Hierarchy: orEmpty(hit.Hierarchy), Span: spanOf(hit.Span), Line: 1, Score: Finite(hit.Score),
		Confidence: hit.Confidence, Level: hit.Level, Matches: []Span{}, Tags: orEmpty(hit.Tags),
		Legs: make([]Leg, len(hit.Legs)), Explanation: hit.Explanation, File: s.file(hit.Doc.Tree(), hit.Path),
		Scanned: s.answer.documents != nil,
	}
	out.Summary = search.Summary(hit.Explanation, s.c.o.Analyzer, s.answer.request.Text)
	for i, leg := range hit.Legs {
		out.Legs[i].Score = Finite(leg.Score)
		if names := s.answer.result.Legs; i < len(names) {
			out.Legs[i].Branch = names[i]
		}
		if leg.Rank > 0 {
			out.Legs[i].Rank = &leg.Rank
		}
	}
	for _, c := range hit.Constituents {
		out.Constituents = append(out.Constituents, Constituent{c.ID, c.Title, spanOf(c.Span), Finite(c.Score)})
	}
	if s.answer.scanned != nil {
		out.Signals = search.SignalsOf(hit)
	}
	if d, ok := docs.Date(hit.Doc); ok && !d.Time.IsZero() {
		out.Date = &d.Time
	}
	return out
}

// cutSnippet gives a result its snippet if the text is what was indexed. A later page may show a chunk that its
// document has no longer, or whose document is gone: doc is nil then.
func (s *showing) cutSnippet(docs documents, doc *sheaf.Document, hit *search.Hit, out *Result) {
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
	spans, own := SnippetSpans(doc, &current, content, s.c.o.Passages)
	best := s.highlighter().Best(content, spans, own, snippet.Width)
	out.Snippet, out.Line = best.Text, catalog.Line(content, best.At)
	if len(best.Matches) == 0 {
		return
	}
	out.Block = BlockOf(hit.Doc, content, best.At)
	for _, m := range best.Matches {
		out.Matches = append(out.Matches, spanOf(m))
	}
}

// BlockOf is the address of the named block of a document of Markdown that byte at of its
// text is in; "" where it is in none.
func BlockOf(doc sheaf.ID, content []byte, at int) sheaf.ID {
	if chunk.KindOf(doc.Path()) != chunk.KindMarkdown || !bytes.ContainsRune(content, '^') {
		return ""
	}
	name := chunk.BlockAt(string(content), at)
	if name == "" {
		return ""
	}
	return doc + "#^" + sheaf.ID(name)
}

// file is the absolute path of a document's file, for callers from whom nothing is kept; "" for others and for
// documents without a file.
func (r *Reader) file(tree, docPath string) string {
	root := r.view.Settings().Root(tree)
	if root == "" || r.guard.filter != nil {
		return ""
	}
	return filepath.Join(root, filepath.FromSlash(docPath))
}

// SnippetSpans are the parts of the file that a snippet of hit may come from, the likeliest
// first. The first own of them are its own text: the passage that meaning found, cut as cut
// says, its body, the best chunk that it stands for. The last is all of it, with the text
// under its sub-headings. Frontmatter is shown only where it is text.
func SnippetSpans(
	doc *sheaf.Document, hit *search.Hit, content []byte, cut chunk.Passages,
) (spans []sheaf.Span, own int) {
	if hit.ByMeaning && cut.Words > 0 && hit.Body.End <= len(content) {
		if c := chunkIn(doc, hit.ID); c != nil && c.Body == hit.Body {
			spans = append(spans, cut.Span(doc, c, content, hit.Passage))
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
	if own = len(spans); spans[own-1] != all {
		spans = append(spans, all)
	}
	return spans, own
}

// chunkIn is the chunk of a document called id, nil when there is none.
func chunkIn(doc *sheaf.Document, id sheaf.ID) *sheaf.Chunk {
	for i := range doc.Chunks { // chunks are large
		if doc.Chunks[i].ID == id {
			return &doc.Chunks[i]
		}
	}
	return nil
}
