package profile

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sheaf"
)

// Keys of a profile, and of a first phase.
var (
	profileKeys   = []string{"name", "about", "extends", "parameters", "limits", "expand", "candidates", "branches", "fuse", "then"}
	phaseKeys     = []string{"branches", "fuse", "then", "limit"}
	parameterKeys = []string{"default", "min", "max", "at_least", "integer", "one_of", "about"}
)

// validName is what profiles, branches and parameters may be called.
var validName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

// decode reads a profile from its merged form.
func decode(n *node) (*Profile, error) {
	if err := n.want(nodeMapping, "a profile"); err != nil {
		return nil, err
	}
	if err := n.onlyKeys("a profile", profileKeys...); err != nil {
		return nil, err
	}
	p := &Profile{File: n.file, root: n.root}
	name := n.get("name")
	if name == nil {
		return nil, n.errorf("the profile has no name")
	}
	if err := checkName(name, "the name of a profile"); err != nil {
		return nil, err
	}
	p.Name = name.text
	if about := n.get("about"); about != nil {
		if err := about.want(nodeScalar, "about"); err != nil {
			return nil, err
		}
		p.About = about.text
	}
	if extends := n.get("extends"); extends != nil {
		p.Extends = extends.text
	}
	if params := n.get("parameters"); params != nil {
		if err := p.decodeParameters(params); err != nil {
			return nil, err
		}
	}
	if err := p.decodeSources(n); err != nil {
		return nil, err
	}
	if first := n.get("candidates"); first != nil && p.scan == nil {
		if err := first.want(nodeMapping, "candidates"); err != nil {
			return nil, err
		}
		if err := first.onlyKeys("candidates", phaseKeys...); err != nil {
			return nil, err
		}
		ph, err := decodePhase(first, p.Parameters)
		if err != nil {
			return nil, err
		}
		limit, err := oneSetting(first, &phaseLimit, "candidates.limit", p.Parameters)
		if err != nil {
			return nil, err
		}
		ph.limit = &limit
		p.candidates = ph
	}
	main, err := decodePhase(n, p.Parameters)
	if err != nil {
		return nil, err
	}
	p.main = *main
	return p, p.checkNeeds()
}

// Names of what [Profile.checkNeeds] looks at.
const (
	similarityName = "similarity"
	minSimilarity  = "min_similarity"
)

// checkNeeds is an error where a stage needs what only a vector branch has, and
// stands where there is none.
func (p *Profile) checkNeeds() error {
	phases := []*phase{&p.main}
	if p.candidates != nil {
		phases = append(phases, p.candidates)
	}
	meaning := false
	for _, ph := range phases {
		meaning = meaning || slices.ContainsFunc(ph.branches, func(b branch) bool { return b.retrieve == RetrieveVector })
	}
	for _, ph := range phases {
		for i := range ph.branches {
			b := &ph.branches[i]
			if err := needs(b.then, b.retrieve == RetrieveVector, meaning); err != nil {
				return err
			}
		}
		if err := needs(ph.then, ph.cosines(), meaning); err != nil {
			return err
		}
	}
	return nil
}

// cosines reports whether what the stages behind the fusion rank are cosines still: of
// the only branch, whose stages and whose fusion keep them.
func (ph *phase) cosines() bool {
	if len(ph.branches) != 1 || ph.branches[0].retrieve != RetrieveVector || slices.ContainsFunc(ph.branches[0].then, func(s step) bool { return !s.kind.keeps }) {
		return false
	}
	fuse := func(name string) string {
		for i := range ph.fuse.settings {
			if s := &ph.fuse.settings[i]; s.option.name == name {
				return cmp.Or(s.text, s.option.standard)
			}
		}
		return ""
	}
	if fuse("direct") == "true" {
		return true
	}
	weighted := slices.ContainsFunc(ph.branches[0].settings, func(s setting) bool { return s.option.name == "weight" && s.node != nil && !s.is(1) })
	return fuse("method") == "scores" && fuse("norm") == "none" && (fuse("mean") == "arithmetic" || fuse("mean") == "sum" && !weighted)
}

// is reports whether a setting is written as a number, and this one.
func (s *setting) is(number float64) bool {
	n, err := strconv.ParseFloat(s.node.text, 64)
	return err == nil && n == number
}

// needs checks steps: cosines says that what they rank are cosines, until a stage
// changes them; meaning that the profile has a vector branch.
func needs(steps []step, cosines, meaning bool) error {
	for i := range steps {
		s := &steps[i]
		if s.kind.name == similarityName && !cosines {
			return s.node.errorf("%s needs the cosines of a vector branch: write it into the then of one, before what changes scores", similarityName)
		}
		cosines = cosines && s.kind.keeps
		if set := s.given(minSimilarity); set != nil && !set.is(0) && !meaning {
			return set.node.errorf("%s needs a vector branch, to know how similar documents are: the profile has none", set.where)
		}
	}
	return nil
}

// given is the setting called name, when it is written in the profile, else nil.
func (s *step) given(name string) *setting {
	for i := range s.settings {
		if s.settings[i].option.name == name && s.settings[i].node != nil {
			return &s.settings[i]
		}
	}
	return nil
}

func checkName(n *node, what string) error {
	if err := n.want(nodeScalar, what); err != nil {
		return err
	}
	if !validName.MatchString(n.text) {
		return n.errorf("%s is %q: must be small letters, digits, - and _, a letter first, at most 64", what, n.text)
	}
	return nil
}

func (p *Profile) decodeParameters(n *node) error {
	if err := n.want(nodeMapping, "parameters"); err != nil {
		return err
	}
	for i := range n.pairs {
		key, value := &n.pairs[i].key, &n.pairs[i].value
		if err := checkName(key, "the name of a parameter"); err != nil {
			return err
		}
		_, isFunction := functions[key.text]
		if key.text == limitName || key.text == "x" || isFunction {
			return key.errorf("a parameter must not be called %q: expressions use that name", key.text)
		}
		param, err := decodeParameter(key.text, value, p.Parameters)
		if err != nil {
			return err
		}
		p.Parameters = append(p.Parameters, param)
	}
	return nil
}

func decodeParameter(name string, n *node, before []Parameter) (Parameter, error) {
	p := Parameter{Name: name, node: n}
	where := "parameter " + name
	if n.kind != nodeMapping {
		return p, n.errorf("%s must be a mapping with a default and its range, and is %s (a single value changes the default of a parameter of the profile that is extended)", where, n.describe())
	}
	if err := n.onlyKeys(where, parameterKeys...); err != nil {
		return p, err
	}
	standard := n.get("default")
	if standard == nil {
		return p, n.errorf("%s has no default", where)
	}
	if err := standard.want(nodeScalar, "the default of "+where); err != nil {
		return p, err
	}
	p.Default, p.node = standard.text, standard
	if about := n.get("about"); about != nil {
		p.About = about.text
	}
	if words := n.get("one_of"); words != nil {
		if err := words.want(nodeList, "one_of"); err != nil {
			return p, err
		}
		for i := range words.items {
			p.OneOf = append(p.OneOf, words.items[i].text)
		}
		if !slices.Contains(p.OneOf, p.Default) {
			return p, standard.unknown("default of "+where, p.OneOf)
		}
		return p, nil
	}
	var err error
	if p.Min, err = bound(n, "min", where); err != nil {
		return p, err
	}
	if p.Max, err = bound(n, "max", where); err != nil {
		return p, err
	}
	if p.Min > p.Max {
		return p, n.errorf("%s has min %s above max %s", where, plain(p.Min), plain(p.Max))
	}
	if whole := n.get("integer"); whole != nil {
		if whole.text != "true" && whole.text != "false" {
			return p, whole.errorf("integer of %s is %s: must be true or false", where, whole.describe())
		}
		p.Integer = whole.text == "true"
	}
	if least := n.get("at_least"); least != nil {
		s, err := parseSetting(p.option(), least, "at_least of "+where, before)
		if err != nil {
			return p, err
		}
		p.AtLeast, p.atLeast = least.text, s.number
	}
	s, err := parseSetting(p.option(), standard, where, before)
	p.number = s.number
	return p, err
}

// option is the parameter as an option.
func (p *Parameter) option() *option {
	o := &option{name: p.Name, about: p.About, kind: typeNumber, standard: p.Default, min: p.Min, max: p.Max, choices: p.OneOf}
	switch {
	case len(p.OneOf) > 0:
		o.kind = typeChoice
	case p.Integer:
		o.kind = typeInteger
	}
	return o
}

func bound(n *node, key, where string) (float64, error) {
	b := n.get(key)
	if b == nil {
		return 0, n.errorf("%s has no %s: a number needs min and max, a word one_of", where, key)
	}
	v, err := strconv.ParseFloat(b.text, 64)
	if err != nil || b.kind != nodeScalar || v != v || v < -1e15 || v > 1e15 {
		return 0, b.errorf("%s of %s is %s: must be a number", key, where, b.describe())
	}
	return v, nil
}

func decodePhase(n *node, params []Parameter) (*phase, error) {
	ph := &phase{node: n}
	branches := n.get("branches")
	if branches == nil {
		return nil, n.errorf("there are no branches: a profile needs at least one")
	}
	if err := branches.want(nodeList, "branches"); err != nil {
		return nil, err
	}
	if len(branches.items) == 0 || len(branches.items) > 16 {
		return nil, branches.errorf("there are %d branches: must be within 1..16", len(branches.items))
	}
	for i := range branches.items {
		b, err := decodeBranch(&branches.items[i], i, ph.branches, params)
		if err != nil {
			return nil, err
		}
		ph.branches = append(ph.branches, *b)
	}
	fuse := n.get("fuse")
	switch {
	case fuse == nil && len(ph.branches) > 1:
		return nil, n.errorf("several branches need fuse, to join them")
	case fuse == nil:
		raw := n.null()
		raw.kind = nodeMapping
		raw.pairs = []pair{scalarPair(n, "method", "scores"), scalarPair(n, "norm", "none")}
		fuse = &raw
	}
	s, err := decodeStep(&fusion, fuse, params)
	if err != nil {
		return nil, err
	}
	ph.fuse = s
	ph.then, err = decodeSteps(n.get("then"), params)
	return ph, err
}

func scalarPair(at *node, key, value string) pair {
	k, v := at.null(), at.null()
	k.kind, v.kind, k.text, v.text = nodeScalar, nodeScalar, key, value
	return pair{k, v}
}

func decodeBranch(n *node, i int, before []branch, params []Parameter) (*branch, error) {
	where := fmt.Sprintf("branch %d", i+1)
	if err := n.want(nodeMapping, where); err != nil {
		return nil, err
	}
	b := &branch{node: n, name: where}
	how := n.get("retrieve")
	if how == nil {
		return nil, n.errorf("%s has no retrieve: must be %s", where, branchOptions[0].allowed())
	}
	if !slices.Contains(branchOptions[0].choices, how.text) {
		return nil, how.unknown("value of retrieve", branchOptions[0].choices)
	}
	b.retrieve = Retrieve(how.text)
	options := append(slices.Clone(branchOptions[1:]), vectorOptions...)
	if b.retrieve == RetrieveText {
		options = append(slices.Clone(branchOptions[1:]), textOptions...)
	}
	keys := []string{"name", "retrieve", "then"}
	if b.retrieve == RetrieveText {
		keys = append(keys, "fields")
	}
	for _, o := range options {
		keys = append(keys, o.name)
	}
	if err := n.onlyKeys("a "+how.text+" branch", keys...); err != nil {
		return nil, err
	}
	b.name = string(b.retrieve)
	if name := n.get("name"); name != nil {
		if err := checkName(name, "the name of a branch"); err != nil {
			return nil, err
		}
		b.name = name.text
	}
	for _, other := range before {
		if other.name == b.name {
			return nil, n.errorf("two branches are called %q: give each a name of its own", b.name)
		}
	}
	for k := range options {
		s, err := oneSetting(n, &options[k], b.name+"."+options[k].name, params)
		if err != nil {
			return nil, err
		}
		b.settings = append(b.settings, s)
	}
	if err := b.checkAtLeast(n, before); err != nil {
		return nil, err
	}
	if b.retrieve == RetrieveText {
		if err := b.decodeFields(n, params); err != nil {
			return nil, err
		}
	}
	var err error
	b.then, err = decodeSteps(n.get("then"), params)
	return b, err
}

func (b *branch) checkAtLeast(n *node, before []branch) error {
	at := n.get("at_least")
	if at == nil {
		return nil
	}
	var names []string
	for _, other := range before {
		names = append(names, other.name)
	}
	if len(names) == 0 {
		return at.errorf("%s.at_least is %q: there is no branch before this one", b.name, at.text)
	}
	if !slices.Contains(names, at.text) {
		return at.unknown("branch before this one", names)
	}
	return nil
}

func (b *branch) decodeFields(n *node, params []Parameter) error {
	fields := n.get("fields")
	if fields == nil {
		return n.errorf("text branch %s has no fields: name at least one with its weight (%s)", b.name, strings.Join(sheaf.Fields[:], ", "))
	}
	if err := fields.want(nodeMapping, "fields"); err != nil {
		return err
	}
	if len(fields.pairs) == 0 {
		return fields.errorf("fields is empty: name at least one with its weight")
	}
	for i := range fields.pairs {
		key := &fields.pairs[i].key
		if !slices.Contains(sheaf.Fields[:], key.text) {
			return key.unknown("field", sheaf.Fields[:])
		}
		s, err := parseSetting(&fieldWeight, &fields.pairs[i].value, "the weight of "+key.text, params)
		if err != nil {
			return err
		}
		b.fields = append(b.fields, fieldSetting{key.text, s})
	}
	return nil
}

// oneSetting is the setting of an option of mapping n.
func oneSetting(n *node, o *option, where string, params []Parameter) (setting, error) {
	if value := n.get(o.name); value != nil {
		return parseSetting(o, value, where, params)
	}
	return defaultSetting(o, where), nil
}

func decodeSteps(n *node, params []Parameter) ([]step, error) {
	if n == nil || n.kind == nodeNull {
		return nil, nil
	}
	if err := n.want(nodeList, "then"); err != nil {
		return nil, err
	}
	if len(n.items) > 64 {
		return nil, n.errorf("there are %d stages: at most 64 are allowed", len(n.items))
	}
	var names []string
	for i := range stages {
		names = append(names, stages[i].name)
	}
	var out []step
	for i := range n.items {
		item := &n.items[i]
		name, value := item, item.null()
		if item.kind == nodeMapping && len(item.pairs) == 1 {
			name, value = &item.pairs[0].key, item.pairs[0].value
		} else if item.kind != nodeScalar {
			if err := item.cutAtComma(len(item.pairs) - 1); err != nil {
				return nil, err
			}
			return nil, item.errorf("a stage must be a name, or a name with its settings, as \"- top: 10\"")
		}
		at := slices.Index(names, name.text)
		if at < 0 {
			return nil, name.unknownStage(names)
		}
		s, err := decodeStep(&stages[at], &value, params)
		if err != nil {
			return nil, err
		}
		out = append(out, *s)
	}
	return out, nil
}

// decodeStep reads the settings of a stage or fusion: a mapping, a single value
// for the short form, or nothing.
func decodeStep(k *kind, n *node, params []Parameter) (*step, error) {
	s := &step{kind: k, node: n}
	given := n
	if n.kind == nodeScalar || n.kind == nodeList {
		if k.short == "" {
			return nil, n.errorf("%s takes no single value: write its settings as a mapping (%s)", k.name, strings.Join(k.optionNames(), ", "))
		}
		short := n.null()
		short.kind = nodeMapping
		key := n.null()
		key.kind, key.text = nodeScalar, k.short
		short.pairs = []pair{{key, *n}}
		given = &short
	}
	options := k.allOptions()
	var names []string
	for _, o := range options {
		names = append(names, o.name)
	}
	if err := given.onlyKeys(k.name, names...); err != nil {
		return nil, err
	}
	for _, o := range options {
		where := k.name + "." + o.name
		if given.get(o.name) == nil && o.standard == "" {
			return nil, n.errorf("%s needs %s: %s, %s", k.name, o.name, o.about, o.allowed())
		}
		value, err := oneSetting(given, o, where, params)
		if err != nil {
			return nil, err
		}
		s.settings = append(s.settings, value)
	}
	return s, nil
}
