package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

type optionType uint8

const (
	typeNumber  optionType = iota // a finite number or an expression
	typeInteger                   // a whole number or an expression
	typeChoice                    // one of some words, or $PARAMETER
	typeBool                      // true or false
	typeText                      // any text
	typeTexts                     // a list of texts, or a single one
)

// Option is a setting of a stage, a fusion or a branch, or a parameter of a profile. The decoder, the JSON Schema and
// the reference of profiles are all made from options.
type Option struct {
	Name  string
	About string
	kind  optionType
	// Default is the default as a profile writes it: number, expression, word or text. With "", a profile must give a
	// value.
	Default string
	// Min and Max are the smallest and the largest allowed number.
	Min, Max float64
	// OneOf lists the allowed words. It is empty if the value is a number or a text.
	OneOf []string
	// constants lists the words in the order of the constants of package rank. OneOf may omit some of them.
	constants []string
}

// Number reports whether the value is a number within Min..Max, or an expression for such a number.
func (o *Option) Number() bool { return o.kind == typeNumber || o.kind == typeInteger }

// Integer reports whether the value is a whole number.
func (o *Option) Integer() bool { return o.kind == typeInteger }

// Flag reports whether the option takes a boolean value, true or false.
func (o *Option) Flag() bool { return o.kind == typeBool }

// Allowed describes the values that the option may have outside a profile, where each value is one text.
func (o *Option) Allowed() string {
	if o.kind == typeTexts {
		return o.domain() + " with commas between them"
	}
	return o.domain()
}

// domain describes the values that the option may have in a profile.
func (o *Option) domain() string {
	switch o.kind {
	case typeNumber:
		return fmt.Sprintf("a number within %s..%s", plain(o.Min), plain(o.Max))
	case typeInteger:
		return fmt.Sprintf("a whole number within %s..%s", plain(o.Min), plain(o.Max))
	case typeChoice:
		return "one of " + strings.Join(o.OneOf, ", ")
	case typeBool:
		return "true or false"
	case typeTexts:
		return "a list of words"
	}
	return "a text"
}

// plain formats a number with at most 12 digits, to hide rounding errors: 1 - 0.82 is 0.18. A whole number below 1e15
// keeps all digits.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}

// setting is an option with the value that a profile gives it. The value is not computed yet.
type setting struct {
	option *Option
	node   *node  // its position in the file; nil for a default
	where  string // names the option for people, as "elbow.ratio"
	number *expression
	text   string // as in the file, or the default; "$name" means the word of the parameter name
	texts  []string
}

// setting reads option o from the mapping n, or uses the default if n lacks o. where names the setting in errors.
func (d *decoder) setting(o *Option, n *node, where string) setting {
	if value := n.get(o.Name); value != nil {
		return d.value(o, value, where)
	}
	s := setting{option: o, where: where, text: o.Default}
	if o.Number() {
		e, err := parseExpression(o.Default)
		if err != nil {
			panic(fmt.Sprintf("profile: default of %s: %v", where, err)) // the table is wrong
		}
		s.number = e
	}
	return s
}

func (d *decoder) value(o *Option, n *node, where string) setting {
	s := setting{option: o, node: n, where: where, text: n.text}
	if o.kind == typeTexts {
		items := []node{*n}
		if n.kind == nodeList {
			items = n.items
		}
		for i := range items {
			items[i].want(nodeScalar, where)
			s.texts = append(s.texts, items[i].text)
		}
		return s
	}
	if n.kind != nodeScalar {
		n.fail("%s must be %s, and is %s", where, o.domain(), n.kind)
	}
	switch o.kind {
	case typeNumber, typeInteger:
		s.number = d.expression(&s)
	case typeBool:
		if n.text != "true" && n.text != "false" {
			n.fail("%s is %q: must be true or false", where, n.text)
		}
	case typeChoice:
		if name, ok := strings.CutPrefix(n.text, "$"); ok {
			d.choiceParameter(&s, name)
		} else if !slices.Contains(o.OneOf, n.text) {
			check(n.unknown("value of "+where, o.OneOf))
		}
	}
	return s
}

// expression parses the value of a setting as an expression, and checks the names in it.
func (d *decoder) expression(s *setting) *expression {
	e, err := parseExpression(s.text)
	if err != nil {
		s.node.fail("%s is %q: must be %s or an expression: %v", s.where, s.text, s.option.domain(), err)
	}
	known := append([]string{limitName}, d.parameterNames(false)...)
	for _, name := range e.names() {
		if !slices.Contains(known, name) {
			check(s.node.saying(name).unknown("name in the expression of "+s.where, known))
		}
	}
	return e
}

// parameterNames returns the names of the parameters whose values are words, if words is true. Otherwise it returns the
// names of the parameters whose values are numbers.
func (d *decoder) parameterNames(words bool) (names []string) {
	for i := range d.params {
		if words == (len(d.params[i].OneOf) > 0) {
			names = append(names, d.params[i].Name)
		}
	}
	return names
}

// choiceParameter panics with a fault unless the parameter called name can give the setting its value. The setting must
// allow all words of the parameter.
func (d *decoder) choiceParameter(s *setting, name string) {
	i := slices.IndexFunc(d.params, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		check(s.node.saying(name).unknown("parameter in "+s.where, d.parameterNames(true)))
	}
	if len(d.params[i].OneOf) == 0 {
		s.node.fail("%s takes its value from parameter %s, which is a number: must be %s",
			s.where, name, s.option.domain())
	}
	for _, word := range d.params[i].OneOf {
		if !slices.Contains(s.option.OneOf, word) {
			s.node.fail("%s takes its value from parameter %s, which may be %q: must be %s",
				s.where, name, word, s.option.domain())
		}
	}
}

// isNumber reports whether the file has this number, not an expression, as the value of s. s.node must not be nil.
func (s *setting) isNumber(number float64) bool {
	n, err := strconv.ParseFloat(s.node.text, 64)
	return err == nil && n == number
}

// values has the values of the parameters and the limit of a query.
type values struct {
	numbers map[string]float64
	choices map[string]string
}

// arguments are the settings of one stage with their computed values.
type arguments []argument

type argument struct {
	name   string
	number float64
	text   string
	choice int // the index of text among the choices of its option
	texts  []string
}

// get returns the argument called name. Without such an argument, it returns the zero value.
func (a arguments) get(name string) argument {
	for i := range a {
		if a[i].name == name {
			return a[i]
		}
	}
	return argument{}
}

func (a arguments) number(name string) float64 { return a.get(name).number }
func (a arguments) integer(name string) int    { return int(a.number(name)) }
func (a arguments) text(name string) string    { return a.get(name).text }
func (a arguments) choice(name string) int     { return a.get(name).choice }
func (a arguments) texts(name string) []string { return a.get(name).texts }
func (a arguments) flag(name string) bool      { return a.text(name) == "true" }

// compute computes and checks the values of all settings. For a wrong value, it panics with a fault.
func compute(settings []setting, v values) arguments {
	out := make(arguments, len(settings))
	for i := range settings {
		arg, err := settings[i].compute(v)
		check(err)
		out[i] = arg
	}
	return out
}

func (s *setting) compute(v values) (argument, error) {
	o := s.option
	arg := argument{name: o.Name, text: s.text, texts: s.texts}
	if name, ok := strings.CutPrefix(s.text, "$"); ok && o.kind == typeChoice {
		arg.text = v.choices[name]
	}
	arg.choice = slices.Index(o.constants, arg.text)
	if s.number == nil {
		return arg, nil
	}
	x := s.number.value(v.numbers)
	arg.number = x
	if x >= o.Min && x <= o.Max && (o.kind != typeInteger || x == math.Trunc(x)) {
		return arg, nil
	}
	written := s.number.source
	if written != plain(x) {
		written += ", which is " + plain(x)
	}
	return arg, s.errorf("%s is %s: must be %s", s.where, written, o.domain())
}

func (s *setting) errorf(format string, args ...any) error {
	n := s.node
	if n == nil {
		n = &node{file: "default", line: 1, col: 1}
	}
	return n.errorf(format, args...)
}

// String writes the setting in the form that a profile has.
func (s *setting) String() string {
	if s.option.kind == typeTexts {
		return "[" + strings.Join(s.texts, ", ") + "]"
	}
	return s.text
}
