package metric_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/eval/metric"
)

// Worked numbers of Sonar's benchmark, which lie outside the repository. It says
// Recall where ir_measures says R.
func TestVectorsSonarMetrics(t *testing.T) {
	file := filepath.Join("..", "..", "..", "shared", "vectors", "sonar_metrics.json")
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skipf("no %s: the vectors of the reference systems are not here", file)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name  string
		Input struct {
			Retrieved []string
			Relevant  metric.Judgements
		}
		Expected  map[string]float64
		Tolerance float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no case", file)
	}
	for _, c := range cases {
		for name, want := range c.Expected {
			m, err := metric.Parse(strings.Replace(name, "Recall", "R", 1))
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Of(c.Input.Retrieved, c.Input.Relevant); math.Abs(got-want) > c.Tolerance {
				t.Errorf("%s: %s is %v, want %v", c.Name, name, got, want)
			}
		}
	}
}
