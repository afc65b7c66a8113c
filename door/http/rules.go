package http

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sheaf"
	"sheaf/collection"
)

// rules are the limits on the values of a field, from its tags, for the decoder and the OpenAPI document.
type rules struct {
	name        string
	doc         string
	example     string
	required    bool
	deflt       string
	hasDeflt    bool
	enum        []string
	pattern     *regexp.Regexp
	patternText string // the rule of the pattern in words
	min, max    *float64
	length      bounds // in characters
	items       bounds
	unique      bool
	// unlisted means that no schema can express the valid values of a header. The text of the operation in the OpenAPI
	// document then describes the header.
	unlisted bool
}

// bounds are the smallest and the largest allowed number. If most is 0, there is no largest number.
type bounds struct{ least, most int }

// patterns are the patterns of texts, each with its rule in words. A field uses a pattern with the tag pattern:"@name".
// The tags minLength and maxLength of the field override the length in the pattern.
var patterns = map[string]struct {
	expression, asks string
	length           bounds
}{
	"name":   {`^` + visible + `+$`, "must have no white space and no control characters", bounds{1, 64}},
	"line":   {line, oneLine, bounds{0, 1000}},
	"period": {line, oneLine, bounds{0, 100}},
	"text":   {`^` + texts + `*$`, "must have no control characters but tabs and line breaks", bounds{}},
	"written": {`^` + texts + `*` + visible + texts + `*$`,
		"must be more than white space, without control characters " +
			"but tabs and line breaks", bounds{}},
	"query": {`^[^\x{0000}-\x{0008}\x{000b}\x{000c}\x{000e}-\x{001f}\x{007f}]*$`, "must have no control characters",
		bounds{0, 1000}},
	// the ID of a chunk or document: any text
	"id": {length: bounds{1, 4096}},
	// the ID of a given document: see collection.Change
	"document": {`^(?:[^` + notEnd + `:*]|[^` + notEnd + `:][^` + notIn + `:]*[^` + notEnd + `:]):` + part + `(?:/` +
		part + `)*$`,
		"must be TREE:PATH, as api:guides/git.md: a relative path without backslashes, #, U+FFFD and control characters, " +
			"whose parts are not empty, . or .., nor begin or end with white space", bounds{1, 1024}},
	"sort": {`^(-?(date|path|prop\..+))?$`, "must be date, path or prop.NAME, each with a dash before it for the " +
		"largest first", bounds{0, 100}},
	"cursor": {`^([A-Za-z0-9_-]{22})?$`, "must be the next of an earlier answer, as it stood there", bounds{0, 22}},
	"facet":  {`^(tag|folder|tree|ext|prop\.[^,]+)$`, "must be tag, folder, tree, ext or prop.NAME", bounds{0, 100}},
	"shown":  {`\S`, "must be more than white space", bounds{0, 200}},
	"slug":   {`^[A-Za-z0-9_-]*$`, "must be letters, digits, _ and -", bounds{0, 100}},
	"own":    {`^[a-z][a-z0-9_-]*$`, "must be lower-case letters, digits, _ and -, a letter first", bounds{1, 64}},
	// or empty
	"seen": {`^(?:\*|` + tags + `)?$`, `must be *, or tags in double quotes with commas between them (RFC 9110, ` +
		`section 8.8.3)`, bounds{0, 1000}},
	"tags": {`^(?:\*|` + tags + `)$`, `must be *, or tags in double quotes with commas between them (RFC 9110, ` +
		`section 8.8.3)`, bounds{0, 1000}},
}

// These are parts of patterns. A part for use inside a character class has no brackets of its own.
const (
	blank   = `\x{0000}-\x{0020}\x{007f}-\x{00a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	visible = `[^` + blank + `]`
	texts   = `[^\x{0000}-\x{0008}\x{000b}\x{000e}-\x{001f}]`
	notIn   = `\x{0000}-\x{001f}\x{007f}-\x{009f}\x{fffd}\\#` // no identifier contains these
	notEnd  = blank + `\x{fffd}\\#`                           // no identifier begins or ends with these
	// part is a pattern for a part of a path, except "." and "..". Its cases: one or two characters without a dot first, a
	// dot with a character, or three or more characters.
	part = `(?:[^` + notEnd + `/.][^` + notEnd + `/]?|\.[^` + notEnd + `/.]|[^` + notEnd + `/][^` + notIn + `/]+[^` +
		notEnd + `/])`
	line    = `^[^\x{0000}-\x{001f}\x{007f}]*$`
	oneLine = "must be one line without control characters"
	tag     = `(?:W/)?"[^"\x{0000}-\x{0020}\x{007f}]*"`
	// tags is a pattern for a list of entity tags with commas and empty items: RFC 9110, section 5.6.1.
	tags = `(?:,[ \t]*)*` + tag + `(?:[ \t]*,(?:[ \t]*` + tag + `)?)*`
)

// memberName matches the names that callers may choose for members of an object.
var memberName = regexp.MustCompile(patterns["name"].expression)

// maxMemberName is the largest length in characters of a member's name that a caller chooses.
const maxMemberName = 64

// descriptions are the descriptions that are too long for a tag. A field names its description in its tag: doc:"@name".
var descriptions = map[string]string{
	"access":     "People and groups that may see it; public is everyone in the tenant. Empty: private.",
	"changed":    "New values of properties, by name; an empty list removes one.",
	"created":    "Only documents created in START..END (both days included, each optional) or without created.",
	"expect":     "The chunks that answer it, from the collection's first folder.",
	"facets":     "Columns whose values to count in all matching chunks.",
	"properties": "Values to filter by as prop.NAME: texts, numbers, true, false, or lists of them.",
	"readers":    "Who may see it; an empty list makes it private.",
	"sets":       "Only documents of any of these sets.",
	"updated":    "Only documents updated in START..END; no date of update counts as 90 days old.",
}

// description returns the description that a tag names, or the text of the tag.
func description(tag string) string {
	name, named := strings.CutPrefix(tag, "@")
	if !named {
		return tag
	}
	text, ok := descriptions[name]
	if !ok {
		panic(fmt.Sprintf("there is no description %s", tag))
	}
	return text
}

// rulesOf reads the rules of a field from its tags. name is the name of the field in requests.
func rulesOf(f *reflect.StructField, name string) *rules {
	r := &rules{name: name, doc: description(f.Tag.Get("doc")), example: f.Tag.Get("example"),
		required: f.Tag.Get("required") == "true", unique: f.Tag.Get("unique") == "true",
		unlisted: f.Tag.Get("unlisted") == "true"}
	r.deflt, r.hasDeflt = f.Tag.Lookup("default")
	if list := f.Tag.Get("enum"); list != "" {
		r.enum = strings.Split(list, ",")
	}
	if p := f.Tag.Get("pattern"); p != "" {
		shared, ok := patterns[strings.TrimPrefix(p, "@")]
		if !ok {
			panic(fmt.Sprintf("tag pattern of field %s: there is no %s", f.Name, p))
		}
		r.patternText, r.length = shared.asks, shared.length
		if shared.expression != "" {
			r.pattern = regexp.MustCompile(shared.expression)
		}
	}
	number := func(tag string) *float64 {
		text, ok := f.Tag.Lookup(tag)
		if !ok {
			return nil
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(fmt.Sprintf("tag %s of field %s: %v", tag, f.Name, err))
		}
		return &n
	}
	whole := func(tag string, usual int) int {
		if n := number(tag); n != nil {
			return int(*n)
		}
		return usual
	}
	r.min, r.max = number("min"), number("max")
	r.length = bounds{whole("minLength", r.length.least), whole("maxLength", r.length.most)}
	r.items = bounds{whole("minItems", 0), whole("maxItems", 0)}
	return r
}

// ofItems returns the rules for the items of a list, or for the values of an object.
func (r *rules) ofItems() *rules {
	out := *r
	out.items = bounds{}
	return &out
}

type fault struct {
	// Pointer is a JSON pointer into the body, in the form of a URI fragment. If the fault is not in the body,
	// Parameter names the parameter or header.
	Pointer   string `json:"pointer,omitempty" doc:"Where in the body, as a JSON pointer."`
	Parameter string `json:"parameter,omitempty" doc:"Which parameter or header."`
	Detail    string `json:"detail" doc:"What is wrong, and what is allowed."`
}

const maxFaults = 20

type faults []fault

func (f *faults) add(at fault, format string, args ...any) {
	if len(*f) < maxFaults {
		at.Detail = fmt.Sprintf(format, args...)
		*f = append(*f, at)
	}
}

// checkText adds the faults of a text to out. It reports whether the text has no fault.
func (r *rules) checkText(s string, at fault, out *faults) bool {
	n := utf8.RuneCountInString(s)
	switch {
	case n < r.length.least:
		out.add(at, "it has %d characters: must have at least %d", n, r.length.least)
	case r.length.most > 0 && n > r.length.most:
		out.add(at, "it has %d characters: must have at most %d", n, r.length.most)
	case r.enum != nil && !slices.Contains(r.enum, s):
		out.add(at, "%s: must be one of %s", quote(s), strings.Join(r.enum, ", "))
	case r.pattern != nil && !r.pattern.MatchString(s):
		out.add(at, "%s: %s", quote(s), r.patternText)
	default:
		return true
	}
	return false
}

func (r *rules) checkNumber(x float64, at fault, out *faults) bool {
	if r.min != nil && x < *r.min || r.max != nil && x > *r.max {
		out.add(at, "%s: must be %s", sheaf.NumberValue(x), r.bounds())
		return false
	}
	return true
}

func (r *rules) bounds() string {
	switch {
	case r.min == nil:
		return fmt.Sprintf("at most %v", *r.max)
	case r.max == nil:
		return fmt.Sprintf("at least %v", *r.min)
	}
	return fmt.Sprintf("within %v..%v", *r.min, *r.max)
}

func (r *rules) checkItems(n int, at fault, out *faults) bool {
	switch {
	case n < r.items.least:
		out.add(at, "it has %d items: must have at least %d", n, r.items.least)
	case r.items.most > 0 && n > r.items.most:
		out.add(at, "it has %d items: must have at most %d", n, r.items.most)
	default:
		return true
	}
	return false
}

// quote returns a text from a request in quotes, shortened if it is long.
func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return strconv.Quote(s)
}

// Setting is the value of a profile's parameter or a stage's setting: a text, a number, true or false.
type Setting string

var (
	settingType = reflect.TypeFor[Setting]()
	timeType    = reflect.TypeFor[time.Time]()
	valueType   = reflect.TypeFor[sheaf.Value]()

	propertyType = reflect.TypeFor[collection.Property]()
)

func settings(in map[string]Setting) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for k, v := range in {
		out[k] = string(v)
	}
	return out
}
