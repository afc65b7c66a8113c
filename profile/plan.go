package profile

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/rank"
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
	v, err := attempt(func() values { return p.values(limit, set) })
	if err != nil {
		return nil, err
	}
	if _, most, err := p.limit(set); err != nil {
		return nil, err
	} else if limit > most {
		return nil, sheaf.Invalidf("limit is %d: profile %s allows 1..%d", limit, p.Name, most)
	}
	plan := &Plan{Profile: p, Limit: limit, Values: map[string]string{}}
	for name, x := range v.numbers {
		if name != limitName {
			plan.Values[name] = plain(x)
		}
	}
	maps.Copy(plan.Values, v.choices)
	phase := func(ph *phase) *Phase {
		out, err := attempt(func() *Phase { return ph.plan(v) })
		check(withParameters(err, set))
		return out
	}
	return attempt(func() *Plan {
		p.planSources(plan, v)
		if p.candidates != nil {
			plan.Candidates = phase(p.candidates)
			plan.Candidates.Limit = compute([]setting{*p.candidates.limit}, v).integer(phaseLimit.Name)
		}
		plan.Main = *phase(&p.main)
		return plan
	})
}

// planSources computes the parts before the branches in plan: the expansion of the query and the scan of files.
func (p *Profile) planSources(plan *Plan, v values) {
	if p.expand != nil {
		args := compute(p.expand.settings, v)
		if args.number(whenOption.Name) != 0 {
			plan.Expand = &Expand{Variants: args.integer("variants"), Passage: args.flag("passage"),
				AllWords: args.flag("all_words"), Timeout: seconds(args.number("timeout"))}
		}
	}
	if p.scan != nil {
		args := compute(p.scan.settings, v)
		plan.Scan = &Scan{Files: args.integer("files"), ChunkChars: args.integer("chunk_chars"),
			MaxVectors: args.integer("max_vectors"), ListValues: args.integer("list_values"),
			FrontmatterDepth: args.integer("frontmatter_depth"),
			MemoryBytes:      int64(args.number("memory_mb") * (1 << 20))}
	}
}

// limit returns how many results a query with these parameters gets. standard is the default number, or 0 without a
// default. most is the largest number that the profile allows.
func (p *Profile) limit(set map[string]string) (standard, most int, err error) {
	if p.limits == nil {
		return 0, MaxLimit, nil
	}
	args, err := attempt(func() arguments { return compute(p.limits.settings, p.values(1, set)) })
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
func (p *Profile) Scans() bool { return p.scan != nil }

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
		s := setting{option: o, node: param.node, where: "the default of parameter " + param.Name, number: param.number}
		arg, err := s.compute(v)
		check(err)
		v.numbers[param.Name] = arg.number
		param.reaches(p, arg.number, v, len(set) == 0)
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

// onlyBranch returns the only branch with a weight above 0. Without such a branch, or with several, it returns nil.
func (ph *Phase) onlyBranch() *Branch {
	var only *Branch
	for i := range ph.Branches {
		if ph.Branches[i].Weight == 0 {
			continue
		}
		if only != nil {
			return nil
		}
		only = &ph.Branches[i]
	}
	return only
}

func (ph *phase) plan(v values) *Phase {
	out := &Phase{}
	var total float64
	for i := range ph.branches {
		b := ph.branches[i].plan(v)
		total += b.Weight
		out.Branches = append(out.Branches, b)
	}
	if total == 0 {
		check(together{ph.weightNode().errorf("the weights of all branches are 0: at least one must be above 0")})
	}
	args := compute(ph.fuse.settings, v)
	out.Fusion, out.FusionText = ph.fuse.kind.fusion(args), ph.fuse.text(args)
	out.Complete = args.flag("complete")
	if only := out.onlyBranch(); only != nil && args.flag("direct") {
		out.Fusion = rank.Scores{Norm: rank.NormNone, Mean: rank.MeanArithmetic}
		out.FusionText = "the scores of " + only.Name
	}
	out.Then = planSteps(ph.steps, v)
	return out
}

// weightNode returns the position in the file of the first weight of a branch. If no branch gives a weight, weightNode
// returns the position of the phase.
func (ph *phase) weightNode() *node {
	for i := range ph.branches {
		for _, s := range ph.branches[i].settings {
			if s.option.Name == "weight" && s.node != nil {
				return s.node
			}
		}
	}
	return ph.node
}

func (b *branch) plan(v values) Branch {
	args := compute(b.settings, v)
	out := Branch{Name: b.name, Retrieve: b.retrieve, Limit: args.integer("limit"), Weight: args.number("weight"),
		AtLeast: args.text("at_least")}
	if b.retrieve == RetrieveVector {
		out.Vector = &VectorBranch{Field: args.text("field"), Candidates: args.integer("candidates")}
	} else {
		out.Text = &TextBranch{Combine: args.text("combine"), TieBreaker: args.number("tie_breaker"),
			Statistics: args.text("statistics"), K1: args.number("k1"), B: args.number("b"), Fields: b.weights(v)}
	}
	out.Then = planSteps(b.steps, v)
	return out
}

// weights returns the fields of a text branch that have a weight above 0, in the order of sheaf.Fields. If there is
// none, weights panics with a fault.
func (b *branch) weights(v values) []Field {
	var out []Field
	for _, f := range b.fields {
		if w := compute([]setting{f.weight}, v)[0].number; w > 0 {
			out = append(out, Field{f.name, w})
		}
	}
	if len(out) == 0 {
		at := b.node
		if b.fields[0].weight.node != nil {
			at = b.fields[0].weight.node
		}
		at.fail("the weights of all fields of branch %s are 0: at least one must be above 0", b.name)
	}
	order := func(f Field) int { return slices.Index(sheaf.Fields[:], f.Name) }
	slices.SortStableFunc(out, func(x, y Field) int { return order(x) - order(y) })
	return out
}

// checkEnv is the Env for checking the settings of a stage. The stage runs on an empty ranking.
var checkEnv = rank.Env{Facts: struct{ rank.Facts }{}, Now: time.Unix(0, 0)}

func planSteps(steps []step, v values) []Step {
	var out []Step
	for i := range steps {
		args := compute(steps[i].settings, v)
		if args.number(whenOption.Name) == 0 {
			continue
		}
		k := steps[i].kind
		stage := k.stage(args)
		// Some numbers depend on each other (low below high). The stage checks them when it runs on an empty ranking.
		if _, err := stage.Apply(nil, checkEnv); err != nil {
			err = steps[i].node.errorf("%s", strings.TrimPrefix(err.Error(), sheaf.ErrInvalid.Error()+": "))
			if k.pairs {
				err = together{err}
			}
			check(err)
		}
		step := Step{Name: k.name, Text: steps[i].text(args), Stage: stage, Most: math.MaxInt, Drops: k.drops,
			cuts: k.cuts, dated: k.dated}
		if k.most != nil {
			step.Most = k.most(args)
			step.Drops = step.Drops || step.Most < math.MaxInt
		}
		out = append(out, step)
	}
	return out
}

// text returns a step as a profile would write it. It omits settings that the profile does not give.
func (s *step) text(args arguments) string {
	var parts []string
	for i := range s.settings {
		set := &s.settings[i]
		if set.node == nil || set.option == whenOption || set.option.Name == pushDownName {
			continue
		}
		value := set.String()
		if arg := args[i]; set.number != nil {
			value = plain(arg.number)
		} else if set.option.kind == typeChoice {
			value = arg.text
		}
		parts = append(parts, set.option.Name+": "+value)
	}
	if len(parts) == 0 {
		return s.kind.name
	}
	return s.kind.name + ": {" + strings.Join(parts, ", ") + "}"
}
