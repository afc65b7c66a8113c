package chunk

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
)

// SectionOptions are the options of the sections chunker.
type SectionOptions struct {
	// Cap is the largest number of characters of a piece, without outer white space. It is at least 100; 0 means
	// DefaultSectionCap.
	Cap int
}

// nameOptions returns the options that the name of the chunker records, in the order in the name.
func (o *SectionOptions) nameOptions() []namedOption { return []namedOption{{"cap", &o.Cap}} }

// DefaultSectionCap is the default of [SectionOptions].Cap.
const DefaultSectionCap = 6000

// sections is a chunker. It keeps a text within the cap whole, and cuts a longer text at every heading. It cuts a
// section above the cap after the last blank line, line, sentence or word that fits. Pieces are verbatim, and together
// make up the file after its frontmatter.
type sections struct {
	cap         int
	githubSlugs bool
}

func newSections(o SectionOptions, githubSlugs bool) (Chunker, error) {
	if o.Cap == 0 {
		o.Cap = DefaultSectionCap
	}
	if o.Cap < 100 {
		return nil, sheaf.Invalidf("sections: cap is %d characters: must be at least 100", o.Cap)
	}
	return sections{o.Cap, githubSlugs}, nil
}

func (c sections) Name() string {
	return nameOf("sections", (&SectionOptions{Cap: c.cap}).nameOptions(), c.githubSlugs)
}

func (c sections) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, c.githubSlugs)
	if s.empty() {
		return s.doc
	}
	begin := s.front.whole.end
	if blankText(s.src[begin:]) {
		begin = s.front.whole.start // only frontmatter: one piece over it
	}
	whole := hasAtMost(s.src[begin:], c.cap)
	for i := 0; begin < len(s.src); i++ {
		section, title := sheaf.Span{Start: begin, End: len(s.src)}, ""
		if i+1 < len(s.titles) && !whole {
			section.End = s.scan.headings[i+1].start
		}
		if i < len(s.titles) {
			title = s.titles[i]
		}
		for begin < section.End {
			end := begin + cutAt(s.src[begin:section.End], c.cap)
			s.addPiece(sheaf.Span{Start: begin, End: end}, title)
			begin = end
		}
	}
	s.finishPieces()
	return s.doc
}

// hasAtMost reports whether text has at most limit characters, without white space at its ends.
func hasAtMost(text string, limit int) bool {
	if len(text) <= limit {
		return true
	}
	text = strings.TrimSpace(text)
	return len(text) <= limit || len(text) <= utf8.UTFMax*limit && utf8.RuneCountInString(text) <= limit
}

// overflow returns the position of the character after the first limit characters. text must have more characters than
// limit.
func overflow(text string, limit int) int {
	n := 0
	for i, r := range text {
		if n == 0 && unicode.IsSpace(r) {
			continue
		}
		if n >= limit && !unicode.IsSpace(r) {
			return i
		}
		n++
	}
	return len(text)
}

// cutAt returns where the first piece of text ends. A text of at most limit characters is one piece. Otherwise the
// piece ends after the last blank line, line, sentence or word that fits, in this order. If none fits, the piece ends
// at the limit.
func cutAt(text string, limit int) int {
	if hasAtMost(text, limit) {
		return len(text)
	}
	stop := overflow(text, limit)
	// The character at stop is the first that does not fit; any boundary up to it is allowed.
	var paragraph, lineEnd, sentence, word int
	lineStart, sentenceEnd := 0, false
	for i := 0; i < stop; {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		switch {
		case r == '\n' || r == '\r' && !(next < len(text) && text[next] == '\n'):
			lineEnd = next
			if blankText(text[lineStart:next]) {
				paragraph = next
			}
			lineStart, word = next, next
			if sentenceEnd {
				sentence = next
			}
		case unicode.IsSpace(r):
			word = next
			if sentenceEnd {
				sentence = next
			}
		case strings.ContainsRune(closingMarks, r):
			// The mark belongs to the sentence that it ends.
			if sentence == i {
				sentence = next
			}
		default:
			sentenceEnd = r == '.' || r == '!' || r == '?' || r == '…'
			if r == '。' || r == '！' || r == '？' {
				sentence = next
			}
		}
		i = next
	}
	for _, at := range [...]int{paragraph, lineEnd, sentence, word} {
		if at > 0 && !blankText(text[:at]) {
			return at
		}
	}
	return stop
}

// closingMarks are the marks that may follow the end of a sentence before the white space.
const closingMarks = `"')]}»”’」』）】*_`

// addPiece appends a chunk for a range of the file. heading is the title of the heading above the range.
func (s *source) addPiece(body sheaf.Span, heading string) {
	n := len(s.doc.Chunks)
	c := sheaf.Chunk{
		ID: sheaf.ChunkID(s.doc.ID, strconv.Itoa(n)), Doc: s.doc.ID, Parent: s.doc.ID, Depth: 1, Position: n,
		Title: s.doc.Title, Slug: strconv.Itoa(n), Span: body, Body: body,
		Hierarchy: []string{s.doc.Title},
	}
	if heading = shortened(heading); heading != "" && heading != s.doc.Title {
		c.Hierarchy = append(c.Hierarchy, heading)
	}
	s.doc.Chunks = append(s.doc.Chunks, c)
}

// finishPieces sets the fields that depend on all pieces, such as the number of siblings.
func (s *source) finishPieces() {
	for i := range s.doc.Chunks {
		s.doc.Chunks[i].SiblingCount = len(s.doc.Chunks)
	}
	s.distribute()
}

// These limits say how code is cut. A piece has at most codeLines lines. From line codeLeast on, a piece ends at the
// first blank line before an unindented line, where functions usually end. Without such a line, it ends at the last
// blank line from codeLeast to codeLines, or else at codeLines.
const (
	codeLines = 60
	codeLeast = 30
)

// code is a chunker that cuts source files by lines. The pieces make up the whole file. A piece is named by its lines,
// as in "lines 1-42".
type code struct{}

func (code) Name() string { return "code lines=" + strconv.Itoa(codeLines) }

func (code) Chunk(treeName, path string, content []byte) sheaf.Document {
	s := read(treeName, path, content, false)
	if s.empty() {
		return s.doc
	}
	s.doc.Title = path[strings.LastIndexByte(path, '/')+1:] // the name with its extension
	// A piece begins with line first at byte from. blankAt is the end of the last blank line at
	// which it may end, and blankLine its number.
	number, first, from := 0, 1, 0
	blankAt, blankLine := 0, 0
	add := func(end, last int) {
		s.addPiece(sheaf.Span{Start: from, End: end}, "lines "+strconv.Itoa(first)+"-"+strconv.Itoa(last))
		from, first, blankAt = end, last+1, 0
	}
	for l := range linesFrom(s.src, 0) {
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
