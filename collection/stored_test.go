package collection_test

import (
	"errors"
	"fmt"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/intake"
)

// TestGivenLookupIsCheap checks that the lookup of given documents stays cheap with many documents. Salvaging a
// damaged index looks up all of its documents.
func TestGivenLookupIsCheap(t *testing.T) {
	dir := t.TempDir()
	if none, err := collection.WasGiven(dir); err != nil || none != nil {
		t.Errorf("nothing was given: %v", err)
	}
	err := intake.Open(dir).Update(func(tx *intake.Tx) error {
		var err error
		for i := range 500 {
			err = errors.Join(err, tx.Set(sheaf.ID(fmt.Sprint("api:", i)), []byte("{}")))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := collection.WasGiven(dir)
	if err != nil || !kept("api:499") || kept("api:500") {
		t.Errorf("what is kept is not, or what is not: %v", err)
	}
	if n := testing.AllocsPerRun(10, func() { kept("api:499") }); n > 10 {
		t.Errorf("%v allocations to look one up", n)
	}
}
