// Package query answers the question "what did the person mean?". It reads the
// query language, which is words with a few marks, and never fails: what cannot
// be read as a mark is searched as words, and a note says so.
//
//	oauth next.js           chunks with any of the words, those with more first
//	"refresh token"         chunks with the phrase, and only those
//	+oauth -draft           required, forbidden
//	"a b" OR tag:c          one or the other
//	a (b -c) OR d           brackets hold together beside OR and behind + or -: a, or b without c,
//	                        or d; elsewhere a (b -c) is a b -c, and nothing in them is required for it
//	title:setup heading:api only in titles, only in headings
//	#auth tag:auth          documents with the tag, or one below it; tag:au* begins so
//	path:guides/ ext:md     documents in a folder or whose path begins so
//	path:git.md             documents of this file name in any folder; path:/git.md at the top;
//	                        where no path is written so, in any case
//	status:draft rating:>3  properties; prop.NAME:value for any name; status:dr* begins so, status:* has any
//	author:ann              of a property that is a link, "[[people/Ann|A]]", the name of the note
//	[status:draft]          the same, as Obsidian writes it: also [next step:call Ann], and
//	                        [status:draft OR in review]
//	after:2024-05 before:7d dates: years, months, days, 7d 2w 3m 1y ago; date:>2024
//	authent*  colour~       words that begin so, words that are spelt alike
package query

import (
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

// Options tell Parse what there is in the collection.
type Options struct {
	// Properties are the names that "name:value" may use, in any case.
	Properties []string
	// Look is asked of other names that stand before a colon, folded and once each,
	// whether they are properties; known is false where that was not looked up, of
	// which notes tell. Nil is none of them.
	Look func(name string) (is, known bool)
	// Spellings tells how the collection writes a path, the beginning of one or a file's
	// name that it has only in other case; nil when nobody knows.
	Spellings func(written string) []string
	// Now is the time against which 7d and yesterday are counted; its location says
	// which day it is. Zero is the current time in UTC.
	Now time.Time
	// Limit is copied to the query.
	Limit int
}

// maxText bounds what is read of a query; the rest is left out, with a note.
const maxText = 1 << 16

// maxDepth bounds how deep brackets nest; deeper ones are words.
const maxDepth = 20

// ColumnExtension is the column of a file's extension, in lower case without
// the dot.
const ColumnExtension = "ext"

// Parse reads what a person typed. A query of filters only has Words that match
// every chunk; one without anything to look for has nil Words.
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
	g := p.group(0, amid)
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

// searchable reports whether a character can be part of a word; signs of other
// scripts are given the benefit of the doubt.
func searchable(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsPunct(r) && (r >= 0x80 || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// inWord is searchable, less what is a sign in every script: an emoji, and what joins and
// colors several of them.
func inWord(r rune) bool {
	return searchable(r) && (unicode.Is(unicode.Other_Alphabetic, r) ||
		!unicode.IsSymbol(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Variation_Selector, r))
}

type parser struct {
	o          Options
	properties map[string]bool // by their folded names
	skipped    map[string]bool // of which it is not known whether they are properties
	tokens     []token
	at         int
	mixed      bool                // not all in capitals
	closing    map[string]int      // bytes from the last of several marks that can close a phrase to the end
	spelt      map[string][]string // what Spellings told
	notes      []string
	more       int // notes beyond maxNotes
}

// maxNotes bounds the notes of a query, however long it is.
const maxNotes = 8

// note says something once.
func (p *parser) note(s string) {
	switch {
	case slices.Contains(p.notes, s):
	case len(p.notes) >= maxNotes:
		p.more++
	default:
		p.notes = append(p.notes, s)
	}
}

// quoted is what was typed, cut to a length that a note can hold.
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

// token is a word or a phrase with the marks before it, or a mark by itself.
type token struct {
	kind  tokenKind
	sign  byte   // '+', '-' or 0
	field string // what stands before the colon, as written, or ""
	text  string
}

// lex cuts text at white space, quotes and brackets.
func (p *parser) lex(text string) []token {
	var out []token
	depth := 0
	// What follows the last closing bracket, in bytes: a bracket that opens
	// there is never closed.
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
		p.note("a bracket is not closed; it was taken to end with the query")
	}
	return out
}

// oneOf are the tokens that ask for any of the values, behind a sign.
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

// startsOperand reports whether what follows a sign can be required or
// forbidden.
func startsOperand(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return isQuote(r) || r == '(' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// startsProperty is startsOperand for a property in brackets.
func (p *parser) startsProperty(s string, depth int) bool {
	_, _, ok := p.inBrackets(s, depth)
	return ok
}

// quotes are the marks that a phrase can begin with, each with those that then end it: keyboards
// write those of their language.
var quotes = map[rune]string{'"': `"”`, '“': `"”`, '”': `"”`, '„': `"”“`, '«': `»`}

// isQuote reports whether a phrase can begin with a character.
func isQuote(r rune) bool { return quotes[r] != "" }

// inBrackets reads a property as Obsidian writes it: [status:draft], or with several values
// [status:draft OR in review]. Name and values may be in quotation marks and hold spaces.
// Each value is a token; rest is what follows.
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
	field, ok := p.bracketName(name)
	if !ok {
		return nil, "", false
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

// Bounds of a property in brackets: the bytes of its name and of each value, and how many
// values it has. What is beyond them is searched as words.
const (
	maxBracket = 1000
	maxValues  = 100
)

// cutQuoted takes what stands in quotation marks at the start of text.
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

// valueEnd is where a value in brackets ends: before the bracket that closes, or before OR.
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

// bracketName is what a name in brackets means: a property, also one that is called like a
// field, or tags.
func (p *parser) bracketName(name string) (field string, ok bool) {
	if field, _ = p.fieldName(name); field == "tag" || strings.HasPrefix(field, "prop.") {
		return field, true
	}
	return "prop." + fold.Text(name), p.isProperty(name)
}

// isExpression reports whether text begins with a regular expression between
// slashes, as /migr.tion[s]?/, that asks for more than the words in it.
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

// operand reads a word or a phrase, with the field before it.
func (p *parser) operand(t token, text string, depth int) (token, string) {
	if isExpression(text) {
		p.note("regular expressions are not read, their words were searched: conf* finds words that begin so, colour~ " +
			"those that are spelt alike")
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
					p.note("a phrase is no field: what stands before and behind the colon was searched as words")
				}
				return t, rest
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
		if field, known := p.fieldName(name); known {
			t.field, t.text = field, value
		} else if !strings.HasPrefix(value, "/") && isName(bare) {
			if p.skipped[fold.Text(bare)] {
				p.note(quoted(name+":") + " was not looked up, since the query asks for too many properties; " + quoted(word) +
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

// abbreviates reports whether the quotation mark at byte i of a word stands before the last
// letter of a Hebrew abbreviation, which it belongs to.
func abbreviates(word string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(word[:i])
	after, _ := utf8.DecodeRuneInString(word[min(i+1, len(word)):])
	return word[i] == '"' && unicode.Is(unicode.Hebrew, before) && unicode.Is(unicode.Hebrew, after)
}

// checkBrackets says when the brackets of a word group nothing.
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

// wordEnd is where the word at the start of text ends: at white space, at a
// bracket that closes a group, or at what stops besides; nil is nothing.
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

func isName(s string) bool {
	for _, r := range s {
		if !unicode.IsLetter(r) && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	return true
}

// fieldNames are the fields that everybody has, without their other names.
var fieldNames = []string{"title", "heading", "tag", "path", "ext", "before", "after", "on", "date", "body", "alias"}

// unknown says that a name before a colon is that of nothing.
func (p *parser) unknown(name, word string) {
	said := quoted(name+":") + " is no field or property here; " + quoted(word) + " was searched as words"
	if slices.ContainsFunc(p.notes, func(n string) bool { return strings.HasPrefix(n, said) }) {
		return
	}
	if len(p.notes) < maxNotes { // others are only counted
		said += p.meant(name)
	}
	p.note(said)
}

// meant asks for the field or property that a name nobody knows is near to.
func (p *parser) meant(name string) string {
	properties := maps.Clone(p.properties)
	maps.DeleteFunc(properties, func(_ string, is bool) bool { return !is })
	near := suggest.Nearest(name, slices.Concat(fieldNames, slices.Sorted(maps.Keys(properties))))
	if near == "" {
		return ""
	}
	return "; did you mean " + quoted(near+":") + "?"
}

// isProperty reports whether there is a property of the name.
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

// fieldName is the field, filter or property that a name before a colon means.
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
	if strings.HasPrefix(strings.TrimLeft(low, "+-"), "[") { // of brackets that are none
		return "", false
	}
	if p.isProperty(low) {
		return "prop." + low, true
	}
	if low == "content" {
		return "body", true
	}
	return "", false
}
