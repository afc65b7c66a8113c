package metric_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sheaf/eval/metric"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/internal/worked"
)

// TestWorkedByHand checks rankings whose values a person can compute.
func TestWorkedByHand(t *testing.T) {
	qrels := metric.Judgements{"a": 1, "b": 2, "c": 1, "d": 0}
	ranking := []string{"x", "b", "d", "a"}
	log := math.Log2
	ideal := 2/log(2) + 1/log(3) + 1/log(4)
	for name, want := range map[string]float64{
		"nDCG@10":    (2/log(3) + 1/log(5)) / ideal,
		"AP":         (1.0/2 + 2.0/4) / 3,
		"RR":         1.0 / 2,
		"RR(rel=2)":  1.0 / 2,
		"P@4":        2.0 / 4,
		"P@10":       2.0 / 10,
		"R@3":        1.0 / 3,
		"Success@1":  0,
		"Success@2":  1,
		"Judged@2":   1.0 / 2,
		"RBP(p=0.5)": 0.5*0.5 + 0.5*0.125,
	} {
		m := must.Get(metric.Parse(name))
		got := m.Of(ranking, qrels)
		check.That(t, math.Abs(got-want) <= 1e-12, "%s = %v, want %v", name, got, want)
	}
}

// TestEqualsReferenceTool checks against the output of ir_measures for random rankings with many
// ties, made by testdata/make_fixture.py.
func TestEqualsReferenceTool(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/fixture.json"))
	var cases []struct {
		Qrels, Run [][3]any
		Values     map[string]map[string]float64
	}
	must.Do(t, json.Unmarshal(raw, &cases))
	for _, c := range cases {
		must.That(t, len(c.Values) >= 15, "only %d measures in the fixture", len(c.Values))
		qrels, runs := decode(c.Qrels, c.Run)
		for name, values := range c.Values {
			compare(t, name, values, qrels, runs)
		}
	}
}

func decode(rawQrels, rawRun [][3]any) (map[string]metric.Judgements, map[string][]metric.Scored) {
	qrels := map[string]metric.Judgements{}
	for _, q := range rawQrels {
		id := q[0].(string)
		if qrels[id] == nil {
			qrels[id] = metric.Judgements{}
		}
		qrels[id][q[1].(string)] = int(q[2].(float64))
	}
	runs := map[string][]metric.Scored{}
	for _, r := range rawRun {
		id := r[0].(string)
		runs[id] = append(runs[id], metric.Scored{ID: r[1].(string), Score: r[2].(float64)})
	}
	return qrels, runs
}

func compare(t *testing.T, name string, values map[string]float64, qrels map[string]metric.Judgements,
	runs map[string][]metric.Scored) {
	t.Helper()
	m, err := metric.Parse(name)
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	tolerance := 1e-6
	if strings.HasPrefix(name, "ERR") || strings.Contains(name, "exp-log2") {
		tolerance = 6e-6 // gdeval prints five digits
	}
	for query, want := range values {
		got := m.Of(metric.IDs(metric.Order(runs[query])), qrels[query])
		check.That(t, math.Abs(got-want) <= tolerance, "%s of %s = %v, the reference says %v", name, query, got, want)
	}
}

func TestParse(t *testing.T) {
	for _, name := range []string{"nDCG@10", "nDCG(dcg='exp-log2')@10", "AP(rel=2)@100", "RBP(p=0.5)", "RBP", "Judged@10",
		"RR(judged_only=True)@10"} {
		m, err := metric.Parse(name)
		if err != nil {
			t.Errorf("%v", err)
		} else if m.String() != name {
			t.Errorf("%q reads back as %q", name, m)
		}
	}
	for name, say := range map[string]string{
		"ndcg@10":       "not one of nDCG",
		"nDCG@0":        "whole number from 1",
		"nDCG@x":        "whole number from 1",
		"P":             "needs a cutoff",
		"RBP(p=1)":      "below 1",
		"RBP(p=NaN)":    "below 1",
		"nDCG(rel=2)@5": "no argument",
		"AP(rel=0)":     "from 1",
		"AP(rel=2":      "not closed",
		"":              "not one of",
	} {
		if _, err := metric.Parse(name); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("Parse(%q) = %v, want an error with %q", name, err, say)
		}
	}
}

// TestJudgedOnlyOfNegativeGains checks that judged_only treats negative gains as not judged, as
// trec_eval does (measured: trec_eval -J).
func TestJudgedOnlyOfNegativeGains(t *testing.T) {
	qrels := metric.Judgements{"spam": -2, "unknown": -1, "no": 0, "yes": 1}
	for name, want := range map[string]float64{"P(judged_only=True)@2": 0.5, "RR(judged_only=True)": 0.5, "RR": 0.2,
		"Judged@2": 1} {
		m := must.Get(metric.Parse(name))
		check.Equal(t, m.Of([]string{"spam", "unknown", "no", "other", "yes"}, qrels), want, "%s", name)
	}
}

// TestParseList checks that commas separate measures, and arguments within parentheses.
func TestParseList(t *testing.T) {
	list := must.Get(metric.ParseList("nDCG@10, RBP(p=0.5,rel=2)@10,nDCG(dcg='exp-log2',judged_only=True)@5,RR"))
	var names []string
	for _, m := range list {
		names = append(names, m.String())
	}
	got, want := strings.Join(names, ";"), "nDCG@10;RBP(p=0.5,rel=2)@10;nDCG(dcg='exp-log2',judged_only=True)@5;RR"
	check.That(t, got == want, "%s, want %s", got, want)
	for text, say := range map[string]string{"": "not one of", "RR,": `measure ""`, "RBP(p=0.5,rel=2,RR": "not closed",
		"RR),P@5": "not one of"} {
		if _, err := metric.ParseList(text); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("ParseList(%q) = %v, want an error with %q", text, err, say)
		}
	}
}

// TestOrderInThirtyTwoBits checks that scores with equal 32-bit forms are equal, as in trec_eval.
func TestOrderInThirtyTwoBits(t *testing.T) {
	got := metric.IDs(metric.Order([]metric.Scored{{"a", 0.812345678}, {"b", 0.812345677}, {"c", 0.8123457}, {"d", 1e300},
		{"e", 1e200}}))
	want := []string{"e", "d", "c", "b", "a"}
	check.That(t, slices.Equal(got, want), "%v, want %v", got, want)
}

// TestProperties checks that values are in [0,1], and that the best ranking has nDCG 1. Moving a
// better document up never lowers nDCG, and the input does not change.
func TestProperties(t *testing.T) {
	ndcg := must.Get(metric.Parse("nDCG@10"))
	rapid.Check(t, func(t *rapid.T) {
		gains := rapid.SliceOfN(rapid.IntRange(-1, 4), 1, 30).Draw(t, "gains")
		qrels := metric.Judgements{}
		var ranking []string
		for i, g := range gains {
			id := fmt.Sprintf("d%d", i)
			ranking = append(ranking, id)
			if g >= 0 {
				qrels[id] = g
			}
		}
		before := slices.Clone(ranking)
		for _, name := range []string{"nDCG@10", "AP", "RR", "P@5", "R@5", "Success@3", "Judged@10", "RBP", "ERR@20"} {
			m := must.Get(metric.Parse(name))
			v := m.Of(ranking, qrels)
			must.That(t, v >= 0 && v <= 1+1e-12, "%s = %v", name, v)
		}
		must.That(t, slices.Equal(before, ranking), "the ranking was changed")
		base := ndcg.Of(ranking, qrels)
		for i := 1; i < len(ranking); i++ {
			if qrels[ranking[i]] > qrels[ranking[i-1]] {
				better := slices.Clone(ranking)
				better[i], better[i-1] = better[i-1], better[i]
				v := ndcg.Of(better, qrels)
				must.That(t, v >= base-1e-12, "raising %s lowered nDCG from %v to %v", ranking[i], base, v)
			}
		}
		slices.SortStableFunc(ranking, func(a, b string) int { return qrels[b] - qrels[a] })
		v := ndcg.Of(ranking, qrels)
		must.That(t, v == 0 || math.Abs(v-1) <= 1e-12, "the ideal ranking has nDCG %v", v)
	})
}

func ExampleMeasure_Of() {
	m, _ := metric.Parse("nDCG@10")
	fmt.Printf("%s %.4f\n", m, m.Of([]string{"wrong", "right"}, metric.Judgements{"right": 1}))
	// Output: nDCG@10 0.6309
}

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
		must.That(t, len(c.Curves) >= 20, "%d curves", len(c.Curves))
		for query, want := range c.Curves {
			got := metric.Curve(metric.IDs(metric.Order(runs[query])), qrels[query])
			for i := range want {
				check.That(t, math.Abs(got[i]-want[i]) <= 1e-6, "query %s at recall %.1f: %v, want %v", query, float64(i)/10,
					got[i], want[i])
			}
		}
	}
}

func ExampleCurve() {
	c := metric.Curve([]string{"x", "a", "b", "y"}, metric.Judgements{"a": 1, "b": 1, "c": 1})
	fmt.Printf("%.2f %.2f %.2f\n", c[0], c[6], c[8])
	// Output: 0.67 0.67 0.00
}

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
			got := m.Of(c.Input.Retrieved, c.Input.Relevant)
			check.That(t, math.Abs(got-want) <= c.Tolerance, "%s: %s is %v, want %v", c.Name, name, got, want)
		}
	}
}
