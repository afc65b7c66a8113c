package query

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/fold"
	"sheaf/internal/number"
	"sheaf/internal/wikilink"
)

// textFields maps the names of fields in queries to the fields of chunks.
var textFields = map[string]string{"title": sheaf.FieldTitle, "body": sheaf.FieldBody, "alias": sheaf.FieldAliases}

// value converts a word or phrase to a part. The field of t decides whether the part is a filter or searches words.
func (p *parser) value(t token) part {
	if name, ok := strings.CutPrefix(t.field, "prop."); ok {
		return p.property(name, t)
	}
	switch t.field {
	case "", "title", "heading", "body", "alias":
		if t.text == "*" && t.kind != tokenPhrase && t.field != "" && t.field != "alias" {
			return p.path(token{text: "*"}) // everything
		}
		p.checkWildcards(t)
		if t.field != "" && !strings.ContainsFunc(t.text, isIndexed) {
			p.note(quoted(t.field+":"+t.text) + ` has no letter, digit or emoji; it was left out`)
			return part{}
		}
	}
	if field := textFields[t.field]; field != "" {
		return part{query: words(t, field), strict: true}
	}
	switch t.field {
	case "heading":
		return part{query: sheaf.Bool{Should: []sheaf.TextQuery{words(t, sheaf.FieldTitle), words(t, sheaf.FieldHierarchy)}},
			strict: true}
	case "tag":
		return p.tag(t)
	case "ext":
		if t.text == "*" && t.kind != tokenPhrase {
			return part{filter: sheaf.Not{Filter: sheaf.TextIn(ColumnExtension, "")}, strict: true}
		}
		return part{filter: sheaf.TextIn(ColumnExtension, strings.ToLower(strings.TrimLeft(t.text, ".*"))), strict: true}
	case "path":
		return p.path(t)
	case "before", "after", "on", "date":
		return p.date(t)
	}
	if t.kind == tokenPhrase {
		if strings.TrimSpace(t.text) == "" {
			p.note("there is nothing between the quotation marks; they were left out")
			return part{}
		}
		return part{query: sheaf.Phrase{Text: t.text}, strict: true}
	}
	if name, ok := strings.CutPrefix(t.text, "#"); ok && isTag(strings.TrimSuffix(name, "*")) {
		return p.tag(t)
	}
	out := word(t.text)
	if stem := strings.TrimRight(strings.TrimRight(t.text, "0123456789"), "~"); out.query == nil &&
		len(stem) < len(t.text) && strings.Contains(t.text[len(stem):], "~") && hasLetter(stem) {
		p.note(`only 1, 2 or nothing may follow "~"; ` + quoted(t.text) + ` was searched as a word`)
	}
	return out
}

// checkWildcards adds a note about a star before the end of a word, or a question mark within a word. A word with an
// equals sign is an address, in which question marks get no note.
func (p *parser) checkWildcards(t token) {
	i := strings.IndexAny(t.text, "*?")
	if t.kind == tokenPhrase || i < 0 || !hasLetter(t.text[i:]) {
		return
	}
	switch before := hasLetter(t.text[:i]); {
	case t.text[i] == '*' && (before || i == 0 && !strings.HasSuffix(t.text, "*")):
		p.note(`a star counts only at the end of a word; ` + quoted(t.text) + ` was searched as words`)
	case t.text[i] == '?' && before && !strings.Contains(t.text, "="):
		p.note(`a question mark replaces no letter; ` + quoted(t.text) + ` was searched as words`)
	}
}

// words returns a query for a word or phrase in one field.
func words(t token, field string) sheaf.TextQuery {
	if t.kind == tokenPhrase {
		return sheaf.Phrase{Text: t.text, Field: field}
	}
	if p := word(t.text); p.plain == "" && p.query != nil {
		switch q := p.query.(type) {
		case sheaf.Prefix:
			q.Field = field
			return q
		case sheaf.Fuzzy:
			q.Field = field
			return q
		}
	}
	return sheaf.Phrase{Text: t.text, Field: field} // one word of several parts, such as docker-compose
}

// word converts a word, with the marks after it, to a part.
func word(s string) part {
	if stem, ok := strings.CutSuffix(s, "*"); ok && hasLetter(stem) && !strings.Contains(stem, "*") {
		return part{query: sheaf.Prefix{Text: stem}}
	}
	if stem, distance, ok := strings.Cut(s, "~"); ok && hasLetter(stem) &&
		(distance == "" || distance == "1" || distance == "2") {
		q := sheaf.Fuzzy{Text: stem, Distance: 1}
		if distance == "2" || distance == "" && len([]rune(stem)) > 5 {
			q.Distance = 2
		}
		return part{query: q}
	}
	return part{plain: s}
}

func hasLetter(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// isIndexed reports whether a word or an emoji may contain this character.
func isIndexed(r rune) bool { return inWord(r) || unicode.Is(unicode.So, r) }

func isTag(name string) bool {
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsMark(first) ||
		!strings.ContainsFunc(name, func(r rune) bool { return searchable(r) && !unicode.IsDigit(r) }) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r < 0x80 && r != '_' && r != '-' && r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// tag converts a tag, or the beginning of a tag before a star, to a part.
func (p *parser) tag(t token) part {
	written := strings.Trim(strings.TrimPrefix(t.text, "#"), "/")
	name := fold.Text(written)
	stem, star := strings.CutSuffix(name, "*")
	switch {
	case t.field == "tag" && t.text == "*" && t.kind != tokenPhrase:
		return part{filter: sheaf.Exists{Column: sheaf.ColumnTag}, strict: true}
	case !strings.ContainsFunc(written, func(r rune) bool { return searchable(r) || r >= 0x80 && !unicode.IsSpace(r) }),
		t.kind != tokenPhrase && strings.ContainsAny(stem, "*,"):
		p.note(quoted(t.text) + ` is no tag; it was searched as words`)
		return part{plain: t.text}
	case star:
		return part{filter: sheaf.HasPrefix{Column: sheaf.ColumnTag, Prefix: stem}, words: tagWords(stem, true), strict: true}
	}
	return part{filter: sheaf.TextIn(sheaf.ColumnTag, name), words: tagWords(name, false), strict: true}
}

// path converts a folder, a file, or the beginning of a path to a part. A file name with an extension finds files in
// every folder, unless a slash comes before the name. Any other name is searched among the words of paths.
func (p *parser) path(t token) part {
	value := strings.TrimPrefix(strings.TrimPrefix(t.text, "./"), "/")
	prefix, star := strings.CutSuffix(value, "*")
	prefix = strings.TrimSuffix(prefix, "*")
	switch {
	case strings.Contains(prefix, "*") && t.kind != tokenPhrase:
		p.note(`a star counts only at the end of a path; ` + quoted(t.text) + ` was searched as words`)
		return part{query: sheaf.Match{Text: t.text, Field: sheaf.FieldPath}, strict: true}
	case star:
		return part{filter: begins(p.spellings(prefix)), strict: true}
	case strings.Contains(value, "/") || strings.Contains(value, "."):
		name := strings.TrimSuffix(value, "/")
		paths := p.spellings(value)
		names := make([]sheaf.Value, len(paths))
		for i, s := range paths {
			names[i] = sheaf.TextValue(strings.TrimSuffix(s, "/"))
		}
		any := sheaf.Or{sheaf.In{Column: sheaf.ColumnFolder, Values: names}, begins(paths)}
		if value == t.text && !strings.Contains(value, "/") {
			any = append(any, sheaf.In{Column: sheaf.ColumnFile, Values: names})
		}
		out := part{filter: any, strict: true}
		if strings.HasSuffix(value, "/") {
			out.words = sheaf.Phrase{Text: name, Field: sheaf.FieldPath}
		}
		return out
	}
	return part{query: sheaf.Phrase{Text: value, Field: sheaf.FieldPath}, strict: true}
}

// maxSpelt limits the paths of a query for which Parse looks up other spellings, because each look-up reads all paths.
const maxSpelt = 16

// spellings returns the typed spelling of a path, and the spellings that Options.Spellings returns.
func (p *parser) spellings(written string) []string {
	all, asked := p.spelt[written]
	if asked {
		return all
	}
	all = fold.Spellings(written)
	switch {
	case p.o.Spellings == nil:
		return all
	case len(p.spelt) == maxSpelt:
		p.note("the query has too many paths; the first " + strconv.Itoa(maxSpelt) + " were searched in any case, " +
			"the others as written")
		return all
	case p.spelt == nil:
		p.spelt = map[string][]string{}
	}
	for _, s := range p.o.Spellings(written) {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	p.spelt[written] = all
	return all
}

// begins returns a filter for paths that begin with one of the prefixes.
func begins(prefixes []string) sheaf.Filter {
	var any sheaf.Or
	for _, s := range prefixes {
		any = append(any, sheaf.HasPrefix{Column: sheaf.ColumnPath, Prefix: s})
	}
	return oneOrAny(any)
}

// oneOrAny returns a list of filters as one filter. A list of one filter becomes this filter.
func oneOrAny(any sheaf.Or) sheaf.Filter {
	if len(any) == 1 {
		return any[0]
	}
	return any
}

// property converts name:value, name:begin*, name:>value and similar forms to a part. Case does not matter for text:
// the column has folded text, and for a link the name of its note.
func (p *parser) property(name string, t token) part {
	column, text := sheaf.PropertyColumn(name), t.text
	if stem, star := strings.CutSuffix(text, "*"); star && t.kind != tokenPhrase && !strings.ContainsAny(stem, "*<>=") {
		if stem == "" {
			return part{filter: sheaf.Exists{Column: column}, strict: true}
		}
		any := sheaf.Or{sheaf.HasPrefix{Column: column, Prefix: fold.Text(stem)}}
		if strings.ContainsAny(stem[:1], "0123456789+-.") {
			for _, s := range cases(stem) {
				any = append(any, sheaf.HasPrefix{Column: sheaf.WrittenColumn(name), Prefix: s})
			}
			if begin := numbersThatBegin(column, stem); len(begin) > 0 {
				any = append(any, usualNumber(name, begin))
			}
			if from, to, isDate := datesThatBegin(stem, p.o.Now); isDate {
				any = append(any, dated(column, "", from, to))
			}
		}
		return part{filter: oneOrAny(any), strict: true}
	}
	op, value := comparison(text)
	if !slices.Contains([]string{"", "=", "==", ">", ">=", "<", "<="}, op) || strings.HasPrefix(value, "!=") {
		p.note(quoted(text) + ` has a sign that compares nothing (">", ">=", "<" and "<=" compare, "-" before the name ` +
			`leaves out); it was searched as words`)
		return part{plain: text}
	}
	if linked := wikilink.Name(value); linked != "" {
		value = linked
	}
	from, to, isDate := dates(value, p.o.Now)
	size, isNumber := number.Parse(value)
	if op == ">" || op == ">=" || op == "<" || op == "<=" {
		var any sheaf.Or
		if isNumber {
			any = append(any, compare(column, op, sheaf.NumberValue(size), sheaf.NumberValue(size)))
		}
		if isDate {
			any = append(any, dated(column, op, from, to))
		}
		if len(any) > 0 {
			return part{filter: any, strict: true}
		}
		p.note(quoted(text) + ` compares with what is neither a number nor a date; it was searched as words`)
		return part{plain: text}
	}
	any := sheaf.Or{sheaf.TextIn(column, fold.Text(value))}
	if isNumber {
		any = append(any, writtenSo(name, value, size))
	} else if !isDate && strings.ContainsAny(value, "0123456789") { // a date may have this form
		any = append(any, sheaf.In{Column: sheaf.WrittenColumn(name), Values: sheaf.TextValues(cases(value)...)})
	}
	if b, err := strconv.ParseBool(strings.ToLower(value)); err == nil && len(value) > 1 {
		any = append(any, sheaf.In{Column: column, Values: []sheaf.Value{sheaf.BoolValue(b)}})
	}
	if isDate {
		any = append(any, dated(column, "", from, to))
	}
	return part{filter: oneOrAny(any), strict: true}
}

// writtenSo returns a filter for documents whose property is a number that is written exactly like value. With the
// value 12.10, a document with 12.1 does not match. name is the property, and size is the number that value means.
func writtenSo(name, value string, size float64) sheaf.Filter {
	written := sheaf.In{Column: sheaf.WrittenColumn(name), Values: sheaf.TextValues(cases(value)...)}
	if sheaf.WrittenNumber(size, value).Text != "" {
		return written
	}
	usual := sheaf.In{Column: sheaf.PropertyColumn(name), Values: []sheaf.Value{sheaf.NumberValue(size)}}
	return sheaf.Or{written, usualNumber(name, usual)}
}

// usualNumber returns a filter for f and documents that write all numbers of the property in the usual way.
func usualNumber(name string, f sheaf.Filter) sheaf.Filter {
	return sheaf.And{f, sheaf.Not{Filter: sheaf.Exists{Column: sheaf.WrittenColumn(name)}}}
}

// numbersThatBegin returns the filters for numbers that begin with these digits when they are written in the usual way.
// The digits 12 begin 12, 12.5, 120 and 1299.
func numbersThatBegin(column, digits string) (any sheaf.Or) {
	whole, fraction, point := strings.Cut(digits, ".")
	first, err := strconv.ParseUint(whole+fraction, 10, 50)
	if err != nil || whole == "" || whole[0] == '0' && whole != "0" || point && fraction == "" {
		return nil
	}
	unit := math.Pow10(len(fraction))
	for scale := 1.0; float64(first)*scale < 1<<53; scale *= 10 {
		from, to := float64(first)/unit*scale, float64(first+1)/unit*scale
		any = append(any, sheaf.Range{Column: column, Min: sheaf.NumberValue(from), Max: sheaf.NumberValue(to),
			MaxOpen: true})
		if point || first == 0 {
			break
		}
	}
	return any
}

// cases returns s unchanged, in small letters and in capitals, without duplicates. The x of 0xFF stays small.
func cases(s string) []string {
	out := []string{s}
	upper := strings.ToUpper(s)
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		upper = "0x" + strings.ToUpper(digits)
	}
	for _, other := range [...]string{strings.ToLower(s), upper} {
		if !slices.Contains(out, other) {
			out = append(out, other)
		}
	}
	return out
}

// comparison splits text into the signs <, > and =, and the value after them.
func comparison(text string) (op, value string) {
	value = strings.TrimLeft(text, "<>=")
	return text[:len(text)-len(value)], strings.TrimSpace(value)
}

// compare returns the filter for a comparison with a range of values, such as all moments of a day. first and last are
// the smallest and the largest value of the range. The signs < and >= compare with first, the signs > and <= with last.
func compare(column, op string, first, last sheaf.Value) sheaf.Filter {
	switch op {
	case ">":
		return sheaf.Range{Column: column, Min: last, MinOpen: true}
	case ">=":
		return sheaf.Range{Column: column, Min: first}
	case "<":
		return sheaf.Range{Column: column, Max: first, MaxOpen: true}
	}
	return sheaf.Range{Column: column, Max: last}
}

// date converts before:, after:, on: and date: to a part. A comparison may follow on: and date:. after: includes the
// day itself.
func (p *parser) date(t token) part {
	if t.field == "date" && t.text == "*" && t.kind != tokenPhrase {
		return part{filter: sheaf.Exists{Column: sheaf.ColumnDate}, strict: true}
	}
	op, value, find := "", t.text, dates
	switch t.field {
	case "before":
		op = "<"
	case "after":
		op = ">="
	default:
		op, value = comparison(t.text)
		if stem, star := strings.CutSuffix(value, "*"); star && t.kind != tokenPhrase {
			value, find = stem, datesThatBegin
		}
	}
	from, to, ok := find(value, p.o.Now)
	if !ok || !slices.Contains([]string{"", "=", ">", ">=", "<", "<="}, op) {
		p.note(quoted(t.text) + ` is no date (2024, 2024-05, 2024-05-31, 7d, 2w, 3m, 1y, today, yesterday); it was ` +
			`searched as words`)
		return part{plain: t.text}
	}
	return part{filter: dated(sheaf.ColumnDate, op, from, to), strict: true}
}

// dated returns the filter for the comparison op with the range of dates from <= date < to. The signs "" and "=" select
// the dates in the range. For other signs, see compare.
func dated(column, op string, from, to time.Time) sheaf.Filter {
	if op == "" || op == "=" {
		return sheaf.Range{Column: column, Min: sheaf.DateValue(from), Max: sheaf.DateValue(to), MaxOpen: true}
	}
	return compare(column, op, sheaf.DateValue(from), sheaf.DateValue(to.Add(-time.Millisecond)))
}

// datesThatBegin does what [dates] does, for a text that may lack the last digit of a month or day. For example, 2024-0
// means the months 1 to 9, and 2024-05-3 means the last days of May.
func datesThatBegin(s string, now time.Time) (from, to time.Time, ok bool) {
	for _, l := range [...]struct {
		layout       string
		months, days int
	}{{"2006-01", 1, 0}, {"2006-01-02", 0, 1}} {
		for _, digit := range "01" { // there is no month 0 and no day 0
			from, err := time.Parse(l.layout, s+string(digit))
			if err != nil {
				continue
			}
			for to = from; strings.HasPrefix(to.Format(l.layout), s); {
				to = to.AddDate(0, l.months, l.days)
			}
			return from, to, true
		}
	}
	return dates(strings.TrimRight(s, "-/"), now)
}

// dates converts a year, month, day, minute, second, or age such as 7d to the range from <= time < to. Both are times
// of the clock in the document's own zone, stored as UTC: see [sheaf.Clock]. ok is false for other texts.
func dates(s string, now time.Time) (from, to time.Time, ok bool) {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	switch strings.ToLower(s) {
	case "today":
		return today, today.AddDate(0, 0, 1), true
	case "yesterday":
		return today.AddDate(0, 0, -1), today, true
	case "tomorrow":
		return today.AddDate(0, 0, 1), today.AddDate(0, 0, 2), true
	}
	if len(s) >= 2 && len(s) <= 5 {
		if n, err := strconv.Atoi(s[:len(s)-1]); err == nil && n >= 0 {
			switch s[len(s)-1] {
			case 'd':
				return today.AddDate(0, 0, -n), today.AddDate(0, 0, 1-n), true
			case 'w':
				return today.AddDate(0, 0, -7*n), today.AddDate(0, 0, 1-7*n), true
			case 'm':
				return today.AddDate(0, -n, 0), today.AddDate(0, -n, 1), true
			case 'y':
				return today.AddDate(-n, 0, 0), today.AddDate(-n, 0, 1), true
			}
		}
	}
	for _, l := range []struct {
		layout              string
		years, months, days int
	}{
		{"2006-1-2", 0, 0, 1}, {"2006-1", 0, 1, 0}, {"2006", 1, 0, 0}, {"2006/1/2", 0, 0, 1}, {"20060102", 0, 0, 1},
		{"2.1.2006", 0, 0, 1},
	} {
		if t, err := time.Parse(l.layout, s); err == nil {
			return t, t.AddDate(l.years, l.months, l.days), true
		}
	}
	at := strings.ToUpper(strings.ReplaceAll(strings.Replace(s, " ", "T", 1), " ", "")) // also 2024-05-31 16:30 +0200
	for _, l := range [...]struct {
		layout string
		length time.Duration
	}{
		{"2006-1-2T15:4", time.Minute}, {"2006-1-2T15:4Z07:00", time.Minute}, {"2006-1-2T15:4Z0700", time.Minute},
		{"2006-1-2T15:4:5", time.Second}, {"2006-1-2T15:4:5Z07:00", time.Second}, {"2006-1-2T15:4:5Z0700", time.Second},
	} {
		if t, err := time.Parse(l.layout, at); err == nil {
			from = sheaf.Clock(t).Truncate(l.length)
			return from, from.Add(l.length), true
		}
	}
	return from, to, false
}
