package profile

import (
	"fmt"
	"time"

	"sheaf"
	"sheaf/rank"
)

// Rerank is the stage that asks a model how well the first N hits answer the
// query. It is run by package search, which has the texts and the model; by
// itself it cannot rank.
type Rerank struct {
	// N is how many hits the model reads; the others are left out. 0 calls
	// no model and changes nothing.
	N int
	// Weight, 0..1, is how much the model's opinion counts against the score
	// that the hit had; both are brought to 0..1 over the N hits first.
	Weight float64
	// Timeout bounds the call of the model.
	Timeout time.Duration
}

// Apply implements [rank.Stage]: sheaf.ErrUnsupported unless in is empty.
func (r Rerank) Apply(in sheaf.Ranking, _ rank.Env) (sheaf.Ranking, error) {
	if len(in) == 0 {
		return sheaf.Ranking{}, nil
	}
	return nil, fmt.Errorf("rerank calls a model, so it works in a search only: %w", sheaf.ErrUnsupported)
}
