package profile

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/rank"
)

// searchStages are the kinds of stage that work in a search only: one calls a model, the
// other looks in the index for the words of the query.
var searchStages = []string{"rerank", "word_pairs"}

// SingleStages are the names of the stages that work outside a search, on rankings and what
// is known of documents.
func SingleStages() []string {
	return slices.DeleteFunc(Stages(), func(name string) bool { return slices.Contains(searchStages, name) })
}

// runFusion is a fusion of rankings that come from elsewhere: its options are those that say
// something of them, since no branches retrieved them and each holds an id once.
var runFusion = kind{name: fusion.name, about: fusion.about, short: fusion.short, options: runFusionOptions(), fusion: fusion.fusion}

func runFusionOptions() []option {
	var out []option
	for _, o := range fusionOptions {
		switch o.name {
		case "repeats", "complete", pushDownName, "direct":
			continue
		case "norm":
			o.about = "how the scores of a ranking are normalized, for scores; what it lacks " + ofMissing
			o.choices = slices.DeleteFunc(slices.Clone(o.choices), func(norm string) bool { return norm == "share" }) // of a query, which nobody knows
		}
		out = append(out, o)
	}
	return out
}

// Stages are the names of all kinds of stage, in the order of the reference.
func Stages() []string {
	names := make([]string, len(stages))
	for i := range stages {
		names[i] = stages[i].name
	}
	return names
}

// NewStage makes one stage of the kind called name, for rankings that come
// from elsewhere. set are its settings, written as in a profile, lists with
// commas; limit is what expressions know by that name, 1..MaxLimit where one asks for
// it. Anything wrong is sheaf.ErrInvalid.
func NewStage(name string, set map[string]string, limit int) (Step, error) {
	return newStage(name, set, limit, "setting ")
}

// newStage makes a stage; errors call its settings by their names after called.
func newStage(name string, set map[string]string, limit int, called string) (Step, error) {
	at := &node{file: "stage", kind: nodeScalar, text: name}
	i := slices.Index(Stages(), name)
	if i < 0 {
		return Step{}, at.unknownStage(Stages())
	}
	s, err := decodeStep(&stages[i], settingsNode("stage "+name, called, &stages[i], set), nil)
	if err != nil {
		return Step{}, err
	}
	v, err := limitOnly(limit, s.settings)
	if err != nil {
		return Step{}, err
	}
	steps, err := planSteps([]step{*s}, v)
	if err != nil {
		return Step{}, err
	}
	if len(steps) == 0 { // "when" leaves it out: every hit stays where it is
		return Step{Name: name, Text: name + ": {when: 0}", Stage: rank.Top{N: math.MaxInt}}, nil
	}
	return steps[0], nil
}

// NewFusion makes a fusion, for rankings that come from elsewhere; set are its
// settings, written as in a profile, and limit is that of NewStage.
func NewFusion(set map[string]string, limit int) (rank.Fusion, error) {
	return newFusion(set, limit, "setting ")
}

// NewRunFusion is NewFusion for rankings of other systems; errors call settings as flags
// are written.
func NewRunFusion(set map[string]string, limit int) (rank.Fusion, error) {
	return newFusion(set, limit, "--")
}

func newFusion(set map[string]string, limit int, called string) (rank.Fusion, error) {
	s, err := decodeStep(&runFusion, settingsNode("fuse", called, &runFusion, set), nil)
	if err != nil {
		return nil, err
	}
	v, err := limitOnly(limit, s.settings)
	if err != nil {
		return nil, err
	}
	args, err := compute(s.settings, v)
	if err != nil {
		return nil, err
	}
	return runFusion.fusion(args), nil
}

// limitOnly returns the values of expressions in settings that may name the limit alone.
func limitOnly(limit int, settings []setting) (values, error) {
	for i := range settings {
		if s := &settings[i]; s.number != nil && (limit < 1 || limit > MaxLimit) && slices.Contains(s.number.names(), "limit") {
			return values{}, s.errorf("%s counts on limit, which is %d: must be within 1..%d", s.where, limit, MaxLimit)
		}
	}
	return (&Profile{}).values(limit, nil)
}

// settingsNode is the mapping that a profile would hold.
func settingsNode(what, called string, k *kind, set map[string]string) *node {
	n := &node{file: what, kind: nodeMapping}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		at := node{file: called + name, setting: name}
		p := scalarPair(&at, name, set[name])
		for i := range k.options {
			if k.options[i].name == name && k.options[i].kind == typeTexts {
				p.value = at
				p.value.kind = nodeList
				for text := range strings.SplitSeq(set[name], ",") {
					item := p.value.null()
					item.kind, item.text = nodeScalar, strings.TrimSpace(text)
					p.value.items = append(p.value.items, item)
				}
			}
		}
		n.pairs = append(n.pairs, p)
	}
	return n
}

// runStages are the kinds of stage that need to know no more of a document than
// that chunks belong to it.
var runStages = []string{"aggregate", "top", "elbow", "adaptive", "normalize", "similarity", "per_document", "pin"}

// RunStages are the names of the stages that rankings of other systems can go
// through; the others need documents to know about.
func RunStages() []string { return slices.Clone(runStages) }

// NewRunStage is [NewStage] for rankings of which no more is known than which
// document a chunk belongs to. A stage that needs more is sheaf.ErrUnsupported. Errors
// call settings as flags are written.
func NewRunStage(name string, set map[string]string, limit int) (Step, error) {
	if !slices.Contains(Stages(), name) {
		at := &node{file: "stage", kind: nodeScalar, text: name}
		return Step{}, at.unknownStage(runStages)
	}
	step, err := newStage(name, set, limit, "--")
	if err != nil {
		return step, err
	}
	if !slices.Contains(runStages, name) || set["to"] == "parent" {
		return step, fmt.Errorf("stage %s needs to know documents, of which a run tells nothing: it works in profiles only (%s work on runs): %w",
			step.Text, strings.Join(runStages, ", "), sheaf.ErrUnsupported)
	}
	return step, nil
}

// Option describes a setting.
type Option struct {
	// Default is "" when the setting must be given.
	Name, About, Default string
	// Allowed says what it takes; Flag says that it is true or false.
	Allowed string
	Flag    bool
	// Number says that it is a number within Min..Max, or an expression for one;
	// Integer asks for a whole one.
	Number, Integer bool
	Min, Max        float64
	// OneOf are the words that it may be; without any, and when it is nothing of
	// the above, it is a text.
	OneOf []string
}

func describe(o *option) Option {
	return Option{o.name, o.about, o.standard, o.written(), o.kind == typeBool, o.kind == typeNumber || o.kind == typeInteger, o.kind == typeInteger, o.min, o.max, o.choices}
}

// written says what the option takes outside a profile, as one text.
func (o *option) written() string {
	if o.kind == typeTexts {
		return o.allowed() + " with commas between them"
	}
	return o.allowed()
}

// StageOptions are the settings of a stage; none when there is no such stage.
func StageOptions(name string) []Option {
	i := slices.Index(Stages(), name)
	if i < 0 {
		return nil
	}
	var out []Option
	for _, o := range stages[i].allOptions() {
		out = append(out, describe(o))
	}
	return out
}

// FusionOptions are the settings of a fusion of rankings that come from elsewhere.
func FusionOptions() []Option {
	out := make([]Option, 0, len(runFusion.options))
	for i := range runFusion.options {
		out = append(out, describe(&runFusion.options[i]))
	}
	return out
}

// StageHelp describes a kind of stage and its settings, a line each. Of an unknown name
// the error offers those that rankings of other systems can go through, as NewRunStage does.
func StageHelp(name string) (string, error) {
	at := &node{file: "stage", kind: nodeScalar, text: name}
	i := slices.Index(Stages(), name)
	if i < 0 {
		return "", at.unknownStage(runStages)
	}
	k := &stages[i]
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n", k.name, k.about)
	width := 0
	for j := range k.options {
		width = max(width, len(k.options[j].name))
	}
	for j := range k.options {
		o := &k.options[j]
		standard := "must be given"
		if o.standard != "" {
			standard = "default " + o.standard
		}
		fmt.Fprintf(&b, "  --%-*s  %s (%s; %s)\n", width, o.name, o.about, o.written(), standard)
	}
	return b.String(), nil
}
