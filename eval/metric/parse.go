package metric

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const defaultPersistence = 0.8

// Parse reads the name of a measure in the grammar of ir_measures: NAME, NAME@k, NAME(arg=value,...) or NAME(...)@k.
// NAME is nDCG, AP, RR, P, R, Success, Judged, RBP or ERR. These are the arguments:
//   - rel is the smallest gain that counts as relevant, 1 or more.
//   - p is the persistence of RBP, between 0 and 1.
//   - dcg is 'log2' or 'exp-log2', for nDCG only.
//   - judged_only is True or False.
//
// Errors name the fault and the allowed values.
func Parse(s string) (Measure, error) {
	m := Measure{rel: 1, p: defaultPersistence}
	head := s
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		k, err := strconv.Atoi(s[at+1:])
		if err != nil || k < 1 {
			return m, fmt.Errorf("measure %q: %q after @ must be a whole number from 1", s, s[at+1:])
		}
		m.cutoff, head = k, s[:at]
	}
	name, args, hasArgs := strings.Cut(head, "(")
	k := slices.Index(names[:], name)
	if k < 0 {
		return m, fmt.Errorf("measure %q: %q is not one of %s", s, name, strings.Join(names[:], ", "))
	}
	m.kind = kind(k)
	if m.cutoff == 0 && (m.kind == kindP || m.kind == kindR || m.kind == kindSuccess || m.kind == kindJudged) {
		return m, fmt.Errorf("measure %q needs a cutoff, such as %s@10", s, name)
	}
	if !hasArgs {
		return m, nil
	}
	args, closed := strings.CutSuffix(args, ")")
	if !closed {
		return m, fmt.Errorf("measure %q: the bracket is not closed", s)
	}
	for arg := range strings.SplitSeq(args, ",") {
		if err := m.set(strings.TrimSpace(arg)); err != nil {
			return m, fmt.Errorf("measure %q: %w", s, err)
		}
	}
	return m, nil
}

// ParseList reads comma-separated measures, each as in [Parse]. A comma in parentheses separates arguments.
func ParseList(s string) ([]Measure, error) {
	var out []Measure
	inside, from := false, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (s[i] != ',' || inside) {
			inside = s[i] == '(' || inside && s[i] != ')'
			continue
		}
		m, err := Parse(strings.TrimSpace(s[from:i]))
		if err != nil {
			return nil, err
		}
		out, from = append(out, m), i+1
	}
	return out, nil
}

func (m *Measure) set(arg string) error {
	name, value, _ := strings.Cut(arg, "=")
	value = strings.Trim(value, `'"`)
	switch {
	case name == "rel" && m.kind != kindJudged && m.kind != kindERR && m.kind != kindNDCG:
		rel, err := strconv.Atoi(value)
		if err != nil || rel < 1 {
			return fmt.Errorf("rel is %q: must be a whole number from 1", value)
		}
		m.rel = rel
	case name == "p" && m.kind == kindRBP:
		p, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(p) || p <= 0 || p >= 1 {
			return fmt.Errorf("p is %q: must be above 0 and below 1", value)
		}
		m.p = p
	case name == "dcg" && m.kind == kindNDCG:
		if value != "log2" && value != "exp-log2" {
			return fmt.Errorf("dcg is %q: must be log2 or exp-log2", value)
		}
		m.exp = value == "exp-log2"
	case name == "judged_only":
		b, err := strconv.ParseBool(strings.ToLower(value))
		if err != nil {
			return fmt.Errorf("judged_only is %q: must be True or False", value)
		}
		m.judged = b
	default:
		return fmt.Errorf("%s has no argument %q", names[m.kind], name)
	}
	return nil
}
