package chunk

import (
	"strconv"
	"strings"

	"sheaf"
)

// Code is cut into pieces of at most codeLines lines. A piece of codeLeast lines
// or more ends at a blank line before one that is not indented, where functions
// and the like end; without such a place it ends at the last blank line that
// fits, or at the limit.
const (
	codeLines = 60
	codeLeast = 30
)

// code cuts source files by lines. The pieces partition the file; each is
// called by its lines, "lines 1-42".
type code struct{}

// Name implements [Chunker].
func (code) Name() string { return "code lines=" + strconv.Itoa(codeLines) }

// Chunk implements [Chunker].
func (code) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, false)
	if s.empty() {
		return s.doc
	}
	s.doc.Title = path[strings.LastIndexByte(path, '/')+1:] // with its extension
	// A piece begins with line first at byte from; blankAt is the end of the
	// last blank line at which it may end, and blankLine its number.
	number, first, from := 0, 1, 0
	blankAt, blankLine := 0, 0
	add := func(end, last int) {
		s.addPiece(sheaf.Span{Start: from, End: end}, "lines "+strconv.Itoa(first)+"-"+strconv.Itoa(last))
		from, first, blankAt = end, last+1, 0
	}
	all := linesFrom(s.src, 0)
	for l, ok := all.next(); ok; l, ok = all.next() {
		number++
		isBlank := blankText(s.src[l.start:l.end])
		if blankAt == l.start && blankAt > 0 && !isBlank && s.src[l.start] != ' ' && s.src[l.start] != '\t' {
			add(l.start, number-1)
		}
		if number-first+1 > codeLines {
			if blankAt > 0 {
				add(blankAt, blankLine)
			} else {
				add(l.start, number-1)
			}
		}
		if isBlank && number-first+1 >= codeLeast {
			blankAt, blankLine = l.next, number
		}
	}
	add(len(s.src), number)
	for i := range s.doc.Chunks {
		c := &s.doc.Chunks[i]
		c.Title = c.Hierarchy[len(c.Hierarchy)-1]
	}
	s.finishPieces()
	return s.doc
}
