package runfile

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/rank"
)

// Fuse joins the rankings of runs, query by query. weights has one weight for each run; nil means 1 for each. If a run
// has no ranking for a query, the other runs decide.
func Fuse(runs []*Run, weights []float64, f rank.Fusion) (*Run, error) {
	if len(runs) == 0 || weights != nil && len(weights) != len(runs) {
		return nil, sheaf.Invalidf("fuse: weights given: %d, runs: %d: give each run one weight", len(weights), len(runs))
	}
	runs = sameNames(runs)
	out := &Run{Rankings: map[string]sheaf.Ranking{}}
	for _, r := range runs {
		for _, q := range r.Queries {
			if _, ok := out.Rankings[q]; !ok {
				out.Queries = append(out.Queries, q)
				out.Rankings[q] = nil
			}
		}
	}
	for _, q := range out.Queries {
		legs := make([]rank.Leg, len(runs))
		for i, r := range runs {
			legs[i] = rank.Leg{Name: fmt.Sprintf("run %d (%s)", i+1, r.Name), Hits: r.Rankings[q], Weight: 1}
			if weights != nil {
				legs[i].Weight = weights[i]
			}
		}
		ranking, err := f.Fuse(legs)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", q, err)
		}
		out.Rankings[q] = ranking
	}
	return out, nil
}

// sameNames gives each document and each query the same ID in all runs. A run in TREC form has each ID as one word (see
// [Word]). sameNames replaces the word by the ID in another run, unless several IDs have this word. So Fuse can join a
// run with its copy in TREC form.
func sameNames(runs []*Run) []*Run {
	names := map[string]string{} // by word; "" when several names become the same word
	note := func(name string) {
		word := Word(name)
		if word == name {
			return
		}
		if other, ok := names[word]; ok && other != name {
			name = ""
		}
		names[word] = name
	}
	for _, r := range runs {
		for q, ranking := range r.Rankings {
			note(q)
			for i := range ranking {
				note(string(ranking[i].ID))
			}
		}
	}
	if len(names) == 0 {
		return runs
	}
	out := make([]*Run, len(runs))
	for i, r := range runs {
		named := &Run{Name: r.Name, Rankings: make(map[string]sheaf.Ranking, len(r.Rankings))}
		for _, q := range r.Queries {
			ranking := slices.Clone(r.Rankings[q])
			own := make(map[sheaf.ID]bool, len(ranking))
			for k := range ranking {
				own[ranking[k].ID] = true
			}
			for k := range ranking {
				if other := sheaf.ID(names[string(ranking[k].ID)]); other != "" && !own[other] {
					ranking[k].ID = other
				}
			}
			if other := names[q]; other != "" && r.Rankings[other] == nil {
				q = other
			}
			named.Queries = append(named.Queries, q)
			named.Rankings[q] = ranking
		}
		out[i] = named
	}
	return out
}

// cosineError is the largest amount by which a cosine of another system may be above 1. Rounding causes such values.
const cosineError = 1e-3

// Apply applies a stage to the ranking of each query.
func (r *Run) Apply(s rank.Stage) (*Run, error) {
	out := &Run{Name: r.Name, Queries: r.Queries, Rankings: make(map[string]sheaf.Ranking, len(r.Rankings))}
	_, cosines := s.(rank.AsSimilarity)
	for _, q := range r.Queries {
		for _, h := range r.Rankings[q] {
			if cosines && math.Abs(h.Score) > 1+cosineError {
				return nil, sheaf.Invalidf("query %s: the score of %q is %v: similarity wants cosines, within -1 and 1", q, h.ID,
					h.Score)
			}
		}
		ranking, err := s.Apply(Placed(r.Rankings[q]), rank.Env{Facts: Facts{}, Query: q})
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", q, err)
		}
		out.Rankings[q] = ranking
	}
	return out, nil
}

// Placed returns a copy of r in which each hit has one leg, with its rank in r. So stages keep the order of hits with
// equal scores; without legs, they would sort such hits by ID.
func Placed(r sheaf.Ranking) sheaf.Ranking {
	out, legs := slices.Clone(r), make([]sheaf.Leg, len(r))
	for i := range out {
		legs[i] = sheaf.Leg{Rank: i + 1, Score: out[i].Score}
		out[i].Legs = legs[i : i+1 : i+1]
	}
	return out
}

// Facts implements rank.Facts with what IDs say about documents. The part of an ID before the last # is the document. A
// number after the # is the position of the chunk in the document. An ID without # is a document.
type Facts struct{}

// Chunk implements rank.Facts. It makes the chunk from the ID, so it always returns true.
func (Facts) Chunk(id sheaf.ID) (sheaf.Chunk, bool) {
	at := strings.LastIndexByte(string(id), '#')
	if at <= 0 {
		return sheaf.Chunk{ID: id, Doc: id, SiblingCount: 1}, true
	}
	position, _ := strconv.Atoi(string(id[at+1:]))
	return sheaf.Chunk{ID: id, Doc: id[:at], Parent: id[:at], Depth: 1, Position: position, Slug: string(id[at+1:])}, true
}

// Document implements rank.Facts. It makes the document from the ID, so it always returns true.
func (Facts) Document(id sheaf.ID) (sheaf.Document, bool) {
	return sheaf.Document{ID: id, Tree: id.Tree(), Path: string(id)}, true
}

// Node implements rank.Facts. It takes the position from the ID.
func (f Facts) Node(id sheaf.ID) *sheaf.Node {
	c, _ := f.Chunk(id)
	return sheaf.NodeOf(&c)
}

// Outline implements rank.Facts. The outline has no names and no date.
func (f Facts) Outline(id sheaf.ID) *sheaf.Outline {
	d, _ := f.Document(id)
	return sheaf.OutlineOf(&d, sheaf.Dated{})
}

// FolderSize implements rank.Facts. It returns 0, because IDs have no folders.
func (Facts) FolderSize(string, string) int { return 0 }

// Links implements rank.Facts. It returns no links.
func (Facts) Links(sheaf.ID) []sheaf.ID { return nil }

// Backlinks implements rank.Facts. It returns no links.
func (Facts) Backlinks(sheaf.ID) []sheaf.ID { return nil }
