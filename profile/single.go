package profile

import (
	"maps"
	"slices"
	"strings"

	"sheaf/rank"
)

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
// commas; limit is what expressions know by that name, 1..MaxLimit. Anything
// wrong is sheaf.ErrInvalid.
func NewStage(name string, set map[string]string, limit int) (Step, error) {
	at := &node{file: "stage", line: 1, col: 1, kind: nodeScalar, text: name}
	i := slices.Index(Stages(), name)
	if i < 0 {
		return Step{}, at.unknown("stage", Stages())
	}
	s, err := decodeStep(&stages[i], settingsNode("stage "+name, &stages[i], set), nil)
	if err != nil {
		return Step{}, err
	}
	v, err := limitOnly(limit)
	if err != nil {
		return Step{}, err
	}
	steps, err := planSteps([]step{*s}, v)
	if err != nil {
		return Step{}, err
	}
	return steps[0], nil
}

// NewFusion makes a fusion, for rankings that come from elsewhere; set are its
// settings, written as in a profile.
func NewFusion(set map[string]string) (rank.Fusion, error) {
	s, err := decodeStep(&fusion, settingsNode("fuse", &fusion, set), nil)
	if err != nil {
		return nil, err
	}
	v, err := limitOnly(1)
	if err != nil {
		return nil, err
	}
	args, err := compute(s.settings, v)
	if err != nil {
		return nil, err
	}
	return fusion.fusion(args), nil
}

func limitOnly(limit int) (values, error) {
	return (&Profile{}).values(Asked{Known: 1}.numbers(limit), nil)
}

// settingsNode is the mapping that a profile would hold.
func settingsNode(file string, k *kind, set map[string]string) *node {
	n := &node{file: file, line: 1, col: 1, kind: nodeMapping}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		p := scalarPair(n, name, set[name])
		for i := range k.options {
			if k.options[i].name == name && k.options[i].kind == typeTexts {
				p.value = node{file: file, line: 1, col: 1, kind: nodeList}
				for _, text := range strings.Split(set[name], ",") {
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
