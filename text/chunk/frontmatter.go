package chunk

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/internal/wikilink"
)

// frontmatter is the block of YAML between "---" lines at the start of a file, with what was read from it.
type frontmatter struct {
	// whole is the range of the block with its delimiter lines. inner is the range of the text between them.
	whole, inner span
	title        string
	aliases      []string
	tags         []string
	properties   []sheaf.Property
	links        []sheaf.Link // values that are wiki links
	warnings     []sheaf.Warning
	// useless says that the YAML has no entries or is malformed. The block then counts as text of the document.
	useless bool
}

// These limit frontmatter that needs a full YAML parser, whose time grows with the square of the number of keys. Larger
// frontmatter counts as text, with a warning. Frontmatter of keys, scalars and lists of scalars has no limit.
const (
	maxFrontmatterBytes = 32 << 10
	maxFrontmatterDepth = 50
)

// maxNames limits the number of tags, and of aliases, in frontmatter, because every piece of the file repeats them.
const maxNames = 1000

// maxProperties is the largest number of properties of a document. Each property needs a column, and more properties do
// not help filters.
const maxProperties = 1000

// maxValueBytes is the largest size of one value, because each piece of the document repeats the values. Longer values
// are cut, with a warning.
const maxValueBytes = 32 << 10

// maxRepeats is the largest number of repeated keys that get a warning. Further repeated keys get none.
const maxRepeats = 10

// findFrontmatter finds the frontmatter of src. start is a byte offset: 0, or 3 after a byte order mark.
// findFrontmatter looks only at the two delimiter lines; the text between them need not be valid YAML. ok is false if
// there is no frontmatter.
func findFrontmatter(src string, start int) (f frontmatter, ok bool) {
	if !strings.HasPrefix(src[start:], "---") {
		return f, false
	}
	for l := range linesFrom(src, start) {
		text := src[l.start:l.end]
		mark := (strings.HasPrefix(text, "---") || strings.HasPrefix(text, "...")) && blank(text[3:])
		switch {
		case l.start > start && mark:
			f.inner.end = l.start
			f.whole = span{start, l.next}
			return f, true
		case l.start == start && (!mark || l.next == l.end):
			return f, false
		case l.start == start:
			f.inner.start = l.next
		}
	}
	return f, false
}

// unclosed matches the beginning of something that looks like frontmatter: the delimiter, and a key on the next line.
var unclosed = pattern.Lazy(`^---[ \t]*(\r\n|\n|\r)[A-Za-z_][A-Za-z0-9_-]*:([ \t\r\n]|$)`)

// doubleColon matches a key as in an inline field, such as "tags:: work". To YAML the key is "tags:".
var doubleColon = pattern.Lazy(`(?m)^([\pL\pN_][^\n:#"']*)::([ \t\r]|$)`)

// These match values that YAML takes for comments. hashLine matches a line such as "tags: #one #two" and an item such
// as "- #one". hashList matches a line with a list in brackets, and hashItem matches an item of the list.
var (
	hashLine = pattern.Lazy(`(?m)^([ \t]*(?:-|[\pL\pN_][^\n:#"']*:)[ \t]+)(#[^\s#][^\n\r]*?)([ \t\r]*)$`)
	hashList = pattern.Lazy(`(?m)^[\pL\pN_][^\n:#"']*:[ \t]*\[[^\n"']*#[^\n"']*$`)
	hashItem = pattern.Lazy(`([\[,][ \t]*)(#[^\s#,\]][^,\]\n\r]*)`)
)

// quoteHashes puts quotation marks around values that begin with "#" and a word. To YAML these are comments, but people
// mean tags, colors and titles.
func quoteHashes(inner string) string {
	if !strings.Contains(inner, "#") {
		return inner
	}
	inner = hashList().ReplaceAllStringFunc(inner, func(line string) string {
		return hashItem().ReplaceAllString(line, "$1'$2'")
	})
	return hashLine().ReplaceAllStringFunc(inner, func(line string) string {
		m := hashLine().FindStringSubmatch(line)
		return m[1] + "'" + strings.ReplaceAll(m[2], "'", "''") + "'" + m[3]
	})
}

func (f *frontmatter) read(src string) {
	inner := src[f.inner.start:f.inner.end]
	if strings.Contains(inner, "::") {
		inner = doubleColon().ReplaceAllString(inner, "$1: $2")
	}
	inner = quoteHashes(inner)
	if blankText(inner) {
		return
	}
	r, number := lineReader{simple: true}, 1
	for l := range linesFrom(inner, 0) {
		number++
		r.line(strings.TrimRight(inner[l.start:l.end], " \t"), number)
	}
	entries := r.entries
	if !r.simple {
		parsed, fault := f.parse(inner)
		if fault == nil {
			entries = parsed
		} else {
			f.useless = true
			text, _, _ := strings.Cut(fault.Text, "\n")
			f.warn(fault.Line+1, "%s; it is indexed as text", text)
			// Access rights in malformed frontmatter may hide the document from callers, but never show it.
			entries = slices.DeleteFunc(entries, func(e yamlEntry) bool {
				return IsAccessProperty(e.key) && !strings.EqualFold(e.key, "tenant")
			})
			if len(entries) == 0 {
				return
			}
		}
	}
	if len(entries) == 0 {
		f.useless = true
		return
	}
	f.take(entries)
	f.findLinks(src, entries)
}

// yamlEntry is one key of the frontmatter with its scalar values.
type yamlEntry struct {
	key    string
	line   int // of the key, from 1, in the file
	list   bool
	null   bool
	nested bool // the value is a map
	within bool // the list contains lists or maps, or an alias of one
	values []yamlScalar
}

type yamlScalar struct {
	raw    string
	quoted bool
}

func (s yamlScalar) value() sheaf.Value {
	if s.quoted {
		return sheaf.TextValue(showable(s.raw))
	}
	return plainValue(showable(s.raw))
}

func (s yamlScalar) isNull() bool { return !s.quoted && plainValue(s.raw).IsZero() }

// take fills title, aliases, tags and properties from the entries. For a repeated key, the last value counts.
func (f *frontmatter) take(entries []yamlEntry) {
	last, given := make(map[string]int, len(entries)), map[string]int{}
	repeats, repeatedAt := 0, 0
	for i, e := range entries {
		if before, ok := last[e.key]; ok {
			if repeats++; repeats <= maxRepeats {
				f.warn(e.line, "%q was given on line %d already; this one counts", showable(e.key), entries[before].line)
			}
			repeatedAt = e.line
		}
		last[e.key] = i
		given[e.key]++
	}
	if repeats > maxRepeats {
		f.warn(repeatedAt, "%d more keys were given before; the last one counts", repeats-maxRepeats)
	}
	f.warnWithin(entries)
	dropped := 0
	for i, e := range entries {
		tenant := strings.EqualFold(e.key, "tenant")
		if last[e.key] != i || e.nested && !tenant || e.null && !(tenant && given[e.key] > 1) {
			continue
		}
		f.shorten(e)
		switch strings.ToLower(e.key) {
		case "title":
			if e.key == "title" && !e.list && len(e.values) == 1 && !e.values[0].isNull() && !blankText(e.values[0].raw) {
				f.title = oneLine(e.values[0].raw)
			}
		case "aliases", "alias":
			f.aliases = f.appendNames(f.aliases, e, ",", "")
		case "tags", "tag":
			f.tags = f.appendNames(f.tags, e, ", ", "#")
		default:
			if _, ok := dateRanks[strings.ToLower(e.key)]; ok {
				f.checkDate(e)
			}
		}
		p := sheaf.Property{Name: showable(e.key), List: e.list}
		for _, s := range e.values {
			if v := s.value(); !v.IsZero() {
				p.Values = append(p.Values, v)
			}
		}
		if tenant && len(p.Values) == 0 && (e.nested || e.within || e.null) {
			// The document has an owner, but the value is unreadable. Without a value every caller
			// would see the document.
			p.Values = []sheaf.Value{sheaf.TextValue("")}
			f.warn(e.line, "%q is neither a name nor a list of names: only callers who see every tenant see this document",
				showable(e.key))
		}
		if strings.EqualFold(e.key, "access") && slices.Contains(p.Values, sheaf.TextValue("*")) {
			f.warn(e.line, "%q names \"*\", which only adds callers who see everything: write public for the whole tenant",
				showable(e.key))
		}
		if len(p.Values) > 0 {
			if len(f.properties) < maxProperties || IsAccessProperty(e.key) {
				f.properties = append(f.properties, p)
			} else if dropped++; dropped == 1 {
				f.warn(e.line, "more than %d properties; the rest is left out", maxProperties)
			}
		}
	}
}

// findLinks finds the positions of the values that consist of one wiki link. It misses links with escapes.
func (f *frontmatter) findLinks(src string, entries []yamlEntry) {
	at, begin, line := f.inner.start, f.inner.start, 2
	for _, e := range entries {
		for ; line < e.line; line++ {
			end := strings.IndexByte(src[begin:f.inner.end], '\n')
			if end < 0 { // lines end with CR
				line = math.MaxInt
				break
			}
			begin += end + 1
		}
		at = max(at, begin)
		for _, v := range e.values {
			l, ok := wikilink.Whole(v.raw)
			if !ok {
				continue
			}
			if i := strings.Index(src[at:f.inner.end], v.raw); i >= 0 {
				span := sheaf.Span{Start: at + i, End: at + i + len(v.raw)}
				f.links = append(f.links, wikiLink(sheaf.LinkWiki, l, span))
				at = span.End
			}
		}
	}
}

// UnreadDate is a part of the message in each [sheaf.Warning] about an unreadable date. Callers look for it to find
// these warnings.
const UnreadDate = "which is not a readable date"

// checkDate warns when a value looks like a date but is unreadable. The date of the document then has another source.
func (f *frontmatter) checkDate(e yamlEntry) {
	if len(e.values) != 1 {
		return
	}
	v := e.values[0].value()
	if v.Kind != sheaf.KindText && v.Kind != sheaf.KindNumber {
		return
	}
	text := v.String()
	if _, ok := documentDate(v); !ok && len(text) <= maxDateBytes && strings.ContainsFunc(text, unicode.IsDigit) {
		f.warn(e.line, "%q is %q, "+UnreadDate+": write it as 2024-05-31", showable(e.key), text)
	}
}

// warnWithin adds one warning if lists in the frontmatter contain lists or maps. The document does not have these inner
// lists and maps.
func (f *frontmatter) warnWithin(entries []yamlEntry) {
	within := slices.DeleteFunc(slices.Clone(entries), func(e yamlEntry) bool { return !e.within })
	if len(within) == 0 {
		return
	}
	key, have := fmt.Sprintf("%q", showable(within[0].key)), "has"
	if len(within) > 1 {
		key, have = fmt.Sprintf("%s and %d more", key, len(within)-1), "have"
	}
	f.warn(within[0].line, "%s %s a list or map within a list, or an alias of one; that is left out", key, have)
}

// shorten cuts values of e that are too long, and replaces base64 data in values by "…". It does not replace data in
// access rights.
func (f *frontmatter) shorten(e yamlEntry) {
	for i := range e.values {
		v := &e.values[i].raw
		if !IsAccessProperty(e.key) {
			*v = Readable(*v)
		}
		if len(*v) <= maxValueBytes {
			continue
		}
		f.warn(e.line, "a value of %q has %d bytes; only the first %d are kept", showable(e.key), len(*v), maxValueBytes)
		*v = firstBytes(*v, maxValueBytes)
	}
}

func (f *frontmatter) warn(line int, format string, args ...any) {
	f.warnings = append(f.warnings, sheaf.Warning{Line: line, Message: "frontmatter: " + fmt.Sprintf(format, args...)})
}

// appendNames appends the values of a list to names, or the parts of a scalar between separators. Some programs write
// a JSON list as a scalar. appendNames cuts the text in prefix from the beginning of each name, and skips repetitions.
func (f *frontmatter) appendNames(names []string, e yamlEntry, separators, prefix string) []string {
	for _, s := range e.values {
		if s.isNull() {
			continue
		}
		parts := []string{s.raw}
		if !e.list && (s.raw == "" || s.raw[0] != '[' || json.Unmarshal([]byte(s.raw), &parts) != nil) {
			parts = strings.FieldsFunc(s.raw, func(r rune) bool { return strings.ContainsRune(separators, r) })
		}
		for _, part := range parts {
			part = strings.TrimPrefix(oneLine(part), prefix)
			if part == "" || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, part) }) {
				continue
			}
			if len(names) == maxNames {
				f.warn(e.line, "%q has more than %d values; the rest is left out", showable(e.key), maxNames)
				return names
			}
			names = append(names, part)
		}
	}
	return names
}

// joinLines returns s with one separator in place of each run of line endings.
func joinLines(s, separator string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), separator)
}

// oneLine removes outer white space from s, and turns line breaks into spaces.
func oneLine(s string) string {
	return strings.Trim(joinLines(showable(s), " "), " \t")
}

// moduleStatement matches the beginning of a JavaScript import or export statement.
var moduleStatement = pattern.Lazy(`^(import[ \t]*([{*"']|[ \t][A-Za-z_$])|` +
	`export[ \t]*([{*]|[ \t](async|class|const|default|function|let|var)[ \t({]))`)

// moduleEnd returns the end of the imports and exports that start at byte begin of an MDX file. Without imports and
// exports there, it returns begin. A block of imports and exports ends at a blank line, as in MDX. Like frontmatter,
// these bytes belong to the document but are not text. An export later in the file is text.
func moduleEnd(src string, begin int) int {
	end, inside := begin, false
	for l := range linesFrom(src, begin) {
		text := src[l.start:l.end]
		switch {
		case blank(text):
			inside = false
		case inside || moduleStatement().MatchString(text):
			inside, end = true, l.next
		default:
			return end
		}
	}
	return end
}
