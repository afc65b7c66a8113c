package main

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/internal/wording"
)

// printExplanation prints the arithmetic of a score. Each line has one number with its formula. If a formula is too
// long for a line, its parts follow on the next lines, indented. printExplanation omits steps without effect, such as a
// factor of 1.
func printExplanation(w io.Writer, out *terminal.Output, e sheaf.Explanation, indent int) {
	a := formulaPrinter{w: w, out: out}
	a.print(plainly(e), indent)
}

// formulaPrinter prints explanations. If several formulas contain a number, the printer prints the parts of this number
// once.
type formulaPrinter struct {
	w         io.Writer
	out       *terminal.Output
	explained []sheaf.Explanation
}

// arithmeticWidth is the largest number of characters of a formula on one line. A longer formula is printed in parts.
const arithmeticWidth = 110

func (a *formulaPrinter) print(e sheaf.Explanation, indent int) {
	line := strings.Repeat(" ", indent) + a.out.Paint(terminal.Number, number(e.Value)) + " " + wording.Clean(e.Label)
	if !combines(e) {
		fmt.Fprintln(a.w, line)
		for _, p := range e.Parts { // parts that only inform
			a.print(p, indent+2)
		}
		return
	}
	equals := a.out.Paint(terminal.Dim, " = ")
	if formula, ok := formula(e, true); ok && len(formula) <= arithmeticWidth {
		fmt.Fprintln(a.w, line+equals+formula)
		return
	}
	short, _ := formula(e, false)
	fits := len(short) <= arithmeticWidth
	before := slices.ContainsFunc(a.explained, func(t sheaf.Explanation) bool { return reflect.DeepEqual(t, e) })
	switch {
	case fits:
		line += equals + short
	case before:
		line += a.out.Paint(terminal.Dim, ", as above")
	default:
		line += a.out.Paint(terminal.Dim, " = "+string(e.Combine)+" of")
	}
	fmt.Fprintln(a.w, line)
	if before {
		return
	}
	a.explained = append(a.explained, e)
	for _, p := range e.Parts {
		if !fits || len(p.Parts) > 0 {
			a.print(p, indent+2)
		}
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

// combines reports whether the value of e is computed from its parts.
func combines(e sheaf.Explanation) bool {
	return e.Combine != sheaf.CombineNone && len(e.Parts) > 0
}

// operators are the signs between the parts of a formula. Other combinations look like function calls, such as max(a,
// b).
var operators = map[sheaf.Combine]string{sheaf.CombineSum: " + ", sheaf.CombineDifference: " - ",
	sheaf.CombineProduct: " x ", sheaf.CombineQuotient: " / ", sheaf.CombinePower: " ^ "}

// formula returns e as a formula of its parts. If all is true, each part is followed by its own formula in brackets. ok
// is false if a part has details that a formula cannot show.
func formula(e sheaf.Explanation, all bool) (text string, ok bool) {
	parts := make([]string, len(e.Parts))
	for i, p := range e.Parts {
		parts[i] = number(p.Value) + " " + wording.Clean(p.Label)
		switch {
		case !all:
		case combines(p):
			inner, ok := formula(p, true)
			if !ok {
				return "", false
			}
			parts[i] += " (" + inner + ")"
		case len(p.Parts) > 0:
			return "", false
		}
	}
	if op, ok := operators[e.Combine]; ok {
		return strings.Join(parts, op), true
	}
	return string(e.Combine) + "(" + strings.Join(parts, ", ") + ")", true
}

// plainly returns e without the steps that do not change the value.
func plainly(e sheaf.Explanation) sheaf.Explanation {
	parts := make([]sheaf.Explanation, 0, len(e.Parts))
	for i, p := range e.Parts {
		one := p.Value == 1 && len(p.Parts) == 0 && len(e.Parts) > 1
		if one && (e.Combine == sheaf.CombineProduct || e.Combine == sheaf.CombineQuotient && i > 0) {
			continue
		}
		parts = append(parts, plainly(p))
	}
	if len(parts) == 0 && len(e.Parts) > 0 { // for example 1 times 1
		parts = append(parts, plainly(e.Parts[0]))
	}
	e.Parts = parts
	switch e.Combine {
	case sheaf.CombineSum, sheaf.CombineDifference, sheaf.CombineProduct, sheaf.CombineQuotient, sheaf.CombineMax,
		sheaf.CombineMin, sheaf.CombineRSS, sheaf.CombinePower:
		if len(parts) != 1 || parts[0].Value != e.Value {
			return e
		}
		label := joinLabels(e.Label, parts[0].Label)
		e = parts[0]
		e.Label = label
	}
	return e
}

// joinLabels returns one label for a step and its only part, because the two show one number. Usually this is the label
// of the step. From both labels, the result keeps a rank, a term in quotes, and the "#slug" of a passage.
func joinLabels(outer, inner string) string {
	ranked, term := strings.HasPrefix(outer, "rank "), strings.Contains(inner, `"`)
	slug := strings.LastIndexByte(outer, '#')
	switch {
	case strings.HasPrefix(inner, "rank ") && slug >= 0:
		return outer[slug:] + ", " + inner
	case strings.HasPrefix(inner, "rank "), term && !ranked && !strings.Contains(outer, `"`):
		return inner
	case ranked && (term || strings.HasPrefix(inner, "similarity ")):
		return outer + ": " + inner
	}
	return outer
}
