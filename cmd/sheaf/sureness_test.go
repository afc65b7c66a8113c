package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"sheaf/cmd/sheaf/internal/collection"
	"sheaf/eval/calibrate"
	"sheaf/eval/confidence"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/vfs"
)

// TestConfidenceIsThatOfNow: a server goes by what is known now of how sure answers are,
// whatever it read before.
func TestConfidenceIsThatOfNow(t *testing.T) {
	p, err := profile.Load(profile.Default, profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	s := &session{where: collection.Location{Dir: t.TempDir()}}
	file := filepath.Join(s.where.Dir, collection.ConfidenceName)
	write := func(schema string, bias float64) func() error {
		return func() error {
			fit := calibrate.Logistic{Bias: bias, Weights: make([]float64, len(search.Evidence{}.Features()))}
			content, err := json.Marshal(confidenceJSON{Schema: schema, Model: "a model", Report: &confidence.Report{Profile: p.Name, Digest: p.Digest(), Fit: fit}})
			if err != nil {
				return err
			}
			return vfs.WriteFile(file, content, 0)
		}
	}
	const none = 0
	for i, step := range []struct {
		change func() error
		bias   float64 // none where nothing is known
	}{
		{nil, none},
		{write(confidenceSchema, 1), 1},
		{nil, 1},
		{write(confidenceSchema, 2), 2},
		{write("another", 3), none},
		{nil, none},
		{write(confidenceSchema, 4), 4},
		{func() error { return os.Remove(file) }, none},
		{nil, none},
		{func() error { return os.WriteFile(file, []byte("{"), 0o600) }, none},
		{write(confidenceSchema, 5), 5},
		{func() error { return os.WriteFile(file, []byte("not so"), 0o600) }, none},
	} {
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		said := func(model string) string {
			if fit := s.confidenceWith(p, model); fit != nil {
				return fmt.Sprint(fit.Bias)
			}
			return fmt.Sprint(none)
		}
		if got, want := said("a model"), fmt.Sprint(step.bias); got != want {
			t.Errorf("step %d: it says %s, not %s", i, got, want)
		}
		if got := said("another model"); got != fmt.Sprint(none) {
			t.Errorf("step %d: of another model it says %s", i, got)
		}
	}
}
