package profile

import (
	"fmt"
	"time"

	"sheaf"
	"sheaf/rank"
)

// Rerank is a stage that asks a model how well the first N hits answer the query. Package search runs this stage,
// because it has the texts and the model.
type Rerank struct {
	// N is the largest number of hits that the model reads; Rerank drops the others. With 0, Rerank changes nothing.
	N int
	// Weight, 0..1, is the weight of the model's score. The hit's own score has the weight 1 - Weight. Before weighting,
	// Rerank maps both scores to 0..1 over the N hits.
	Weight float64
	// Timeout limits how long the model may take.
	Timeout time.Duration
}

// Apply implements [rank.Stage]. It returns sheaf.ErrUnsupported unless the ranking is empty, because package search
// does the work.
func (r Rerank) Apply(in sheaf.Ranking, _ rank.Env) (sheaf.Ranking, error) {
	if len(in) == 0 {
		return sheaf.Ranking{}, nil
	}
	return nil, fmt.Errorf("rerank calls a model, so it works in a search only: %w", sheaf.ErrUnsupported)
}
