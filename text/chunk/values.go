package chunk

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"sheaf"
	"sheaf/internal/number"
	"sheaf/internal/pattern"
	"sheaf/internal/wikilink"
)

// plainValue parses an unquoted scalar as YAML's core schema says, and also dates. "", null and ~ give the zero Value.
func plainValue(s string) sheaf.Value {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return sheaf.Value{}
	case "true", "True", "TRUE":
		return sheaf.BoolValue(true)
	case "false", "False", "FALSE":
		return sheaf.BoolValue(false)
	}
	if c := s[0]; isDigit(c) || c == '-' || c == '+' || c == '.' {
		if t, ok := parseDate(s); ok {
			return sheaf.WrittenDate(t)
		}
		if n, ok := number.Parse(s); ok {
			return sheaf.WrittenNumber(n, s)
		}
	}
	return sheaf.TextValue(s)
}

// linked returns the name of the note if v is a wiki link, as date or number if possible. It returns any other value
// unchanged.
func linked(v sheaf.Value) sheaf.Value {
	if v.Kind != sheaf.KindText {
		return v
	}
	name := wikilink.Name(v.Text)
	if name == "" {
		return v
	}
	if v := plainValue(name); v.Kind == sheaf.KindDate || v.Kind == sheaf.KindNumber {
		return v
	}
	return sheaf.TextValue(name)
}

// Compared returns the value that filters and facets compare. A link counts as the name of its note. A text that is
// a date or number counts as that date or number.
func Compared(v sheaf.Value) sheaf.Value {
	v = linked(v)
	if v.Kind != sheaf.KindText {
		return v
	}
	v.Text = strings.Trim(strings.TrimSpace(v.Text), "\u200b\u200e\u200f\ufeff")
	if t, ok := dateOf(v); ok {
		date := sheaf.WrittenDate(t)
		if date.String() != v.Text {
			date.Text = v.Text
		}
		return date
	}
	if n, ok := number.Parse(v.Text); ok && strings.ContainsAny(v.Text[:1], "0123456789+-.") {
		return sheaf.WrittenNumber(n, v.Text)
	}
	return v
}

// Plain returns the form in which columns store v, a result of [Compared]: see [sheaf.Value.Plain].
func Plain(v sheaf.Value) sheaf.Value {
	if v.Kind == sheaf.KindDate && v.Text != "" {
		if t, ok := dateOf(sheaf.TextValue(v.Text)); ok {
			return sheaf.DateValue(sheaf.Clock(t))
		}
	}
	return v.Plain()
}

// Writable reports whether RFC 3339 and JSON can write a time in UTC: the year must be within 0..9999.
func Writable(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}

// maxDateBytes is the length of the longest text that is a date.
const maxDateBytes = 64

// parseDate parses a day in the form 2018-11-20. A time of day and a zone may follow, as in 2018-11-20 16:33 +0100 or
// 2001-12-14t21:59:43.10-5. It returns false for other texts.
func parseDate(s string) (time.Time, bool) {
	if len(s) < len("2006-1-2") || len(s) > maxDateBytes || s[4] != '-' || !isDigit(s[5]) {
		return time.Time{}, false
	}
	return timed(s, func(day string) (time.Time, bool) {
		t, err := time.Parse("2006-1-2", day)
		return t, err == nil
	})
}

// clock matches a time of day at the end of a date, perhaps with a zone. It ignores the name of a zone after the
// time, as in 16:33 CET, 16:33 +0100 CET or 16:33+01:00[Europe/Berlin].
var clock = pattern.Lazy(`(?:[ \t]*[Tt]|,?[ \t]+(?:at[ \t]+)?)(\d\d?)` +
	`(?::(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d{0,20})?)?)?[ \t]*([AaPp][Mm])?` +
	`[ \t]*(?:UTC|GMT)?([Zz]|[+-]\d\d?(?::?\d\d)?)?[ \t]*(?:[A-Z]{3,5}|\[[\w/+-]+\])?$`)

// timed parses s as a day, with the function parseDay, and a time of day after it. The zone is the zone in the text, or
// UTC. Second 60 counts as 59. timed returns false if day or time are invalid, or if the time is not [Writable].
func timed(s string, parseDay func(string) (time.Time, bool)) (time.Time, bool) {
	var m []string
	if strings.ContainsAny(s, ":mM") { // most days have no time
		m = clock().FindStringSubmatch(s)
	}
	if m == nil || m[2]+m[5] == "" { // neither minutes nor pm
		t, ok := parseDay(s)
		return t, ok && Writable(t)
	}
	t, ok := parseDay(s[:len(s)-len(m[0])])
	if !ok {
		return time.Time{}, false
	}
	part := func(i int) int {
		n, _ := strconv.Atoi(m[i])
		return n
	}
	hour, minute, second, half := part(1), part(2), part(3), strings.ToLower(m[5])
	if half != "" {
		if hour < 1 || hour > 12 {
			return time.Time{}, false
		}
		if hour %= 12; half == "pm" {
			hour += 12
		}
	}
	if second == 60 && minute == 59 {
		second = 59
	}
	zone, ok := parseZone(m[6])
	if !ok || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	nanos, _ := strconv.Atoi((m[4] + "000000000")[:9])
	t = time.Date(t.Year(), t.Month(), t.Day(), hour, minute, second, nanos, zone)
	return t, Writable(t)
}

// parseZone parses a time zone such as Z, -5, +0100 or +01:00. It returns false if the zone is a day or more from UTC,
// or has 60 minutes.
func parseZone(s string) (*time.Location, bool) {
	if s == "" || s[0] != '+' && s[0] != '-' {
		return time.UTC, true
	}
	digits := strings.Replace(s[1:], ":", "", 1)
	hours, minutes := digits, "0"
	if len(digits) > 2 {
		hours, minutes = digits[:len(digits)-2], digits[len(digits)-2:]
	}
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	offset := (h*60 + m) * 60
	if s[0] == '-' {
		offset = -offset
	}
	if offset == 0 {
		return time.UTC, true
	}
	return time.FixedZone("", offset), h < 24 && m < 60
}

// dateRanks ranks the properties that give a document its date. The most important property has rank 0.
var dateRanks = func() map[string]int {
	ranks := map[string]int{}
	for _, name := range slices.Concat([]string{"date"}, sheaf.CreatedProperties, sheaf.PublishedProperties,
		sheaf.UpdatedProperties) {
		ranks[name] = len(ranks)
	}
	return ranks
}()

// DateOf returns the date of a document, from its frontmatter, else its file's name, else the modification time.
func DateOf(doc *sheaf.Document, modified time.Time) sheaf.Dated {
	var best sheaf.Dated
	least := len(dateRanks)
	for _, p := range doc.Properties {
		rank, ok := dateRanks[strings.ToLower(p.Name)]
		if !ok || rank >= least {
			continue
		}
		for _, v := range p.Values {
			if t, ok := documentDate(v); ok {
				best, least = sheaf.Dated{Time: t, Source: sheaf.DateFrontmatter}, rank
				break
			}
		}
	}
	if least < len(dateRanks) {
		return best
	}
	if t, ok := dateInPath(doc.Path); ok {
		return sheaf.Dated{Time: t, Source: sheaf.DateFileName}
	}
	return sheaf.Dated{Time: modified, Source: sheaf.DateModified}
}

// documentDate returns the date in the value of a date property, or false. Digits alone are also a date here: 2024,
// 20240531, 2024053116, 202405311630, or seconds or milliseconds since 1970.
func documentDate(v sheaf.Value) (time.Time, bool) {
	digits := linked(v).String()
	n, err := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil || !isDigit(digits[0]):
		return dateOf(v)
	case len(digits) == len("1000000000"):
		if t, ok := parseDigits("2006010215", digits); ok {
			return t, true
		}
		return time.Unix(n, 0).UTC(), true
	case len(digits) == len("1000000000000"):
		return time.UnixMilli(n).UTC(), true
	case len(digits) < len("20060102"):
		return parseDigits("2006", digits)
	}
	return dateInName(digits)
}

// dayLayouts are formats of days that parseDate does not read. A month without a day means its first day. For days such
// as 1/5/2024, see parseSlashed.
var dayLayouts = [...]string{
	"2006/1/2", "2006.1.2", "2.1.2006", "2 Jan 2006", "2.Jan 2006", "Jan 2 2006", "2-Jan-2006", "2006-Jan-2",
	"2006 Jan 2", "2006-1", "Jan 2006", "2006/Jan/2", "2006/1-Jan/2", "2006/1 Jan/2", "2006/2006-1/2",
}

// dateOf returns the date in a value. A text may be a date in many forms, or a link to a day's note, as in
// "[[2024-05-31]]". If the value has no zone, the zone is UTC. dateOf returns false for a value that is no date.
func dateOf(v sheaf.Value) (time.Time, bool) {
	switch v = linked(v); v.Kind {
	case sheaf.KindDate:
		if t, err := time.Parse(time.RFC3339, v.Text); err == nil {
			return t, true
		}
		return v.Time(), true
	case sheaf.KindText:
	default:
		return time.Time{}, false
	}
	text := norm.NFKC.String(firstBytes(v.Text, maxDateBytes+1))
	if len(text) > maxDateBytes || !hasYear(text) {
		return time.Time{}, false
	}
	if t, ok := parseDate(text); ok {
		return t, true
	}
	text = plainSigns.Replace(inParentheses().ReplaceAllString(text, ""))
	if text != "" && (text[0] == '<' || text[0] == '[') { // as Org writes dates
		text = strings.Trim(text, "<>[]")
	}
	if strings.ContainsFunc(text, unicode.IsLetter) {
		if text = withPlainWords(text); text == "" {
			return time.Time{}, false
		}
	}
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	text = unixDate().ReplaceAllString(afterDot().ReplaceAllString(text, "$1."), "$1 $4 $2$3$5")
	t, ok := timed(text, func(day string) (time.Time, bool) {
		slashed := strings.Contains(day, "/")
		for _, layout := range dayLayouts {
			if slashed != strings.Contains(layout, "/") {
				continue
			}
			if t, err := time.Parse(layout, day); err == nil {
				return t, true
			}
		}
		return parseSlashed(day)
	})
	if ok {
		return t, true
	}
	return parseDate(compact().ReplaceAllString(text, "$1-$2-${3}T$4:$5:$6"))
}

// withPlainWords returns a date with its words as in dayLayouts. It returns "" if a word is no word of a date.
func withPlainWords(date string) string {
	for word := range strings.FieldsFuncSeq(date, func(r rune) bool { return !unicode.IsLetter(r) }) {
		_, known := dateWords()[strings.ToLower(word)]
		zone := len(word) <= len("pm") || word == strings.ToUpper(word) || strings.Contains(date, "[") // [Europe/Berlin]
		if !known && !zone {
			return ""
		}
	}
	return dateWord().ReplaceAllStringFunc(date, func(written string) string {
		if plain, ok := dateWords()[strings.ToLower(strings.TrimSuffix(written, "."))]; ok {
			return plain
		}
		return written
	})
}

// hasYear reports whether text has four digits in a row, perhaps with characters such as soft hyphens between them.
func hasYear(text string) bool {
	digits := 0
	for i := 0; i < len(text) && digits < 4; i++ {
		switch {
		case isDigit(text[i]):
			digits++
		case text[i] < utf8.RuneSelf:
			digits = 0
		}
	}
	return digits == 4
}

// parseSlashed parses a day such as 11/20/2018 or 20-11-2018, if day and month cannot be exchanged. It returns false
// for other texts, and for 1/5/2024, which may be in January or in May.
func parseSlashed(day string) (time.Time, bool) {
	day = strings.ReplaceAll(day, "-", "/")
	american, err := time.Parse("1/2/2006", day)
	other, err2 := time.Parse("2/1/2006", day)
	switch {
	case err != nil:
		return other, err2 == nil
	case err2 != nil:
		return american, true
	}
	return american, american.Equal(other)
}

// unixDate matches a date as the programs date and git write it, without the weekday. The year is after the time.
var unixDate = pattern.Lazy(`^(\w{3} \d\d?) (\d\d:\d\d:\d\d)( [A-Z]{3,5})? (\d{4})( [+-]\d{4})?$`)

// compact matches a date and a time without separators (ISO 8601), such as 20181120T163300Z.
var compact = pattern.Lazy(`^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)`)

// inParentheses matches a note such as the weekday in 2018-11-20 (Tue).
var inParentheses = pattern.Lazy(`\([^()\d]*\)`)

// afterDot matches the full stop and the space in 20. November 2018 and in 20. 11. 2018.
var afterDot = pattern.Lazy(`(\d)\. `)

// plainSigns replaces dashes, commas and invisible characters. It also replaces the signs after year, month, day, hour
// and minute in Chinese, Japanese and Korean.
var plainSigns = strings.NewReplacer(" - ", " ", "\u2010", "-", "\u2013", "-", "\u2212", "-", ",", " ",
	"\u00ad", "", "\u200b", "", "\u200e", "", "\u200f", "", "\ufeff", "",
	"年", "-", "月", "-", "日", " ", "時", ":", "时", ":", "分", "", "년 ", "-", "월 ", "-", "년", "-", "월", "-", "일", "",
	"a.m.", "am", "p.m.", "pm")

// dateWord matches a word in a date.
var dateWord = pattern.Lazy(`\p{L}+\.?`)

// dateWords maps words in dates, and their beginnings, to the names in dayLayouts. Words that say nothing map to "":
// "Tuesday", "the" and "of" in "Tuesday, the 20th of May 2024". A beginning of two months, such as "ju", maps to
// itself.
var dateWords = sync.OnceValue(func() map[string]string {
	words := map[string]string{"h": ":"} // 16h33
	for word := range strings.FieldsSeq("at of the st nd rd th de del den el le er à às um kl uhr г года") {
		words[word] = ""
	}
	begin := func(name, plain string, shortest int) {
		for end := range name + " " {
			begin := name[:end]
			switch before := words[begin]; {
			case utf8.RuneCountInString(begin) < shortest:
			case before == "" || before == plain:
				words[begin] = plain
			default: // the beginning of two months
				words[begin] = begin
			}
		}
	}
	for name := range strings.FieldsSeq("monday tuesday wednesday thursday friday saturday sunday " +
		"montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag " +
		"maandag dinsdag woensdag donderdag vrijdag zaterdag zondag " +
		"lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo " +
		"lunedì martedì mercoledì giovedì venerdì sabato domenica " +
		"понедельник вторник среда четверг пятница суббота воскресенье") {
		begin(name, "", 2)
	}
	for _, year := range [...]string{
		"january february march april may june july august september october november december",
		"januar februar märz april mai juni juli august september oktober november dezember",
		"januari februari maart april mei juni juli augustus september oktober november december",
		"januari februari mars april maj juni juli augusti september oktober november december",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
		"stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
		"января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
	} {
		for i, name := range strings.Fields(year) {
			begin(name, time.Month(i + 1).String()[:3], 3)
		}
	}
	return words
})

// dateInPath returns the date in the path of a file, or false. The date is one of these:
//   - a date within the file's name: see dateInName, dayInName and weekInName;
//   - the whole name in any form of a date, as in 2024-03.md;
//   - two folders and the name, as in 2024/03/07.md.
func dateInPath(p string) (time.Time, bool) {
	p = norm.NFKC.String(p)
	if !hasYear(p) { // most paths have no year
		return time.Time{}, false
	}
	name := path.Base(p)
	if t, ok := dateInName(plainSigns.Replace(name)); ok {
		return t, true
	}
	name = strings.ReplaceAll(name, "_", "-")
	for _, day := range dayInName().FindAllString(name, 4) {
		if t, ok := dateOf(sheaf.TextValue(day)); ok && isUsual(t.Year()) {
			return t, true
		}
	}
	if t, ok := weekInName(name); ok {
		return t, true
	}
	parts := strings.Split(strings.TrimSuffix(p, path.Ext(p)), "/")
	for n := 1; n <= min(3, len(parts)); n += 2 {
		t, ok := dateOf(sheaf.TextValue(strings.Join(parts[len(parts)-n:], "/")))
		if ok && isUsual(t.Year()) {
			return t, true
		}
	}
	return time.Time{}, false
}

// dayInName matches what may be a day in a file's name: 25-11-2018, 2018年1月5日, 25 November 2018 or Nov 25th, 2018.
var dayInName = pattern.Lazy(`\b\d\d?-\d\d?-\d{4}\b|\d{4}年\d\d?月\d\d?日|` +
	`\b\d\d?(\.|st|nd|rd|th)?[- ]\p{L}{3,}\.?,?[- ]\d{4}\b|\p{L}{3,}\.?[- ]\d\d?(st|nd|rd|th)?,?[- ]\d{4}\b`)

// week matches a week of ISO 8601, such as 2024-W10.
var week = pattern.Lazy(`\b(\d{4})-?[Ww](\d\d)\b`)

// weekInName returns the Monday of the week in a file's name, or false.
func weekInName(name string) (time.Time, bool) {
	m := week().FindStringSubmatch(name)
	if m == nil {
		return time.Time{}, false
	}
	year, _ := strconv.Atoi(m[1])
	number, _ := strconv.Atoi(m[2])
	day := time.Date(year, time.January, 4, 0, 0, 0, 0, time.UTC) // always in week 1
	monday := day.AddDate(0, 0, 7*(number-1)-(int(day.Weekday())+6)%7)
	inYear, inWeek := monday.ISOWeek()
	return monday, inYear == year && inWeek == number && isUsual(year)
}

// dateInName returns the first date in a file's name. The date has the form 2024-05-31, 2024_05_31, 2024.05.31,
// 2024 05 31, 31.05.2024 or 20240531, without another digit beside it. Hours, minutes and seconds may follow, as in
// 20240531163000. If the name has no date, it returns false.
func dateInName(name string) (time.Time, bool) {
	for i := 0; i+8 <= len(name); i++ {
		if !isDigit(name[i]) || i > 0 && isDigit(name[i-1]) {
			continue
		}
		for _, layout := range [...]string{"2006-01-02", "2006_01_02", "2006.01.02", "2006 01 02", "02.01.2006", "20060102",
			"200601021504", "20060102150405"} {
			end := i + len(layout)
			if end > len(name) || end < len(name) && isDigit(name[end]) {
				continue
			}
			if t, ok := parseDigits(layout, name[i:end]); ok {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// parseDigits parses a date in a layout of package time. It returns false if s is no date in a usual year.
func parseDigits(layout, s string) (time.Time, bool) {
	t, err := time.Parse(layout, s)
	return t, err == nil && isUsual(t.Year())
}

// isUsual reports whether names of files and digits may mean this year. Notes about history have older years.
func isUsual(year int) bool { return year >= 1900 && year < 2200 }
