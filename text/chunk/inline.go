package chunk

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"sheaf/internal/wikilink"
)

func isPunctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// unescape returns Markdown text with its backslash escapes and entities decoded.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && isPunctuation(s[i+1]):
			b.WriteByte(s[i+1])
			i += 2
		case c == '&':
			text, size := Entity(s[i:])
			b.WriteString(text)
			i += size
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// maxEntity is larger than the number of bytes of every entity.
const maxEntity = 40

// Entity decodes the HTML entity at the start of s, such as &amp;, and returns its size in bytes. s must begin with an
// ampersand. If no entity begins there, Entity returns the ampersand and 1.
func Entity(s string) (text string, size int) {
	end := strings.IndexByte(s[:min(len(s), maxEntity)], ';')
	if end < 2 {
		return "&", 1
	}
	name := s[1:end]
	if name[0] != '#' {
		// Package html also decodes entities that have no semicolon in HTML. Markdown has no such entities. In this case,
		// the result ends with the semicolon.
		if decoded := html.UnescapeString(s[:end+1]); !strings.HasPrefix(decoded, "&") || name == "amp" || name == "AMP" {
			if !strings.HasSuffix(decoded, ";") || name == "semi" {
				return decoded, end + 1
			}
		}
		return "&", 1
	}
	digits, base, most := name[1:], 10, 7
	if len(digits) > 0 && digits[0]|0x20 == 'x' {
		digits, base, most = digits[1:], 16, 6
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > most {
		return "&", 1
	}
	if n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		n = utf8.RuneError
	}
	return string(rune(n)), end + 1
}

// inline parses the parts of Markdown text that are not plain: escapes, code spans, HTML, addresses and links. It
// remembers failed searches, so that the time grows linearly with the text's length.
type inline struct {
	text        string
	definitions map[string]string
	// footnotes says that [^label] is a footnote, not the beginning of a link.
	footnotes bool
	brackets  brackets
	// lastTicks maps the length of a run of backticks to the start of the last run of this length.
	lastTicks map[int]int
	// noEnd says which ends of HTML constructs do not occur in the rest of the text.
	noEnd [4]bool
	// spent counts the bytes that the method tag has read without finding a tag.
	spent int
}

func (r *inline) reset(text string) {
	r.text, r.lastTicks, r.noEnd, r.spent = text, nil, [4]bool{}, 0
	r.brackets.open, r.brackets.barrier = r.brackets.open[:0], 0
}

// construct is one piece of inline Markdown that is not plain text, such as a code span or a link.
type construct struct {
	kind constructKind
	end  int // the byte after it
	// text is the content of a code span, or the address in angle brackets. For HTML it is "".
	text string
	wiki wikilink.Link
	// opening is the bracket that begins a link. The text of the link is between opening.from and the ']'.
	opening bracket
	target  string
}

type constructKind uint8

const (
	noConstruct      constructKind = iota
	escapeConstruct                // a backslash and a sign
	codeConstruct                  // a code span
	angleConstruct                 // HTML or an address in angle brackets
	wikiConstruct                  // a whole wiki link or embed
	openingConstruct               // the bracket that may begin a link; it is the last of brackets
	linkConstruct                  // the end of a link or image, from its ']'
)

func (r *inline) construct(i int) construct {
	t := r.text
	none := construct{end: i + 1}
	switch t[i] {
	case '\\':
		if i+1 < len(t) && isPunctuation(t[i+1]) {
			return construct{kind: escapeConstruct, end: i + 2}
		}
	case '`':
		content, end, ok := r.codeSpan(i)
		if !ok {
			return construct{end: end}
		}
		return construct{kind: codeConstruct, end: end, text: t[content.start:content.end]}
	case '<':
		if address, end, ok := r.angle(i); ok {
			return construct{kind: angleConstruct, end: end, text: address}
		}
	case '!':
		if i+1 < len(t) && t[i+1] == '[' {
			return r.opening(i, i+1)
		}
	case '[':
		return r.opening(i, i)
	case ']':
		b := &r.brackets
		n := len(b.open) - 1
		if n < 0 {
			return none
		}
		k, inLink := b.open[n], n < b.barrier
		b.open, b.barrier = b.open[:n], min(b.barrier, n)
		if inLink && !k.image || r.footnotes && t[k.from] == '^' {
			return none
		}
		target, end, ok := r.destination(k, i)
		if !ok {
			return none
		}
		if !k.image { // the brackets around a link can become only images
			b.barrier = n
		}
		return construct{kind: linkConstruct, end: end, opening: k, target: target}
	}
	return none
}

// opening reads the wiki link or bracket at byte at. If i is less than at, byte i is the '!' of a picture.
func (r *inline) opening(i, at int) construct {
	if strings.HasPrefix(r.text[at:], "[[") {
		if l, size, ok := wikilink.Parse(r.text[at+2:]); ok {
			return construct{kind: wikiConstruct, end: at + 2 + size, wiki: l}
		}
	}
	b := &r.brackets
	if n := len(b.open); n > 0 {
		b.open[n-1].nested = true
	}
	b.open = append(b.open, bracket{at: i, from: at + 1, image: at > i})
	return construct{kind: openingConstruct, end: at + 1}
}

// codeSpan reads the code span whose backticks begin at byte i. It returns the content and the byte after the span. If
// no backticks close the span, ok is false, and end is the byte after the opening backticks.
func (r *inline) codeSpan(i int) (content span, end int, ok bool) {
	t := r.text
	n := runOf(t[i:], '`')
	from := i + n
	for j := from; ; {
		closing := indexByteFrom(t, '`', j)
		j = closing + runOf(t[closing:], '`')
		if j-closing == n {
			return span{from, closing}, j, true
		}
		if r.lastTicks == nil { // rarely needed
			r.lastTicks = map[int]int{}
			for k := i; k < len(t); k = indexByteFrom(t, '`', k) {
				size := runOf(t[k:], '`')
				r.lastTicks[size] = k
				k += size
			}
		}
		if r.lastTicks[n] <= i {
			return span{}, from, false
		}
	}
}

// angle reads what the '<' at byte i opens: an address in angle brackets, or HTML. For HTML, address is "". end is the
// byte after the address or the HTML. ok is false if the '<' is plain text.
func (r *inline) angle(i int) (address string, end int, ok bool) {
	t := r.text
	if i+1 == len(t) {
		return "", 0, false
	}
	switch c := t[i+1]; {
	case c == '!':
		return r.declaration(i)
	case c == '?':
		return r.htmlEnd(i+2, "?>", 0)
	case c == '/' || isLetter(c):
		return r.tag(i)
	case c < utf8.RuneSelf:
		if address := addressAt(t, i+1); isEmail(address) {
			return address, i + len(address) + 2, true
		}
	}
	return "", 0, false
}

func (r *inline) declaration(i int) (address string, end int, ok bool) {
	switch rest := r.text[i+2:]; {
	case strings.HasPrefix(rest, "-->"):
		return "", i + 5, true
	case strings.HasPrefix(rest, "--->"):
		return "", i + 6, true
	case strings.HasPrefix(rest, "--"):
		return r.htmlEnd(i+4, "-->", 1)
	case strings.HasPrefix(rest, "[CDATA["):
		return r.htmlEnd(i+9, "]]>", 2)
	case rest != "" && isLetter(rest[0]):
		return r.htmlEnd(i+2, ">", 3)
	}
	return "", 0, false
}

// htmlEnd searches r.text[from:] for the text in the parameter ending. end is the offset after this text. If the text
// is missing, ok is false, and htmlEnd sets noEnd[kind]. htmlEnd has the same results as angle, so that angle can
// return them; address is always "".
func (r *inline) htmlEnd(from int, ending string, kind int) (address string, end int, ok bool) {
	if r.noEnd[kind] || from > len(r.text) {
		return "", 0, false
	}
	at := strings.Index(r.text[from:], ending)
	if at < 0 {
		r.noEnd[kind] = true
		return "", 0, false
	}
	return "", from + at + len(ending), true
}

// tag reads an HTML tag or an address at byte i, and returns the same results as angle. In some texts, tag must read
// far after each '<' before it knows that no tag begins there. When such reads add up to several times the text's
// length, tag returns false without reading.
func (r *inline) tag(i int) (address string, end int, ok bool) {
	t := r.text
	if r.spent > 8*len(t)+4096 {
		return "", 0, false
	}
	if address := addressAt(t, i+1); isURI(address) || isEmail(address) {
		return address, i + len(address) + 2, true
	}
	from := i + 1
	closing := t[from] == '/'
	if closing {
		from++
	}
	name := from
	for from < len(t) && (isLetter(t[from]) || from > name && (isDigit(t[from]) || t[from] == '-')) {
		from++
	}
	if from == name {
		return "", 0, false
	}
	end, ok = htmlTag(t, from, closing)
	if !ok {
		r.spent += end - i
	}
	return "", end, ok
}

// addressAt returns the text from byte i up to the next '>'. It returns "" if there is no '>', or if the text has white
// space, control characters or '<'.
func addressAt(t string, i int) string {
	for j := i; j < len(t); j++ {
		switch c := t[j]; {
		case c == '>':
			return t[i:j]
		case c <= ' ' || c == '<' || c == 0x7f:
			return ""
		}
	}
	return ""
}

func isURI(s string) bool {
	scheme, _, ok := strings.Cut(s, ":")
	return ok && len(scheme) >= 2 && len(scheme) <= 32 && isLetter(scheme[0]) && isWordOr(scheme, "+.-")
}

func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || !isWordOr(local, ".!#$%&'*+/=?^_`{|}~-") {
		return false
	}
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !isWordOr(label, "-") {
			return false
		}
	}
	return true
}

// isWordOr reports whether s has only ASCII letters, digits, and characters in the parameter signs.
func isWordOr(s, signs string) bool {
	for i := range len(s) {
		if !isWordByte(s[i]) && strings.IndexByte(signs, s[i]) < 0 {
			return false
		}
	}
	return true
}

// bracket is an open '[' or '![' that may begin a link or an image.
type bracket struct {
	at    int // of '[', or of '!' before it
	from  int // of the text inside
	image bool
	// nested says that another bracket opened inside this bracket. The text of this bracket then cannot be a label.
	nested bool
	// piece and delimiter are the lengths of a plainWriter's lists when the bracket opened.
	piece, delimiter int
}

// brackets is the stack of open brackets. Brackets below barrier can become only images, because links cannot contain
// links.
type brackets struct {
	open    []bracket
	barrier int
}

// destination returns the target of the link whose text is between bracket k and the ']' at byte to. After the text
// comes "(target)", or "[label]" of a definition; without both, the text is the label. end is the byte after the link.
// ok is false if there is no target.
func (r *inline) destination(k bracket, to int) (target string, end int, ok bool) {
	t := r.text
	if to+1 < len(t) && t[to+1] == '(' {
		if target, end, ok := inlineTarget(t, to+2); ok {
			return target, end, true
		}
	}
	if len(r.definitions) == 0 {
		return "", 0, false
	}
	label, end := t[k.from:to], to+1
	if to+1 < len(t) && t[to+1] == '[' {
		if size := closingBracket(t[to+1:]); size > 0 {
			end = to + 2 + size
			if full := t[to+2 : end-1]; !blankText(full) {
				label, k.nested = full, false
			}
		}
	}
	if k.nested || len(label) > maxLabel {
		return "", 0, false
	}
	target, ok = r.definitions[foldLabel(label)]
	return target, end, ok
}

// inlineTarget parses "target 'title')" from byte i on. end is the byte after the ")". ok is false if the text has
// another form.
func inlineTarget(t string, i int) (target string, end int, ok bool) {
	i = skipSpace(t, i)
	if i < len(t) && t[i] == ')' {
		return "", i + 1, true
	}
	target, after := readTarget(t, i)
	if after < 0 {
		return "", 0, false
	}
	i = skipSpace(t, after)
	if i > after {
		if after := skipTitle(t, i); after >= 0 {
			i = skipSpace(t, after)
		}
	}
	if i == len(t) || t[i] != ')' {
		return "", 0, false
	}
	return unescape(target), i + 1, true
}

// takeDefinitions removes the link reference definitions at the start of the open paragraph. If a label is defined
// twice, the first definition counts.
func (s *scanner) takeDefinitions() {
	var joined strings.Builder
	for _, part := range s.paragraph {
		joined.WriteString(s.src[part.start:part.end])
		joined.WriteByte('\n')
	}
	text, lines := joined.String(), 0
	for strings.HasPrefix(text, "[") {
		label, target, size := readDefinition(text)
		if size == 0 {
			break
		}
		if s.definitions == nil {
			s.definitions = map[string]string{}
		}
		if _, ok := s.definitions[label]; !ok {
			s.definitions[label] = target
		}
		lines += strings.Count(text[:size], "\n")
		text = text[size:]
	}
	// The last runs of text belong to the paragraph; definitions are not text.
	first := len(s.text) - len(s.paragraph)
	s.text = append(s.text[:first], s.text[first+lines:]...)
	if first < len(s.text) {
		s.text[first].more = false
	}
	s.paragraph = s.paragraph[lines:]
}

// foldLabel returns a label in the form in which labels are compared: without differences in case and white space.
func foldLabel(label string) string {
	if isWordOr(label, "-_./") { // most labels
		return strings.ToLower(label)
	}
	return strings.ToLower(strings.ToUpper(strings.Join(strings.Fields(label), " ")))
}

// readDefinition parses "[label]: target 'title'" at the start of text, whose lines all end with LF. size is the length
// of the lines of the definition. If text begins with no definition, size is 0.
func readDefinition(text string) (label, target string, size int) {
	end := closingBracket(text)
	if end < 0 || end+1 >= len(text) || text[end+1] != ':' {
		return "", "", 0
	}
	label = foldLabel(text[1:end])
	if label == "" {
		return "", "", 0
	}
	pos := skipSpace(text, end+2)
	target, pos = readTarget(text, pos)
	if pos < 0 {
		return "", "", 0
	}
	target = unescape(target)
	// White space must precede the title, and nothing may follow the title on its line. Otherwise this is a definition
	// without a title, but only if the target ends its line.
	if at := skipSpace(text, pos); at > pos {
		if after := skipTitle(text, at); after >= 0 {
			if eol := strings.IndexByte(text[after:], '\n'); eol >= 0 && blank(text[after:after+eol]) {
				return label, target, after + eol + 1
			}
		}
	}
	if eol := strings.IndexByte(text[pos:], '\n'); eol >= 0 && blank(text[pos:pos+eol]) {
		return label, target, pos + eol + 1
	}
	return "", "", 0
}

// maxLabel is the largest number of bytes in a label. A longer label is text. The specification allows 999 characters.
const maxLabel = 999 * utf8.UTFMax

// closingBracket returns the position of the ']' that closes the '[' at the start of text, or -1. At most maxLabel
// bytes and no unescaped bracket may be between them.
func closingBracket(text string) int {
	for i := 1; i < len(text) && i <= maxLabel+1; i++ {
		switch text[i] {
		case '\\':
			i++
		case '[':
			return -1
		case ']':
			if utf8.RuneCountInString(text[1:i]) > 999 {
				return -1
			}
			return i
		}
	}
	return -1
}

// skipSpace returns the position after the white space at byte i: spaces, tabs and at most one line ending.
func skipSpace(text string, i int) int {
	ended := false
	for ; i < len(text); i++ {
		switch text[i] {
		case ' ', '\t':
		case '\r':
			if i+1 < len(text) && text[i+1] == '\n' {
				continue
			}
			fallthrough
		case '\n':
			if ended {
				return i
			}
			ended = true
		default:
			return i
		}
	}
	return i
}

// readTarget parses the target of a link at byte i. A target is "<...>", or bytes with balanced brackets and without
// white space and control characters. after is the byte after the target, or -1 without a target.
func readTarget(text string, i int) (target string, after int) {
	if i < len(text) && text[i] == '<' {
		for j := i + 1; j < len(text); j++ {
			switch text[j] {
			case '\\':
				j++
			case '\n', '\r', '<':
				return "", -1
			case '>':
				return text[i+1 : j], j + 1
			}
		}
		return "", -1
	}
	depth, j := 0, i
loop:
	for ; j < len(text); j++ {
		switch c := text[j]; {
		case c > ')' && c != '\\' && c != 0x7f: // most bytes
		case c == '\\' && j+1 < len(text) && isPunctuation(text[j+1]):
			j++
		case c <= ' ' || c == 0x7f:
			break loop
		case c == '(':
			if depth++; depth > 32 {
				return "", -1
			}
		case c == ')':
			if depth == 0 {
				break loop
			}
			depth--
		}
	}
	if j == i || depth != 0 {
		return "", -1
	}
	return text[i:j], j
}

// skipTitle returns the byte after the link title at byte i, in quotes or parentheses. If there is no title, it returns
// -1.
func skipTitle(text string, i int) int {
	if i >= len(text) {
		return -1
	}
	closing := text[i]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return -1
	}
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case closing:
			return j + 1
		case '(':
			if closing == ')' {
				return -1
			}
		}
	}
	return -1
}
