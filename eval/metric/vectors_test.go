package metric_test

import (
	"math"
	"strings"
	"testing"

	"sheaf/eval/metric"
	"sheaf/internal/must"
	"sheaf/internal/worked"
)

// TestVectorsSonarMetrics runs worked numbers of Sonar's benchmark, which are not in the
// repository. Sonar says Recall where ir_measures says R.
func TestVectorsSonarMetrics(t *testing.T) {
	type in struct {
		Retrieved []string
		Relevant  metric.Judgements
	}
	for _, c := range worked.Cases[in, map[string]float64](t, "sonar_metrics.json") {
		for name, want := range c.Expected {
			m := must.Get(metric.Parse(strings.Replace(name, "Recall", "R", 1)))
			if got := m.Of(c.Input.Retrieved, c.Input.Relevant); math.Abs(got-want) > c.Tolerance {
				t.Errorf("%s: %s is %v, want %v", c.Name, name, got, want)
			}
		}
	}
}
