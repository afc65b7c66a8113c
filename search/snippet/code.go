package snippet

import (
	"slices"
	"strings"
)

// codeReach is the largest number of bytes that are searched for the ends of a code span.
const codeReach = 1024

// paragraphEnds are the texts at which a paragraph ends.
var paragraphEnds = []string{"\n\n", "\n\r\n", "\n```", "\n~~~"}

// endsParagraph reports whether text contains the end of a paragraph.
func endsParagraph(text string) bool {
	return slices.ContainsFunc(paragraphEnds, func(end string) bool { return strings.Contains(text, end) })
}

// codeSpan returns the length of the code span at the beginning of text, with its backticks. If the span is not closed
// in the paragraph, it returns the length of the opening backticks.
func codeSpan(text string) int {
	text = text[:min(len(text), codeReach)]
	for _, end := range paragraphEnds {
		if i := strings.Index(text, end); i >= 0 {
			text = text[:i]
		}
	}
	ticks := backticks(text)
	for at := ticks; ; {
		i := strings.IndexByte(text[at:], '`')
		if i < 0 {
			return ticks
		}
		at += i
		n := backticks(text[at:])
		at += n
		if n == ticks {
			return at
		}
	}
}

func backticks(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// codeSpanEnd returns the end of the code span that contains byte i and begins in the same line, or 0.
func codeSpanEnd(text string, i int) int {
	at := lineBegin(text, i, codeReach)
	for at < i {
		tick := strings.IndexByte(text[at:i], '`')
		if tick < 0 {
			return 0
		}
		at += tick
		if at += codeSpan(text[at:]); at > i {
			return at
		}
	}
	return 0
}

// lineBegin returns the beginning of the line that contains byte i, but at least i-reach.
func lineBegin(text string, i, reach int) int {
	for from := max(0, i-reach); i > from && text[i-1] != '\n' && text[i-1] != '\r'; {
		i--
	}
	return i
}

// fence is the state of a line-by-line reader of fenced code: the open block, if any.
type fence struct {
	// mark is the mark that opened the block, such as "```". Outside a block it is "".
	mark string
	// quoted says that the block is in a quote, and ends at the end of the quote.
	quoted bool
}

// endless is the state in a text that is code from its first line to its last.
var endless = fence{mark: "\x00"}

// fenceMark returns the mark of the fence that a line begins with, or "".
func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, c))
		if n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) {
			return line[:n]
		}
	}
	return ""
}

// next reads a whole line. code reports whether the line belongs to a fenced block. marks is the number of bytes of the
// line that are Markdown signs, not code. In the line that closes the block, all bytes are signs.
func (f *fence) next(line string) (marks int, code bool) {
	rest := strings.TrimLeft(line, " \t")
	if f.mark != "" && f.quoted && !strings.HasPrefix(rest, ">") {
		*f = fence{}
	}
	if f.mark == "" {
		f.open(line)
		return 0, false
	}
	if f.quoted {
		rest = strings.TrimLeft(rest, "> \t")
	}
	if strings.HasPrefix(rest, f.mark) && strings.Trim(rest, f.mark[:1]+" \t") == "" {
		*f = fence{}
		return len(line), true
	}
	return len(line) - len(rest), true
}

// open begins a block if the line has an opening fence, perhaps in a list or quote.
func (f *fence) open(line string) {
	for {
		line = strings.TrimLeft(line, " \t")
		if f.mark = fenceMark(line); f.mark != "" {
			return
		}
		f.quoted = f.quoted || strings.HasPrefix(line, ">")
		n := lineMark(line)
		if n == 0 {
			*f = fence{}
			return
		}
		line = line[n:]
	}
}

// fenceStep is how many bytes read searches at once. It limits the work for a text with many fences of one kind.
const fenceStep = 4 << 10

// read reads text, which begins and ends at the beginning of a line.
func (f *fence) read(text string) {
	for text != "" {
		if f.mark == "" { // skip lines without a fence
			near := text[:min(len(text), fenceStep)]
			near, _, _ = strings.Cut(near, "```")
			near, _, _ = strings.Cut(near, "~~~")
			text = text[lineBegin(text, len(near), fenceStep):]
		}
		line := firstLine(text)
		f.next(line)
		text = text[len(line):]
		text = text[min(lineEnd(text), len(text)):]
	}
}

// lineEnd returns the length of the line ending at the beginning of text. There must be a line ending.
func lineEnd(text string) int {
	if strings.HasPrefix(text, "\r\n") {
		return 2
	}
	return 1
}

func firstLine(text string) string {
	const step = 512 // limits the search for a kind of line end that the text may lack
	for from := 0; from < len(text); from += step {
		part := text[from:min(len(text), from+step)]
		end := strings.IndexByte(part, '\n')
		if end >= 0 {
			part = part[:end]
		}
		if i := strings.IndexByte(part, '\r'); i >= 0 {
			end = i
		}
		if end >= 0 {
			return text[:from+end]
		}
	}
	return text
}
