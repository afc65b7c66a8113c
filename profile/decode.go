package profile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/rank"
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

// decoder reads a profile from the nodes of its YAML file, and computes the numbers for one query. Its methods panic
// with a [fault] for an error in the file.
type decoder struct {
	params []Parameter // the parameters that expressions and choices may name
	values values      // of the parameters
	// digest gets all that changes rankings; nil drops it. While there is a digest, nodes store their parsed expressions.
	digest *strings.Builder
	// checked says that the names of all settings have been checked.
	checked bool
	// meaning says that a branch searches by vector. needy is the error of the first stage that needs such a branch.
	meaning bool
	needy   error
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

// readProfile reads a profile from n, except the stages and their numbers. The caller must first merge n with the
// profile that n extends: see resolve.
func readProfile(n *node) *Profile {
	n.want(nodeMapping, "a profile")
	n.onlyKeys("a profile", profileKeys...)
	p := &Profile{File: n.file, node: n}
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
		p.Parameters = readParameters(params)
	}
	return p
}

func checkName(n *node, what string) {
	n.want(nodeScalar, what)
	if !validName().MatchString(n.text) {
		n.fail("%s is %q: must be small letters, digits, - and _, a letter first, at most 64", what, n.text)
	}
}

func readParameters(n *node) []Parameter {
	d := &decoder{}
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
	return d.params
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
	p := Parameter{Option: Option{Name: name, Default: standard.text}, node: standard}
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
		p.AtLeast, p.atLeast = least.text, d.value(&p.Option, least, "at_least of "+where).parsed
	}
	p.parsed = d.value(&p.Option, standard, where).parsed
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

// phase reads n: branches, their fusion, and the stages after the fusion.
func (d *decoder) phase(n *node) *Phase {
	branches := n.get("branches")
	if branches == nil {
		n.fail("there are no branches: a profile needs at least one")
	}
	branches.want(nodeList, "branches")
	if len(branches.items) == 0 || len(branches.items) > 16 {
		branches.fail("there are %d branches: must be within 1..16", len(branches.items))
	}
	out := &Phase{}
	cosines, weighted := len(branches.items) == 1, false
	total, at := 0.0, n // at is the first weight in the file
	for i := range branches.items {
		item := &branches.items[i]
		b, unchanged := d.branch(item, i, out.Branches)
		out.Branches = append(out.Branches, b)
		total, cosines = total+b.Weight, cosines && unchanged
		if weight := item.get("weight"); weight != nil {
			weighted = weighted || !weight.isNumber(1)
			if at == n {
				at = weight
			}
		}
	}
	if total == 0 {
		check(together{at.errorf("the weights of all branches are 0: at least one must be above 0")})
	}
	fuse := n.get("fuse")
	switch {
	case fuse == nil && len(out.Branches) > 1:
		n.fail("several branches need fuse, to join them")
	case fuse == nil:
		raw := n.null()
		raw.kind = nodeMapping
		raw.pairs = []pair{scalarPair(n, "method", "scores"), scalarPair(n, "norm", "none")}
		fuse = &raw
	}
	args := d.settings(&fusion, fuse)
	out.Fusion, out.FusionText, out.Complete = fusion.fusion(args), fusion.text(args), args.flag("complete")
	var counting []string // the branches with a weight above 0
	for _, b := range out.Branches {
		if b.Weight != 0 {
			counting = append(counting, b.Name)
		}
	}
	if len(counting) == 1 && args.flag("direct") {
		out.Fusion = rank.Scores{Norm: rank.NormNone, Mean: rank.MeanArithmetic}
		out.FusionText = "the scores of " + counting[0]
	}
	out.Then, _ = d.steps(n.get("then"), cosines && keepsScores(args, weighted))
	return out
}

// keepsScores reports whether a fusion with these settings keeps the scores of a single branch. weighted says that the
// branch may have another weight than 1.
func keepsScores(fuse arguments, weighted bool) bool {
	return fuse.written("direct") == "true" || fuse.written("method") == "scores" && fuse.written("norm") == "none" &&
		(fuse.written("mean") == "arithmetic" || fuse.written("mean") == "sum" && !weighted)
}

func scalarPair(at *node, key, value string) pair {
	k, v := at.null(), at.null()
	k.kind, v.kind, k.text, v.text = nodeScalar, nodeScalar, key, value
	return pair{k, v}
}

// branch reads branch number i from n. before has the earlier branches. cosines says that the scores of b are cosines.
func (d *decoder) branch(n *node, i int, before []Branch) (b Branch, cosines bool) {
	where := fmt.Sprintf("branch %d", i+1)
	n.want(nodeMapping, where)
	how := n.get("retrieve")
	if how == nil {
		n.fail("%s has no retrieve: must be %s", where, branchOptions[0].domain())
	}
	if !slices.Contains(branchOptions[0].OneOf, how.text) {
		check(how.unknown("value of retrieve", branchOptions[0].OneOf))
	}
	b = Branch{Name: how.text, Retrieve: Retrieve(how.text)}
	keys, own := []string{"name", "retrieve", "then"}, vectorOptions
	if b.Retrieve == RetrieveText {
		keys, own = append(keys, "fields"), textOptions
	}
	options := slices.Concat(branchOptions[1:], own)
	if !d.checked {
		n.onlyKeys("a "+how.text+" branch", append(keys, namesOf(options)...)...)
	}
	if name := n.get("name"); name != nil {
		checkName(name, "the name of a branch")
		b.Name = name.text
	}
	var names []string
	for _, other := range before {
		names = append(names, other.Name)
	}
	if slices.Contains(names, b.Name) {
		n.fail("two branches are called %q: give each a name of its own", b.Name)
	}
	d.note(`branch "`, b.Name, `" `, how.text)
	args := d.arguments(options, n, b.Name)
	if at := n.get("at_least"); at != nil && len(names) == 0 {
		at.fail("%s.at_least is %q: there is no branch before this one", b.Name, at.text)
	} else if at != nil && !slices.Contains(names, at.text) {
		check(at.unknown("branch before this one", names))
	}
	b.Limit, b.Weight, b.AtLeast = args.integer("limit"), args.number("weight"), args.text("at_least")
	if b.Retrieve == RetrieveVector {
		d.meaning = true
		b.Vector = &VectorBranch{Field: args.text("field"), Candidates: args.integer("candidates")}
	} else {
		b.Text = &TextBranch{Combine: args.text("combine"), TieBreaker: args.number("tie_breaker"),
			Statistics: args.text("statistics"), K1: args.number("k1"), B: args.number("b"), Fields: d.fields(n, b.Name)}
	}
	d.note("\n")
	b.Then, cosines = d.steps(n.get("then"), b.Retrieve == RetrieveVector)
	return b, cosines
}

// fields reads the fields of a text branch that have a weight above 0. It returns them in the order of sheaf.Fields.
func (d *decoder) fields(n *node, branch string) (out []Field) {
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
		if key := &fields.pairs[i].key; !slices.Contains(sheaf.Fields[:], key.text) {
			check(key.unknown("field", sheaf.Fields[:]))
		}
	}
	for _, name := range sheaf.Fields {
		if weight := fields.get(name); weight != nil {
			d.note(` field "`, name, `"`)
			if w := d.compute(d.value(fieldWeight, weight, "the weight of "+name)).number; w > 0 {
				out = append(out, Field{name, w})
			}
		}
	}
	if len(out) == 0 {
		fields.pairs[0].value.fail("the weights of all fields of branch %s are 0: at least one must be above 0", branch)
	}
	return out
}

// steps reads the stages in the list n, and leaves out disabled stages. The parameter cosines says whether the hits
// have cosines as scores before the stages. The boolean result says the same for the hits after the stages.
func (d *decoder) steps(n *node, cosines bool) (out []Step, _ bool) {
	if n == nil || n.kind == nodeNull {
		return nil, cosines
	}
	n.want(nodeList, "then")
	if len(n.items) > 64 {
		n.fail("there are %d stages: at most 64 are allowed", len(n.items))
	}
	for i := range n.items {
		item := &n.items[i]
		empty := item.null()
		name, value := item, &empty
		if item.kind == nodeMapping && len(item.pairs) == 1 {
			name, value = &item.pairs[0].key, &item.pairs[0].value
		} else if item.kind != nodeScalar {
			item.cutAtComma(len(item.pairs) - 1)
			item.fail("a stage must be a name, or a name with its settings, as \"- top: 10\"")
		}
		k := stageNamed(name.text)
		if k == nil {
			check(name.unknown("stage", Stages()))
		}
		if k.name == similarityName && !cosines {
			value.fail("%s needs the cosines of a vector branch: write it into the then of one, "+
				"before what changes scores", similarityName)
		}
		cosines = cosines && k.keeps
		if step := d.stage(k, value); step != nil {
			out = append(out, *step)
		}
	}
	return out, cosines
}

// These are names of a stage and an option that need a search by vector.
const (
	similarityName = "similarity"
	minSimilarity  = "min_similarity"
)

// checkEnv is the Env for checking the settings of a stage. The stage runs on an empty ranking.
var checkEnv = rank.Env{Facts: struct{ rank.Facts }{}, Now: time.Unix(0, 0)}

// stage reads a stage of kind k with the settings n. For a disabled stage, it returns nil.
func (d *decoder) stage(k *kind, n *node) *Step {
	args := d.settings(k, n)
	if least := args.get(minSimilarity); least.node != nil && !least.node.isNumber(0) && d.needy == nil {
		d.needy = least.node.errorf("%s.%s needs a vector branch, to know how similar documents are: "+
			"the profile has none", k.name, minSimilarity)
	}
	if args.number(whenOption.Name) == 0 {
		return nil
	}
	stage := k.stage(args)
	// Some numbers depend on each other (low below high). The stage checks them when it runs on an empty ranking.
	if _, err := stage.Apply(nil, checkEnv); err != nil {
		err = n.errorf("%s", strings.TrimPrefix(err.Error(), sheaf.ErrInvalid.Error()+": "))
		if k.pairs {
			err = together{err}
		}
		check(err)
	}
	step := &Step{Name: k.name, Text: k.text(args), Stage: stage, Most: math.MaxInt, Drops: k.drops, cuts: k.cuts,
		dated: k.dated}
	if k.most != nil {
		step.Most = k.most(args)
		step.Drops = step.Drops || step.Most < math.MaxInt
	}
	return step
}

// settings reads the settings of a stage, a fusion or another part of kind k. n is a mapping of settings, a single
// value for the setting k.short, or null.
func (d *decoder) settings(k *kind, n *node) arguments {
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
	if !d.checked {
		given.onlyKeys(k.name, namesOf(options)...)
	}
	for _, o := range options {
		if o.Default == "" && given.get(o.Name) == nil {
			n.fail("%s needs %s: %s, %s", k.name, o.Name, o.About, o.domain())
		}
	}
	d.note(k.name)
	args := d.arguments(options, given, k.name)
	d.note("\n")
	if d.digest != nil && given != n {
		n.parsed = given.pairs[0].value.parsed
	}
	return args
}

func namesOf(options []*Option) []string {
	names := make([]string, len(options))
	for i, o := range options {
		names[i] = o.Name
	}
	return names
}
