package store_test

import (
	"testing"

	"sheaf"
	"sheaf/internal/must"
	"sheaf/store"
)

// TestFacetOrderOfEqualNumbers checks that numbers that only their written form separates have one order.
func TestFacetOrderOfEqualNumbers(t *testing.T) {
	counts := map[sheaf.Value]int{sheaf.NumberValue(32): 1, sheaf.WrittenNumber(32, "000032"): 1}
	for range 50 {
		values := store.NewFacet("sku", counts, 2).Values
		got := values[0].Value.String() + " " + values[1].Value.String()
		must.That(t, got == "32 000032", "%v", got)
	}
}
