package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"sheaf/eval/metric"
	"sheaf/internal/must"
)

// TestCurveEqualsReferenceTool checks against testdata/curve.json, which testdata/make_curve.py
// wrote with ir_measures.
func TestCurveEqualsReferenceTool(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/curve.json"))
	var cases []struct {
		Qrels, Run [][3]any
		Curves     map[string][11]float64
	}
	must.Do(t, json.Unmarshal(raw, &cases))
	for _, c := range cases {
		qrels, runs := decode(c.Qrels, c.Run)
		if len(c.Curves) < 20 {
			t.Fatalf("%d curves", len(c.Curves))
		}
		for query, want := range c.Curves {
			got := metric.Curve(metric.IDs(metric.Order(runs[query])), qrels[query])
			for i := range want {
				if math.Abs(got[i]-want[i]) > 1e-6 {
					t.Errorf("query %s at recall %.1f: %v, want %v", query, float64(i)/10, got[i], want[i])
				}
			}
		}
	}
}

func ExampleCurve() {
	c := metric.Curve([]string{"x", "a", "b", "y"}, metric.Judgements{"a": 1, "b": 1, "c": 1})
	fmt.Printf("%.2f %.2f %.2f\n", c[0], c[6], c[8])
	// Output: 0.67 0.67 0.00
}
