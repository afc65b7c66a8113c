package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// optionType is the type of an option's value.
type optionType uint8

const (
	typeNumber  optionType = iota // a finite number or an expression
	typeInteger                   // a whole number or an expression
	typeChoice                    // one of some words, or $PARAMETER
	typeBool                      // true or false
	typeText                      // any text
	typeTexts                     // a list of texts, or a single one
)

// option is one setting of a stage, a fusion or a branch: everything that the
// decoder, the JSON Schema and the reference know of it.
type option struct {
	name  string
	about string
	kind  optionType
	// standard is the default, as it would be written; "" when the option
	// must be given.
	standard string
	min, max float64 // of numbers
	choices  []string
}

// allowed says what values an option takes, for people.
func (o *option) allowed() string {
	switch o.kind {
	case typeNumber:
		return fmt.Sprintf("a number within %s..%s", plain(o.min), plain(o.max))
	case typeInteger:
		return fmt.Sprintf("a whole number within %s..%s", plain(o.min), plain(o.max))
	case typeChoice:
		return "one of " + strings.Join(o.choices, ", ")
	case typeBool:
		return "true or false"
	case typeTexts:
		return "a list of words"
	}
	return "a text"
}

// plain writes a number without an exponent where that is readable, and without
// the last digits of what was computed: 1 - 0.82 is 0.18.
func plain(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 12, 64)
}

// setting is the value that a profile gives to an option, not yet computed.
type setting struct {
	option *option
	node   *node // where it stands; nil for a default
	where  string
	number *expression
	text   string // a choice ("$name" for a parameter's), a truth value or a text
	texts  []string
}

// parseSetting reads what n gives to option o. where names the option for
// people, as "elbow.ratio".
func parseSetting(o *option, n *node, where string, params []Parameter) (setting, error) {
	s := setting{option: o, node: n, where: where}
	if o.kind == typeTexts {
		items := []node{*n}
		if n.kind == nodeList {
			items = n.items
		}
		for i := range items {
			if err := items[i].want(nodeScalar, where); err != nil {
				return s, err
			}
			s.texts = append(s.texts, items[i].text)
		}
		return s, nil
	}
	if n.kind != nodeScalar {
		return s, n.errorf("%s must be %s, and is %s", where, o.allowed(), n.kind)
	}
	s.text = n.text
	switch o.kind {
	case typeNumber, typeInteger:
		return s.parseNumber(n, params)
	case typeBool:
		if n.text != "true" && n.text != "false" {
			return s, n.errorf("%s is %q: must be true or false", where, n.text)
		}
	case typeChoice:
		if name, ok := strings.CutPrefix(n.text, "$"); ok {
			return s, choiceParameter(o, n, where, name, params)
		}
		if !slices.Contains(o.choices, n.text) {
			return s, n.unknown("value of "+where, o.choices)
		}
	}
	return s, nil
}

func (s setting) parseNumber(n *node, params []Parameter) (setting, error) {
	e, err := parseExpression(n.text)
	if err != nil {
		return s, n.errorf("%s is %q: must be %s or an expression: %v", s.where, n.text, s.option.allowed(), err)
	}
	known := []string{limitName}
	for _, p := range params {
		if len(p.OneOf) == 0 {
			known = append(known, p.Name)
		}
	}
	for _, name := range e.names() {
		if !slices.Contains(known, name) {
			at := *n
			at.text = name
			if gone := goneParameter(name, Default, known); gone != "" {
				return s, at.errorf("%s is %q: %s", s.where, n.text, gone)
			}
			return s, at.unknown("name in the expression of "+s.where, known)
		}
	}
	s.number = e
	return s, nil
}

// choiceParameter checks that a choice may come from the parameter called
// name.
func choiceParameter(o *option, n *node, where, name string, params []Parameter) error {
	for _, p := range params {
		if p.Name != name {
			continue
		}
		for _, v := range p.OneOf {
			if !slices.Contains(o.choices, v) {
				return n.errorf("%s takes its value from parameter %s, which may be %q: must be %s", where, name, v, o.allowed())
			}
		}
		if len(p.OneOf) == 0 {
			return n.errorf("%s takes its value from parameter %s, which is a number: must be %s", where, name, o.allowed())
		}
		return nil
	}
	at := *n
	at.text = name
	var names []string
	for _, p := range params {
		if len(p.OneOf) > 0 {
			names = append(names, p.Name)
		}
	}
	return at.unknown("parameter in "+where, names)
}

// defaultSetting is the setting of an option that is not given.
func defaultSetting(o *option, where string) setting {
	s := setting{option: o, where: where, text: o.standard}
	if o.kind == typeNumber || o.kind == typeInteger {
		e, err := parseExpression(o.standard)
		if err != nil {
			panic(fmt.Sprintf("profile: default of %s: %v", where, err)) // the table is wrong
		}
		s.number = e
	}
	return s
}

// values are the parameters of a query and its limit.
type values struct {
	numbers map[string]float64
	choices map[string]string
}

// arguments are the settings of one stage, computed.
type arguments map[string]argument

type argument struct {
	number float64
	text   string
	texts  []string
}

func (a arguments) number(name string) float64 { return a[name].number }
func (a arguments) integer(name string) int    { return int(a[name].number) }
func (a arguments) text(name string) string    { return a[name].text }
func (a arguments) flag(name string) bool      { return a[name].text == "true" }

// compute gives every setting its value and checks it.
func compute(settings []setting, v values) (arguments, error) {
	out := make(arguments, len(settings))
	for i := range settings {
		arg, err := settings[i].compute(v)
		if err != nil {
			return nil, err
		}
		out[settings[i].option.name] = arg
	}
	return out, nil
}

func (s *setting) compute(v values) (argument, error) {
	arg := argument{text: s.text, texts: s.texts}
	if name, ok := strings.CutPrefix(s.text, "$"); ok && s.option.kind == typeChoice {
		arg.text = v.choices[name]
	}
	if s.number == nil {
		return arg, nil
	}
	arg.number = s.number.value(v.numbers)
	if o := s.option; !(arg.number >= o.min && arg.number <= o.max) || o.kind == typeInteger && arg.number != math.Trunc(arg.number) {
		written := s.number.source
		if written == plain(arg.number) {
			return arg, s.errorf("%s is %s: must be %s", s.where, written, o.allowed())
		}
		return arg, s.errorf("%s is %s, which is %s: must be %s", s.where, written, plain(arg.number), o.allowed())
	}
	return arg, nil
}

func (s *setting) errorf(format string, args ...any) error {
	n := s.node
	if n == nil {
		n = &node{file: "default", line: 1, col: 1}
	}
	return n.errorf(format, args...)
}

// String writes the setting as a profile would.
func (s *setting) String() string {
	if s.option.kind == typeTexts {
		return "[" + strings.Join(s.texts, ", ") + "]"
	}
	return s.text
}
