package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/collection/location"
	"sheaf/eval/calibrate"
	"sheaf/eval/confidence"
	"sheaf/index/vfs"
	"sheaf/profile"
	"sheaf/search"
)

// learned returns a calibration of the default profile with a model. The bias identifies the
// calibration.
func learned(t *testing.T, model string, bias float64) *confidenceJSON {
	t.Helper()
	p, err := profile.Load(profile.Default, profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	none := make([]float64, len(new(search.Evidence).Features()))
	fit := search.Calibration{Right: calibrate.Logistic{Bias: bias, Weights: none},
		Answered: calibrate.Logistic{Weights: none}, Least: 0.5}
	return &confidenceJSON{Schema: confidenceSchema, Model: model,
		Report: &confidence.Report{Profile: p.Name, Digest: p.Digest(), Fit: fit}}
}

// TestServerUsesCurrentCalibration checks that a server uses the current content of the file. Without a
// usable calibration in the file, it uses the shipped one.
func TestServerUsesCurrentCalibration(t *testing.T) {
	p, err := profile.Load(profile.Default, profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	s := quietSession(location.Location{Dir: t.TempDir()})
	file := filepath.Join(s.Where.Dir, location.ConfidenceName)
	write := func(bias float64, change func(c *confidenceJSON)) func() error {
		return func() error {
			c := learned(t, "a model", bias)
			if change != nil {
				change(c)
			}
			content, err := json.Marshal(c)
			if err != nil {
				return err
			}
			return vfs.WriteFile(file, content, 0)
		}
	}
	text := func(content string) func() error {
		return func() error { return os.WriteFile(file, []byte(content), 0o600) }
	}
	// An older program wrote this.
	old := fmt.Sprintf(`{"schema":"sheaf.confidence/2","model":"a `+
		`model","documents":3,"profile":%q,"digest":%q,"queries":100,"impossible":20,"right":70,"error":0.02,"brier":0.1,`+
		`"bins":[{"from":0,"to":0.1,"count":3,"mean":0.05,"right":0}],"fit":{"bias":-2.5,"weights":[1,2,3,4,5]}}`, p.Name,
		p.Digest())
	const none = 0
	for i, step := range []struct {
		change func() error
		bias   float64 // none if the file has no usable calibration
	}{
		{nil, none},
		{write(1, nil), 1},
		{write(2, nil), 2},
		{write(3, func(c *confidenceJSON) { c.Schema = "another" }), none},
		{nil, none},
		{text(old), none},
		{text(strings.Replace(old, "sheaf.confidence/2", confidenceSchema, 1)), none},
		{write(5, nil), 5},
		{func() error { return os.Remove(file) }, none},
		{nil, none},
		{text("{"), none},
		{write(6, nil), 6},
		{write(7, func(c *confidenceJSON) { c.Fit.Right.Weights = c.Fit.Right.Weights[1:] }), none},
		{write(8, func(c *confidenceJSON) { c.Fit.Least = 2 }), none},
		{write(9, func(c *confidenceJSON) { c.Digest = "another profile" }), none},
		{text("not so"), none},
	} {
		if step.change != nil {
			if err := step.change(); err != nil {
				t.Fatal(err)
			}
		}
		said := func(model string) string {
			if fit := s.confidenceWith(p, model); fit != nil {
				return fmt.Sprint(fit.Right.Bias)
			}
			return fmt.Sprint(none)
		}
		if got, want := said("a model"), fmt.Sprint(step.bias); got != want {
			t.Errorf("step %d: it says %s, not %s", i, got, want)
		}
		if got := said("another model"); got != fmt.Sprint(none) {
			t.Errorf("step %d: of another model it says %s", i, got)
		}
		if got, want := s.confidenceWith(p, "sheaf-ml-1"), search.ShippedCalibration(p, "sheaf-ml-1"); got == nil ||
			got != want {
			t.Errorf("step %d: of the built-in model it says %+v, not %+v", i, got, want)
		}
	}
}

// TestLearningKeepsBetterCalibration checks that a learned calibration replaces the shipped one only
// if it is better. It never replaces the calibration of another model.
func TestLearningKeepsBetterCalibration(t *testing.T) {
	s := quietSession(location.Location{Dir: t.TempDir()})
	p, err := profile.Load(profile.Default, profile.Builtin)
	if err != nil {
		t.Fatal(err)
	}
	of := func(bias, brier, shipped float64, model string) *confidenceJSON {
		c := learned(t, model, bias)
		c.Learned.Brier, c.Shipped = brier, &confidence.Quality{Brier: shipped}
		if math.IsNaN(shipped) {
			c.Shipped = nil
		}
		return c
	}
	for i, step := range []struct {
		c    *confidenceJSON
		bias float64 // 0 for the shipped calibration
	}{
		{of(1, 0.2, 0.1, "sheaf-ml-1"), 0}, // no earlier calibration exists
		{of(2, 0.1, 0.2, "sheaf-ml-1"), 2},
		{of(3, 0.2, 0.1, "another model"), 2},
		{of(4, 0.2, 0.1, "sheaf-ml-1"), 0},
		{of(5, 0.2, 0.2, "sheaf-ml-1"), 0}, // an equal score is not better
		{of(6, 0.2, math.NaN(), "sheaf-ml-1"), 6},
	} {
		if err := s.keepConfidence(step.c); err != nil {
			t.Fatal(err)
		}
		got := s.confidenceWith(p, "sheaf-ml-1")
		if shipped := got == search.ShippedCalibration(p, "sheaf-ml-1"); shipped != (step.bias == 0) ||
			!shipped && got.Right.Bias != step.bias {
			t.Errorf("step %d: %+v, want the calibration %v", i, got, step.bias)
		}
	}
}
