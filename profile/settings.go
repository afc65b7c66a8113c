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
	// parsed is the default of a number as an expression.
	parsed *expression
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

// argument is the value of an option, for one query.
type argument struct {
	option *Option
	node   *node  // its position in the file; nil for a default
	where  string // names the option for people. If it ends with a dot, the option's own name follows
	parsed *expression
	number float64 // the value of parsed
	text   string
	choice int // the index of text among the choices of its option
	texts  []string
}

// arguments are the values of all options of a stage, a fusion or a branch.
type arguments []argument

// arguments reads the values of options from the mapping n, and computes them. owner is the name of the stage or
// branch, for errors.
func (d *decoder) arguments(options []*Option, n *node, owner string) arguments {
	out := make(arguments, len(options))
	where := owner + "."
	for i, o := range options {
		out[i] = d.argument(o, n, where)
	}
	return out
}

// argument reads the text or expression of option o from the mapping n, and evaluates it. If n lacks o, argument
// evaluates the default. where names o for people: see named.
func (d *decoder) argument(o *Option, n *node, where string) argument {
	if value := n.get(o.Name); value != nil {
		return d.compute(d.value(o, value, where))
	}
	return d.compute(argument{option: o, where: where, text: o.Default, parsed: o.parsed})
}

// named returns the name of the option for messages. This is the text where. If where ends with a dot, named appends
// the name in o.
func (o *Option) named(where string) string {
	if strings.HasSuffix(where, ".") {
		return where + o.Name
	}
	return where
}

// value reads the value of option o from n, without computing it. where names o for people: see named.
func (d *decoder) value(o *Option, n *node, where string) argument {
	a := argument{option: o, node: n, where: where, text: n.text}
	if o.kind == typeTexts {
		items := []node{*n}
		if n.kind == nodeList {
			items = n.items
		}
		for i := range items {
			items[i].want(nodeScalar, o.named(where))
			a.texts = append(a.texts, items[i].text)
		}
		return a
	}
	if n.kind != nodeScalar {
		n.fail("%s must be %s, and is %s", o.named(where), o.domain(), n.kind)
	}
	switch o.kind {
	case typeNumber, typeInteger:
		if a.parsed = n.parsed; a.parsed == nil {
			var err error
			if a.parsed, err = parseExpression(n.text); err != nil {
				n.fail("%s is %q: must be %s or an expression: %v", o.named(where), n.text, o.domain(), err)
			}
			known := append([]string{limitName}, d.parameterNames(false)...)
			for _, name := range a.parsed.names() {
				if !slices.Contains(known, name) {
					check(n.saying(name).unknown("name in the expression of "+o.named(where), known))
				}
			}
		}
		if d.digest != nil {
			n.parsed = a.parsed
		}
	case typeBool:
		if n.text != "true" && n.text != "false" {
			n.fail("%s is %q: must be true or false", o.named(where), n.text)
		}
	case typeChoice:
		if name, ok := strings.CutPrefix(n.text, "$"); ok {
			d.choiceParameter(o, n, where, name)
		} else if !slices.Contains(o.OneOf, n.text) {
			check(n.unknown("value of "+o.named(where), o.OneOf))
		}
	}
	return a
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

// choiceParameter panics with a fault unless the parameter called name can give the option its value. The option must
// allow all words of the parameter.
func (d *decoder) choiceParameter(o *Option, n *node, where, name string) {
	i := slices.IndexFunc(d.params, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		check(n.saying(name).unknown("parameter in "+o.named(where), d.parameterNames(true)))
	}
	if len(d.params[i].OneOf) == 0 {
		n.fail("%s takes its value from parameter %s, which is a number: must be %s", o.named(where), name, o.domain())
	}
	for _, word := range d.params[i].OneOf {
		if !slices.Contains(o.OneOf, word) {
			n.fail("%s takes its value from parameter %s, which may be %q: must be %s",
				o.named(where), name, word, o.domain())
		}
	}
}

// isNumber reports whether the text of n is this number, not an expression.
func (n *node) isNumber(number float64) bool {
	x, err := strconv.ParseFloat(n.text, 64)
	return err == nil && x == number
}

// values has the values of the parameters and the limit of a query.
type values struct {
	numbers map[string]float64
	choices map[string]string
}

// get returns the argument called name. Without such an argument, it returns the zero value.
func (a arguments) get(name string) argument {
	for i := range a {
		if a[i].option.Name == name {
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

// written returns the text of an argument as in the file, or its default.
func (a arguments) written(name string) string {
	arg := a.get(name)
	if arg.node != nil {
		return arg.node.text
	}
	return arg.option.Default
}

// compute computes and checks the value of an argument. For a wrong value, it panics with a fault.
func (d *decoder) compute(a argument) argument {
	o := a.option
	switch {
	case d.digest == nil:
	case a.parsed != nil:
		fmt.Fprintf(d.digest, " %s=%q", o.Name, plainNumber(a.parsed.source))
	default:
		fmt.Fprintf(d.digest, " %s=%q%q", o.Name, a.text, a.texts)
	}
	if name, ok := strings.CutPrefix(a.text, "$"); ok && o.kind == typeChoice {
		a.text = d.values.choices[name]
	}
	a.choice = slices.Index(o.constants, a.text)
	if a.parsed == nil {
		return a
	}
	if limit := d.values.numbers[limitName]; (limit < 1 || limit > MaxLimit) &&
		slices.Contains(a.parsed.names(), limitName) {
		a.fail("%s counts on limit, which is %v: must be within 1..%d", o.named(a.where), limit, MaxLimit)
	}
	a.number = a.parsed.value(d.values.numbers)
	if a.number < o.Min || a.number > o.Max || a.number != a.number ||
		o.kind == typeInteger && a.number != math.Trunc(a.number) {
		written := a.parsed.source
		if written != plain(a.number) {
			written += ", which is " + plain(a.number)
		}
		a.fail("%s is %s: must be %s", o.named(a.where), written, o.domain())
	}
	return a
}

// fail panics with a fault at the position of a.
func (a *argument) fail(format string, args ...any) {
	n := a.node
	if n == nil {
		n = &node{file: "default", line: 1, col: 1}
	}
	n.fail(format, args...)
}

// String writes the argument in the form that a profile has, with its number instead of an expression.
func (a *argument) String() string {
	switch {
	case a.option.kind == typeTexts:
		return "[" + strings.Join(a.texts, ", ") + "]"
	case a.parsed != nil:
		return plain(a.number)
	}
	return a.text
}

// text returns a stage or fusion with its arguments as a profile would write it. It omits settings that the profile
// does not give.
func (k *kind) text(args arguments) string {
	var parts []string
	for i := range args {
		if o := args[i].option; args[i].node != nil && o != whenOption && o.Name != pushDownName {
			parts = append(parts, o.Name+": "+args[i].String())
		}
	}
	if len(parts) == 0 {
		return k.name
	}
	return k.name + ": {" + strings.Join(parts, ", ") + "}"
}
