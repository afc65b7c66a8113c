package collection

import (
	"errors"
	"math"
	"slices"
	"strings"

	"sheaf"
)

// stageSettings are the settings of stages that need some.
var stageSettings = map[string]map[string]string{
	"field_boost":    {"field": "tag", "boost": "2"},
	"property_boost": {"name": "rank"},
	"budget":         {"tokens": "1000"},
	"pin":            {"ids": "none"},
}

// stage runs stages on documents that the caller names. Hidden documents must give the same ranking as names of
// nothing.
func (t *trial) stage() error {
	ranking, twins := []Scored{}, []Scored{}
	original := map[sheaf.ID]sheaf.ID{}
	for range 5 {
		id, doc := t.target()
		twin := id
		if !doc.sees(&t.grant) {
			twin = doc.id + "~" + sheaf.ID(strings.TrimPrefix(string(id), string(doc.id)))
			original[doc.id+"~"] = doc.id
		}
		original[twin] = id
		s := Scored{id, t.random.Float64()}
		ranking, twins = append(ranking, s), append(twins, Scored{twin, s.Score})
	}
	aggregate := map[string]string{"to": []string{"document", "parent"}[t.random.IntN(2)], "method": "max_p"}
	single := slices.DeleteFunc(Stages(), func(name string) bool { return name == StageFuse })
	other := single[t.random.IntN(len(single))]
	for _, run := range []StageRun{{Name: "aggregate", Settings: aggregate},
		{Name: other, Settings: stageSettings[other]}} {
		run.Query, run.Limit, run.Rankings = t.text, 10, [][]Scored{ranking}
		out, err := t.reader.Stage(run)
		if err != nil && !refused(err) {
			return err
		}
		run.Rankings = [][]Scored{twins}
		same, missing := t.reader.Stage(run)
		if (err == nil) != (missing == nil) || errors.Is(err, sheaf.ErrInvalid) != errors.Is(missing, sheaf.ErrInvalid) {
			t.leak("stage", "", "of hidden documents %s gives the error %v, of none %v", run.Name, err, missing)
		}
		for i := range same {
			if id, ok := original[same[i].ID]; ok {
				same[i].ID = id
			}
		}
		// A minute later, ages differ a little.
		alike := func(a, b Scored) bool { return a.ID == b.ID && math.Abs(a.Score-b.Score) <= 1e-3*math.Abs(a.Score) }
		if err == nil && !slices.EqualFunc(out, same, alike) {
			t.leak("stage", "", "%s makes %v of hidden documents, and %v of none", run.Name, out, same)
		}
	}
	return nil
}
