package collection

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/profile"
	"sheaf/rank"
	"sheaf/rank/runfile"
)

// StageFuse is the name of fusion in [Reader.Stage]. Fusion joins rankings. Each other stage changes one ranking.
const StageFuse = "fuse"

// Stages returns the names of the stages that Stage can run. Some stages of profiles work only inside a search.
func Stages() []string { return append([]string{StageFuse}, profile.SingleStages()...) }

// NoStage returns the error for a name that is not the name of a stage.
func NoStage(name string) error {
	known := Stages()
	hint := profile.Hint("stage", name, known)
	if hint != "" {
		hint += "; "
	}
	return fmt.Errorf("%w: there is no stage %q: %sthe stages are %s", sheaf.ErrNotFound, name, hint,
		strings.Join(known, ", "))
}

// StageOptions returns the settings that Stage accepts for the stage called name.
func StageOptions(name string) []*profile.Option {
	if name == StageFuse {
		return profile.FusionOptions()
	}
	return profile.StageOptions(name)
}

// StageRun is a stage to run, with its input rankings.
type StageRun struct {
	Name string
	// Settings have the same form as in a profile. In expressions, "limit" means Limit.
	Settings map[string]string
	// Rankings are the input. Stage sorts each ranking by score; hits with equal scores keep their order. If a hit is
	// repeated in a ranking, only the one with the better score counts.
	Rankings [][]Scored
	// Weights are the weights of the rankings in a fusion. If Weights is empty, each weight is 1.
	Weights []float64
	Query   string
	Limit   int
}

// Stage runs one stage on rankings that the caller sends. For an identifier of a visible document, the stage uses data
// of the document. For any other identifier, for example of another system, it has no data.
func (r *Reader) Stage(run StageRun) ([]Scored, error) {
	if run.Limit < 1 || run.Limit > profile.MaxLimit {
		return nil, fieldError("limit", "%d: must be within 1..%d", run.Limit, profile.MaxLimit)
	}
	lists := make([]sheaf.Ranking, len(run.Rankings))
	for i, list := range run.Rankings {
		for _, s := range list {
			lists[i] = append(lists[i], sheaf.Hit{ID: s.ID, Score: s.Score})
		}
		slices.SortStableFunc(lists[i], func(a, b sheaf.Hit) int { return cmp.Compare(b.Score, a.Score) })
		seen := map[sheaf.ID]bool{}
		lists[i] = slices.DeleteFunc(lists[i], func(h sheaf.Hit) bool {
			again := seen[h.ID]
			seen[h.ID] = true
			return again
		})
	}
	var out sheaf.Ranking
	var err error
	if run.Name == StageFuse {
		out, err = run.fuse(lists)
	} else {
		out, err = run.apply(lists, r)
	}
	if err != nil {
		return nil, err
	}
	result := make([]Scored, len(out))
	for i, h := range out {
		result[i] = Scored{h.ID, max(-MaxScore, min(MaxScore, Finite(h.Score)))}
	}
	return result, nil
}

func (run *StageRun) fuse(lists []sheaf.Ranking) (sheaf.Ranking, error) {
	fusion, err := profile.NewFusion(run.Settings, run.Limit, "setting ")
	if err != nil {
		return nil, inNamed("settings", err)
	}
	if n := len(run.Weights); n > 0 && n != len(lists) {
		return nil, conflictError("weights", "%d weights of %d rankings: give one for each, or none", n, len(lists))
	}
	legs := make([]rank.Leg, len(lists))
	var total float64
	for i := range lists {
		legs[i] = rank.Leg{Name: "leg " + strconv.Itoa(i+1), Hits: lists[i], Weight: 1}
		if len(run.Weights) > 0 {
			legs[i].Weight = run.Weights[i]
		}
		total += legs[i].Weight
	}
	if total == 0 && len(lists) > 0 {
		return nil, conflictError("weights", "all weights are 0: at least one must be above 0")
	}
	out, err := fusion.Fuse(legs)
	return out, inField("rankings", err)
}

func (run *StageRun) apply(lists []sheaf.Ranking, r *Reader) (sheaf.Ranking, error) {
	step, err := profile.NewStage(run.Name, run.Settings, run.Limit, "setting ")
	if err != nil {
		return nil, inNamed("settings", err)
	}
	if len(run.Weights) > 0 {
		return nil, fieldError("weights", "the stage %s joins no rankings: only %s takes weights", run.Name, StageFuse)
	}
	if len(lists) != 1 {
		return nil, fieldError("rankings", "%d rankings: the stage %s takes one", len(lists), run.Name)
	}
	out, err := step.Stage.Apply(runfile.Placed(lists[0]),
		rank.Env{Facts: broughtFacts{r.guard}, Query: run.Query, Now: r.c.now()})
	return out, inField("rankings", err)
}

// broughtFacts tells stages about the documents in a ranking that a caller sends. For a document that the caller may
// not see, it knows only the identifier.
type broughtFacts struct{ rank.Facts }

func (f broughtFacts) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	if c, ok := f.Facts.Chunk(id); ok {
		return c, true
	}
	return runfile.Facts{}.Chunk(id)
}

func (f broughtFacts) Document(id sheaf.ID) (sheaf.Document, bool) {
	if d, ok := f.Facts.Document(id); ok {
		return d, true
	}
	return runfile.Facts{}.Document(id)
}

func (f broughtFacts) Node(id sheaf.ID) *sheaf.Node {
	if n := f.Facts.Node(id); n != nil {
		return n
	}
	return runfile.Facts{}.Node(id)
}

func (f broughtFacts) Outline(id sheaf.ID) *sheaf.Outline {
	if o := f.Facts.Outline(id); o != nil {
		return o
	}
	return runfile.Facts{}.Outline(id)
}
