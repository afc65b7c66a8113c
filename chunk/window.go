package chunk

import (
	"fmt"
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
	// Tokens yields the tokens of a text in order, as byte ranges that do
	// not overlap; nil counts words. TokensName names it in indexes.
	Tokens     func(text string, yield func(start, end int) bool)
	TokensName string
}

// DefaultWindowSize is the window of Sonar and Onyx.
const DefaultWindowSize = 512

// windowsPerLarge is how many windows a large chunk is made of (Onyx).
const windowsPerLarge = 4

// window cuts text into windows of tokens that overlap and cross headings.
// Windows are verbatim: from the first token's start to the last one's end, the
// first and last reaching to the ends of the text.
type window struct {
	o           WindowOptions
	githubSlugs bool
}

func newWindow(o WindowOptions, githubSlugs bool) (Chunker, error) {
	if o.Size == 0 {
		o.Size = DefaultWindowSize
	}
	if o.Boundary == "" {
		o.Boundary = "token"
	}
	if o.Tokens == nil {
		o.Tokens, o.TokensName = words, "words"
	}
	switch {
	case o.Size < 1:
		return nil, sheaf.Invalidf("window: size is %d tokens: must be at least 1", o.Size)
	case o.Overlap < 0 || o.Overlap >= o.Size:
		return nil, sheaf.Invalidf("window: overlap is %d tokens: must be within 0..%d, below the size", o.Overlap, o.Size-1)
	case o.Boundary != "token" && o.Boundary != "line" && o.Boundary != "sentence":
		return nil, sheaf.Invalidf("window: boundary %q: must be token, line or sentence", o.Boundary)
	}
	return window{o, githubSlugs}, nil
}

// Name implements [Chunker].
func (w window) Name() string {
	name := fmt.Sprintf("window size=%d overlap=%d boundary=%s tokens=%s", w.o.Size, w.o.Overlap, w.o.Boundary, w.o.TokensName)
	if w.o.Large {
		name += " large"
	}
	return name
}

// Chunk implements [Chunker].
func (w window) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, w.githubSlugs)
	begin := s.front.whole.end
	if s.empty() || blankText(s.src[begin:]) {
		return s.doc
	}
	text := s.src[begin:]
	var tokens []span
	w.o.Tokens(text, func(start, end int) bool {
		tokens = append(tokens, span{begin + start, begin + end})
		return true
	})
	for _, r := range w.ranges(s.src, tokens) {
		body := sheaf.Span{Start: begin, End: len(s.src)}
		if r.start > 0 {
			body.Start = tokens[r.start].start
		}
		if r.end < len(tokens) {
			body.End = tokens[r.end-1].end
		}
		s.addPiece(body, s.headingAt(body.Start))
	}
	s.finishPieces()
	if w.o.Large {
		s.addLarge()
	}
	return s.doc
}

// ranges are the windows over tokens, as half-open ranges of their indices.
func (w window) ranges(src string, tokens []span) []span {
	n := len(tokens)
	if n <= w.o.Size {
		return []span{{0, n}}
	}
	var out []span
	if w.o.Boundary == "token" {
		for start := 0; ; start += w.o.Size - w.o.Overlap {
			if start+w.o.Size >= n {
				return append(out, span{start, n})
			}
			out = append(out, span{start, start + w.o.Size})
		}
	}
	ends := w.unitEnds(src, tokens)
	for start := 0; ; {
		if start+w.o.Size >= n {
			return append(out, span{start, n})
		}
		end := start + w.o.Size
		if i := sort.SearchInts(ends, end+1) - 1; i >= 0 && ends[i] > start {
			end = ends[i]
		}
		out = append(out, span{start, end})
		// The next window begins at the first unit within the overlap.
		next := end
		if w.o.Overlap > 0 {
			if i := sort.SearchInts(ends, max(start+1, end-w.o.Overlap)); i < len(ends) && ends[i] < end {
				next = ends[i]
			}
		}
		start = next
	}
}

// unitEnds are the indices of tokens before which a line or a sentence ends.
func (w window) unitEnds(src string, tokens []span) []int {
	var ends []int
	for i := 1; i < len(tokens); i++ {
		between := src[tokens[i-1].end:tokens[i].start]
		if strings.ContainsAny(between, "\n\r") || w.o.Boundary == "sentence" && endsSentence(src[tokens[i-1].start:tokens[i-1].end], between) {
			ends = append(ends, i)
		}
	}
	return ends
}

func endsSentence(token, between string) bool {
	if strings.ContainsAny(between, "。！？") {
		return true
	}
	spaced := strings.IndexFunc(between, unicode.IsSpace)
	if spaced < 0 {
		return false
	}
	return strings.ContainsAny(between[:spaced], ".!?…") || spaced == 0 && strings.ContainsAny(token[len(token)-1:], ".!?")
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
// at least two; its members are named.
func (s *source) addLarge() {
	windows := s.doc.Chunks
	number := 0
	for i := 0; i < len(windows); i += windowsPerLarge {
		group := windows[i:min(i+windowsPerLarge, len(windows))]
		if len(group) < 2 {
			continue
		}
		c := group[0]
		slug := "large-" + strconv.Itoa(number)
		c.ID, c.Slug, c.Position = sheaf.ChunkID(s.doc.ID, slug), slug, len(s.doc.Chunks)
		c.Span = sheaf.Span{Start: group[0].Span.Start, End: group[len(group)-1].Span.End}
		c.Body, c.Links, c.Tags, c.Blocks, c.Members = c.Span, nil, nil, nil, nil
		for _, member := range group {
			c.Members = append(c.Members, member.ID)
		}
		s.doc.Chunks = append(s.doc.Chunks, c)
		number++
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
