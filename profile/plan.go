package profile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sheaf"
)

// MaxLimit is the largest limit of a query.
const MaxLimit = 10_000

// Plan binds the profile to a query with this limit, 1..MaxLimit, and the parameters in set. It returns
// sheaf.ErrInvalid for an unknown parameter or a value out of range. It also returns sheaf.ErrInvalid if the query
// makes a number of the profile invalid.
func (p *Profile) Plan(limit int, set map[string]string) (*Plan, error) {
	if limit < 1 || limit > MaxLimit {
		return nil, sheaf.Invalidf("limit is %d: must be within 1..%d", limit, MaxLimit)
	}
	return p.plan(&decoder{checked: true}, limit, set)
}

// plan is Plan with a new decoder.
func (p *Profile) plan(d *decoder, limit int, set map[string]string) (*Plan, error) {
	return attempt(func() *Plan {
		d.params, d.values = p.Parameters, p.values(limit, set)
		_, most, err := p.limit(set)
		if err == nil && limit > most {
			err = sheaf.Invalidf("limit is %d: profile %s allows 1..%d", limit, p.Name, most)
		}
		check(err)
		plan := &Plan{Profile: p, Limit: limit, Values: map[string]string{}}
		for name, x := range d.values.numbers {
			if name != limitName {
				plan.Values[name] = plain(x)
			}
		}
		maps.Copy(plan.Values, d.values.choices)
		d.sources(plan, p.node)
		phase := func(n *node) *Phase {
			out, err := attempt(func() *Phase { return d.phase(n) })
			check(withParameters(err, set))
			return out
		}
		if first := p.node.get("candidates"); first != nil && !p.Scans() {
			first.want(nodeMapping, "candidates")
			first.onlyKeys("candidates", phaseKeys...)
			plan.Candidates = phase(first)
			plan.Candidates.Limit = int(d.argument(phaseLimit, first, "candidates.").number)
		} else {
			d.note("no phase\n")
		}
		plan.Main = *phase(p.node)
		if !d.meaning {
			check(d.needy)
		}
		return plan
	})
}

// sources reads the parts before the branches into plan: the expansion of the query and the scan of files.
func (d *decoder) sources(plan *Plan, n *node) {
	part := func(k *kind, n *node) arguments {
		if n == nil {
			d.note("no step\n")
			return nil
		}
		return d.settings(k, n)
	}
	if args := part(&expand, n.get(expand.name)); args.number(whenOption.Name) != 0 {
		plan.Expand = &Expand{Variants: args.integer("variants"), Passage: args.flag("passage"),
			AllWords: args.flag("all_words"), Timeout: seconds(args.number("timeout"))}
	}
	var files *node
	if plan.Profile.Scans() {
		first := n.get("candidates")
		first.onlyKeys("candidates that are scanned", scan.name)
		files = first.get(scan.name)
	}
	if args := part(&scan, files); args != nil {
		plan.Scan = &Scan{Files: args.integer("files"), ChunkChars: args.integer("chunk_chars"),
			MaxVectors: args.integer("max_vectors"), ListValues: args.integer("list_values"),
			FrontmatterDepth: args.integer("frontmatter_depth"),
			MemoryBytes:      int64(args.number("memory_mb") * (1 << 20))}
	}
}

// limit returns how many results a query with these parameters gets. standard is the default number, or 0 without a
// default. most is the largest number that the profile allows.
func (p *Profile) limit(set map[string]string) (standard, most int, err error) {
	n := p.node.get(limitOptions.name)
	if n == nil {
		return 0, MaxLimit, nil
	}
	args, err := attempt(func() arguments {
		return (&decoder{params: p.Parameters, values: p.values(1, set)}).settings(&limitOptions, n)
	})
	return args.integer("default"), args.integer("max"), err
}

// MostWanted returns the largest number of results that a query with these parameters may ask for.
func (p *Profile) MostWanted(set map[string]string) (int, error) {
	_, most, err := p.limit(set)
	return most, err
}

// DefaultLimit returns how many results a query with these parameters gets if it does not give a limit. It returns 0 if
// the profile has no default or if a parameter is wrong.
func (p *Profile) DefaultLimit(set map[string]string) int {
	standard, most, err := p.limit(set)
	if err != nil {
		return 0
	}
	return min(standard, most)
}

// Scans reports whether the profile finds its candidates in files. It then needs no index.
func (p *Profile) Scans() bool {
	first := p.node.get("candidates")
	return first != nil && first.get(scan.name) != nil
}

// withParameters adds the parameters of the query to an error, because they may be its cause.
func withParameters(err error, set map[string]string) error {
	var with []string
	for _, name := range slices.Sorted(maps.Keys(set)) {
		with = append(with, name+"="+set[name])
	}
	if err == nil || with == nil {
		return err
	}
	return fmt.Errorf("%w (with %s)", err, strings.Join(with, ", "))
}

// Dated reports whether the result depends on the time of the query, for example on ages of documents.
func (p *Plan) Dated() bool {
	recent := func(steps []Step) bool { return slices.ContainsFunc(steps, func(s Step) bool { return s.dated }) }
	in := func(ph *Phase) bool {
		return recent(ph.Then) || slices.ContainsFunc(ph.Branches, func(b Branch) bool { return recent(b.Then) })
	}
	return in(&p.Main) || p.Candidates != nil && in(p.Candidates)
}

// Most returns the largest number of results that the plan can return. The number follows from the limits of branches
// with a weight above 0, of the first phase and of cutoffs.
func (p *Plan) Most() int {
	most := 0
	for i := range p.Main.Branches {
		if b := &p.Main.Branches[i]; b.Weight > 0 {
			most += b.Limit
		}
	}
	if p.Candidates != nil {
		most = min(most, p.Candidates.Limit)
	}
	for _, step := range p.Main.Then {
		if step.cuts {
			most = min(most, step.Most)
		}
	}
	return most
}

// CheckLimit returns sheaf.ErrInvalid if limit is larger than [Plan.Most]. Without this check, the user would get fewer
// results than requested and not know why.
func (p *Plan) CheckLimit(limit int) error {
	if most := p.Most(); limit > most {
		return sheaf.Invalidf("limit is %d: profile %s finds %d hits at most: ask for at most %d, or raise what its "+
			"branches retrieve and its cutoffs keep", limit, p.Profile.Name, most, most)
	}
	return nil
}

// ParameterError is a wrong parameter of a query, or a wrong setting of a stage outside a profile. It wraps ErrInvalid.
type ParameterError struct {
	Name string // the name as in the query
	Err  error
}

// Error returns a message that names the parameter, the profile and the allowed values.
func (e *ParameterError) Error() string { return e.Err.Error() }

// Unwrap returns the error in e.
func (e *ParameterError) Unwrap() error { return e.Err }

// ErrTogether marks an error of several values: each value is valid alone, but not together with the others.
var ErrTogether = errors.New("values that do not go together")

// together adds ErrTogether to an error without changing its text.
type together struct{ error }

func (e together) Unwrap() []error { return []error{ErrTogether, e.error} }

// wrongParameter panics with a fault for the parameter called name.
func wrongParameter(name, format string, args ...any) {
	check(&ParameterError{Name: name, Err: sheaf.Invalidf(format, args...)})
}

// values returns the values of all parameters, from set or their defaults. A wrong value in set panics with a fault.
func (p *Profile) values(limit int, set map[string]string) values {
	v := values{numbers: map[string]float64{limitName: float64(limit)}, choices: map[string]string{}}
	var names []string
	for _, param := range p.Parameters {
		names = append(names, param.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if !slices.Contains(names, name) {
			wrongParameter(name, "profile %s has no parameter %q%s (its parameters: %s)", p.Name, name,
				prefixed(": ", Hint("parameter", name, names)), cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	for i := range p.Parameters {
		p.Parameters[i].bind(p, set, v)
	}
	return v
}

// bind computes the value of param, from set or its default, and stores it in v. A wrong value panics with a fault.
func (param *Parameter) bind(p *Profile, set map[string]string, v values) {
	o := &param.Option
	text, given := set[param.Name]
	if len(param.OneOf) > 0 {
		if !given {
			text = param.Default
		}
		if !slices.Contains(param.OneOf, text) {
			wrongParameter(param.Name, "parameter %s of profile %s is %q: must be %s", param.Name, p.Name, text, o.domain())
		}
		v.choices[param.Name] = text
		return
	}
	if !given {
		arg := argument{option: o, node: param.node, where: "the default of parameter " + param.Name, parsed: o.parsed}
		x := (&decoder{values: v}).compute(arg).number
		v.numbers[param.Name] = x
		param.reaches(p, x, v, len(set) == 0)
		return
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if errors.Is(err, strconv.ErrSyntax) && (text == "true" || text == "false") {
		x, err = 0, nil
		if text == "true" {
			x = 1
		}
	}
	if err != nil || !(x >= param.Min && x <= param.Max) || o.Integer() && x != float64(int64(x)) {
		wrongParameter(param.Name, "parameter %s of profile %s is %q: must be %s", param.Name, p.Name, text, o.domain())
	}
	v.numbers[param.Name] = x
	param.reaches(p, x, v, false)
}

// reaches panics with a fault if x, the value of a parameter, is below AtLeast. isDefault says that x is the default of
// the parameter; the fault then has the position of the default.
func (param *Parameter) reaches(p *Profile, x float64, v values, isDefault bool) {
	if param.atLeast == nil {
		return
	}
	least := param.atLeast.value(v.numbers)
	if x >= least {
		return
	}
	bound := param.AtLeast
	if bound != plain(least) {
		bound += ", which is " + plain(least)
	}
	if isDefault {
		param.node.fail("the default of parameter %s is %s: must be at least %s", param.Name, plain(x), bound)
	}
	check(&ParameterError{Name: param.Name, Err: together{sheaf.Invalidf("parameter %s of profile %s is %s: must be at "+
		"least %s", param.Name, p.Name, plain(x), bound)}})
}
