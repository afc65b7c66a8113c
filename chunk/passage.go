package chunk

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// Passages says how the text of a chunk is cut into the passages that are
// embedded: windows of at most Words words, one begun every Stride words, so that
// neighbors share some. Stride is 1..Words. Characters of scripts without spaces
// count as half a word.
type Passages struct{ Words, Stride int }

// Starts are the bytes of text at which its words begin.
func (p Passages) Starts(text string) []int { return p.AppendStarts(nil, text) }

// AppendStarts appends to starts the bytes of text at which its words begin.
func (Passages) AppendStarts(starts []int, text string) []int {
	return appendStarts(starts, text, math.MaxInt)
}

// appendStarts appends the bytes of text at which its words begin, until there are
// more than enough.
func appendStarts[T string | []byte](starts []int, text T, enough int) []int {
	inWord, dense := false, 0
	for i := 0; i < len(text) && len(starts) <= enough; {
		switch c := text[i]; {
		case ' ' < c && c < utf8.RuneSelf:
			if !inWord {
				starts = append(starts, i)
			}
			inWord = true
			for i++; i < len(text) && ' ' < text[i] && text[i] < utf8.RuneSelf; i++ { // most bytes are in the middle of words
			}
			continue
		case c < utf8.RuneSelf:
			space := c == ' ' || '\t' <= c && c <= '\r'
			if !space && !inWord {
				starts = append(starts, i)
			}
			inWord = !space
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		switch {
		case r >= 0x2E80 && unicode.IsLetter(r):
			if dense%2 == 0 {
				starts = append(starts, i)
			}
			dense++
			inWord = false
		case unicode.IsSpace(r):
			inWord = false
		case !inWord:
			inWord = true
			starts = append(starts, i)
		}
		i += size
	}
	return starts
}

// Count is the number of passages of a text of this many words; 1 for none.
func (p Passages) Count(words int) int {
	if words <= p.Words {
		return 1
	}
	return 1 + (words-p.Words+p.Stride-1)/p.Stride
}

// Window is where passage n, from 0, of a text of size bytes lies, given where its
// words start; the whole text when it has no words.
func (p Passages) Window(starts []int, size, n int) sheaf.Span {
	if len(starts) == 0 {
		return sheaf.Span{End: size}
	}
	first := min(max(n, 0)*p.Stride, len(starts)-1)
	end := size
	if last := first + p.Words; last < len(starts) {
		end = starts[last]
	}
	return sheaf.Span{Start: starts[first], End: end}
}

// startsPool has lists for Span, which snippets call for many texts.
var startsPool = sync.Pool{New: func() any { return new([]int) }}

// Span is where passage n of a chunk lies in content, the text of its document.
func (p Passages) Span(doc *sheaf.Document, c *sheaf.Chunk, content []byte, n int) sheaf.Span {
	before, after := IndexedText(doc, c, content)
	text := before
	if len(after) > 0 {
		text = slices.Concat(before, after)
	}
	starts := startsPool.Get().(*[]int)
	defer startsPool.Put(starts)
	*starts = appendStarts((*starts)[:0], text, max(n, 0)*p.Stride+p.Words)
	w := p.Window(*starts, len(text), n)
	for w.End > w.Start && strings.IndexByte(" \t\r\n", text[w.End-1]) >= 0 {
		w.End--
	}
	skipped := c.Body.Len() - len(text) // the frontmatter between the parts
	at := func(i int) int {
		if i < len(before) || len(after) == 0 {
			return c.Body.Start + i
		}
		return c.Body.Start + skipped + i
	}
	return sheaf.Span{Start: at(w.Start), End: max(at(w.Start), at(w.End))}
}
