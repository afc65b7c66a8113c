package chunk

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// WindowOptions are the options of the window chunker.
type WindowOptions struct {
	// Size is the largest number of tokens in a window; 0 means DefaultWindowSize. Overlap is the largest number of these
	// tokens that the previous window also has. Overlap is less than Size.
	Size, Overlap int
	// Boundary is where windows may end: "token" (the default), "line" or "sentence". Longer lines or sentences are cut
	// at tokens.
	Boundary string
	// Large makes a large chunk from every four consecutive windows, and from two or three windows at the end.
	Large bool
	// TitlePrefix says that Size includes the document's title, because the caller embeds the title with every window.
	// MetadataSuffix adds the document's properties to the text that is embedded, and Size includes them: see
	// [WindowOptions.Enrich]. With either option, a window has less text of its own.
	TitlePrefix, MetadataSuffix bool
	// Tokens yields the tokens that Size counts; nil counts words. TokensName is one word that names the tokens in an
	// index: a model's name, or "" or "words" for words.
	Tokens     Tokens
	TokensName string
}

// nameOptions returns the options that the name of a chunker records, in the order of the name.
func (o *WindowOptions) nameOptions() []namedOption {
	return []namedOption{{"size", &o.Size}, {"overlap", &o.Overlap}, {"boundary", &o.Boundary}, {"tokens", &o.TokensName},
		{"large", &o.Large}, {"title-prefix", &o.TitlePrefix}, {"metadata-suffix", &o.MetadataSuffix}}
}

// Tokens yields the tokens of a text in order, until yield returns false. A token is a range of bytes. Tokens do not
// overlap, and begin and end at characters. A token that is a part of a character may have an empty range. Callers
// may call the function concurrently.
type Tokens func(text string, yield func(start, end int) bool)

// wordTokens is the value of WindowOptions.TokensName if Size counts words.
const wordTokens = "words"

// DefaultWindowSize is the default size of a window in tokens, as in Sonar and Onyx.
const DefaultWindowSize = 512

// These are the places where windows may end, values of WindowOptions.Boundary.
const (
	boundaryToken    = "token"
	boundaryLine     = "line"
	boundarySentence = "sentence"
)

// windowsPerLarge is the number of windows that make a large chunk, as in Onyx.
const windowsPerLarge = 4

// window is a chunker. It cuts text into windows of tokens that overlap and cross headings. A window is verbatim text:
// from its first to its last token, or whole lines or sentences. The first window begins at the start of the text, the
// last ends at its end.
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
	if o.TokensName == "" {
		o.TokensName = wordTokens
	}
	if o.Tokens == nil && o.TokensName == wordTokens {
		o.Tokens = words
	}
	switch {
	case o.Tokens == nil || len(strings.Fields(o.TokensName)) != 1:
		return nil, sheaf.Invalidf("window: tokens %q are not known: must be %s, or the tokenizer of that name given with it",
			o.TokensName, wordTokens)
	case o.Size < 1:
		return nil, sheaf.Invalidf("window: size is %d tokens: must be at least 1", o.Size)
	case o.Overlap < 0 || o.Overlap >= o.Size:
		return nil, sheaf.Invalidf("window: overlap is %d tokens: must be within 0..%d, below the size", o.Overlap, o.Size-1)
	case o.Boundary != boundaryToken && o.Boundary != boundaryLine && o.Boundary != boundarySentence:
		return nil, sheaf.Invalidf("window: boundary %q: must be token, line or sentence", o.Boundary)
	}
	return window{o, githubSlugs}, nil
}

func (w window) Name() string {
	return nameOf("window", w.o.nameOptions(), w.githubSlugs)
}

func (w window) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, w.githubSlugs)
	if s.empty() {
		return s.doc
	}
	begin := s.front.whole.end
	if blankText(s.src[begin:]) {
		// Only frontmatter: one window over it, so that title and properties find the document.
		s.addPiece(sheaf.Span{Start: s.front.whole.start, End: len(s.src)}, "")
		s.finishPieces()
		return s.doc
	}
	_, size := w.o.Enrich(&s.doc)
	cut := windowCut{window: w, src: s.src, tokens: w.tokens(s.src, begin), size: size}
	heading := 0 // number of headings that begin at or before the window
	for _, body := range cut.bodies(begin) {
		for heading < len(s.titles) && s.scan.headings[heading].start <= body.Start {
			heading++
		}
		title := ""
		if heading > 0 {
			title = s.titles[heading-1]
		}
		s.addPiece(body, title)
	}
	s.finishPieces()
	if w.o.Large {
		s.addLarge()
	}
	return s.doc
}

// tokens returns the ranges of the tokens of src[begin:], as positions in src. It skips a token that begins before the
// end of the token before it.
func (w window) tokens(src string, begin int) (tokens []span) {
	last, text := 0, src[begin:]
	w.o.Tokens(text, func(start, end int) bool {
		if start >= last && start <= end && end <= len(text) {
			tokens = append(tokens, span{begin + start, begin + end})
			last = end
		}
		return true
	})
	return tokens
}

// windowCut is the state of cutting one text into windows.
type windowCut struct {
	window
	src    string
	tokens []span
	size   int // of a window, in tokens
	// units are the indices of the tokens that begin a unit: a line or a sentence. bounds has the range of white space
	// before each unit.
	units  []int
	bounds []span
}

// bodies returns the byte ranges of the windows in c.src[begin:], as positions in c.src. If tokens are parts of
// characters, one window may be inside another; bodies then drops the inner window.
func (c *windowCut) bodies(begin int) []sheaf.Span {
	ranges := c.ranges()
	bodies := make([]sheaf.Span, 0, len(ranges))
	for _, r := range ranges {
		body := sheaf.Span{Start: begin, End: len(c.src)}
		if r.start > 0 {
			body.Start = c.boundAt(r.start).end
		}
		if r.end < len(c.tokens) {
			body.End = c.boundAt(r.end).start
		}
		switch last := len(bodies) - 1; {
		case last >= 0 && body.End <= bodies[last].End:
		case last >= 0 && body.Start == bodies[last].Start:
			bodies[last] = body
		default:
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// ranges returns the windows as ranges of token numbers: start <= number < end.
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

// nextStart returns the first token of the window that follows the window start <= number < end. At most overlap tokens
// are in both windows. The next window begins with the first unit in this overlap that leaves space for the unit at
// end. Without such a unit, nextStart returns end.
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

// findUnits sets units and bounds: the lines or sentences of the text.
func (c *windowCut) findUnits() {
	var marks span // see stretch
	sentence := -1 // the end of a sentence in marks
	for i := 1; i < len(c.tokens); i++ {
		from, to := c.tokens[i-1].end, c.tokens[i].start
		between := c.src[from:to]
		at := strings.LastIndexAny(between, "\n\r")
		if c.o.Boundary == boundaryLine {
			if at++; at == 0 {
				continue
			}
		} else {
			if to > marks.end {
				marks = c.stretch(from, to, marks.end)
				if sentence = sentenceEnd(c.src[marks.start:marks.end]); sentence >= 0 {
					sentence += marks.start
				}
			}
			if sentence < from || sentence > to {
				continue
			}
			at, sentence = sentence-from, -1
		}
		gap := strings.TrimRightFunc(between[:at], unicode.IsSpace)
		rest := strings.TrimLeft(between[at:], " \t")
		c.units = append(c.units, i)
		c.bounds = append(c.bounds, span{from + len(gap), to - len(rest)})
	}
}

// stretch widens the range of bytes [from, to) in both directions until it meets a letter or a digit. The range never
// begins before byte least. The result has all punctuation between two words, even if the tokenizer makes no tokens of
// some marks.
func (c *windowCut) stretch(from, to, least int) span {
	for from > max(least, c.tokens[0].start) {
		r, size := utf8.DecodeLastRuneInString(c.src[:from])
		if isWordRune(r) {
			break
		}
		from -= size
	}
	for to < len(c.src) {
		r, size := utf8.DecodeRuneInString(c.src[to:])
		if isWordRune(r) {
			break
		}
		to += size
	}
	return span{from, to}
}

// boundAt returns the range of bytes between two windows. The second window begins with this token.
func (c *windowCut) boundAt(token int) span {
	if i, ok := slices.BinarySearch(c.units, token); ok {
		return c.bounds[i]
	}
	return span{c.tokens[token-1].end, c.tokens[token].start}
}

// sentenceEnd returns where a sentence ends in gap, the text between two letters or digits, or -1. A sentence ends
// after one of .!?… and white space, or after one of 。！？ and closing marks. It also ends at a blank line, or at a
// line break before a list or heading mark.
func sentenceEnd(gap string) int {
	if i := strings.LastIndexAny(gap, "。！？"); i >= 0 {
		_, size := utf8.DecodeRuneInString(gap[i:])
		rest := gap[i+size:]
		return len(gap) - len(strings.TrimLeft(rest, closingMarks))
	}
	i := strings.IndexAny(gap, "\n\r")
	if i >= 0 && strings.TrimRight(gap[i:], " \t\n\r") != "" || strings.Count(gap, "\n") > 1 {
		return strings.LastIndexAny(gap, "\n\r") + 1
	}
	space := strings.IndexFunc(gap, unicode.IsSpace)
	if space < 0 || !strings.ContainsAny(gap[:space], ".!?…") {
		return -1
	}
	_, size := utf8.DecodeRuneInString(gap[space:])
	return space + size
}

// addLarge appends a large chunk for each group of two to windowsPerLarge consecutive windows. The large chunk has the
// IDs of the windows as Members, and all their links, tags and blocks.
func (s *source) addLarge() {
	windows := s.doc.Chunks
	number := 0
	for group := range slices.Chunk(windows, windowsPerLarge) {
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

// largeChunk is a chunk under construction that combines windows.
type largeChunk struct {
	sheaf.Chunk
	tags map[string]bool
}

// takeFrom adds the ID, links, tags and blocks of a window to the large chunk, each only once.
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

// words yields each run of letters, marks and digits. In scripts without spaces it yields every character separately.
func words(text string, yield func(start, end int) bool) {
	start := -1
	for i, r := range text {
		alone := r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		inWord := !alone && isWordRune(r)
		if start >= 0 && !inWord {
			if !yield(start, i) {
				return
			}
			start = -1
		}
		if alone && !yield(i, i+utf8.RuneLen(r)) {
			return
		}
		if inWord && start < 0 {
			start = i
		}
	}
	if start >= 0 {
		yield(start, len(text))
	}
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
