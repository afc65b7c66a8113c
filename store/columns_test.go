package store_test

import (
	"testing"

	"sheaf"
	"sheaf/store"
)

// TestFacetOrderOfEqualNumbers checks that numbers that only their written form separates have one order.
func TestFacetOrderOfEqualNumbers(t *testing.T) {
	counts := map[sheaf.Value]int{sheaf.NumberValue(32): 1, sheaf.WrittenNumber(32, "000032"): 1}
	for range 50 {
		values := store.NewFacet("sku", counts, 2).Values
		if got := values[0].Value.String() + " " + values[1].Value.String(); got != "32 000032" {
			t.Fatal(got)
		}
	}
}
