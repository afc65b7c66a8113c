package chunk

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/internal/pattern"
)

// These are names of properties that the tasks in a section set.
const (
	// PropertyTask holds the states of a section's tasks: TaskOpen, TaskStarted and so on. A started task is also open.
	PropertyTask = "task"
	// PropertyDue holds the days on which tasks are due. The due days of tasks in one state are also in a property of this
	// state, such as task.open.
	PropertyDue = "due"

	TaskOpen      = "open"
	TaskStarted   = "started"
	TaskDone      = "done"
	TaskCancelled = "cancelled"
)

// These are limits of the fields (properties within text) of a document.
const (
	maxFieldName  = 60
	maxFieldValue = 1000
	maxFields     = 10_000 // of a document
)

// field is a property within the text, such as "name:: value".
type field struct {
	span
	name  string
	value sheaf.Value
}

// fields reads the properties in the text, in order. Properties are "name:: value" on its own line or in a list,
// "[name:: value]" and "(name:: value)", and tasks' properties.
func (s *scanner) fields() fieldReader {
	r := fieldReader{src: s.src}
	for _, run := range s.text {
		if len(r.out) >= maxFields {
			break
		}
		r.line(run)
	}
	return r
}

type fieldReader struct {
	src string
	out []field
	// tags are the tags in the values of the properties tag and tags. aliases are the names in alias, aliases and title.
	tags, aliases []found
	// states are the states of the task on the current line. If the line is not a task, states is empty.
	states []string
}

func (r *fieldReader) add(at int, name string, v sheaf.Value) {
	if v == (sheaf.Value{}) {
		return
	}
	if name == "title" {
		r.aliases = append(r.aliases, found{span{at, at + 1}, v.String()})
		return
	}
	if IsFieldProperty(name) {
		r.addNames(at, name, v.String())
		return
	}
	r.out = append(r.out, field{span{at, at + 1}, showable(name), v})
	if strings.EqualFold(name, PropertyDue) {
		for _, state := range r.states {
			r.out = append(r.out, field{span{at, at + 1}, PropertyTask + "." + state, v})
		}
	}
}

// valueOfList matches one value of a list: a link, a text in quotation marks, or a text without commas.
var valueOfList = pattern.Lazy(`^(?:(\[\[[^\[\]]+\]\]|"[^"]*")\s*(?:,\s*|$)|([^,"\[\]]+?)\s*(?:,\s+|$))`)

// addAll adds the values of a field. If text has commas between links, numbers, dates or texts in quotation marks, each
// of these is a value. Any other text is one value, because it may contain commas.
func (r *fieldReader) addAll(at int, name, text string) {
	if i := strings.LastIndexByte(text, '^'); i > 0 && text[i-1] == ' ' && strings.IndexByte(text[i:], ' ') < 0 {
		text = strings.TrimSpace(text[:i]) // the name of a block
	}
	var values []sheaf.Value
	for rest := text; rest != "" && len(text) <= maxFieldValue; {
		m := valueOfList().FindStringSubmatch(rest)
		if m == nil || m[1] == "" && plainValue(m[2]).Kind == sheaf.KindText {
			values = nil
			break
		}
		values, rest = append(values, fieldValue(m[1]+m[2])), rest[len(m[0]):]
	}
	if len(values) < 2 {
		values = []sheaf.Value{fieldValue(text)}
	}
	for _, v := range values {
		r.add(at, name, v)
	}
}

// nameInList matches a link to a note, or the text up to the next link or comma.
var nameInList = pattern.Lazy(`\[\[([^\[\]]+)\]\]|(?:[^,\[]|\[[^,\[])+`)

// addNames adds the tags or aliases of a list such as "[[two words]] [[alpha]], one". at is the position that they get.
// addNames skips hashtags, which are tags already, and links to files.
func (r *fieldReader) addNames(at int, property, list string) {
	names, mark := &r.aliases, "\n"
	if isTags(property) {
		names, mark = &r.tags, " #"
	}
	for _, m := range nameInList().FindAllStringSubmatch(list, -1) {
		name := m[1]
		if name == "" {
			name, _, _ = strings.Cut(" "+m[0], mark)
			name = strings.Trim(name, " []\"")
		}
		if name != "" && !strings.Contains(name, "](") {
			*names = append(*names, found{span{at, at + 1}, name})
		}
	}
}

// endsInMark reports whether text ends with the mark of a list item.
func endsInMark(text string) bool {
	return text != "" && strings.IndexByte("-*+.)", text[len(text)-1]) >= 0
}

func (r *fieldReader) line(run textRun) {
	text, base := r.src[run.start:run.end], run.start
	if !run.more {
		r.states = r.states[:0]
	}
	// A task directly follows the mark of a list item.
	if state, rest := task(text); state != "" && !run.more && endsInMark(strings.TrimRight(r.src[:base], " \t")) {
		r.states = append(r.states, state)
		if state == TaskStarted {
			r.states = append(r.states, TaskOpen)
		}
		for _, s := range r.states {
			r.add(base, PropertyTask, sheaf.TextValue(s))
		}
		base += len(text) - len(rest)
		text = rest
	}
	if len(r.states) > 0 {
		if day := dueDay(text, run.more); day != "" {
			r.add(base, PropertyDue, plainValue(day))
		}
	}
	if !strings.Contains(text, "::") {
		return
	}
	whole, rest, isField := cutField(text, true)
	code := inline{text: text}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			_, end, _ := code.codeSpan(i)
			i = end - 1
		case '[', '(':
			inside := text[i+1 : min(len(text), i+1+maxFieldName+maxFieldValue)]
			if strings.HasPrefix(inside, "[") || strings.IndexByte(inside[:min(len(inside), maxFieldName+2)], ':') < 0 {
				continue
			}
			end := closing(inside, text[i])
			if end < 0 {
				continue
			}
			if name, value, ok := cutField(inside[:end], false); ok && !isCode(text[i:], end) {
				r.addAll(base+i, name, value)
				rest = strings.Replace(rest, text[i:i+1+end+1], "", 1)
				i += 1 + end
			}
		}
	}
	if isField {
		r.addAll(base, whole, strings.TrimSpace(rest))
	}
}

// isCode reports whether the brackets at the start of text have a name of a program. Examples are (std::atomic) and
// [Foo::~Foo](foo.md). In such names, no space follows the colons. end is the position of the closing bracket in
// text[1:].
func isCode(text string, end int) bool {
	inside, behind := text[1:1+end], text[1+end+1:]
	_, value, _ := strings.Cut(inside, "::")
	first, _ := utf8.DecodeRuneInString(value)
	if behind != "" && strings.IndexByte("([:", behind[0]) >= 0 { // the text of a link
		return first != ' '
	}
	return (unicode.IsLetter(first) || first == '~' || first == '_') && (text[0] == '(' || strings.Contains(value, "::"))
}

// closing returns the position in text of the bracket that closes opening, or -1. text begins after the opening
// bracket.
func closing(text string, opening byte) int {
	shut, depth := byte(')'), 1
	if opening == '[' {
		shut = ']'
	}
	for i := range len(text) {
		switch text[i] {
		case opening:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// cutField splits text such as "name:: value". The name may be bold, and signs may stand before its letters, as in
// "🏷 name". If line is true, text is a whole line. A space must then follow the colons, because names in programs
// have colons too. ok is false if text is not a property.
func cutField(text string, line bool) (name, value string, ok bool) {
	at := strings.Index(text[:min(len(text), maxFieldName+len("**::"))], "::")
	if at < 1 {
		return "", "", false
	}
	name, value = text[:at], text[at+len("::"):]
	if line && (value == "" || value[0] != ' ' && value[0] != '\t') {
		return "", "", false
	}
	name, value = strings.Trim(strings.Trim(name, "*_"), " \t"), strings.TrimSpace(value)
	if plain := strings.TrimLeftFunc(name, isOrnament); plain != "" {
		name = plain
	}
	first, _ := utf8.DecodeRuneInString(name)
	other := strings.ContainsFunc(name, func(c rune) bool {
		return c < utf8.RuneSelf && !isWordByte(byte(c)) && c != '_' && c != '-' && c != ' ' && c != '/'
	})
	ok = name != "" && !other && !unicode.IsDigit(first) && !strings.HasPrefix(value, ":") && !IsAccessProperty(name)
	return name, value, ok
}

// isOrnament reports whether r is a sign such as an emoji, or the space after it.
func isOrnament(r rune) bool {
	return r == ' ' || r >= utf8.RuneSelf && !unicode.In(r, unicode.L, unicode.N)
}

// fieldValue returns the value of a field with the type that frontmatter would give it.
func fieldValue(text string) sheaf.Value {
	if len(text) > maxFieldValue {
		return sheaf.Value{}
	}
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		return sheaf.TextValue(showable(text[1 : n-1]))
	}
	return plainValue(showable(text))
}

// taskWords maps the words that begin a task in an outline to its state. NOW and LATER are missing, because they are
// usual words of a text.
var taskWords = map[string]string{"TODO": TaskOpen, "DOING": TaskStarted, "IN-PROGRESS": TaskStarted, "DONE": TaskDone,
	"CANCELED": TaskCancelled, "CANCELLED": TaskCancelled}

// task returns the state of a task and its text after the mark. For a line that is not a task, state is "".
func task(text string) (state, rest string) {
	if len(text) < 2 || text[0] != '[' && (!isUpper(text[0]) || !isUpper(text[1])) {
		return "", text // most lines
	}
	if end := strings.IndexAny(text, " \t"); end > 0 && taskWords[text[:end]] != "" {
		if rest = strings.TrimLeft(text[end:], " \t"); rest != "" {
			return taskWords[text[:end]], rest
		}
	}
	if len(text) < len("[ ]") || text[0] != '[' {
		return "", text
	}
	_, size := utf8.DecodeRuneInString(text[1:])
	mark, rest := text[1:1+size], text[1+size:]
	rest, ok := strings.CutPrefix(rest, "]")
	if !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", text
	}
	rest = strings.TrimLeft(rest, " \t")
	switch mark {
	case " ":
		return TaskOpen, rest
	case "x", "X":
		return TaskDone, rest
	case "/":
		return TaskStarted, rest
	case "-":
		return TaskCancelled, rest
	case "]", "[", "^":
		return "", text
	}
	return TaskOpen, rest // a custom mark, for example for important tasks
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// dueDate matches the day on which a task is due, with the sign before it. It leaves out fields in brackets.
var dueDate = pattern.Lazy(`(?:DEADLINE: <|[📅📆🗓]|@(?:due\(|\{|\[\[)|\(@|\b[Dd]ue: ?|[^[(\w][Dd]ue:: ?)` +
	`[ *\x{a0}\x{200b}\x{fe0f}]*(?:\[\[)?([\d-]+)`)

// dueDay returns the due day in a line of a task, as in 📅 2026-03-01 or DEADLINE: <2026-03-01 Sun>. more says that the
// line continues the task. In such a line, only DEADLINE counts. Without a due day, dueDay returns "".
func dueDay(text string, more bool) string {
	for _, m := range dueDate().FindAllStringSubmatch(text, -1) {
		if more && m[0][0] != 'D' {
			continue
		}
		if v := plainValue(m[1]); v.Kind == sheaf.KindDate {
			return m[1]
		}
	}
	return ""
}

func isTags(name string) bool {
	return strings.EqualFold(name, "tags") || strings.EqualFold(name, "tag")
}

// addAliases adds the names in the fields alias, aliases and title before the first heading, as Logseq has them.
func (s *source) addAliases(aliases []found) {
	for _, a := range aliases {
		same := func(other string) bool { return strings.EqualFold(other, a.text) }
		before := len(s.scan.headings) == 0 || a.start < s.scan.headings[0].text.start
		if before && len(s.doc.Aliases) < maxNames && !slices.ContainsFunc(s.doc.Aliases, same) {
			s.doc.Aliases = append(s.doc.Aliases, a.text)
		}
	}
}

// distributeFields adds the fields to the chunks that contain them, and the names of the fields to the document.
func (s *source) distributeFields(found []field) {
	if len(found) == 0 {
		return
	}
	declared := map[string]bool{}
	for _, p := range s.doc.Properties {
		declared[strings.ToLower(p.Name)] = true
	}
	for _, f := range found {
		key := strings.ToLower(f.name)
		if !declared[key] {
			declared[key] = true
			s.doc.Properties = append(s.doc.Properties, sheaf.Property{Name: f.name})
		}
		first, last := holding(s.doc.Chunks, f.start, f.end)
		for i := first; i < last; i++ {
			s.doc.Fields = append(s.doc.Fields, sheaf.Field{Position: i, Name: f.name, Value: f.value})
		}
	}
	slices.SortStableFunc(s.doc.Fields, func(a, b sheaf.Field) int { return a.Position - b.Position })
}
