package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// expression is a formula that a profile may have where a number is expected. It may use the limit of the query and the
// parameters of the profile:
//
//	sum     = product { ("+" | "-") product }
//	product = factor { ("x" | "*" | "/") factor | "x" }
//	factor  = [ "-" ] ( number | name | "(" sum ")" | function "(" sum { "," sum } ")" )
//
// An "x" without a factor after it means "times the limit": 4x is 4 x limit. If "-" follows the "x", white space
// decides: 4x - 1 is 4 x limit - 1, but 4 x -1 is -4. The functions are max, min (one or more values), ceil, floor, and
// if(condition, then, else). A condition is true if it is not 0.
type expression struct {
	source string
	op     byte // 'n' number, 'v' name, '+', '-', '*', '/', 'f' function
	number float64
	name   string
	args   []*expression
}

// limitName is the name of the query's limit in an expression.
const limitName = "limit"

// functions maps the functions of expressions to their smallest and largest number of arguments; 0 means no maximum.
var functions = map[string][2]int{"max": {1, 0}, "min": {1, 0}, "ceil": {1, 1}, "floor": {1, 1}, "if": {3, 3}}

// maxExpression is the largest length of an expression in bytes.
const maxExpression = 500

func parseExpression(text string) (*expression, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("an expression may have at most %d characters", maxExpression)
	}
	p := expressionParser{rest: text}
	p.next()
	e, err := p.sum(0)
	if err != nil {
		return nil, err
	}
	if p.token != "" {
		return nil, fmt.Errorf("%q is not expected here: must be a number, a parameter, a function or an operator", p.token)
	}
	e.source = strings.TrimSpace(text)
	return e, nil
}

type expressionParser struct {
	rest  string
	token string // "" at the end
	apart bool   // white space comes before the token
}

func (p *expressionParser) next() {
	trimmed := strings.TrimLeft(p.rest, " \t\n")
	p.apart, p.rest = len(trimmed) < len(p.rest), trimmed
	end := 0
	switch {
	case p.rest == "":
	case isDigit(p.rest[0]) || p.rest[0] == '.':
		for end < len(p.rest) && (isDigit(p.rest[end]) || p.rest[end] == '.' || p.rest[end] == '_' ||
			isExponent(p.rest, end)) {
			end++
		}
	case isLetter(p.rest[0]):
		for end < len(p.rest) && (isLetter(p.rest[end]) || isDigit(p.rest[end])) {
			end++
		}
	default:
		end = 1
		for end < len(p.rest) && p.rest[end] >= 0x80 && p.rest[0] >= 0x80 {
			end++
		}
	}
	p.token, p.rest = p.rest[:end], p.rest[end:]
}

// isExponent reports whether s[i] belongs to the exponent of a number: the e, or the sign after it.
func isExponent(s string, i int) bool {
	if s[i] == 'e' || s[i] == 'E' {
		return i > 0 && i+1 < len(s) && (isDigit(s[i+1]) || i+2 < len(s) && (s[i+1] == '-' || s[i+1] == '+') &&
			isDigit(s[i+2]))
	}
	return (s[i] == '-' || s[i] == '+') && i > 0 && (s[i-1] == 'e' || s[i-1] == 'E')
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c == '_' || c < 0x80 && unicode.IsLetter(rune(c)) }

func (p *expressionParser) sum(depth int) (*expression, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	left, err := p.product(depth)
	for err == nil && (p.token == "+" || p.token == "-") {
		op := p.token[0]
		p.next()
		var right *expression
		if right, err = p.product(depth); err == nil {
			left = &expression{op: op, args: []*expression{left, right}}
		}
	}
	return left, err
}

func (p *expressionParser) product(depth int) (*expression, error) {
	left, err := p.factor(depth)
	for err == nil && (p.token == "x" || p.token == "×" || p.token == "*" || p.token == "/") {
		op, touches := p.token, !p.apart
		p.next()
		right := &expression{op: 'v', name: limitName}
		if (op == "x" || op == "×") && (p.token == "" || strings.Contains("+,)/", p.token) || touches &&
			strings.Contains("-x×*", p.token)) {
			left = &expression{op: '*', args: []*expression{left, right}}
			continue
		}
		if right, err = p.factor(depth); err == nil {
			if op != "/" {
				op = "*"
			}
			left = &expression{op: op[0], args: []*expression{left, right}}
		}
	}
	return left, err
}

func (p *expressionParser) factor(depth int) (*expression, error) {
	t := p.token
	switch {
	case t == "":
		return nil, fmt.Errorf("a number is missing at the end")
	case t == "-":
		p.next()
		if depth++; depth > maxDepth {
			return nil, fmt.Errorf("nested more than %d deep", maxDepth)
		}
		e, err := p.factor(depth)
		if err != nil {
			return nil, err
		}
		return &expression{op: '-', args: []*expression{{op: 'n'}, e}}, nil
	case t == "(":
		p.next()
		e, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		return e, p.expect(")")
	case isDigit(t[0]) || t[0] == '.':
		v, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
		if err != nil || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q is not a number", t)
		}
		p.next()
		return &expression{op: 'n', number: v}, nil
	case isLetter(t[0]):
		p.next()
		if p.token == "(" {
			return p.call(t, depth)
		}
		return &expression{op: 'v', name: t}, nil
	}
	return nil, fmt.Errorf("%q is not expected here: must be a number, a parameter, a function or an operator", t)
}

func (p *expressionParser) call(name string, depth int) (*expression, error) {
	arity, ok := functions[name]
	if !ok {
		return nil, fmt.Errorf("unknown function %q (allowed: ceil, floor, if, max, min)", name)
	}
	e := &expression{op: 'f', name: name}
	for p.token == "(" || p.token == "," {
		p.next()
		arg, err := p.sum(depth + 1)
		if err != nil {
			return nil, err
		}
		e.args = append(e.args, arg)
	}
	if len(e.args) < arity[0] || arity[1] > 0 && len(e.args) > arity[1] {
		return nil, fmt.Errorf("%s has %d values: must have %d", name, len(e.args), arity[0])
	}
	return e, p.expect(")")
}

func (p *expressionParser) expect(token string) error {
	if p.token != token {
		return fmt.Errorf("%q is missing", token)
	}
	p.next()
	return nil
}

// names returns the names that e uses, in order and without duplicates.
func (e *expression) names() []string {
	var out []string
	if e.op == 'v' {
		out = append(out, e.name)
	}
	for _, a := range e.args {
		for _, name := range a.names() {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// value computes the expression. A name without a value counts as 0; the decoder has checked all names before.
func (e *expression) value(values map[string]float64) float64 {
	switch e.op {
	case 'n':
		return e.number
	case 'v':
		return values[e.name]
	case '+':
		return e.args[0].value(values) + e.args[1].value(values)
	case '-':
		return e.args[0].value(values) - e.args[1].value(values)
	case '*':
		return e.args[0].value(values) * e.args[1].value(values)
	case '/':
		return e.args[0].value(values) / e.args[1].value(values)
	}
	return e.call(values)
}

func (e *expression) call(values map[string]float64) float64 {
	if e.name == "if" {
		if e.args[0].value(values) != 0 {
			return e.args[1].value(values)
		}
		return e.args[2].value(values)
	}
	v := e.args[0].value(values)
	for _, a := range e.args[1:] {
		if e.name == "max" {
			v = max(v, a.value(values))
		} else {
			v = min(v, a.value(values))
		}
	}
	switch e.name {
	case "ceil":
		return math.Ceil(v)
	case "floor":
		return math.Floor(v)
	}
	return v
}
