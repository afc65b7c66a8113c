package collection

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/profile"
	"sheaf/search"
)

// Explanation is an answer, with the ranking after every step of the profile.
type Explanation struct {
	*Answer
	Steps []Step `json:"steps" doc:"The ranking after every step, in the order of the profile."`
}

// Step is the ranking after one step of a profile.
type Step struct {
	Branch string   `json:"branch" doc:"The branch of the step; empty after the fusion."`
	First  bool     `json:"first_phase" doc:"Whether the step is in the first of two phases."`
	Step   string   `json:"step" doc:"The stage as in the profile; retrieve for the hits that a branch retrieved."`
	Found  int      `json:"found" doc:"How many hits the ranking has."`
	Hits   []Scored `json:"hits" doc:"The best hits."`
	Ranks  []int    `json:"ranks,omitempty" doc:"The ranks of the hits, from 1, when brief leaves hits out."`
}

// MaxScore bounds the scores of rankings that callers send or receive.
const MaxScore = 1e100

// Scored is an identifier of a document or chunk, with its score.
type Scored struct {
	ID    sheaf.ID `json:"id" required:"true" pattern:"@id" doc:"The chunk's identifier."`
	Score float64  `json:"score" required:"true" min:"-1e100" max:"1e100" doc:"The score; larger is better."`
}

// maxStepHits limits the hits of a step that an explanation shows.
const maxStepHits = 100

// drawnHits is the number of best hits per step that a brief explanation follows through all steps.
const drawnHits = 5

// Explain answers a query, and returns the ranking after every step.
func (r *Reader) Explain(ctx context.Context, q SearchRequest) (*Explanation, error) {
	q.Explain, q.Plain = !q.Brief, q.Plain || q.Brief
	parsed, p, err := r.prepare(ctx, &q)
	if err != nil {
		return nil, err
	}
	options := r.options(&q, p)
	options.Trace = true
	result, err := r.Searcher(ctx).Search(ctx, parsed, p.profile, options)
	if err != nil {
		return nil, err
	}
	if !p.profile.Scans() {
		if unknown := r.Searcher(ctx).Unknown(ctx, parsed, r.c.o.Analyzer); len(unknown) > 0 {
			result.Notes = append(result.Notes, "no document has: "+strings.Join(unknown, ", "))
		}
	}
	a, err := r.newAnswer(randomKey(), &q, parsed, result)
	if err != nil {
		return nil, err
	}
	answer, err := r.page(ctx, a, 0, q.Limit, result.Took)
	if err != nil {
		return nil, err
	}
	if answer.Details != nil {
		answer.Details.Trace = result.Trace
	}
	var drawn map[sheaf.ID]bool // nil means all hits
	if q.Brief {
		drawn = followed(answer, result.Trace)
	}
	out := &Explanation{Answer: answer, Steps: make([]Step, 0, len(result.Trace))}
	for _, t := range result.Trace {
		out.Steps = append(out.Steps, stepOf(t, drawn))
	}
	return out, r.Err()
}

// followed returns the IDs that a brief explanation shows in every step. They are the IDs of all results, and of the
// best hits of each step.
func followed(answer *Answer, trace []search.Snapshot) map[sheaf.ID]bool {
	ids := make(map[sheaf.ID]bool, len(answer.Results)+drawnHits*len(trace))
	for i := range answer.Results {
		ids[answer.Results[i].ID] = true
	}
	for _, t := range trace {
		for _, h := range t.Ranking[:min(len(t.Ranking), drawnHits)] {
			ids[h.ID] = true
		}
	}
	return ids
}

// stepOf returns a step with its best hits. If drawn is not nil, the step has only the hits in drawn.
func stepOf(t search.Snapshot, drawn map[sheaf.ID]bool) Step {
	best := t.Ranking[:min(len(t.Ranking), maxStepHits)]
	step := Step{Branch: t.Branch, First: t.First, Step: t.Step, Found: len(t.Ranking), Hits: make([]Scored, 0, len(best))}
	for i := range best {
		h := &best[i]
		if drawn != nil {
			if !drawn[h.ID] {
				continue
			}
			step.Ranks = append(step.Ranks, i+1)
		}
		step.Hits = append(step.Hits, Scored{h.ID, Finite(h.Score)})
	}
	return step
}

// Absence says why a chunk is not among the results. If the chunk is among the results, Absence says at which rank.
type Absence = search.Absence

// WhyNot says why the chunk or document id is missing from the results, or at which rank it is. If id is missing or
// hidden from the caller, the error is sheaf.ErrNotFound. WhyNot ignores Sort, Facets and Count of the request.
func (r *Reader) WhyNot(ctx context.Context, q SearchRequest, id sheaf.ID) (*Absence, error) {
	parsed, p, err := r.prepare(ctx, &q)
	if err != nil {
		return nil, err
	}
	if _, ok := search.Part(r.guard, id); !ok && !p.profile.Scans() {
		return nil, notFound(id)
	}
	a, err := r.Searcher(ctx).WhyNot(ctx, parsed, p.profile, search.Options{Parameters: q.Parameters}, id)
	switch {
	case p.profile.Scans() && errors.Is(err, sheaf.ErrNotFound): // give the error for other missing IDs the same text
		return nil, notFound(id)
	}
	return a, err
}

// Move says how the rank of one result changes when the parameters change.
type Move struct {
	ID          sheaf.ID `json:"id" doc:"The chunk."`
	Title       string   `json:"title" doc:"The chunk's title."`
	Before      int      `json:"before" doc:"The rank before the change; 0 when it was not a result."`
	After       int      `json:"after" doc:"The rank after the change; 0 when it is not a result."`
	ScoreBefore float64  `json:"score_before" doc:"The score before the change."`
	ScoreAfter  float64  `json:"score_after" doc:"The score after the change."`
}

// WhatIf answers a query twice: once as the request says, and once with the parameters in change too. It returns the
// results whose ranks differ. First come results of the second answer, in its order; then the results that only the
// first answer has. WhatIf ignores Sort, Facets and Count of the request.
func (r *Reader) WhatIf(ctx context.Context, q SearchRequest, change map[string]string) ([]Move, error) {
	moves, _, err := r.whatIf(ctx, q, change)
	return moves, err
}

func (r *Reader) whatIf(ctx context.Context, q SearchRequest, change map[string]string) ([]Move, [2]*search.Result,
	error) {
	var answers [2]*search.Result
	parsed, p, err := r.prepare(ctx, &q)
	if err != nil {
		return nil, answers, err
	}
	if _, err := p.profile.Plan(q.Window, change); err != nil {
		return nil, answers, inNamed("change", err)
	}
	changed := map[string]string{}
	maps.Copy(changed, q.Parameters)
	maps.Copy(changed, change)
	s := r.Searcher(ctx)
	for i, parameters := range []map[string]string{q.Parameters, changed} {
		if answers[i], err = s.Search(ctx, parsed, p.profile, search.Options{Parameters: parameters}); err != nil {
			return nil, answers, err
		}
	}
	old := map[sheaf.ID]*search.Hit{}
	for i := range answers[0].Hits {
		old[answers[0].Hits[i].ID] = &answers[0].Hits[i]
	}
	moves := []Move{}
	for i := range answers[1].Hits {
		h := &answers[1].Hits[i]
		m := Move{ID: h.ID, Title: h.Title, After: h.Rank, ScoreAfter: Finite(h.Score)}
		if o := old[h.ID]; o != nil {
			m.Before, m.ScoreBefore = o.Rank, Finite(o.Score)
			delete(old, h.ID)
		}
		moves = append(moves, m)
	}
	for i := range answers[0].Hits {
		if h := &answers[0].Hits[i]; old[h.ID] != nil {
			moves = append(moves, Move{ID: h.ID, Title: h.Title, Before: h.Rank, ScoreBefore: Finite(h.Score)})
		}
	}
	return moves, answers, nil
}

// Profile describes a ranking profile.
type Profile struct {
	Name       string      `json:"name" doc:"The name."`
	About      string      `json:"about" doc:"What the profile is for."`
	Builtin    bool        `json:"builtin" doc:"Whether the profile is part of Sheaf."`
	Default    bool        `json:"default" doc:"Whether requests that name no profile use this one."`
	Parameters []Parameter `json:"parameters" doc:"The parameters that a request may set."`
	Error      string      `json:"error,omitempty" doc:"Why the profile cannot be used."`
}

// Parameter is a number or a word of a profile that a request may set.
type Parameter struct {
	Name    string   `json:"name" doc:"The name."`
	About   string   `json:"about" doc:"What the parameter means."`
	Default string   `json:"default" doc:"The default value: a number, an expression, or a word."`
	Range   string   `json:"range" doc:"The allowed values, as a text for people."`
	Min     float64  `json:"min" doc:"The smallest allowed number."`
	Max     float64  `json:"max" doc:"The largest allowed number."`
	Integer bool     `json:"integer" doc:"Whether only whole numbers are allowed."`
	OneOf   []string `json:"one_of" doc:"The allowed words; empty for a number."`
}

// Profiles lists by name the profiles in the folders, the built-in profiles, and the default profile of the collection.
// It omits a default profile whose name is the path of a file. For an unreadable profile, the entry gives the reason.
func (c *Collection) Profiles() ([]Profile, error) {
	infos, err := profile.List(c.o.ProfileDirs...)
	if err != nil {
		return nil, err
	}
	// A program may load its profile from elsewhere. Paths of files on the server stay secret.
	at, listed := slices.BinarySearchFunc(infos, c.o.Profile, func(info profile.Info, name string) int {
		return strings.Compare(info.Name, name)
	})
	if !listed && plainName.MatchString(c.o.Profile) {
		infos = slices.Insert(infos, at, profile.Info{Name: c.o.Profile})
	}
	out := []Profile{}
	for _, info := range infos {
		p := Profile{Name: info.Name, About: info.About, Builtin: info.Builtin, Default: info.Name == c.o.Profile,
			Parameters: []Parameter{}}
		loaded, err := c.Load(info.Name)
		if info.Err != nil {
			err = profile.WithoutFolders(info.Err)
		}
		if err != nil {
			p.Error = err.Error()
			out = append(out, p)
			continue
		}
		if !listed && info.Name == c.o.Profile {
			p.About = loaded.About
		}
		for i := range loaded.Parameters {
			q := &loaded.Parameters[i]
			p.Parameters = append(p.Parameters, Parameter{q.Name, q.About, q.Default, q.Range(), Finite(q.Min), Finite(q.Max),
				q.Integer(), orEmpty(q.OneOf)})
		}
		out = append(out, p)
	}
	return out, nil
}
