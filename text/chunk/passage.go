package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"sheaf"
)

// Passages says how the text of a chunk is cut into passages for embedding: windows of at most Words words. A window
// begins every Stride (1..Words) words, so neighbors overlap if Stride is less than Words. Characters of scripts
// without spaces count as half a word.
type Passages struct{ Words, Stride int }

// AppendStarts appends to starts the bytes of text at which its words begin.
func (Passages) AppendStarts(starts []int, text string) []int {
	inWord, dense := false, 0
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && asciiWord[text[i]] {
			i++
		}
		if i > start {
			if !inWord {
				starts = append(starts, start)
			}
			inWord = true
			continue
		}
		if text[i] < utf8.RuneSelf { // white space
			inWord = false
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
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

// asciiWord has the bytes of ASCII that are not white space.
var asciiWord = func() (set [256]bool) {
	for c := range utf8.RuneSelf {
		set[c] = c != ' ' && (c < '\t' || c > '\r')
	}
	return set
}()

// Count returns the number of passages of a text with this many words, at least 1.
func (p Passages) Count(words int) int {
	if words <= p.Words {
		return 1
	}
	return 1 + (words-p.Words+p.Stride-1)/p.Stride
}

// Window returns the range of passage n, from 0, of a text with size bytes. starts has the bytes at which words begin.
// Without words, the range is the whole text.
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

// Span returns the range in content of passage n of a chunk. content is the text of the document.
func (p Passages) Span(doc *sheaf.Document, c *sheaf.Chunk, content []byte, n int) sheaf.Span {
	left := IndexedText(doc, c, unsafe.String(unsafe.SliceData(content), len(content)))
	text := left.Text
	w := p.Window(p.AppendStarts(nil, text), len(text), n)
	for w.End > w.Start && strings.IndexByte(" \t\r\n", text[w.End-1]) >= 0 {
		w.End--
	}
	if w.End == w.Start {
		return sheaf.Span{Start: c.Body.Start + left.At(w.Start), End: c.Body.Start + left.At(w.Start)}
	}
	return sheaf.Span{Start: c.Body.Start + left.At(w.Start), End: c.Body.Start + left.At(w.End-1) + 1}
}
