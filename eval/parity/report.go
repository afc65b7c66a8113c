package parity

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"sheaf"
	"sheaf/search"
)

// Engine is [Store.Kind] of the embedded engine. Exact is the engine's default way of counting words. For a server,
// Exact means the server's own way.
const (
	Engine = "embedded"
	Exact  = "exact"
)

// FinalStep is the last step of a trace. Its ranking is the answer.
const FinalStep = "answer"

// Store is a store with its answers to the queries.
type Store struct {
	Name string
	// Kind is for example "postgres", or [Engine]. Approximate says that the store finds vectors through a graph.
	Kind        string
	Approximate bool
	// Shards is how many parts the store has. 0 means unknown.
	Shards int
	// Answers has the answers for each way of counting words, in the order of the queries. A server has only [Exact].
	Answers map[string][]Answer
}

// Answer is the answer of a store to one query.
type Answer struct {
	// Trace has the ranking after each step. The last step is called [FinalStep].
	Trace    []search.Snapshot
	Warnings []string
	// Refused says why the store refused the query. It is "" if the store answered.
	Refused string
}

// Report compares each store with the first store.
type Report struct {
	Schema  string         `json:"schema"`
	Profile string         `json:"profile"` // the name of the ranking profile
	Limit   int            `json:"limit"`   // how many results were compared
	Queries int            `json:"queries"` // how many queries were compared
	First   string         `json:"first"`   // the store that the other stores are compared with
	Stores  []*StoreReport `json:"stores"`  // one report for each other store
}

// StoreReport compares one store with the first.
type StoreReport struct {
	Store string `json:"store"` // the name of the compared store
	// Counted says how the engine counted words: like the server, or exactly.
	Counted string `json:"counted"`
	// Alike explains how the server counts words. It is "" if Counted is [Exact].
	Alike  string         `json:"-"`
	Stages []*StageReport `json:"stages"` // one report for each step of the profile
}

// StageReport compares one step of the profile over all queries.
type StageReport struct {
	// Stage is the branch and the step. The last stage is the answer.
	Stage string `json:"stage"`
	// Refused is how many queries the store cannot answer. The other numbers do not include these queries.
	Refused   int     `json:"refused"`
	SameSet   int     `json:"same_set"`    // how many queries have the same hits
	SameOrder int     `json:"same_order"`  // how many queries have the same hits in the same order
	Tau       float64 `json:"kendall_tau"` // the mean of Kendall's rank correlation
	RBO       float64 `json:"rbo"`         // the mean of the rank-biased overlap
	LeastRBO  float64 `json:"least_rbo"`   // the smallest rank-biased overlap
	// Exact is the mean rank-biased overlap when the engine counts words exactly. It is null if RBO was measured so
	// already, or if the step never ran with exact counting.
	Exact           *float64       `json:"exact_rbo"`
	ScoreDifference float64        `json:"score_difference"` // the largest difference of two scores of a hit
	ScoreShare      float64        `json:"score_share"`      // the largest difference relative to the larger score
	Reasons         map[string]int `json:"reasons"`          // how many queries differ for each reason
	Queries         []QueryReport  `json:"queries"`          // the queries that the store answered, in order
}

// QueryReport compares the rankings of one query after one step.
type QueryReport struct {
	Query string `json:"query"` // the query
	Agreement
	Reasons []string `json:"reasons"` // why the rankings differ
}

// CompareStores compares the answers of two stores. way says how the engine counted words for this comparison. If it is
// not [Exact], the report also has the overlap for exact counting.
func CompareStores(queries []string, first, other *Store, way string) *StoreReport {
	exact := compareStores(queries, first, other, Exact)
	if way == Exact {
		return exact
	}
	out := compareStores(queries, first, other, way)
	for _, s := range out.Stages {
		if i := slices.IndexFunc(exact.Stages, func(e *StageReport) bool { return e.Stage == s.Stage }); i >= 0 {
			s.Exact = &exact.Stages[i].RBO
		}
	}
	return out
}

func compareStores(queries []string, first, other *Store, way string) *StoreReport {
	out := &StoreReport{Store: other.Name, Counted: way}
	ones, twos := first.answersFor(way), other.answersFor(way)
	for i, query := range queries {
		for n, a := range ones[i].Trace {
			at := out.stage(stageName(a), n)
			if refused := twos[i].Refused; refused != "" {
				at.Refused++
				at.Reasons[refused]++
				continue
			}
			var b search.Snapshot
			if j := slices.IndexFunc(twos[i].Trace, func(s search.Snapshot) bool { return stageName(s) == at.Stage }); j >= 0 {
				b = twos[i].Trace[j]
			}
			described := other
			if other.Kind == Engine {
				described = first
			}
			step := described.step(a, way, twos[i].Warnings)
			step.Chosen = chosen(a, ones[i].Trace)
			step.Noted = slices.DeleteFunc(slices.Clone(b.Notes), func(note string) bool {
				return slices.Contains(a.Notes, note)
			})
			at.add(query, a.Ranking, b.Ranking, step)
		}
	}
	for _, s := range out.Stages {
		n := max(1, float64(len(s.Queries)))
		s.Tau, s.RBO = s.Tau/n, s.RBO/n
	}
	return out
}

// answersFor returns the answers of a store that counted words in this way. If the store cannot count in this way, it
// returns the answers for Exact.
func (s *Store) answersFor(way string) []Answer {
	if all, ok := s.Answers[way]; ok {
		return all
	}
	return s.Answers[Exact]
}

// stage returns the report of a stage. If the report lacks the stage, it inserts the stage at position n.
func (r *StoreReport) stage(name string, n int) *StageReport {
	if i := slices.IndexFunc(r.Stages, func(s *StageReport) bool { return s.Stage == name }); i >= 0 {
		return r.Stages[i]
	}
	made := &StageReport{Stage: name, LeastRBO: 1, Reasons: map[string]int{}}
	r.Stages = slices.Insert(r.Stages, min(n, len(r.Stages)), made)
	return made
}

func stageName(s search.Snapshot) string {
	name := s.Step
	if s.Branch != "" {
		name = s.Branch + ": " + name
	}
	if s.First {
		name = "first phase, " + name
	}
	return name
}

// step describes the step a of a trace on this store. way says how the engine counted words.
func (s *Store) step(a search.Snapshot, way string, warnings []string) Step {
	step := Step{Store: s.Kind, Approximate: s.Approximate, Alike: way != Exact, Shards: s.Shards}
	if a.Step != "retrieve" {
		return step
	}
	for _, w := range warnings {
		if strings.Contains(w, a.Branch) {
			step.Failed = w
		}
	}
	// Similarities of unit vectors are at most 1. BM25 hits have passage 0.
	step.Meaning = slices.ContainsFunc(a.Ranking, func(h sheaf.Hit) bool { return h.Passage > 0 }) ||
		len(a.Ranking) > 0 && !slices.ContainsFunc(a.Ranking, func(h sheaf.Hit) bool { return math.Abs(h.Score) > 1.0001 })
	step.Words = !step.Meaning
	return step
}

// chosen reports whether a step scores hits that other steps found. This is true in the main phase if there is a first
// phase. It is also true if the fusion of the phase asks branches for missing scores.
func chosen(s search.Snapshot, trace []search.Snapshot) bool {
	return slices.ContainsFunc(trace, func(other search.Snapshot) bool {
		return other.First && !s.First || strings.HasPrefix(other.Step, "fuse: ") && other.First == s.First &&
			strings.Contains(other.Step, "complete: true")
	})
}

func (s *StageReport) add(query string, a, b sheaf.Ranking, step Step) {
	g := Compare(a, b)
	if g.SameSet {
		s.SameSet++
	}
	if g.SameOrder {
		s.SameOrder++
	}
	s.Tau += g.Tau
	s.RBO += g.RBO
	s.LeastRBO = min(s.LeastRBO, g.RBO)
	s.ScoreDifference, s.ScoreShare = max(s.ScoreDifference, g.ScoreDifference), max(s.ScoreShare, g.ScoreShare)
	reasons := append([]string{}, Reasons(a, b, g, step)...)
	for _, r := range reasons {
		s.Reasons[r]++
	}
	s.Queries = append(s.Queries, QueryReport{query, g, reasons})
}

// ExactText formats the field Exact for people.
func (s *StageReport) ExactText() string {
	if s.Exact == nil {
		return "-"
	}
	return fmt.Sprintf("%.4f", *s.Exact)
}

// Because lists the reasons for differences, the most frequent reason first.
func (s *StageReport) Because() []string {
	out := slices.SortedFunc(maps.Keys(s.Reasons), func(a, b string) int {
		return cmp.Or(s.Reasons[b]-s.Reasons[a], cmp.Compare(a, b))
	})
	for i, r := range out {
		out[i] = fmt.Sprintf("%s (%d)", r, s.Reasons[r])
	}
	return out
}

//go:embed report.html
var page string

// HTML writes the report as an HTML page.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("parity").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}
