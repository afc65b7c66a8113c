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

// Stages returns the names of all stages, in the order of the reference.
func Stages() []string {
	names := make([]string, len(stages))
	for i := range stages {
		names[i] = stages[i].name
	}
	return names
}

// SingleStages returns the names of the stages that work outside a search. These stages need only a ranking, and some
// need facts about documents.
func SingleStages() []string {
	return slices.DeleteFunc(Stages(), func(name string) bool { return stageNamed(name).needs == needsSearch })
}

// RunStages returns the names of the stages that work on rankings of other systems. The other stages need facts about
// documents, or a search.
func RunStages() []string {
	return slices.DeleteFunc(Stages(), func(name string) bool { return stageNamed(name).needs != needsIDs })
}

// runFusion is the fusion for rankings of other systems. It has no options about branches and about repeated IDs.
var runFusion = kind{name: fusion.name, about: fusion.about, short: fusion.short,
	options: runFusionOptions(), fusion: fusion.fusion}

func runFusionOptions() []*Option {
	var out []*Option
	for _, option := range fusionOptions {
		o := *option
		switch o.Name {
		case "repeats", "complete", pushDownName, "direct":
			continue
		case "norm":
			o.About = "how the scores of a ranking are normalized, for scores; a missing hit " + ofMissing
			o.OneOf = slices.DeleteFunc(slices.Clone(o.OneOf), func(norm string) bool {
				return norm == "share" // share needs the query, which is unknown here
			})
		}
		out = append(out, &o)
	}
	return out
}

// NewStage returns a stage for use outside a search. name is its kind, and set has its settings as a profile writes
// them. A comma separates the values of a list. limit, 1..MaxLimit, is the value of the name "limit" in expressions.
// called is the prefix of a setting's name in errors, for example "--". For every fault, NewStage returns
// sheaf.ErrInvalid.
func NewStage(name string, set map[string]string, limit int, called string) (Step, error) {
	k := stageNamed(name)
	if k == nil {
		return Step{}, unknownStage(name, Stages())
	}
	s, v, err := single(k, "stage "+name, called, set, limit)
	if err != nil {
		return Step{}, err
	}
	steps, err := attempt(func() []Step { return planSteps([]step{*s}, v) })
	if err != nil {
		return Step{}, err
	}
	if len(steps) == 0 { // "when" disables the stage: every hit stays
		return Step{Name: name, Text: name + ": {when: 0}", Stage: rank.Top{N: math.MaxInt}, Most: math.MaxInt}, nil
	}
	return steps[0], nil
}

// NewRunStage is [NewStage] for rankings of other systems. Such a ranking has only the IDs of chunks. If the stage
// needs more, NewRunStage returns sheaf.ErrUnsupported. Errors show settings as flags.
func NewRunStage(name string, set map[string]string, limit int) (Step, error) {
	k := stageNamed(name)
	if k == nil {
		return Step{}, unknownStage(name, RunStages())
	}
	step, err := NewStage(name, set, limit, "--")
	if err != nil {
		return step, err
	}
	if k.needs != needsIDs || set["to"] == "parent" {
		return step, fmt.Errorf("stage %s needs documents, and a run has none: "+
			"it works in profiles only (%s work on runs): %w", step.Text, strings.Join(RunStages(), ", "), sheaf.ErrUnsupported)
	}
	return step, nil
}

// NewFusion returns a fusion for rankings of other systems. The arguments have the same meaning as in NewStage.
func NewFusion(set map[string]string, limit int, called string) (rank.Fusion, error) {
	s, v, err := single(&runFusion, "fuse", called, set, limit)
	if err != nil {
		return nil, err
	}
	return attempt(func() rank.Fusion { return runFusion.fusion(compute(s.settings, v)) })
}

// single reads one stage or fusion from set. what names the stage or fusion in errors; called is as in [NewStage].
// single also returns the values for expressions, which can use only the name limit.
func single(k *kind, what, called string, set map[string]string, limit int) (*step, values, error) {
	s, err := attempt(func() *step { return (&decoder{}).step(k, settingsNode(k, what, called, set)) })
	if err != nil {
		return nil, values{}, err
	}
	for i := range s.settings {
		e := s.settings[i].number
		if e != nil && (limit < 1 || limit > MaxLimit) && slices.Contains(e.names(), limitName) {
			return nil, values{}, s.settings[i].errorf("%s counts on limit, which is %d: must be within 1..%d",
				s.settings[i].where, limit, MaxLimit)
		}
	}
	return s, (&Profile{}).values(limit, nil), nil
}

// settingsNode returns set as a mapping node, the form that settings have in a profile. For what and called, see
// single.
func settingsNode(k *kind, what, called string, set map[string]string) *node {
	n := &node{file: what, kind: nodeMapping}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		at := node{file: called + name, setting: name}
		p := scalarPair(&at, name, set[name])
		for _, o := range k.options {
			if o.Name == name && o.kind == typeTexts {
				p.value.kind, p.value.text = nodeList, ""
				for text := range strings.SplitSeq(set[name], ",") {
					item := at
					item.kind, item.text = nodeScalar, strings.TrimSpace(text)
					p.value.items = append(p.value.items, item)
				}
			}
		}
		n.pairs = append(n.pairs, p)
	}
	return n
}

// stageNamed returns the kind of stage called name. Without such a stage, it returns nil.
func stageNamed(name string) *kind {
	for i := range stages {
		if stages[i].name == name {
			return &stages[i]
		}
	}
	return nil
}

func unknownStage(name string, allowed []string) error {
	return (&node{file: "stage", text: name}).unknown("stage", allowed)
}
