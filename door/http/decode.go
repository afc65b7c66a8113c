package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sheaf/collection"
)

const maxDepth = 32

// object is a JSON object. It keeps the order of its members.
type object struct {
	names  []string
	values []any
}

// parseJSON parses a body. The body must be valid UTF-8 and one JSON value, at most maxDepth deep, without repeated
// names. Values are nil, bool, string, json.Number, []any and *object. If the body has faults, parseJSON adds them to
// out and returns false.
func parseJSON(body []byte, out *faults) (any, bool) {
	root := fault{Pointer: "#"}
	if !utf8.Valid(body) {
		at := 0
		for at < len(body) {
			r, size := utf8.DecodeRune(body[at:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			at += size
		}
		out.add(root, "byte %d is not valid UTF-8", at)
		return nil, false
	}
	if bytes.HasPrefix(body, []byte("\ufeff")) { // RFC 8259, section 8.1, forbids it
		out.add(root, "it begins with a byte order mark: send the JSON without it")
		return nil, false
	}
	p := &parser{body: body, d: json.NewDecoder(bytes.NewReader(body)), out: out}
	p.d.UseNumber()
	v, ok := p.value("#", 0)
	if !ok {
		return nil, false
	}
	if _, err := p.d.Token(); !errors.Is(err, io.EOF) {
		out.add(root, "text follows the JSON value at byte %d: send one value", p.d.InputOffset())
		return nil, false
	}
	return v, true
}

type parser struct {
	body []byte
	d    *json.Decoder
	out  *faults
}

// token reads the next token. If there is a fault, token adds it to p.out and returns false. Half of a surrogate pair
// is a fault, because no text can contain it.
func (p *parser) token(at string) (json.Token, bool) {
	from := p.d.InputOffset()
	token, err := p.d.Token()
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			p.out.add(fault{Pointer: at}, "the JSON ends too early")
		} else {
			p.out.add(fault{Pointer: at}, "not valid JSON at byte %d: %v", p.d.InputOffset(), err)
		}
		return nil, false
	}
	if s, ok := token.(string); ok && strings.ContainsRune(s, utf8.RuneError) {
		if half := loneSurrogate(p.body[from:p.d.InputOffset()]); half != "" {
			p.out.add(fault{Pointer: at}, "%s is half of a character: send both halves of the pair", half)
			return nil, false
		}
	}
	return token, true
}

// surrogates matches an escaped backslash, a surrogate pair, or half of a pair. Only a half is in its group.
var surrogates = regexp.MustCompile(`\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)`)

// loneSurrogate returns the first escape in a JSON text that is half of a surrogate pair, or "".
func loneSurrogate(text []byte) string {
	for _, m := range surrogates.FindAllSubmatch(text, -1) {
		if m[1] != nil {
			return string(m[1])
		}
	}
	return ""
}

func (p *parser) value(at string, depth int) (any, bool) {
	token, ok := p.token(at)
	if !ok {
		return nil, false
	}
	begin, ok := token.(json.Delim)
	if !ok {
		return token, true
	}
	if depth == maxDepth {
		p.out.add(fault{Pointer: at}, "nested deeper than %d", maxDepth)
		return nil, false
	}
	list, names, seen := []any{}, []string{}, map[string]bool{}
	for p.d.More() {
		name := strconv.Itoa(len(list))
		if begin == '{' {
			token, ok := p.token(at)
			if !ok {
				return nil, false
			}
			if name, _ = token.(string); seen[name] {
				p.out.add(fault{Pointer: pointer(at, name)}, "the name appears twice")
				return nil, false
			}
			seen[name] = true
			names = append(names, name)
		}
		v, ok := p.value(pointer(at, name), depth+1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	if _, ok := p.token(at); !ok { // the end
		return nil, false
	}
	if begin == '[' {
		return list, true
	}
	return &object{names, list}, true
}

// pointer returns the JSON pointer of the member called name in the object with the pointer parent.
func pointer(parent, name string) string {
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "")
	}
	return parent + "/" + pointerEscapes.Replace(name)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// bind stores a parsed value in v. If the value breaks a rule in r, bind adds a fault at the place at to out.
func bind(in any, v reflect.Value, r *rules, at fault, out *faults) {
	if v.Kind() == reflect.Pointer {
		if in == nil && v.Type().Elem().Kind() == reflect.Pointer { // null is allowed: v points to nothing
			v.Set(reflect.New(v.Type().Elem()))
			return
		}
		fresh := reflect.New(v.Type().Elem())
		before := len(*out)
		bind(in, fresh.Elem(), r, at, out)
		if len(*out) == before {
			v.Set(fresh)
		}
		return
	}
	switch v.Type() {
	case settingType:
		bindSetting(in, v, at, out)
		return
	case propertyType:
		bindProperty(in, v, r, at, out)
		return
	case timeType:
		bindTime(in, v, at, out)
		return
	}
	switch v.Kind() {
	case reflect.String:
		if s, ok := in.(string); !ok {
			out.add(at, "%s: must be a text", kindOf(in))
		} else if r.checkText(s, at, out) {
			v.SetString(s)
		}
	case reflect.Bool:
		if b, ok := in.(bool); !ok {
			out.add(at, "%s: must be true or false", kindOf(in))
		} else {
			v.SetBool(b)
		}
	case reflect.Int, reflect.Float32, reflect.Float64:
		bindNumber(in, v, r, at, out)
	case reflect.Slice:
		bindList(in, v, r, at, out)
	case reflect.Map:
		bindMap(in, v, r, at, out)
	case reflect.Struct:
		bindStruct(in, v, at, out)
	default:
		panic(fmt.Sprintf("no rule for type %s", v.Type()))
	}
}

func bindSetting(in any, v reflect.Value, at fault, out *faults) {
	var text string
	switch in := in.(type) {
	case string:
		text = in
	case json.Number:
		text = in.String()
	case bool:
		text = strconv.FormatBool(in)
	default:
		out.add(at, "%s: must be a text, a number, true or false", kindOf(in))
		return
	}
	if len(text) > maxSetting {
		out.add(at, "it has %d bytes: must have at most %d", len(text), maxSetting)
		return
	}
	v.SetString(text)
}

func bindProperty(in any, v reflect.Value, r *rules, at fault, out *faults) {
	list, isList := in.([]any)
	if !isList {
		list = []any{in}
	}
	if len(list) > collection.MaxListed {
		out.add(at, "it lists %d values: at most %d are allowed", len(list), collection.MaxListed)
		return
	}
	p := collection.Property{List: isList}
	for i, one := range list {
		here := at
		if isList {
			here.Pointer = fmt.Sprintf("%s/%d", at.Pointer, i)
		}
		value, ok := collection.PropertyValue(one)
		number, isNumber := one.(json.Number)
		text, isText := one.(string)
		switch {
		case !ok && isNumber:
			out.add(here, "%s: it is too large", quote(number.String()))
		case !ok:
			out.add(here, "%s: must be a text, a number, true or false, or a list of them", kindOf(one))
		case !isText || r.checkText(text, here, out):
			p.Values = append(p.Values, value)
		}
	}
	v.Set(reflect.ValueOf(p))
}

const maxSetting = 1000

func bindTime(in any, v reflect.Value, at fault, out *faults) {
	s, _ := in.(string)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		if t, err = time.Parse(time.DateOnly, s); err != nil {
			out.add(at, "%s: must be a date such as 2024-05-01 or 2024-05-01T12:00:00Z", kindOf(in))
			return
		}
	}
	v.Set(reflect.ValueOf(t))
}

func bindNumber(in any, v reflect.Value, r *rules, at fault, out *faults) {
	n, ok := in.(json.Number)
	if !ok {
		out.add(at, "%s: must be a number", kindOf(in))
		return
	}
	x, err := n.Float64()
	whole := v.Kind() == reflect.Int
	switch {
	case err != nil, v.Kind() == reflect.Float32 && math.Abs(x) > math.MaxFloat32:
		out.add(at, "%s: it is too large", quote(n.String()))
	case whole && x != math.Trunc(x):
		out.add(at, "%s: must be a whole number", quote(n.String()))
	case !r.checkNumber(x, at, out):
	case whole && math.Abs(x) > 1<<53:
		out.add(at, "%s: it is too large", quote(n.String()))
	case whole:
		v.SetInt(int64(x))
	default:
		v.SetFloat(x)
	}
}

func bindList(in any, v reflect.Value, r *rules, at fault, out *faults) {
	list, ok := in.([]any)
	if !ok {
		out.add(at, "%s: must be a list", kindOf(in))
		return
	}
	if !r.checkItems(len(list), at, out) {
		return
	}
	items := reflect.MakeSlice(v.Type(), len(list), len(list))
	inner := r.ofItems()
	for i, item := range list {
		here := at // a parameter's items have no pointer
		if at.Parameter == "" {
			here.Pointer += "/" + strconv.Itoa(i)
		}
		bind(item, items.Index(i), inner, here, out)
		if text, ok := item.(string); ok && r.unique && slices.Contains(list[:i], item) {
			out.add(here, "%s appears twice", quote(text))
		}
	}
	v.Set(items)
}

func bindMap(in any, v reflect.Value, r *rules, at fault, out *faults) {
	o, ok := in.(*object)
	if !ok {
		out.add(at, "%s: must be an object", kindOf(in))
		return
	}
	if !r.checkItems(len(o.names), at, out) {
		return
	}
	m := reflect.MakeMapWithSize(v.Type(), len(o.names))
	inner := r.ofItems()
	for i, name := range o.names {
		if !memberName.MatchString(name) || utf8.RuneCountInString(name) > maxMemberName {
			out.add(fault{Pointer: pointer(at.Pointer, name)}, "a name must have 1..%d characters and no white space",
				maxMemberName)
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		bind(o.values[i], item, inner, fault{Pointer: pointer(at.Pointer, name)}, out)
		m.SetMapIndex(reflect.ValueOf(name), item)
	}
	v.Set(m)
}

func bindStruct(in any, v reflect.Value, at fault, out *faults) {
	o, ok := in.(*object)
	if !ok {
		out.add(at, "%s: must be an object", kindOf(in))
		return
	}
	fields := jsonFields(v.Type())
	given, before := map[string]bool{}, len(*out)
	for i, name := range o.names {
		f, ok := fields.byName[name]
		here := fault{Pointer: pointer(at.Pointer, name)}
		if !ok {
			out.add(here, "there is no field of this name: the fields are %s", strings.Join(fields.names, ", "))
			continue
		}
		given[name] = true
		bind(o.values[i], v.FieldByIndex(f.index), f.rules, here, out)
	}
	for _, name := range fields.names {
		f := fields.byName[name]
		switch {
		case given[name]:
		case f.rules.required:
			out.add(fault{Pointer: pointer(at.Pointer, name)}, "it is missing")
		case f.rules.hasDeflt:
			setText(f.rules.deflt, v.FieldByIndex(f.index), f.rules, at, out)
		}
	}
	if len(*out) == before {
		together(v.Addr().Interface(), at, out)
	}
}

// setText sets v from the text of a parameter or a default. For invalid UTF-8 or a broken rule of r, it adds a fault.
func setText(text string, v reflect.Value, r *rules, at fault, out *faults) {
	if !utf8.ValidString(text) {
		out.add(at, "it is not valid UTF-8")
		return
	}
	var in any = text
	kind := v.Type()
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch kind.Kind() {
	case reflect.Int, reflect.Float64:
		if _, err := strconv.ParseFloat(text, 64); err != nil || len(text) > maxNumberText || !numberText.MatchString(text) {
			out.add(at, "%s: must be a number", quote(text))
			return
		}
		in = json.Number(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			out.add(at, "%s: must be true or false", quote(text))
			return
		}
		in = text == "true"
	case reflect.Slice:
		if text == "" { // no list, or a list of one empty text
			out.add(at, "it is empty: must have at least 1 item, or be left out")
			return
		}
		list := []any{}
		for part := range strings.SplitSeq(text, ",") {
			list = append(list, part)
		}
		in = list
	}
	bind(in, v, r, at, out)
}

// kindOf returns the name of a JSON value's kind, such as "a list".
func kindOf(in any) string {
	switch in := in.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(in)
	case string:
		return "the text " + quote(in)
	case json.Number:
		return "the number " + quote(in.String())
	case []any:
		return "a list"
	}
	return "an object"
}
