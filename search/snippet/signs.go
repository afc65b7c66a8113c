package snippet

import "strings"

// isEmphasis reports whether the sign * or _ at byte i begins or ends emphasis within its line. A sign in a word or in
// code, as in snake_case or /* x */, does not, nor a sign between spaces.
func isEmphasis(text string, i int) bool {
	from, to := lineBegin(text, i, linkReach), i+len(firstLine(text[i:min(len(text), i+linkReach)]))
	in := func(k int, set string) bool { return strings.IndexByte(set, text[k]) >= 0 }
	opens := func(k int) bool {
		return text[k] == text[i] && (k == from || in(k-1, " \t([\"'-|>")) && k+1 < to && !in(k+1, " \t*_/")
	}
	closes := func(k int) bool {
		return text[k] == text[i] && (k+1 == to || in(k+1, " \t)].,;:!?\"'-|<\r\n")) && k > from && !in(k-1, " \t*_/")
	}
	for k := i + 2; opens(i) && k < to; k++ {
		if closes(k) {
			return true
		}
	}
	for k := i - 2; closes(i) && k >= from; k-- {
		if opens(k) {
			return true
		}
	}
	return false
}

// signsEnd returns the offset of the closing signs of the highlight (==text==) or comment (%%text%%) at byte i. If none
// begins at byte i, it returns 0.
func signsEnd(text string, i int) int {
	sign, rest := text[i:i+2], text[i+2:]
	if wordByte(text, i-1) || i > 0 && text[i-1] == sign[0] || rest == "" || rest[0] == sign[0] {
		return 0
	}
	var end int
	if sign == "%%" {
		end = commentLength(text, i)
	} else {
		end = highlightLength(rest)
	}
	if end < 1 || wordByte(text, i+2+end+2) {
		return 0
	}
	return i + 2 + end
}

// highlightLength returns the length of the highlight's text with which the parameter text begins. The highlight's text
// ends before "==". If the line does not close the highlight, it returns 0. Signs in code do not close a highlight.
func highlightLength(text string) int {
	reach := len(firstLine(text[:min(len(text), linkReach)]))
	for end := 0; end < reach; {
		sign, tick := strings.Index(text[end:reach], "=="), strings.IndexByte(text[end:reach], '`')
		if sign >= 0 && (tick < 0 || sign < tick) {
			if end += sign; end < 1 || text[0] == ' ' || text[end-1] == ' ' || strings.HasPrefix(text[end+2:], "=") {
				return 0
			}
			return end
		}
		if tick < 0 {
			return 0
		}
		end += tick + codeSpan(text[end+tick:])
	}
	return 0
}

// commentLength returns the length of the comment's text between the opening signs at byte i and the closing signs. If
// nothing closes the comment, it returns 0. A comment must end in its paragraph, unless it begins a line and its
// closing signs end a later line.
func commentLength(text string, i int) int {
	rest := text[i+2:]
	end := strings.Index(rest, "%%")
	if end < 1 || !endsParagraph(rest[:end]) {
		return max(end, 0)
	}
	before := strings.TrimRight(text[max(0, i-linkReach):i], " \t>")
	begins := before == "" || strings.HasSuffix(before, "\n") || strings.HasSuffix(before, "\r")
	if begins && !strings.Contains(firstLine(rest), "%%") && strings.TrimSpace(firstLine(rest[end+2:])) == "" {
		return end
	}
	return 0
}
