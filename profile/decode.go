package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/internal/pattern"
)

// These are the keys that a profile, its first phase and its parameters may have.
var (
	profileKeys = []string{
		"name", "about", "extends", "parameters", "limits", "expand", "candidates", "branches", "fuse", "then",
	}
	phaseKeys     = []string{"branches", "fuse", "then", "limit"}
	parameterKeys = []string{"default", "min", "max", "at_least", "integer", "one_of", "about"}
)

// validName matches valid names of profiles, branches and parameters.
var validName = pattern.Lazy(`^[a-z][a-z0-9_-]{0,63}$`)

// decoder reads a profile from the nodes of its YAML file. Its methods panic with a [fault] for an error in the file.
type decoder struct {
	params []Parameter // the parameters that expressions and choices may name
}

// fault is the value with which methods of the decoder panic. [attempt] turns it into an error.
type fault struct{ error }

// attempt calls the function do and returns its result. If do panics with a fault, attempt returns its error.
func attempt[T any](do func() T) (out T, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case fault:
			err = r.error
		default:
			panic(r)
		}
	}()
	return do(), nil
}

// check panics with a fault if err is not nil.
func check(err error) {
	if err != nil {
		panic(fault{err})
	}
}

// fail panics with a fault at n.
func (n *node) fail(format string, args ...any) { check(n.errorf(format, args...)) }

// profile reads a profile from n. The caller must first merge n with the profile that n extends: see resolve.
func (d *decoder) profile(n *node) *Profile {
	n.want(nodeMapping, "a profile")
	n.onlyKeys("a profile", profileKeys...)
	p := &Profile{File: n.file}
	name := n.get("name")
	if name == nil {
		n.fail("the profile has no name")
	}
	checkName(name, "the name of a profile")
	p.Name = name.text
	if about := n.get("about"); about != nil {
		about.want(nodeScalar, "about")
		p.About = about.text
	}
	if extends := n.get("extends"); extends != nil {
		p.Extends = extends.text
	}
	if params := n.get("parameters"); params != nil {
		d.parameters(params)
	}
	p.Parameters = d.params
	if value := n.get(limitOptions.name); value != nil {
		p.limits = d.step(&limitOptions, value)
	}
	if value := n.get(expand.name); value != nil {
		p.expand = d.step(&expand, value)
	}
	if first := n.get("candidates"); first != nil {
		d.candidates(p, first)
	}
	p.main = *d.phase(n)
	check(p.checkNeeds())
	return p
}

// candidates reads n, the node "candidates" of a profile, into p. n is a scan of files, or a phase with branches and a
// limit.
func (d *decoder) candidates(p *Profile, n *node) {
	if n.kind == nodeMapping && n.get(scan.name) != nil {
		n.onlyKeys("candidates that are scanned", scan.name)
		p.scan = d.step(&scan, n.get(scan.name))
		return
	}
	n.want(nodeMapping, "candidates")
	n.onlyKeys("candidates", phaseKeys...)
	p.candidates = d.phase(n)
	limit := d.setting(phaseLimit, n, "candidates.limit")
	p.candidates.limit = &limit
}

func checkName(n *node, what string) {
	n.want(nodeScalar, what)
	if !validName().MatchString(n.text) {
		n.fail("%s is %q: must be small letters, digits, - and _, a letter first, at most 64", what, n.text)
	}
}

func (d *decoder) parameters(n *node) {
	n.want(nodeMapping, "parameters")
	for i := range n.pairs {
		key, value := &n.pairs[i].key, &n.pairs[i].value
		checkName(key, "the name of a parameter")
		_, isFunction := functions[key.text]
		if key.text == limitName || key.text == "x" || isFunction {
			key.fail("a parameter must not be called %q: expressions use that name", key.text)
		}
		d.params = append(d.params, d.parameter(key.text, value))
	}
}

// parameter reads the parameter called name from n. Its expressions may use only the parameters in d.params.
func (d *decoder) parameter(name string, n *node) Parameter {
	where := "parameter " + name
	if n.kind != nodeMapping {
		n.fail("%s must be a mapping with a default and its range, and is %s "+
			"(a single value changes the default of a parameter of the profile that is extended)", where, n.describe())
	}
	n.onlyKeys(where, parameterKeys...)
	standard := n.get("default")
	if standard == nil {
		n.fail("%s has no default", where)
	}
	standard.want(nodeScalar, "the default of "+where)
	p := Parameter{Option: Option{Name: name, Default: standard.text}, parsed: parsed{node: standard}}
	if about := n.get("about"); about != nil {
		p.About = about.text
	}
	if words := n.get("one_of"); words != nil {
		p.kind = typeChoice
		words.want(nodeList, "one_of")
		for i := range words.items {
			p.OneOf = append(p.OneOf, words.items[i].text)
		}
		if !slices.Contains(p.OneOf, p.Default) {
			check(standard.unknown("default of "+where, p.OneOf))
		}
		return p
	}
	p.Min, p.Max = readBound(n, "min", where), readBound(n, "max", where)
	if p.Min > p.Max {
		n.fail("%s has min %s above max %s", where, plain(p.Min), plain(p.Max))
	}
	if whole := n.get("integer"); whole != nil {
		if whole.text != "true" && whole.text != "false" {
			whole.fail("integer of %s is %s: must be true or false", where, whole.describe())
		}
		if whole.text == "true" {
			p.kind = typeInteger
		}
	}
	if least := n.get("at_least"); least != nil {
		p.AtLeast, p.atLeast = least.text, d.value(&p.Option, least, "at_least of "+where).number
	}
	p.number = d.value(&p.Option, standard, where).number
	return p
}

// readBound reads a bound of a parameter: the number at key, which is "min" or "max". where names the parameter in
// errors.
func readBound(n *node, key, where string) float64 {
	b := n.get(key)
	if b == nil {
		n.fail("%s has no %s: a number needs min and max, a word one_of", where, key)
	}
	v, err := strconv.ParseFloat(b.text, 64)
	if err != nil || b.kind != nodeScalar || v != v || v < -1e15 || v > 1e15 {
		b.fail("%s of %s is %s: must be a number", key, where, b.describe())
	}
	return v
}

func (d *decoder) phase(n *node) *phase {
	ph := &phase{node: n}
	branches := n.get("branches")
	if branches == nil {
		n.fail("there are no branches: a profile needs at least one")
	}
	branches.want(nodeList, "branches")
	if len(branches.items) == 0 || len(branches.items) > 16 {
		branches.fail("there are %d branches: must be within 1..16", len(branches.items))
	}
	for i := range branches.items {
		ph.branches = append(ph.branches, d.branch(&branches.items[i], i, ph.branches))
	}
	fuse := n.get("fuse")
	switch {
	case fuse == nil && len(ph.branches) > 1:
		n.fail("several branches need fuse, to join them")
	case fuse == nil:
		raw := n.null()
		raw.kind = nodeMapping
		raw.pairs = []pair{scalarPair(n, "method", "scores"), scalarPair(n, "norm", "none")}
		fuse = &raw
	}
	ph.fuse, ph.steps = d.step(&fusion, fuse), d.steps(n.get("then"))
	return ph
}

func scalarPair(at *node, key, value string) pair {
	k, v := at.null(), at.null()
	k.kind, v.kind, k.text, v.text = nodeScalar, nodeScalar, key, value
	return pair{k, v}
}

func (d *decoder) branch(n *node, i int, before []branch) branch {
	where := fmt.Sprintf("branch %d", i+1)
	n.want(nodeMapping, where)
	how := n.get("retrieve")
	if how == nil {
		n.fail("%s has no retrieve: must be %s", where, branchOptions[0].domain())
	}
	if !slices.Contains(branchOptions[0].OneOf, how.text) {
		check(how.unknown("value of retrieve", branchOptions[0].OneOf))
	}
	b := branch{node: n, name: how.text, retrieve: Retrieve(how.text)}
	keys, own := []string{"name", "retrieve", "then"}, vectorOptions
	if b.retrieve == RetrieveText {
		keys, own = append(keys, "fields"), textOptions
	}
	options := slices.Concat(branchOptions[1:], own)
	n.onlyKeys("a "+how.text+" branch", append(keys, namesOf(options)...)...)
	if name := n.get("name"); name != nil {
		checkName(name, "the name of a branch")
		b.name = name.text
	}
	var names []string
	for _, other := range before {
		names = append(names, other.name)
	}
	if slices.Contains(names, b.name) {
		n.fail("two branches are called %q: give each a name of its own", b.name)
	}
	b.settings = d.settings(options, n, b.name)
	if at := n.get("at_least"); at != nil && len(names) == 0 {
		at.fail("%s.at_least is %q: there is no branch before this one", b.name, at.text)
	} else if at != nil && !slices.Contains(names, at.text) {
		check(at.unknown("branch before this one", names))
	}
	if b.retrieve == RetrieveText {
		b.fields = d.fields(n, b.name)
	}
	b.steps = d.steps(n.get("then"))
	return b
}

// fields reads the field weights of a text branch.
func (d *decoder) fields(n *node, branch string) (out []fieldSetting) {
	fields := n.get("fields")
	if fields == nil {
		n.fail("text branch %s has no fields: name at least one with its weight (%s)",
			branch, strings.Join(sheaf.Fields[:], ", "))
	}
	fields.want(nodeMapping, "fields")
	if len(fields.pairs) == 0 {
		fields.fail("fields is empty: name at least one with its weight")
	}
	for i := range fields.pairs {
		key := &fields.pairs[i].key
		if !slices.Contains(sheaf.Fields[:], key.text) {
			check(key.unknown("field", sheaf.Fields[:]))
		}
		weight := d.value(fieldWeight, &fields.pairs[i].value, "the weight of "+key.text)
		out = append(out, fieldSetting{key.text, weight})
	}
	return out
}

func (d *decoder) steps(n *node) (out []step) {
	if n == nil || n.kind == nodeNull {
		return nil
	}
	n.want(nodeList, "then")
	if len(n.items) > 64 {
		n.fail("there are %d stages: at most 64 are allowed", len(n.items))
	}
	for i := range n.items {
		item := &n.items[i]
		name, value := item, item.null()
		if item.kind == nodeMapping && len(item.pairs) == 1 {
			name, value = &item.pairs[0].key, item.pairs[0].value
		} else if item.kind != nodeScalar {
			item.cutAtComma(len(item.pairs) - 1)
			item.fail("a stage must be a name, or a name with its settings, as \"- top: 10\"")
		}
		k := stageNamed(name.text)
		if k == nil {
			check(name.unknown("stage", Stages()))
		}
		out = append(out, *d.step(k, &value))
	}
	return out
}

// step reads a stage or a fusion of kind k with its settings. n is a mapping of settings, a single value for the
// setting k.short, or null.
func (d *decoder) step(k *kind, n *node) *step {
	given := n
	if n.kind == nodeScalar || n.kind == nodeList {
		if k.short == "" {
			n.fail("%s takes no single value: write its settings as a mapping (%s)",
				k.name, strings.Join(namesOf(k.options), ", "))
		}
		short := n.null()
		short.kind, short.pairs = nodeMapping, []pair{scalarPair(n, k.short, "")}
		short.pairs[0].value = *n
		given = &short
	}
	options := k.allOptions()
	given.onlyKeys(k.name, namesOf(options)...)
	for _, o := range options {
		if given.get(o.Name) == nil && o.Default == "" {
			n.fail("%s needs %s: %s, %s", k.name, o.Name, o.About, o.domain())
		}
	}
	return &step{kind: k, node: n, settings: d.settings(options, given, k.name)}
}

// settings reads the values of options from the mapping n. owner is the name of the stage or branch, for errors.
func (d *decoder) settings(options []*Option, n *node, owner string) []setting {
	out := make([]setting, len(options))
	for i, o := range options {
		out[i] = d.setting(o, n, owner+"."+o.Name)
	}
	return out
}

func namesOf(options []*Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return names
}

// These are names of a stage and an option that [Profile.checkNeeds] looks for.
const (
	similarityName = "similarity"
	minSimilarity  = "min_similarity"
)

// checkNeeds returns an error if a stage needs a search by vector and the profile has none.
func (p *Profile) checkNeeds() error {
	phases := []*phase{&p.main}
	if p.candidates != nil {
		phases = append(phases, p.candidates)
	}
	isVector := func(b branch) bool { return b.retrieve == RetrieveVector }
	meaning := slices.ContainsFunc(phases, func(ph *phase) bool { return slices.ContainsFunc(ph.branches, isVector) })
	for _, ph := range phases {
		for _, b := range ph.branches {
			if err := checkSteps(b.steps, isVector(b), meaning); err != nil {
				return err
			}
		}
		if err := checkSteps(ph.steps, ph.cosines(), meaning); err != nil {
			return err
		}
	}
	return nil
}

// cosines reports whether the stages after the fusion get cosines as scores. This is so for a single vector branch
// whose scores neither its stages nor the fusion change.
func (ph *phase) cosines() bool {
	changes := func(s step) bool { return !s.kind.keeps }
	if len(ph.branches) != 1 || ph.branches[0].retrieve != RetrieveVector ||
		slices.ContainsFunc(ph.branches[0].steps, changes) {
		return false
	}
	fuse := func(name string) string {
		s := find(ph.fuse.settings, name)
		return cmp.Or(s.text, s.option.Default)
	}
	if fuse("direct") == "true" {
		return true
	}
	weight := find(ph.branches[0].settings, "weight")
	weighted := weight.node != nil && !weight.isNumber(1)
	return fuse("method") == "scores" && fuse("norm") == "none" &&
		(fuse("mean") == "arithmetic" || fuse("mean") == "sum" && !weighted)
}

func find(settings []setting, name string) *setting {
	for i := range settings {
		if settings[i].option.Name == name {
			return &settings[i]
		}
	}
	return nil
}

// checkSteps returns an error if a stage needs scores or a branch that it does not get. cosines says that the scores
// before the first step are cosines. meaning says that the profile has a vector branch.
func checkSteps(steps []step, cosines, meaning bool) error {
	for i := range steps {
		s := &steps[i]
		if s.kind.name == similarityName && !cosines {
			return s.node.errorf("%s needs the cosines of a vector branch: write it into the then of one, "+
				"before what changes scores", similarityName)
		}
		cosines = cosines && s.kind.keeps
		set := find(s.settings, minSimilarity)
		if set != nil && set.node != nil && !set.isNumber(0) && !meaning {
			return set.node.errorf("%s needs a vector branch, to know how similar documents are: "+
				"the profile has none", set.where)
		}
	}
	return nil
}
