package chunk

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// WindowOptions are the numbers of the window chunker.
type WindowOptions struct {
	// Size is the most tokens of a window, 0 is DefaultWindowSize; Overlap,
	// below Size, how many of them it shares with the one before.
	Size, Overlap int
	// Boundary is "token" (the default), "line" or "sentence": where windows
	// may end. A line or sentence longer than a window is cut at tokens.
	Boundary string
	// Large makes a large chunk of every four consecutive windows.
	Large bool
	// TitlePrefix and MetadataSuffix say that the document's title and its
	// properties are embedded with every window (see Enrichment): they count
	// in Size, as in Onyx, and leave that much less for the text.
	TitlePrefix, MetadataSuffix bool
	// Tokens yields the tokens of a text in order, as byte ranges that do
	// not overlap; nil counts words. TokensName names it in indexes.
	Tokens     func(text string, yield func(start, end int) bool)
	TokensName string
}

// DefaultWindowSize is the window of Sonar and Onyx.
const DefaultWindowSize = 512

// Where windows may end.
const (
	boundaryToken    = "token"
	boundaryLine     = "line"
	boundarySentence = "sentence"
)

// windowsPerLarge is how many windows a large chunk is made of (Onyx).
const windowsPerLarge = 4

// window cuts text into windows of tokens that overlap and cross headings.
// Windows are verbatim: from the first token's start to the last one's end, or
// from a whole line or sentence to another; the first and last reach to the ends
// of the text.
type window struct {
	o           WindowOptions
	githubSlugs bool
}

func newWindow(o WindowOptions, githubSlugs bool) (Chunker, error) {
	if o.Size == 0 {
		o.Size = DefaultWindowSize
	}
	if o.Boundary == "" {
		o.Boundary = boundaryToken
	}
	if o.Tokens == nil {
		o.Tokens, o.TokensName = words, "words"
	}
	switch {
	case o.Size < 1:
		return nil, sheaf.Invalidf("window: size is %d tokens: must be at least 1", o.Size)
	case o.Overlap < 0 || o.Overlap >= o.Size:
		return nil, sheaf.Invalidf("window: overlap is %d tokens: must be within 0..%d, below the size", o.Overlap, o.Size-1)
	case o.Boundary != boundaryToken && o.Boundary != boundaryLine && o.Boundary != boundarySentence:
		return nil, sheaf.Invalidf("window: boundary %q: must be token, line or sentence", o.Boundary)
	}
	return window{o, githubSlugs}, nil
}

// Name implements [Chunker].
func (w window) Name() string {
	name := fmt.Sprintf("window size=%d overlap=%d boundary=%s tokens=%s", w.o.Size, w.o.Overlap, w.o.Boundary, w.o.TokensName)
	for _, flag := range [...]struct {
		on   bool
		name string
	}{{w.o.Large, " large"}, {w.o.TitlePrefix, " title-prefix"}, {w.o.MetadataSuffix, " metadata-suffix"}} {
		if flag.on {
			name += flag.name
		}
	}
	return name + slugsName(w.githubSlugs)
}

// Chunk implements [Chunker].
func (w window) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, w.githubSlugs)
	if s.empty() {
		return s.doc
	}
	begin := s.front.whole.end
	if blankText(s.src[begin:]) {
		// Frontmatter and nothing else: one window over it, so that the
		// document can be found by its title and properties.
		s.addPiece(sheaf.Span{Start: s.front.whole.start, End: len(s.src)}, "")
		s.finishPieces()
		return s.doc
	}
	cut := windowCut{window: w, src: s.src, tokens: w.tokens(s.src, begin), size: w.o.Enrich(&s.doc).Tokens}
	for _, r := range cut.ranges() {
		body := sheaf.Span{Start: begin, End: len(s.src)}
		if r.start > 0 {
			body.Start = cut.startOf(r.start)
		}
		if r.end < len(cut.tokens) {
			body.End = cut.endOf(r.end)
		}
		s.addPiece(body, s.headingAt(body.Start))
	}
	s.finishPieces()
	if w.o.Large {
		s.addLarge()
	}
	return s.doc
}

// tokens are the tokens of src from byte begin on; what is no range behind the
// one before it is left out.
func (w window) tokens(src string, begin int) []span {
	var tokens []span
	last, text := 0, src[begin:]
	w.o.Tokens(text, func(start, end int) bool {
		if start >= last && start < end && end <= len(text) {
			tokens = append(tokens, span{begin + start, begin + end})
			last = end
		}
		return true
	})
	return tokens
}

// windowCut is a text that is being cut into windows.
type windowCut struct {
	window
	src    string
	tokens []span
	size   int // of a window, in tokens
	// units are the indices of the tokens that begin a line or a sentence,
	// and bounds where the text before each ends and its own begins.
	units  []int
	bounds []span
}

// ranges are the windows, as half-open ranges of tokens.
func (c *windowCut) ranges() []span {
	n := len(c.tokens)
	overlap := min(c.o.Overlap, c.size-1)
	if n <= c.size {
		return []span{{0, n}}
	}
	var out []span
	if c.o.Boundary == boundaryToken {
		for start := 0; ; start += c.size - overlap {
			if start+c.size >= n {
				return append(out, span{start, n})
			}
			out = append(out, span{start, start + c.size})
		}
	}
	c.findUnits()
	for start, last := 0, 0; ; {
		if start+c.size >= n {
			return append(out, span{start, n})
		}
		// As many units as fit; a unit that does not fit is cut.
		end := start + c.size
		if i := sort.SearchInts(c.units, end+1) - 1; i >= 0 && c.units[i] > max(start, last) {
			end = c.units[i]
		}
		out = append(out, span{start, end})
		start, last = c.nextStart(start, end, overlap), end
	}
}

// nextStart is where the window after tokens start..end begins: with the first
// unit within the overlap that leaves room for a unit more, else at end.
func (c *windowCut) nextStart(start, end, overlap int) int {
	following := len(c.tokens)
	if i := sort.SearchInts(c.units, end+1); i < len(c.units) {
		following = c.units[i]
	}
	least := max(start+1, end-overlap, following-c.size)
	if i := sort.SearchInts(c.units, least); i < len(c.units) && c.units[i] < end {
		return c.units[i]
	}
	return end
}

// findUnits finds the lines or sentences.
func (c *windowCut) findUnits() {
	for i := 1; i < len(c.tokens); i++ {
		from, to := c.tokens[i-1].end, c.tokens[i].start
		between := c.src[from:to]
		at := -1
		if c.o.Boundary == boundaryLine {
			at = strings.LastIndexAny(between, "\n\r") + 1
		} else {
			at = sentenceEnd(c.src[c.tokens[i-1].start:from], between)
		}
		if at <= 0 {
			continue
		}
		gap := strings.TrimRightFunc(between[:at], unicode.IsSpace)
		rest := strings.TrimLeft(between[at:], " \t")
		c.units = append(c.units, i)
		c.bounds = append(c.bounds, span{from + len(gap), to - len(rest)})
	}
}

// startOf is where a window that begins with this token begins.
func (c *windowCut) startOf(token int) int {
	if i := sort.SearchInts(c.units, token); i < len(c.units) && c.units[i] == token {
		return c.bounds[i].end
	}
	return c.tokens[token].start
}

// endOf is where a window that ends before this token ends.
func (c *windowCut) endOf(token int) int {
	if i := sort.SearchInts(c.units, token); i < len(c.units) && c.units[i] == token {
		return c.bounds[i].start
	}
	return c.tokens[token-1].end
}

// sentenceEnd is where between, which stands between a token and the next,
// divides when a sentence ends in it, else 0: behind a full stop and white space,
// behind a stop of a script without spaces, at a blank line, and at a line break
// before a mark such as that of a list or a heading.
func sentenceEnd(token, between string) int {
	if i := strings.LastIndexAny(between, "。！？"); i >= 0 {
		_, size := utf8.DecodeRuneInString(between[i:])
		rest := between[i+size:]
		return len(between) - len(strings.TrimLeft(rest, closingMarks))
	}
	if i := strings.IndexAny(between, "\n\r"); i >= 0 && strings.TrimRight(between[i:], " \t\n\r") != "" || strings.Count(between, "\n") > 1 {
		return strings.LastIndexAny(between, "\n\r") + 1
	}
	space := strings.IndexFunc(between, unicode.IsSpace)
	if space < 0 {
		return 0
	}
	if strings.ContainsAny(between[:space], ".!?…") || space == 0 && strings.ContainsAny(token[len(token)-1:], ".!?") {
		_, size := utf8.DecodeRuneInString(between[space:])
		return space + size
	}
	return 0
}

// headingAt is the title of the heading in force at a byte: the last one that
// begins at or before it.
func (s *source) headingAt(pos int) string {
	headings := s.scan.headings
	i := sort.Search(len(headings), func(i int) bool { return headings[i].start > pos })
	if i == 0 {
		return ""
	}
	return s.titles[i-1]
}

// addLarge appends a large chunk for every group of windows of which there are
// at least two; its members are named, and it has all that they have.
func (s *source) addLarge() {
	windows := s.doc.Chunks
	number := 0
	for i := 0; i < len(windows); i += windowsPerLarge {
		group := windows[i:min(i+windowsPerLarge, len(windows))]
		if len(group) < 2 {
			continue
		}
		c := largeChunk{Chunk: group[0], tags: map[string]bool{}}
		slug := "large-" + strconv.Itoa(number)
		c.ID, c.Slug, c.Position = sheaf.ChunkID(s.doc.ID, slug), slug, len(s.doc.Chunks)
		c.Span = sheaf.Span{Start: group[0].Span.Start, End: group[len(group)-1].Span.End}
		c.Body, c.Links, c.Tags, c.Blocks = c.Span, nil, nil, nil
		for k := range group {
			c.takeFrom(&group[k])
		}
		s.doc.Chunks = append(s.doc.Chunks, c.Chunk)
		number++
	}
}

// largeChunk is a chunk that takes up windows.
type largeChunk struct {
	sheaf.Chunk
	tags map[string]bool
}

// takeFrom adds what a window has; windows that overlap share some of it.
func (c *largeChunk) takeFrom(member *sheaf.Chunk) {
	c.Members = append(c.Members, member.ID)
	for _, l := range member.Links {
		if n := len(c.Links); n == 0 || c.Links[n-1].Span.Start < l.Span.Start {
			c.Links = append(c.Links, l)
		}
	}
	for _, tag := range member.Tags {
		if key := strings.ToLower(tag); !c.tags[key] {
			c.tags[key] = true
			c.Tags = append(c.Tags, tag)
		}
	}
	for _, block := range member.Blocks {
		if !slices.Contains(c.Blocks, block) {
			c.Blocks = append(c.Blocks, block)
		}
	}
}

// words yields runs of letters, marks and digits, and every character of a
// script without spaces by itself.
func words(text string, yield func(start, end int) bool) {
	start := -1
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		alone := r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		inWord := !alone && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		if start >= 0 && !inWord {
			if !yield(start, i) {
				return
			}
			start = -1
		}
		switch {
		case alone:
			if !yield(i, i+size) {
				return
			}
		case inWord && start < 0:
			start = i
		}
		i += size
	}
	if start >= 0 {
		yield(start, len(text))
	}
}
