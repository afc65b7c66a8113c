package collection

import (
	"fmt"
	"os"
	"testing"

	"sheaf/collection/location"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/search"
)

// TestCalibration checks that an index uses the current content of its file. Without a usable calibration for the
// profile and the model, it uses the shipped one.
func TestCalibration(t *testing.T) {
	p := must.Get(profile.Load(profile.Default, profile.Builtin))
	x := &Index{Site: Site{Where: location.Location{Dir: t.TempDir()}}}
	none := make([]float64, len(new(search.Evidence).Features()))
	keep := func(bias float64, change func(c *keptCalibration)) func() error {
		c := &keptCalibration{CalibrationSchema, "a model", p.Digest(), search.Calibration{Least: 0.5}}
		c.Fit.Right.Bias, c.Fit.Right.Weights, c.Fit.Answered.Weights = bias, none, none
		change(c)
		return func() error { return x.KeepCalibration(c) }
	}
	drop := func(digest, model string) func() error {
		return func() error { return x.DropCalibration(digest, model) }
	}
	text := func(content string) func() error {
		return func() error { return os.WriteFile(x.calibrationFile(), []byte(content), 0o600) }
	}
	asIs := func(*keptCalibration) {}
	for i, step := range []struct {
		change func() error
		bias   float64 // 0 if the file has no usable calibration
	}{
		{drop("", ""), 0},
		{keep(1, asIs), 1},
		{keep(2, asIs), 2},
		{drop(p.Digest(), "another model"), 2},
		{drop("another profile", "a model"), 2},
		{drop(p.Digest(), "a model"), 0},
		{keep(3, func(c *keptCalibration) { c.Schema = "sheaf.confidence/2" }), 0},
		{keep(4, asIs), 4},
		{drop("", ""), 0},
		{text("{"), 0},
		{text("not so"), 0},
		{keep(5, func(c *keptCalibration) { c.Fit.Right.Weights = none[1:] }), 0},
		{keep(6, func(c *keptCalibration) { c.Fit.Least = 2 }), 0},
		{keep(7, func(c *keptCalibration) { c.Digest = "another profile" }), 0},
		{text(`{"schema":"sheaf.confidence/3","model":"a model","digest":"` + p.Digest() + `","fit":{"bias":-2.5}}`), 0},
	} {
		must.Do(t, step.change())
		said := func(model string) string {
			if fit := x.calibrationFor(p, model); fit != nil {
				return fmt.Sprint(fit.Right.Bias)
			}
			return "0"
		}
		if got, want := said("a model"), fmt.Sprint(step.bias); got != want || said("another model") != "0" {
			t.Errorf("step %d: the bias is %s, want %s; of another model %s", i, got, want, said("another model"))
		}
		if got := x.calibrationFor(p, "sheaf-ml-1"); got == nil || got != search.ShippedCalibration(p, "sheaf-ml-1") {
			t.Errorf("step %d: the built-in model has %+v", i, got)
		}
	}
}
