package collection

import (
	"context"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/search"
	"sheaf/search/snippet"
	"sheaf/text/chunk"
)

// showing is how the results of one page are shown.
type showing struct {
	*Reader
	ctx     context.Context
	ranking *kept
	left    int // how many results may still come
	// words finds those of the query; it is not made for what was shown before.
	words *snippet.Highlighter
	*answerRoom
}

// highlighter finds the words of the query.
func (s *showing) highlighter() *snippet.Highlighter {
	if s.words == nil {
		s.words = snippet.New(s.c.o.Analyzer, s.ranking.query.Words, s.rarity(s.ctx, &s.guessed))
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

// show is a hit of a ranking as it is shown; false when the caller may not see it
// any more, or its document is gone. What was shown before of the same state of the index is shown again
// while the file is the same.
func (s *showing) show(i int) (Result, bool) {
	r, k := s.Reader, s.ranking
	hit := k.hit(i, s.found.hits, &s.hit)
	same := r.told && k.at == r.at && k.documents == nil && !k.request.Plain
	known := k.documents
	if known == nil {
		known = r.guard
	}
	if !same && (!r.guard.visible(hit.Doc) || hit.Doc != "" && s.document(known, hit) == nil) {
		return Result{}, false
	}
	if k.request.Plain {
		return s.result(known, hit), true
	}
	if same {
		if before, ok := k.shown.of(i); ok && r.view.Unchanged(hit.Doc) {
			shown := s.result(known, hit)
			shown.Snippet, shown.Line, shown.Matches, shown.Block = before.text, before.line, before.matches, before.block
			return shown, true
		}
	}
	doc := s.document(known, hit) // which tells the date too
	shown := s.result(known, hit)
	s.cutSnippet(known, doc, hit, &shown)
	if same && !shown.Stale && !s.guessed {
		s.made = append(s.made, shownSnippet{i, shown.Snippet, shown.Line, shown.Matches, shown.Block})
	}
	return shown, true
}

// document is that of a hit, with the chunk that was found if not with all; nil when it is
// gone. It is there until another is asked for.
func (s *showing) document(known documents, hit *search.Hit) *sheaf.Document {
	p := &s.single
	if !known.Card(hit.ID, &p.card, nil) || p.card.Doc != hit.Doc {
		return known.SharedDocument(hit.Doc)
	}
	p.chunk[0] = sheaf.Chunk{ID: hit.ID, Doc: hit.Doc, Span: p.card.Span, Body: p.card.Body}
	p.document = sheaf.Document{ID: hit.Doc, Frontmatter: p.card.Frontmatter, FrontmatterText: p.card.FrontmatterText, Chunks: p.chunk[:]}
	return &p.document
}

// date is that of a document, which stands on a card that was just read.
func (s *showing) date(docs documents, doc sheaf.ID) (sheaf.Dated, bool) {
	if p := &s.single; p.document.ID == doc && p.card.Doc == doc {
		return p.card.Date, true
	}
	return docs.Date(doc)
}

// textOf is the text of a document, or why there is none.
type textOf struct {
	doc     sheaf.ID
	content []byte
	err     error
}

// text is that of a document. It is read once an answer, which says the same of all its
// parts then.
func (s *showing) text(docs documents, doc sheaf.ID) ([]byte, error) {
	for i := range s.texts {
		if t := &s.texts[i]; t.doc == doc {
			return t.content, t.err
		}
	}
	content, err := docs.text(doc)
	s.texts = append(s.texts, textOf{doc, content, err})
	return content, err
}

// result is what is shown of a hit, whose document docs knows, without its snippet.
func (s *showing) result(docs documents, hit *search.Hit) Result {
	out := Result{
		Rank: hit.Rank, ID: hit.ID, Doc: hit.Doc, Path: hit.Path, Title: hit.Title, Breadcrumb: hit.Breadcrumb, Hierarchy: orEmpty(hit.Hierarchy),
		Span: spanOf(hit.Span), Line: 1, Score: Finite(hit.Score), Confidence: hit.Confidence, Level: hit.Level, Matches: []Span{}, Tags: orEmpty(hit.Tags), Legs: []Leg{},
		Explanation: hit.Explanation, File: s.file(hit.Doc.Tree(), hit.Path, &s.written), Scanned: s.ranking.documents != nil,
	}
	if from, names := len(s.legs), s.ranking.result.Legs; len(hit.Legs) > 0 {
		if n := s.left * len(hit.Legs); from == 0 {
			s.legs, s.ranks = slices.Grow(s.legs, n), slices.Grow(s.ranks, n)
		}
		for i := range hit.Legs {
			leg := &hit.Legs[i]
			l := Leg{Score: Finite(leg.Score)}
			if i < len(names) {
				l.Branch = names[i]
			}
			if leg.Rank > 0 {
				s.ranks = append(s.ranks, leg.Rank)
				l.Rank = &s.ranks[len(s.ranks)-1]
			}
			s.legs = append(s.legs, l)
		}
		out.Legs = s.legs[from:len(s.legs):len(s.legs)]
	}
	for _, c := range hit.Constituents {
		out.Constituents = append(out.Constituents, Constituent{c.ID, c.Title, spanOf(c.Span), Finite(c.Score)})
	}
	if d, ok := s.date(docs, hit.Doc); ok && !d.Time.IsZero() {
		s.dates = append(s.dates, d.Time)
		out.Date = &s.dates[len(s.dates)-1]
	}
	return out
}

// cutSnippet gives a result its snippet, if the text is what was indexed. A later page may
// show a chunk that is no more in its document, or whose document, nil then, is gone.
func (s *showing) cutSnippet(docs documents, doc *sheaf.Document, hit *search.Hit, out *Result) {
	if doc == nil {
		out.Stale = true
		return
	}
	now := doc.Part(hit.ID)
	content, err := s.text(docs, hit.Doc)
	if now == nil || err != nil {
		out.Stale = true
		return
	}
	current := *hit
	current.Span, current.Body = now.Span, now.Body
	own := 0
	s.spans, own = appendSnippetSpans(s.spans[:0], doc, &current, content, s.c.o.Passages)
	best := s.highlighter().Best(content, s.spans, own, snippet.Width)
	out.Snippet, out.Line = best.Text, catalog.Line(content, best.At)
	if len(best.Matches) == 0 {
		return
	}
	out.Block = BlockOf(hit.Doc, content, best.At)
	from := len(s.matches)
	for _, m := range best.Matches {
		s.matches = append(s.matches, spanOf(m))
	}
	out.Matches = s.matches[from:len(s.matches):len(s.matches)]
}

// BlockOf is the address of the named block of a document of Markdown that byte at of its
// text is in; "" where it is in none.
func BlockOf(doc sheaf.ID, content []byte, at int) sheaf.ID {
	if chunk.KindOf(doc.Path()) != chunk.KindMarkdown {
		return ""
	}
	name := chunk.BlockAt(stringOf(content), at)
	if name == "" {
		return ""
	}
	return doc + "#^" + sheaf.ID(name)
}

// file is the absolute path of a document's file, for callers from whom nothing
// is kept; "" for others and for documents without one.
// It is a part of what was written, which it is appended to.
func (r *Reader) file(tree, docPath string, written *[]byte) string {
	root := r.view.Settings().Root(tree)
	if root == "" || r.guard.filter != nil {
		return ""
	}
	from := len(*written)
	*written = append(append(append(*written, root...), filepath.Separator), filepath.FromSlash(docPath)...)
	return filepath.Clean(stringOf((*written)[from:]))
}

// stringOf is b as a string that shares its memory.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// SnippetSpans are the parts of the file that a snippet of hit may come from, the likeliest
// first. The first own of them are its own text: the passage that meaning found, cut as cut
// says, its body, the best chunk that it stands for. The last is all of it, with the text
// under its sub-headings. Frontmatter is shown only where it is text.
func SnippetSpans(doc *sheaf.Document, hit *search.Hit, content []byte, cut chunk.Passages) (spans []sheaf.Span, own int) {
	return appendSnippetSpans(nil, doc, hit, content, cut)
}

// appendSnippetSpans appends SnippetSpans to spans, which is empty.
func appendSnippetSpans(spans []sheaf.Span, doc *sheaf.Document, hit *search.Hit, content []byte, cut chunk.Passages) (_ []sheaf.Span, own int) {
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
