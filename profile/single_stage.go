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
	step, err := attempt(func() *Step { return alone(limit).stage(k, settingsNode(k, "stage "+name, called, set)) })
	if err != nil {
		return Step{}, err
	}
	if step == nil { // "when" disables the stage: every hit stays
		return Step{Name: name, Text: name + ": {when: 0}", Stage: rank.Top{N: math.MaxInt}, Most: math.MaxInt}, nil
	}
	return *step, nil
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
	return attempt(func() rank.Fusion {
		return runFusion.fusion(alone(limit).settings(&runFusion, settingsNode(&runFusion, "fuse", called, set)))
	})
}

// alone returns a decoder for a stage or fusion outside a profile. Its expressions can use only the name limit.
func alone(limit int) *decoder { return &decoder{values: (&Profile{}).values(limit, nil)} }

// settingsNode returns set as a mapping node, the form that settings have in a profile. what names the stage or fusion
// in errors; called is as in [NewStage].
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
