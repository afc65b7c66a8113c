// Package query answers the question "what did the person mean?". It reads the query language, words with a few
// marks, and never fails: unreadable marks are words, with a note.
//
//	oauth next.js           chunks with any of the words, those with more first
//	"refresh token"         chunks with the phrase, and only those
//	+oauth -draft           required, forbidden
//	"a b" OR tag:c          one or the other
//	a (b -c) OR d           brackets group beside OR and after + or -: a, or b without c, or d;
//	                        elsewhere a (b -c) equals a b -c, and the brackets require nothing
//	title:setup heading:api only in titles, only in headings
//	#auth tag:auth          documents with the tag, or one below it; tag:au* for a beginning
//	path:guides/ ext:md     documents in a folder, or with this beginning of the path
//	path:git.md             documents with this file name in any folder; path:/git.md at the top;
//	                        if no path has this case, in any case
//	status:draft rating:>3  properties; prop.NAME:value for any name; status:dr* a beginning, status:* any value
//	author:ann              a property that is a link, "[[people/Ann|A]]", by the name of the note
//	[status:draft]          the same, as Obsidian writes it: also [next step:call Ann], and
//	                        [status:draft OR in review]
//	after:2024-05 before:7d dates: years, months, days, 7d 2w 3m 1y ago; date:>2024
//	authent*  colour~       words with this beginning, words with a similar spelling
package query

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/fold"
	"sheaf/internal/suggest"
)

// Options describe the collection for Parse.
type Options struct {
	// Properties are the names that "name:value" may use, in any case.
	Properties []string
	// Look reports whether an unknown name before a colon is a property. Parse calls it once for each folded name.
	// known is false if Look could not find out; Parse then adds a note. A nil Look knows no properties.
	Look func(name string) (is, known bool)
	// Spellings returns the spellings that the collection has for a path, the beginning of a path or a file name. Parse
	// needs Spellings for names that exist only in another case. Spellings may be nil.
	Spellings func(written string) []string
	// Now is the time to which 7d and yesterday refer. Its zone decides which day it is. The zero time means now in
	// UTC.
	Now time.Time
	// Limit is the largest number of results, at least 1. Parse copies it to Query.Limit.
	Limit int
}

// maxText is the largest number of bytes of a query that Parse reads. If a query is longer, a note says that the rest
// is ignored.
const maxText = 1 << 16

// maxDepth limits how deep brackets nest; deeper brackets are words.
const maxDepth = 20

// ColumnExtension is the column of a file's extension, in lower case without the dot.
const ColumnExtension = "ext"

// Parse reads the text that a person typed. If a query has only filters, its Words match every chunk. If a query has
// nothing to search for, its Words are nil.
func Parse(text string, o Options) sheaf.Query {
	q := sheaf.Query{Text: text, Limit: o.Limit}
	if o.Now.IsZero() {
		o.Now = time.Now().UTC()
	}
	p := &parser{o: o, properties: map[string]bool{}, skipped: map[string]bool{}}
	for _, name := range o.Properties {
		p.properties[fold.Text(name)] = true
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
		p.note("only the first 65536 bytes of the query were read")
	}
	text = strings.ToValidUTF8(text, " ")
	p.mixed = strings.ContainsFunc(text, unicode.IsLower)
	p.tokens = p.lex(text)
	g := p.group(0, outerLevel)
	q.Filter = g.filter()
	q.Words = g.words(false)
	q.Meaning = strings.Join(g.about, " ")
	if q.Words == nil && q.Filter != nil {
		q.Words = sheaf.Bool{}
	}
	switch b, ok := q.Words.(sheaf.Bool); {
	case ok && len(b.MustNot) > 0 && len(b.Must)+len(b.Should) == 0:
		p.note("the query only says what to leave out: everything else is listed, without an order")
	case q.Filter == nil && !strings.ContainsFunc(text, isIndexed) && strings.TrimSpace(text) != "":
		p.note("there is no letter, digit or emoji in the query; other signs are not indexed")
	}
	q.Notes = p.notes
	if p.more > 0 {
		q.Notes = append(q.Notes, strconv.Itoa(p.more)+" more marks could not be read; they were searched as words")
	}
	return q
}

// searchable reports whether a character can be part of a word. Beyond ASCII, these are all characters except spaces
// and punctuation.
func searchable(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsPunct(r) && (r >= 0x80 || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// inWord is like searchable, but returns false for signs, such as emoji with their joiners and colors.
func inWord(r rune) bool {
	return searchable(r) && (unicode.Is(unicode.Other_Alphabetic, r) ||
		!unicode.IsSymbol(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Variation_Selector, r))
}

type parser struct {
	o          Options
	properties map[string]bool // by their folded names
	skipped    map[string]bool // folded names that could not be looked up
	tokens     []token
	at         int
	mixed      bool                // the query has small letters, so NOT and AND may be meant as marks
	closing    map[string]int      // by marks that close a phrase: the bytes from the last of them to the end of the text
	spelt      map[string][]string // results of Spellings
	notes      []string
	more       int // number of notes beyond maxNotes
}

// maxNotes limits the notes of a query of any length.
const maxNotes = 8

func (p *parser) note(s string) {
	switch {
	case slices.Contains(p.notes, s):
	case len(p.notes) >= maxNotes:
		p.more++
	default:
		p.notes = append(p.notes, s)
	}
}

// quoted returns typed text in quotation marks, shortened for a note.
func quoted(s string) string {
	const most = 60
	if r := []rune(s[:min(len(s), 4*most)]); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + s + `"`
}

type tokenKind uint8

const (
	tokenWord tokenKind = iota
	tokenPhrase
	tokenOpen
	tokenClose
	tokenOr
)

// token is a word or a phrase with the marks before it, or a mark that is alone.
type token struct {
	kind  tokenKind
	sign  byte   // '+', '-' or 0
	field string // the text before the colon, as written, or ""
	text  string
}

// lex cuts text into tokens at white space, quotes and brackets.
func (p *parser) lex(text string) []token {
	var out []token
	depth := 0
	// A bracket that opens after the last closing bracket never closes.
	unclosed := len(text) - 1 - strings.LastIndexByte(text, ')')
	p.closing = map[string]int{}
	for _, ends := range quotes {
		p.closing[ends] = len(text) - strings.LastIndexAny(text, ends)
	}
	for text != "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			break
		}
		var t token
		if c := text[0]; (c == '-' || c == '+') && len(text) > 1 &&
			(startsOperand(text[1:]) || p.startsProperty(text[1:], depth)) {
			t.sign, text = c, text[1:]
		}
		switch {
		case text[0] == '(' && depth < maxDepth && len(text) > unclosed+2:
			t.kind, text = tokenOpen, text[1:]
			depth++
		case text[0] == ')' && depth > 0:
			t.kind, text = tokenClose, text[1:]
			depth--
		default:
			if values, rest, ok := p.inBrackets(text, depth); ok {
				out, text = append(out, oneOf(t.sign, values)...), rest
				continue
			}
			t, text = p.operand(t, text, depth)
		}
		if t.kind != tokenWord || t.text != "" {
			out = append(out, t)
		}
	}
	if depth > 0 {
		p.note("a bracket is not closed; it ends with the query")
	}
	p.noteOptions(out)
	return out
}

// noteOptions adds a note for each forbidden word beside other words that may be meant as an option.
func (p *parser) noteOptions(tokens []token) {
	if !slices.ContainsFunc(tokens, func(t token) bool { return t.kind == tokenWord && t.sign == 0 && t.field == "" }) {
		return
	}
	for _, t := range tokens {
		if isOption(t) {
			p.note(quoted("-"+t.text) + " leaves out what has " + quoted(t.text) +
				"; for an option of a command, put it in quotation marks")
		}
	}
}

// isOption reports whether a forbidden word may be meant as an option of a command, as in ls -la. An option has at most
// three letters and digits.
func isOption(t token) bool {
	other := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	word := t.kind == tokenWord && t.field == ""
	return t.sign == '-' && word && len(t.text) <= 3 && !strings.ContainsFunc(t.text, other)
}

// oneOf returns tokens that match any of the values. sign applies to all these tokens.
func oneOf(sign byte, values []token) []token {
	if len(values) == 1 {
		values[0].sign = sign
		return values
	}
	out := []token{{kind: tokenOpen, sign: sign}}
	for i, v := range values {
		if i > 0 {
			out = append(out, token{kind: tokenOr, text: "OR"})
		}
		out = append(out, v)
	}
	return append(out, token{kind: tokenClose})
}

// startsOperand reports whether s, the text after a sign, begins with something that can be required or forbidden. A
// dot or another sign begins a name if a letter follows, as in .NET.
func startsOperand(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	after, _ := utf8.DecodeRuneInString(s[size:])
	return isQuote(r) || r == '(' || r == '#' || unicode.In(r, unicode.L, unicode.Nd, unicode.So) ||
		strings.ContainsRune("._@$/~", r) && unicode.IsLetter(after)
}

// startsProperty reports whether s begins with a property in brackets.
func (p *parser) startsProperty(s string, depth int) bool {
	_, _, ok := p.inBrackets(s, depth)
	return ok
}

// quotes maps a mark that begins a phrase to the marks that end the phrase. Languages use different marks.
var quotes = map[rune]string{'"': `"”`, '“': `"”`, '”': `"”`, '„': `"”“`, '«': `»`}

func isQuote(r rune) bool { return quotes[r] != "" }

// inBrackets reads a property as Obsidian writes it: [status:draft], or with several values [status:draft OR in
// review]. Name and values may be in quotation marks and contain spaces. Each value becomes a token. rest is the text
// after the closing bracket. ok is false if text does not begin with such a property.
func (p *parser) inBrackets(text string, depth int) (values []token, rest string, ok bool) {
	inner, ok := strings.CutPrefix(text, "[")
	if !ok || strings.HasPrefix(inner, "[") {
		return nil, "", false
	}
	name, inner, quoted := cutQuoted(inner)
	if quoted {
		inner, ok = strings.CutPrefix(inner, ":")
	} else {
		name, _, ok = strings.Cut(inner[:min(len(inner), maxBracket)], ":")
		inner = inner[min(len(inner), len(name)+1):]
	}
	if !ok || strings.ContainsAny(name, "[]\n") {
		return nil, "", false
	}
	field, _ := p.fieldName(name)
	if field != "tag" && !strings.HasPrefix(field, "prop.") { // the other built-in fields count as names of properties
		if field = "prop." + fold.Text(name); !p.isProperty(name) {
			return nil, "", false
		}
	}
	for len(values) < maxValues {
		t := token{field: field}
		inner = strings.TrimLeft(inner, " ")
		if t.text, inner, quoted = cutQuoted(inner); quoted {
			t.kind = tokenPhrase
			inner = strings.TrimLeft(inner, " ")
		} else {
			end := valueEnd(inner)
			t.text, inner = strings.TrimRight(inner[:end], " "), inner[end:]
		}
		if t.text == "" {
			return nil, "", false
		}
		values = append(values, t)
		if more, or := strings.CutPrefix(inner, "OR "); or {
			inner = more
			continue
		}
		rest, ok = strings.CutPrefix(inner, "]")
		behind, _ := utf8.DecodeRuneInString(rest)
		return values, rest, ok && (rest == "" || behind == '[' || behind == ')' && depth > 0 || unicode.IsSpace(behind))
	}
	return nil, "", false
}

// These limit a property in brackets: the bytes of its name and of each value, and the number of values. Larger
// brackets are words.
const (
	maxBracket = 1000
	maxValues  = 100
)

// cutQuoted cuts the text in quotation marks from the start of text. ok is false if text begins with no such text.
func cutQuoted(text string) (inside, rest string, ok bool) {
	if r, size := utf8.DecodeRuneInString(text); isQuote(r) {
		inner := text[size:]
		if end := strings.IndexAny(inner[:min(len(inner), maxBracket)], quotes[r]); end >= 0 {
			_, size = utf8.DecodeRuneInString(inner[end:])
			return inner[:end], inner[end+size:], true
		}
	}
	return "", text, false
}

// valueEnd returns the end of a value in brackets: before the closing bracket, or before OR.
func valueEnd(text string) int {
	open := 0
	for i := 0; i < min(len(text), maxBracket); i++ {
		switch {
		case text[i] == '[':
			open++
		case text[i] == ']' && open > 0:
			open--
		case text[i] == ']' || i > 0 && text[i-1] == ' ' && open == 0 && strings.HasPrefix(text[i:], "OR "):
			return i
		}
	}
	return min(len(text), maxBracket)
}

// isExpression reports whether text begins with a regular expression between slashes, such as /migr.tion[s]?/. An
// expression without special characters does not count.
func isExpression(text string) bool {
	inner, ok := strings.CutPrefix(text, "/")
	if !ok {
		return false
	}
	end := strings.IndexByte(inner, '/')
	if end <= 0 || !strings.ContainsAny(inner[:end], `.*+?[]{}()|^$\`) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(inner[end+1:])
	return len(inner) == end+1 || unicode.IsSpace(r)
}

// operand reads the word or phrase at the start of text, with its field, into t. It returns t, whose sign is already
// set, and the rest of text. depth is the number of open brackets.
func (p *parser) operand(t token, text string, depth int) (token, string) {
	if isExpression(text) {
		p.note("regular expressions do not work, their words were searched: conf* finds words with this beginning, " +
			"colour~ words with a similar spelling")
	}
	quote := wordEnd(text, depth, isQuote)
	if r, size := utf8.DecodeRuneInString(text[quote:]); !isQuote(r) {
		quote = -1
	} else if quote == 0 || quote > 1 && text[quote-1] == ':' {
		if name, ok := p.fieldName(strings.TrimSuffix(text[:quote], ":")); ok || quote == 0 {
			rest := text[quote+size:]
			if len(rest) >= p.closing[quotes[r]] {
				closing := strings.IndexAny(rest, quotes[r])
				_, size := utf8.DecodeRuneInString(rest[closing:])
				t.kind, t.field, t.text = tokenPhrase, name, rest[:closing]
				rest = rest[closing+size:]
				if quote == 0 && strings.HasPrefix(rest, ":") && wordEnd(rest, depth, nil) > 1 {
					p.note("a phrase is not a field: the parts before and after the colon were searched as words; a property " +
						"of two words is written two-words:")
				}
				return t, p.behindPhrase(rest, depth)
			}
			p.note(`a quotation mark is not closed; it was left out`)
			return t, text[:quote] + rest
		}
	}
	end := wordEnd(text, depth, nil)
	word := text[:end]
	if (quote == 1 || quote > 1 && text[quote-1] != ':') && !abbreviates(word, quote) {
		p.note("the quotation mark in " + quoted(word) + " begins no phrase; it was searched as words")
	}
	t.text = word
	p.checkBrackets(word)
	if word == "OR" && t.sign == 0 {
		t.kind = tokenOr
		return t, text[end:]
	}
	if (word == "NOT" || word == "AND") && t.sign == 0 && p.mixed && strings.TrimSpace(text[end:]) != "" {
		p.note(quoted(word) + ` was searched as a word: "+" requires the word or brackets that it stands before, "-" ` +
			`leaves out what has them`)
	}
	if name, value, ok := strings.Cut(word, ":"); ok && name != "" && value != "" {
		bracket, bare := "", name
		if inner, ok := strings.CutPrefix(strings.TrimLeft(name, "+-"), "["); ok {
			bracket, bare = name[:len(name)-len(inner)], strings.Trim(inner, `"`)
		}
		other := strings.ContainsFunc(bare, func(r rune) bool {
			return !unicode.IsLetter(r) && !strings.ContainsRune("_-.", r)
		})
		field, known := p.fieldName(name)
		if !known && p.isTaskFilter(name, value) {
			field, known = "prop."+fold.Text(name), true
		}
		switch {
		case strings.HasPrefix(value, ":"): // a name of a program, such as std::vector
		case known:
			t.field, t.text = field, value
		case !strings.HasPrefix(value, "/") && !other:
			if p.skipped[fold.Text(bare)] {
				p.note(quoted(name+":") + " was not looked up, because the query has too many properties; " + quoted(word) +
					" was searched as words; did you mean " + quoted(bracket+"prop."+bare+":") + "?")
			} else if bracket == "" {
				p.unknown(name, word)
			}
		}
	} else if ok && name != "" {
		if _, known := p.fieldName(name); known {
			p.note(quoted(word) + " has no value behind it; it was searched as a word")
		}
	}
	return t, text[end:]
}

// behindPhrase returns rest, the text behind a phrase, without a mark that other languages have there: "a b"~3, "a b"*.
func (p *parser) behindPhrase(rest string, depth int) string {
	if rest == "" || !strings.Contains("*~^", rest[:1]) {
		return rest
	}
	behind := strings.TrimLeft(rest[1:], ".0123456789")
	if r, _ := utf8.DecodeRuneInString(behind); behind != "" && !unicode.IsSpace(r) && (r != ')' || depth == 0) {
		return rest
	}
	p.note(quoted(rest[:len(rest)-len(behind)]) + " behind a phrase was left out: the words of a phrase stand side by " +
		"side, in this order")
	return behind
}

// abbreviates reports whether the mark at byte i is a part of a Hebrew abbreviation, not a quotation mark. Such a mark
// comes before the last letter.
func abbreviates(word string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(word[:i])
	after, _ := utf8.DecodeRuneInString(word[min(i+1, len(word)):])
	return word[i] == '"' && unicode.Is(unicode.Hebrew, before) && unicode.Is(unicode.Hebrew, after)
}

// checkBrackets adds a note if a word has brackets that do not group anything.
func (p *parser) checkBrackets(word string) {
	if !strings.ContainsFunc(word, searchable) {
		return
	}
	switch open, closed := strings.Count(word, "("), strings.Count(word, ")"); {
	case open > closed:
		p.note("the bracket in " + quoted(word) + " is not closed; it was searched as a word")
	case closed > open:
		p.note("the bracket in " + quoted(word) + " closes nothing; it was searched as a word")
	}
}

// wordEnd returns the end of the word at the start of text. A word ends at white space, at a bracket that closes a
// group, or where stops returns true. stops may be nil.
func wordEnd(text string, depth int, stops func(rune) bool) int {
	open := 0
	for i, r := range text {
		switch {
		case unicode.IsSpace(r) || stops != nil && stops(r):
			return i
		case r == '(':
			open++
		case r == ')':
			if open == 0 && depth > 0 && i > 0 {
				return i
			}
			open--
		}
	}
	return len(text)
}

// fieldNames are the names of the built-in fields, without synonyms.
var fieldNames = []string{"title", "heading", "tag", "path", "ext", "before", "after", "on", "date", "body", "alias"}

// unknown adds a note that name, the text before a colon in word, is no field or property.
func (p *parser) unknown(name, word string) {
	said := quoted(name+":") + " is no field or property here; " + quoted(word) + " was searched as words"
	if slices.ContainsFunc(p.notes, func(n string) bool { return strings.HasPrefix(n, said) }) {
		return
	}
	if len(p.notes) < maxNotes { // further ones are only counted
		known := slices.Clone(fieldNames)
		for _, property := range slices.Sorted(maps.Keys(p.properties)) {
			if p.properties[property] {
				known = append(known, strings.ReplaceAll(property, " ", "-"))
			}
		}
		near := suggest.Nearest(name, known)
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, "-"+fold.Text(name)) }); i >= 0 {
			near = cmp.Or(near, known[i]) // a name of two words without the hyphen
		}
		if near != "" {
			said += "; did you mean " + quoted(near+":") + "?"
		}
	}
	p.note(said)
}

func (p *parser) isProperty(name string) bool {
	name = fold.Text(name)
	is, asked := p.properties[name]
	if asked || p.o.Look == nil {
		return is
	}
	is, known := p.o.Look(name)
	p.properties[name], p.skipped[name] = is, !known
	return is
}

// isTaskFilter reports whether name:value can only be a filter of tasks, also in a folder without tasks.
func (p *parser) isTaskFilter(name, value string) bool {
	switch fold.Text(name) {
	case "task":
		return slices.Contains([]string{"open", "started", "done", "cancelled"}, fold.Text(value))
	case "due", "task.open":
		_, _, ok := dates(strings.TrimLeft(value, "<>="), p.o.Now)
		return ok
	}
	return false
}

// fieldName returns the field, filter or property that a name before a colon means. The bool is false for any other
// name.
func (p *parser) fieldName(name string) (string, bool) {
	low := fold.Text(name)
	switch low {
	case "":
		return "", false
	case "file", "folder", "in":
		return "path", true
	case "since":
		return "after", true
	case "tags":
		return "tag", true
	}
	if rest, ok := strings.CutPrefix(low, "prop."); ok && rest != "" {
		return low, true
	}
	if slices.Contains(fieldNames, low) {
		return low, true
	}
	if strings.HasPrefix(strings.TrimLeft(low, "+-"), "[") { // words in square brackets that are no property
		return "", false
	}
	if p.isProperty(low) {
		return "prop." + low, true
	}
	if spaced := strings.ReplaceAll(low, "-", " "); spaced != low && p.isProperty(spaced) { // as Dataview writes it
		return "prop." + spaced, true
	}
	if low == "content" {
		return "body", true
	}
	return "", false
}
