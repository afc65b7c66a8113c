package storekit

import (
	"fmt"

	"sheaf/store"
)

// Made records the settings of a store. Stores write the record as JSON beside their data.
type Made struct {
	Analyzer string  `json:"analyzer"`
	K1       float64 `json:"k1"`
	B        float64 `json:"b"`
}

// Same returns store.ErrMadeOtherwise if a store with the settings m does not have the settings need. In the advice,
// place names the store's place, for example "index".
func (m Made) Same(need Made, place string) error {
	switch {
	case m.Analyzer != need.Analyzer:
		return fmt.Errorf("%w: the %s was made with the analyzer %q, not with %q: fill it again, or fill another %[2]s",
			store.ErrMadeOtherwise, place, m.Analyzer, need.Analyzer)
	case m.K1 != need.K1 || m.B != need.B:
		return fmt.Errorf("%w: the %s was made with k1 %v and b %v, not with %v and %v: use those values again, fill "+
			"it again, or fill another %[2]s", store.ErrMadeOtherwise, place, m.K1, m.B, need.K1, need.B)
	}
	return nil
}
