package eval

import (
	"testing"

	"sheaf/eval/dataset"
	"sheaf/eval/metric"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestJudgeOwnDocument checks that the document whose text a query is does not count in a run of another system.
func TestJudgeOwnDocument(t *testing.T) {
	d := &dataset.Dataset{Queries: []dataset.Query{{ID: "a", Own: true}, {ID: "b"}},
		Qrels: map[string]metric.Judgements{"a": {"c": 1}, "b": {"c": 1}}}
	r := &Run{Rankings: map[string][]metric.Scored{"a": {{ID: "a", Score: 2}, {ID: "c", Score: 1}},
		"b": {{ID: "b", Score: 2}, {ID: "c", Score: 1}}}}
	c := judge(d, r, []metric.Measure{must.Get(metric.Parse("RR"))})
	check.That(t, c.PerQuery["a"][0] == 1 && c.PerQuery["b"][0] == 0.5, "%v", c.PerQuery)
}

func TestLeaveOut(t *testing.T) {
	report := func(name string, values ...float64) *Report {
		r := &Report{Dataset: name}
		for _, v := range values {
			r.Columns = append(r.Columns, ColumnReport{Scores: []Score{{Mean: 9}, {Mean: v}}})
		}
		return r
	}
	// Each pair of the other data sets prefers another column.
	got := LeaveOut([]*Report{report("a", 0.5, 0.9, 0.4), report("b", 0.5, 0.1, 0.8), report("c", 0.5, 0.5, 0.3)}, 1)
	want := []Choice{
		{"a", 2, 0.55, 0.4, 0.5, 0.9}, // b and c: 0.5, 0.3, 0.55
		{"b", 1, 0.7, 0.1, 0.5, 0.8},  // a and c: 0.5, 0.7, 0.35
		{"c", 2, 0.6, 0.3, 0.5, 0.5},  // a and b: 0.5, 0.5, 0.6
	}
	for i, c := range got {
		c.Mean = float64(int(c.Mean*1e6+0.5)) / 1e6
		check.Equal(t, c, want[i], "row %d", i)
	}
	c := LeaveOut([]*Report{report("a", 1, 1), report("b", 2, 2)}, 1)
	check.That(t, c[0].Column == 0 && c[1].Column == 0, "of equal columns not the first: %+v", c)
	check.That(t, LeaveOut([]*Report{report("a", 1, 2)}, 1) == nil &&
		LeaveOut([]*Report{report("a", 1), report("b", 1)}, 1) == nil, "nothing to leave out or to choose is no nil")
}
