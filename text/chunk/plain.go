package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// special lists the bytes that may begin inline Markdown that is not plain text.
var special = bytesOf("\\`*_[]<&!~\n")

// plainText returns inline Markdown as plain text on one line. It drops marks and HTML tags, keeps the texts of code,
// links and images, and decodes escapes and entities. NUL and every invalid byte become U+FFFD.
func plainText(content string, definitions map[string]string) string {
	content = showable(content)
	i := 0
	for i < len(content) && !special[content[i]] {
		i++
	}
	if i == len(content) {
		return content
	}
	w := plainWriter{inline: inline{text: content, definitions: definitions}}
	w.scan(i)
	w.emphasis(0)
	return strings.Trim(w.String(), " \t")
}

// showable returns s with U+FFFD for every NUL and every invalid byte.
func showable(s string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == 0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// plainWriter drops the marks of inline Markdown that CommonMark recognizes. It collects pieces of text. A piece that
// may be a mark disappears when a run of delimiters matches or a link is complete.
type plainWriter struct {
	inline
	pieces []piece
	// delimiters are the indices of the pieces that are runs of delimiters (such as ** or _). Runs inside complete
	// links are missing.
	delimiters []int
	from       int // start of the text that is not yet in a piece
}

// piece is a part of the text. If char is not 0, the piece is a run of delimiters. The field length is their number.
// The first ones, as many as count says, are text; the others are marks.
type piece struct {
	text              string
	char              byte
	canOpen, canClose bool
	count, length     int
}

func (w *plainWriter) String() string {
	var b strings.Builder
	b.Grow(len(w.text))
	for i := range w.pieces {
		if p := &w.pieces[i]; p.char != 0 {
			b.WriteString(p.text[:p.count])
		} else {
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// flush adds text[from:i], the text before byte i that is in no piece yet, as a piece.
func (w *plainWriter) flush(i int) {
	if i > w.from {
		w.pieces = append(w.pieces, piece{text: w.text[w.from:i]})
	}
	w.from = i
}

// put writes text in place of the bytes i <= byte < end of the source, and returns end.
func (w *plainWriter) put(i, end int, text string) int {
	w.flush(i)
	w.pieces = append(w.pieces, piece{text: text})
	w.from = end
	return end
}

func (w *plainWriter) scan(i int) {
	t := w.text
	for i < len(t) {
		switch c := t[i]; {
		case !special[c]:
			i++
		case c == '*' || c == '_' || c == '~':
			i = w.run(i)
		case c == '&':
			text, size := Entity(t[i:])
			if size > 1 {
				w.put(i, i+size, text)
			}
			i += size
		case c == '\n': // one space for the line ending and the white space before it
			from := w.from + len(strings.TrimRight(t[w.from:i], " \t"))
			i = w.put(from, i+1, " ")
		case c == '\\' && strings.HasPrefix(t[i+1:], "\n"):
			i = w.put(i, i+2, " ")
		default:
			c := w.construct(i)
			w.take(&c, i)
			i = c.end
		}
	}
	w.flush(len(t))
}

// take writes the text of the construct at byte i, without its marks.
func (w *plainWriter) take(c *construct, i int) {
	switch c.kind {
	case escapeConstruct:
		w.flush(i)
		w.from = i + 1
	case codeConstruct:
		s := strings.ReplaceAll(c.text, "\n", " ")
		if len(s) > 1 && s[0] == ' ' && s[len(s)-1] == ' ' && strings.Trim(s, " ") != "" {
			s = s[1 : len(s)-1]
		}
		w.put(i, c.end, s)
	case angleConstruct:
		w.put(i, c.end, c.text)
	case wikiConstruct:
		w.put(i, c.end, c.wiki.Text())
	case openingConstruct:
		w.flush(i)
		k := &w.brackets.open[len(w.brackets.open)-1]
		k.piece, k.delimiter = len(w.pieces), len(w.delimiters)
		w.put(i, c.end, w.text[i:c.end])
	case linkConstruct:
		w.flush(i)
		w.from = c.end
		w.pieces[c.opening.piece].text = ""
		w.emphasis(c.opening.delimiter)
	}
}

// run adds the run of delimiters at byte i as a piece, and returns the byte after the run.
func (w *plainWriter) run(i int) int {
	t, c := w.text, w.text[i]
	n := runOf(t[i:], c)
	end := i + n
	if c == '~' && n > 2 {
		return end
	}
	before, after := ' ', ' '
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(t[:i])
	}
	if end < len(t) {
		after, _ = utf8.DecodeRuneInString(t[end:])
	}
	left := !flankSpace(after) && (!flankPunctuation(after) || flankSpace(before) || flankPunctuation(before))
	right := !flankSpace(before) && (!flankPunctuation(before) || flankSpace(after) || flankPunctuation(after))
	p := piece{text: t[i:end], char: c, count: n, length: n, canOpen: left, canClose: right}
	if c == '_' {
		p.canOpen = left && (!right || flankPunctuation(before))
		p.canClose = right && (!left || flankPunctuation(after))
	}
	w.flush(i)
	w.from = end
	w.delimiters = append(w.delimiters, len(w.pieces))
	w.pieces = append(w.pieces, p)
	return end
}

func flankSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' && r != '\v' || unicode.Is(unicode.Zs, r)
}

func flankPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return isPunctuation(byte(r))
	}
	return unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// emphasis matches the runs in delimiters[bottom:] by the specification's algorithm, and then removes them from
// delimiters.
func (w *plainWriter) emphasis(bottom int) {
	var stack []int             // runs that may still open emphasis; a match removes those above the opening run
	var searched [3 * 2 * 3]int // for each kind of closing run, a run before which no opening run matches
	for _, d := range w.delimiters[bottom:] {
		closer := &w.pieces[d]
		for closer.canClose && closer.count > 0 {
			kind := strings.IndexByte("*_~", closer.char)*2*3 + closer.length%3
			if closer.canOpen {
				kind += 3
			}
			k := len(stack) - 1
			for k >= 0 && stack[k] >= searched[kind] && !matchDelimiters(&w.pieces[stack[k]], closer) {
				k--
			}
			if k < 0 || stack[k] < searched[kind] {
				searched[kind] = d
				break
			}
			opener := &w.pieces[stack[k]]
			used := min(opener.count, closer.count, 2)
			opener.count -= used
			closer.count -= used
			stack = stack[:k+1]
			if opener.count == 0 {
				stack = stack[:k]
			}
		}
		if closer.canOpen && closer.count > 0 {
			stack = append(stack, d)
		}
	}
	w.delimiters = w.delimiters[:bottom]
}

func matchDelimiters(opener, closer *piece) bool {
	if opener.char != closer.char {
		return false
	}
	if opener.char == '~' {
		return opener.count == closer.count
	}
	return !(closer.canOpen || opener.canClose) || closer.length%3 == 0 || (opener.length+closer.length)%3 != 0
}
