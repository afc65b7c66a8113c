package profile

import (
	"fmt"
	"time"

	"sheaf"
	"sheaf/rank"
)

// Rerank is the stage that asks a model how well the first N hits answer the query. Package search runs it,
// because it has the texts and the model.
type Rerank struct {
	// N is how many hits the model reads; other hits are dropped. 0 means no call and no change.
	N int
	// Weight, 0..1, is how much the model's score counts against the hit's own score. Both are
	// first mapped to 0..1 over the N hits.
	Weight float64
	// Timeout limits the call of the model.
	Timeout time.Duration
}

// Apply implements [rank.Stage]. It returns sheaf.ErrUnsupported unless in is empty.
func (r Rerank) Apply(in sheaf.Ranking, _ rank.Env) (sheaf.Ranking, error) {
	if len(in) == 0 {
		return sheaf.Ranking{}, nil
	}
	return nil, fmt.Errorf("rerank calls a model, so it works in a search only: %w", sheaf.ErrUnsupported)
}
