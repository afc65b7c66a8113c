package collection

import (
	"encoding/json"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// AppendJSON appends an answer to b as json.Encoder writes it, with the end of the line: the
// same bytes, without looking up by reflection what it is made of.
func (a *Answer) AppendJSON(b []byte) ([]byte, error) {
	out, ok := a.appendJSON(b)
	if !ok {
		text, err := json.Marshal(a)
		if err != nil { // which says why it is no JSON
			return b, err
		}
		out = append(b, text...)
	}
	return append(out, '\n'), nil
}

// appendJSON is AppendJSON without the end of the line; false when there is something that
// is no JSON.
func (a *Answer) appendJSON(b []byte) ([]byte, bool) {
	ok := true
	b = appendText(append(b, `{"query":`...), a.Query)
	b = appendText(append(b, `,"profile":`...), a.Profile)
	b = appendTexts(append(b, `,"parameters":`...), a.Parameters)
	b = append(b, `,"results":`...)
	b = appendList(b, a.Results, func(b []byte, r *Result) []byte {
		b, whole := r.appendJSON(b)
		ok = ok && whole
		return b
	})
	b = strconv.AppendInt(append(b, `,"total":{"value":`...), int64(a.Total.Value), 10)
	b = append(appendText(append(b, `,"relation":`...), a.Total.Relation), '}')
	if a.Matches != nil {
		b = strconv.AppendInt(append(b, `,"matches":`...), int64(*a.Matches), 10)
	}
	if len(a.Facets) > 0 {
		b, ok = appendAny(append(b, `,"facets":`...), a.Facets, ok)
	}
	if a.Next != "" {
		b = appendText(append(b, `,"next":`...), a.Next)
	}
	b = strconv.AppendUint(append(b, `,"generation":`...), a.Generation, 10)
	if a.Answerable != nil {
		b = strconv.AppendBool(append(b, `,"answerable":`...), *a.Answerable)
	}
	b = strconv.AppendBool(append(b, `,"degraded":`...), a.Degraded)
	b = appendList(append(b, `,"warnings":`...), a.Warnings, appendShared)
	b = appendList(append(b, `,"notes":`...), a.Notes, appendShared)
	return append(b, '}'), ok
}

// appendJSON appends a result; false when there is something in it that is no JSON.
func (r *Result) appendJSON(b []byte) ([]byte, bool) {
	ok := true
	b = strconv.AppendInt(append(b, `{"rank":`...), int64(r.Rank), 10)
	b = appendText(append(b, `,"id":`...), r.ID)
	b = appendText(append(b, `,"doc":`...), r.Doc)
	b = appendText(append(b, `,"path":`...), r.Path)
	if r.File != "" {
		b = appendText(append(b, `,"file":`...), r.File)
	}
	b = appendText(append(b, `,"title":`...), r.Title)
	b = appendText(append(b, `,"breadcrumb":`...), r.Breadcrumb)
	b = appendList(append(b, `,"hierarchy":`...), r.Hierarchy, appendShared)
	b = appendSpan(append(b, `,"span":`...), &r.Span)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(r.Line), 10)
	if r.Block != "" {
		b = appendText(append(b, `,"block":`...), r.Block)
	}
	b, ok = appendNumber(append(b, `,"score":`...), r.Score, ok)
	if r.Confidence != nil {
		b, ok = appendNumber(append(b, `,"confidence":`...), *r.Confidence, ok)
	}
	if r.Level != "" {
		b = appendText(append(b, `,"confidence_level":`...), r.Level)
	}
	b = appendText(append(b, `,"snippet":`...), r.Snippet)
	b = appendList(append(b, `,"matches":`...), r.Matches, appendSpan)
	b = appendList(append(b, `,"tags":`...), r.Tags, appendShared)
	if r.Date != nil {
		b, ok = appendTime(append(b, `,"date":`...), r.Date, ok)
	}
	b = appendList(append(b, `,"legs":`...), r.Legs, func(b []byte, l *Leg) []byte {
		b = appendText(append(b, `{"branch":`...), l.Branch)
		if b = append(b, `,"rank":`...); l.Rank == nil {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, int64(*l.Rank), 10)
		}
		b, ok = appendNumber(append(b, `,"score":`...), l.Score, ok)
		return append(b, '}')
	})
	if len(r.Constituents) > 0 {
		b = appendList(append(b, `,"constituents":`...), r.Constituents, func(b []byte, c *Constituent) []byte {
			b = appendText(append(b, `{"id":`...), c.ID)
			b = appendText(append(b, `,"title":`...), c.Title)
			b = appendSpan(append(b, `,"span":`...), &c.Span)
			b, ok = appendNumber(append(b, `,"score":`...), c.Score, ok)
			return append(b, '}')
		})
	}
	if r.Stale {
		b = append(b, `,"stale":true`...)
	}
	if r.Explanation != nil {
		b, ok = appendAny(append(b, `,"explanation":`...), r.Explanation, ok)
	}
	return append(b, '}'), ok
}

// appendList appends a list, whose elements one appends.
func appendList[T any](b []byte, list []T, one func([]byte, *T) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(b, &list[i])
	}
	return append(b, ']')
}

func appendShared(b []byte, s *string) []byte { return appendText(b, *s) }

func appendSpan(b []byte, s *Span) []byte {
	b = strconv.AppendInt(append(b, `{"start":`...), int64(s.Start), 10)
	b = strconv.AppendInt(append(b, `,"end":`...), int64(s.End), 10)
	return append(b, '}')
}

// appendTexts appends texts by their names, in the order of these.
func appendTexts(b []byte, texts map[string]string) []byte {
	if texts == nil {
		return append(b, "null"...)
	}
	names := make([]string, 0, 32)
	for name := range texts {
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(appendText(b, name), ':'), texts[name])
	}
	return append(b, '}')
}

// appendAny appends what answers seldom hold; false when it is no JSON, or something was
// none before.
func appendAny(b []byte, v any, ok bool) ([]byte, bool) {
	text, err := json.Marshal(v)
	return append(b, text...), ok && err == nil
}

func appendTime(b []byte, t *time.Time, ok bool) ([]byte, bool) {
	out, err := t.AppendText(append(b, '"'))
	return append(out, '"'), ok && err == nil
}

// appendNumber appends a number as JavaScript writes it.
func appendNumber(b []byte, f float64, ok bool) ([]byte, bool) {
	size := math.Abs(f)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return b, false
	}
	if size == 0 || size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64), ok
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	if n := len(b); b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // e-09
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b, ok
}

// plainBytes are those that stand for themselves in a text of JSON, and in a page that it
// is part of.
var plainBytes = func() (plain [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return plain
}()

// plainPrefix is how many of the first 8 bytes of s, which has as many, are plainBytes before
// the first that is none.
func plainPrefix(s string) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	low := x &^ tops // no sum exceeds a byte
	plain := low + ones*(utf8.RuneSelf-' ')
	plain &= (low ^ ones*'\\') + ones*(utf8.RuneSelf-1)
	plain &= ((low | ones*('"'^'&')) ^ ones*('"'|'&')) + ones*(utf8.RuneSelf-1)
	plain &= ((low | ones*('<'^'>')) ^ ones*('<'|'>')) + ones*(utf8.RuneSelf-1)
	return bits.TrailingZeros64((^plain|x)&tops) / 8
}

// appendText appends a text in quotes.
func appendText[T ~string](b []byte, text T) []byte {
	s := string(text)
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		if len(s)-i >= 8 {
			n := plainPrefix(s[i:])
			if i += n; n == 8 { // as most are
				continue
			}
		}
		c := s[i]
		if plainBytes[c] {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
			if b = append(b, s[from:i]...); size == 1 {
				b = append(b, `\ufffd`...)
			} else { // lines end with it in JavaScript
				b = append(append(b, `\u202`...), '8'+byte(r-'\u2028'))
			}
		} else {
			b = appendEscaped(append(b, s[from:i]...), c)
		}
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
