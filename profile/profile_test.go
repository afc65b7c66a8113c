package profile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/rank"
)

var update = flag.Bool("update", false, "rewrite golden files and generated documents")

// golden compares text with a file, or writes it.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want := must.Get(os.ReadFile(file))
	check.Equal(t, cmp.Diff(string(want), text), "", "%s (-file +now; -update rewrites it)", file)
}

func parse(t testing.TB, text string) *profile.Profile {
	t.Helper()
	return must.Get(profile.Parse("p.yaml", []byte(text), profile.Builtin))
}

// folder creates a folder of profiles. The keys are file names without ".yaml".
func folder(t *testing.T, profiles map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range profiles {
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644))
	}
	return dir
}

// others are parameters that change the stages or numbers of a profile.
var others = map[string]map[string]string{
	"bench":        {"method": "rrf_per_doc", "m": "5", "chunk_top_k": "400", "rrf_k": "20"},
	"onyx-elastic": {"keyword": "1", "title_content_ratio": "0.1"},
	"onyx-vespa":   {"keyword": "1", "title_content_ratio": "0.1", "decay_factor": "2"},
	"rrf":          {"method": "weighted_sum", "vector_weight": "0.3"},
	"sheaf":        {"meaning": "0.5", "names": "0.2", "rerank": "30"},
	"sonar":        {"multiplier": "2.5", "bm25_weight": "0.7", "decay": "0.5"},
	"tiered": {"semantic": "1", "semantic_weight": "0.3", "lexical_boosts": "0", "rrf_k": "20",
		"normalization": "tanh"},
	"tree": {"candidate_limit": "50", "cutoff_ratio": "0.3", "max_results": "7", "aggregation_threshold": "0.8",
		"min_matches": "2"},
}

// limitOf returns the largest number of results that a profile allows.
func limitOf(t *testing.T, p *profile.Profile) int {
	t.Helper()
	for limit := range 1000 {
		if _, err := p.Plan(limit+1, nil); err != nil {
			return limit
		}
	}
	return 1000
}

// TestWithoutSource checks that a nil source has the built-in profiles.
func TestWithoutSource(t *testing.T) {
	p, err := profile.Parse("mine.yaml", []byte("name: mine\nextends: sonar\n"), nil)
	check.That(t, err == nil && p.Name == "mine", "%+v, %v", p, err)
	for name, want := range map[string]error{"sonar": nil, "sonnar": sheaf.ErrNotFound} {
		check.Is(t, must.Err(profile.Load(name, nil)), want, "%s", name)
	}
}

func TestBuiltin(t *testing.T) {
	infos := must.Get(profile.List())
	for _, info := range infos {
		if info.Err != nil {
			t.Errorf("%v", info.Err)
			continue
		}
		check.That(t, info.About != "", "%s says not what it is for", info.Name)
		p := must.Get(profile.Load(info.Name, profile.Builtin))
		text := must.Get(p.Show(10, nil))
		// Numbers may depend on the limit and on parameters, so the test tries other values, too.
		set := others[info.Name]
		again := must.Get(p.Show(min(150, limitOf(t, p)), set))
		_, again, _ = strings.Cut(again, "\nparameters\n")
		golden(t, filepath.Join("testdata", "show", info.Name+".txt"), text+"\nwith other parameters\n"+again)
	}
	for _, name := range []string{profile.Default, "tree", "sonar", "bench", "rrf", "onyx-elastic", "onyx-vespa"} {
		_, err := profile.Load(name, profile.Builtin)
		check.That(t, err == nil, "%v", err)
	}
}

func TestReference(t *testing.T) {
	text := must.Get(profile.Reference())
	golden(t, filepath.Join("..", "doc", "profiles.md"), text)
}

func TestSchema(t *testing.T) {
	text := must.Get(profile.Schema())
	must.That(t, json.Valid(text), "the schema is not JSON")
	golden(t, filepath.Join("..", "doc", "profile.schema.json"), string(text))
}

// whole is a profile that the cases of TestErrors break.
const whole = `name: p
parameters:
  alpha: {default: 0.5, min: 0, max: 1}
  how: {default: max_p, one_of: [max_p, top_m_sum]}
branches:
  - name: words
    retrieve: text
    fields: {title: 2, body: 1}
    limit: 4x
    weight: 1 - alpha
    then:
      - aggregate: {method: $how}
  - retrieve: vector
    weight: alpha
fuse: {method: rrf, k: 60}
then:
  - top: limit
`

func TestErrors(t *testing.T) {
	parse(t, whole)
	tests := []struct {
		old, new string
		want     string // part of the error
	}{
		{"fuse: {method: rrf, k: 60}", "fuse: {method: rrf, k: max(60, 2)}", `p.yaml:15:24: "max(60" ends at the comma: ` +
			`an expression with commas stands in quotation marks here, as k: "max(60, ...)"`},
		{"  - top: limit", "  - {top: max(1, limit)}", `"max(1" ends at the comma: an expression with commas stands in ` +
			`quotation marks here, as top: "max(1, ...)"`},
		{"fuse: {method: rrf, k: 60}", "fuse: {mehod: rrf}", `p.yaml:15:8: unknown key of fuse "mehod": did you ` +
			`mean "method"?`},
		{"k: 60", "k: 0", "p.yaml:15:24: fuse.k is 0: must be a whole number within 1..1000"},
		{"k: 60", "k: 1001", "p.yaml:15:24: fuse.k is 1001: must be a whole number within 1..1000"},
		{"k: 60", "k: 60.5", "p.yaml:15:24: fuse.k is 60.5: must be a whole number within 1..1000"},
		{"k: 60", "k: sixty", `p.yaml:15:24: unknown name in the expression of fuse.k "sixty"`},
		{"k: 60", "k: [60]", "fuse.k must be a whole number within 1..1000, and is a list"},
		{"k: 60", "k: .nan", "fuse.k is"},
		{"method: rrf", "method: rff", `unknown value of fuse.method "rff": did you mean "rrf"?`},
		{"fuse: {method: rrf, k: 60}\n", "", "several branches need fuse"},
		{"  - top: limit", "  - tpo: limit", `p.yaml:17:5: unknown stage "tpo": did you mean "top"?`},
		// A profile is checked with several limits.
		{"  - top: limit", "  - top: max(1, limit / 8)", "top.n is max(1, limit / 8), which is 1.25: must be a whole number"},
		{"  - top: limit", "  - top: 0 - 1", "top.n is 0 - 1, which is -1: must be a whole number within 1..1000000"},
		{"  - top: limit", "  - merge_adjacent: 3", "merge_adjacent takes no single value"},
		{"  - top: limit", "  - budget: {skip: true}", "budget needs tokens"},
		{"  - top: limit", "  - normalize: {low: 0.9, high: 0.1}", "p.yaml:17:17: normalize: low is 0.9 and high 0.1: low " +
			"must be below high"},
		{"  - top: limit", "  - folder_boost: {max: 0.5}", "max is 0.5: must be a finite number, at least 1"},
		{"  - top: limit", "  - budget: {tokens: 10, skip: maybe}", `budget.skip is "maybe": must be true or false`},
		{"limit: 4x", "limit: 4y", `p.yaml:9:12: words.limit is "4y": must be a whole number within 1..100000 or an ` +
			`expression: "y" is not expected here: must be a number, a parameter, a function or an operator`},
		{"limit: 4x", "limit: 0.15x", "words.limit is 0.15x, which is 0.15: must be a whole number"},
		{"limit: 4x", "limit: 4 x lmit", `unknown name in the expression of words.limit "lmit": did you mean "limit"?`},
		{"limit: 4x", "limit: foo(3)", "unknown function \"foo\""},
		{"limit: 4x", "limit: 10 / 0", "words.limit is 10 / 0, which is +Inf"},
		{"retrieve: text", "retrieve: txt", `unknown value of retrieve "txt": did you mean "text"?`},
		{"title: 2", "titel: 2", `unknown field "titel": did you mean "title"?`},
		{"{title: 2, body: 1}", "{title: 0, body: 0}", "the weights of all fields of branch words are 0"},
		{"    fields: {title: 2, body: 1}\n", "", "text branch words has no fields"},
		{"weight: alpha", "weight: alpha\n    tie_breaker: 0.3", `unknown key of a vector branch "tie_breaker"`},
		{"$how", "$hwo", `unknown parameter in aggregate.method "hwo": did you mean "how"?`},
		{"$how", "$alpha", "takes its value from parameter alpha, which is a number"},
		{"top_m_sum]", "nonsense]", `takes its value from parameter how, which may be "nonsense"`},
		{"default: max_p", "default: max", `unknown default of parameter how "max"`},
		{"default: 0.5", "default: 1.5", "the default of parameter alpha is 1.5: must be a number within 0..1"},
		{"min: 0, max: 1", "min: 2, max: 1", "min 2 above max 1"},
		{"min: 0, max: 1", "max: 1", "parameter alpha has no min"},
		{"alpha: {", "limit: {", "must not be called \"limit\""},
		{"alpha: {", "Alpha: {", "small letters"},
		{"alpha: {default: 0.5, min: 0, max: 1}", "alpha: 0.5", "must be a mapping with a default"},
		{"name: p\n", "", "the profile has no name"},
		{"name: p", "name: p\nname: q", "p.yaml:2:1: \"name\" is set twice: line 1 has it too"},
		{"name: p", "nmae: p", `unknown key of a profile "nmae": did you mean "name"?`},
		{"name: p", "name: p\nextends: p", "the profile extends itself: p extends p"},
		{"name: p", "name: p\nextends: sonra", `did you mean "sonar"?`},
		{"name: p", "name: &a p", "anchors, aliases, tags and merge keys are not allowed"},
		{"name: p", "name: [", "p.yaml:"},
		{"name: p", "name: p\nabout: " + strings.Repeat("[", 400), "p.yaml:2:47: nested deeper than 40 levels"},
		{"- retrieve: vector", "- retrieve: vector\n    name: words", "two branches are called \"words\""},
		{"weight: alpha", "weight: alpha\n    at_least: word",
			`unknown branch before this one "word": did you mean "words"?`},
	}
	for _, test := range tests {
		text := strings.Replace(whole, test.old, test.new, 1)
		must.That(t, text != whole, "%q is not in the profile", test.old)
		_, err := profile.Parse("p.yaml", []byte(text), profile.Builtin)
		check.Fails(t, err, sheaf.ErrInvalid, test.want, "%q for %q", test.new, test.old)
	}
	words := "name: p\nbranches:\n  - {retrieve: text, fields: {body: 1}, then: [%s]}\nthen: [%s]\n"
	for _, test := range []struct{ branch, then, want string }{
		{"similarity: closeness", "", "p.yaml:3:60: similarity needs the cosines of a vector branch"},
		{"", "similarity: closeness", "p.yaml:4:20: similarity needs the cosines of a vector branch"},
		{"graph_boost: {min_similarity: 0.75}", "", "p.yaml:3:78: graph_boost.min_similarity needs a vector branch"},
		{"", "graph_boost: {min_similarity: 0.75}", "p.yaml:4:38: graph_boost.min_similarity needs a vector branch"},
	} {
		_, err := profile.Parse("p.yaml", fmt.Appendf(nil, words, test.branch, test.then), profile.Builtin)
		check.Fails(t, err, sheaf.ErrInvalid, test.want, "%+v", test)
	}
	// These stages turn cosines into other scores.
	one := "name: p\nbranches:\n  - {retrieve: vector, %s}\n%sthen: [%s]\n"
	for _, test := range []struct {
		branch, fuse, then string
		right              bool
	}{
		{"then: [normalize: minmax, similarity: closeness]", "", "", false},
		{"then: [names, similarity: closeness]", "", "", false},
		{"then: [similarity: closeness, similarity: closeness]", "", "", false},
		{"then: [similarity: closeness]", "", "similarity: closeness", false},
		{"then: [names]", "", "similarity: closeness", false},
		{"limit: 9", "fuse: rrf\n", "similarity: closeness", false},
		{"limit: 9", "fuse: {method: scores, norm: minmax}\n", "similarity: closeness", false},
		{"weight: 2", "fuse: {method: scores, norm: none}\n", "similarity: closeness", false},
		{"then: [top: 5, elbow: 0.2, similarity: closeness]", "fuse: rrf\n", "", true},
		{"then: [top: 5]", "", "top: 3, similarity: closeness", true},
		{"limit: 9", "fuse: {method: rrf, direct: true}\n", "similarity: closeness", true},
		{"weight: 2", "fuse: {method: scores, norm: none, mean: arithmetic}\n", "similarity: closeness", true},
		{"weight: 1.0", "fuse: {method: scores, norm: none}\n", "similarity: closeness", true},
	} {
		_, err := profile.Parse("p.yaml", fmt.Appendf(nil, one, test.branch, test.fuse, test.then), profile.Builtin)
		right := err == nil
		check.That(t, right == test.right && (right ||
			strings.Contains(err.Error(), "similarity needs the cosines of a vector branch")), "%+v: %v", test, err)
	}
	for _, none := range []string{"0", "0.0", "-0", "0e1"} {
		check.NoError(t, must.Err(profile.Parse("p.yaml", fmt.Appendf(nil, words, "",
			"graph_boost: {min_similarity: "+none+"}"), profile.Builtin)), "a least similarity of %s asks for none", none)
	}
	zero := strings.Replace(strings.Replace(whole, "weight: 1 - alpha", "weight: 0", 1), "weight: alpha", "weight: 0", 1)
	_, err := profile.Parse("p.yaml", []byte(zero), profile.Builtin)
	check.That(t, err != nil && strings.Contains(err.Error(), "weights of all branches are 0") &&
		strings.Contains(err.Error(), place(zero, "weight: 0", len("weight: "))), "weights that sum to 0: %v", err)
	zero = strings.Replace(whole, "{title: 2, body: 1}", "{title: 0, body: 0}", 1)
	_, err = profile.Parse("p.yaml", []byte(zero), profile.Builtin)
	check.That(t, err != nil && strings.Contains(err.Error(), place(zero, "{title: 0", len("{title: "))),
		"fields whose weights sum to 0: %v", err)
}

func TestExpressions(t *testing.T) {
	tests := map[string]int{
		"7": 7, "4x": 40, "4 x limit": 40, "4 * limit": 40, "max(10 x limit, 1000)": 1000, "min(max(5x, 50), 1000)": 50,
		"limit + 2 x three": 16, "(limit + 2) x three": 36, "limit + 9 - 2 - 3": 14, "100 / 2 / 5": 10, "-3 + 4": 1,
		"ceil(limit / 3)":      4,
		"floor(limit / 3) + 1": 4, "if(three - 3, 1, 2)": 2, "if(three, 1, 2)": 1, "1e2": 100, "1_000": 1000, "4x + 1": 41,
		"2 × 3":  6,
		"4x - 1": 39, "4x-1": 39, "7 + 0 x -3": 7, "20 - limit x -3": 50, "1 - 2 x -(limit - 1)": 19, "4x * 2": 80,
		"4x x 2x": 800, "4x / 2": 20,
	}
	for text, want := range tests {
		p := parse(t, fmt.Sprintf("name: p\nparameters: {three: {default: 3, min: 0, max: 9}}\nbranches: [{retrieve: "+
			"text, fields: {body: 1}, limit: %q}]\n", text))
		plan := must.Get(p.Plan(10, nil))
		check.Equal(t, plan.Main.Branches[0].Limit, want, "%s", text)
	}
}

func TestParameters(t *testing.T) {
	p := parse(t, whole)
	plan := must.Get(p.Plan(5, map[string]string{"alpha": "0.25", "how": "top_m_sum"}))
	check.Equal(t, plan.Main.Branches[0].Weight, 0.75, "weight")
	text := must.Get(p.Show(10, map[string]string{"alpha": "0.82"}))
	check.That(t, strings.Contains(text, "weight 0.18\n"), "1 - 0.82 is shown as:\n%s", text)
	check.Equal(t, plan.Main.Branches[0].Then[0].Text, "aggregate: {method: top_m_sum}", "the stage")
	for _, test := range []struct{ name, value, want string }{
		{"alpha", "2", "parameter alpha of profile p is \"2\": must be a number within 0..1"},
		{"alpha", "NaN", "must be a number within 0..1"},
		{"alpha", "a lot", "must be a number"},
		{"how", "best", "must be one of max_p, top_m_sum"},
		{"alhpa", "1", `no parameter "alhpa": did you mean "alpha"?`},
	} {
		_, err := p.Plan(5, map[string]string{test.name: test.value})
		check.Fails(t, err, sheaf.ErrInvalid, test.want, "%s=%s", test.name, test.value)
	}
	for _, limit := range []int{0, -1, profile.MaxLimit + 1} {
		check.Fails(t, must.Err(p.Plan(limit, nil)), sheaf.ErrInvalid,
			fmt.Sprintf("limit is %d: must be within 1..%d", limit, profile.MaxLimit), "limit %d", limit)
	}
	for _, alpha := range []string{"0", "1"} { // the ends are allowed
		check.NoError(t, must.Err(p.Plan(5, map[string]string{"alpha": alpha})), "alpha %s", alpha)
	}
	// The bound is another parameter.
	bounded := func(least string) (*profile.Profile, error) {
		return profile.Parse("p.yaml", []byte("name: p\nparameters:\n  n: {default: 3, min: 1, max: 100}\n  m: {default: "+
			"5, min: 1, max: 100, at_least: "+least+"}\n"+
			"branches: [{retrieve: text, fields: {body: 1}, limit: m}]\n"), profile.Builtin)
	}
	for least, want := range map[string]string{
		"2 x n": "p.yaml:4:16: the default of parameter m is 5: must be at least 2 x n, which is 6",
		"6":     "p.yaml:4:16: the default of parameter m is 5: must be at least 6",
		"k":     `unknown name in the expression of at_least of parameter m "k"`,
	} {
		check.Fails(t, must.Err(bounded(least)), sheaf.ErrInvalid, want, "at_least %s", least)
	}
	if b, err := bounded("n"); err != nil || b.Parameters[1].Range() != "1..100, at least n" {
		t.Errorf("at_least n: %v", err)
	}
	// A parameter may make another number invalid. That is an error; the number is not changed.
	vespa := must.Get(profile.Load("onyx-vespa", profile.Builtin))
	sonar := must.Get(profile.Load("sonar", profile.Builtin))
	_, err := sonar.Plan(10, map[string]string{"embedding_weight": "0", "bm25_weight": "0"})
	check.Fails(t, err, sheaf.ErrInvalid, "the weights of all branches are 0: at least one must be above 0 (with "+
		"bm25_weight=0, embedding_weight=0)", "weights that a query sets to 0")
	for _, set := range []map[string]string{{"target_hits": "0"}, {"target_hits": "999"}, {"rerank_count": "1001"},
		{"target_hits": "50", "rerank_count": "51"}} {
		_, err := vespa.Plan(10, set)
		check.Fails(t, err, sheaf.ErrInvalid, "parameter target_hits of profile onyx-vespa is", "%v", set)
	}
	for _, set := range []map[string]string{{"target_hits": "1000"}, {"target_hits": "50", "rerank_count": "50"},
		{"rerank_count": "1"}} {
		plan, err := vespa.Plan(10, set)
		if err != nil {
			t.Errorf("%v: %v", set, err)
			continue
		}
		if want := plan.Values["rerank_count"]; fmt.Sprint(plan.Candidates.Limit) != want {
			t.Errorf("%v: the first phase lets %d through, want %s", set, plan.Candidates.Limit, want)
		}
		for _, b := range plan.Main.Branches {
			if want := plan.Values["rerank_count"]; fmt.Sprint(b.Limit) != want {
				t.Errorf("%v: branch %s of the second phase ranks %d, want %s", set, b.Name, b.Limit, want)
			}
		}
	}
	check.Fails(t, must.Err(vespa.Plan(10, map[string]string{"rerank_count": "1.5"})), sheaf.ErrInvalid,
		"must be a whole number within 1..100000", "half a chunk")
}

// TestOnyxElasticParameters checks the parameters that the reference system derives from a query.
func TestOnyxElasticParameters(t *testing.T) {
	p := must.Get(profile.Load("onyx-elastic", profile.Builtin))
	for _, test := range []struct {
		keyword, ratio string
		limit          int
		fusion         string
		title, body    float64
		candidates     int
	}{
		{"0", "0.3", 10, "fuse: {method: rrf, k: 60}", 3, 7, 10000},
		{"0", "0.1", 50, "fuse: {method: rrf, k: 60}", 1, 9, 10000},
		{"1", "0.3", 10, "fuse: {method: rrf, k: 20}", 3, 7, 50},
		{"1", "0.1", 100, "fuse: {method: rrf, k: 20}", 1, 9, 500},
	} {
		plan := must.Get(p.Plan(test.limit, map[string]string{"keyword": test.keyword, "title_content_ratio": test.ratio}))
		words, meaning := plan.Main.Branches[0], plan.Main.Branches[1]
		got := []profile.Field{{Name: "title", Weight: test.title}, {Name: "body", Weight: test.body}}
		d := cmp.Diff(got, words.Text.Fields)
		check.That(t, d == "", "%v", d)
		check.That(t, words.Text.TieBreaker == 0.3 && words.Limit == 20 && meaning.Limit == 20 &&
			plan.Main.FusionText == test.fusion && meaning.Vector.Candidates == test.candidates, "%+v: got %+v %+v %s", test,
			words, meaning, plan.Main.FusionText)
		check.Equal(t, words.Weight, meaning.Weight, "%+v: weights of words and meaning", test)
	}
	check.Is(t, must.Err(p.Plan(10, map[string]string{"alpha": "0.2"})), sheaf.ErrInvalid,
		"alpha")
}

func TestExtends(t *testing.T) {
	p := parse(t, "name: mine\nextends: sonar\nparameters: {decay: 0.5, extra: {default: 1, min: 0, max: "+
		"2}}\nbranches: {words: {limit: 7, fields: {title: extra}}}\n")
	plan := must.Get(p.Plan(10, nil))
	b := plan.Main.Branches
	check.That(t, len(b) == 2 && b[0].Limit == 7 && b[0].Text.Fields[0].Name == "title" &&
		strings.Contains(b[1].Then[0].Text, "decay: 0.5") && b[0].Weight == 0.4, "got %+v", b)
	sonar := must.Get(profile.Load("sonar", profile.Builtin))
	d := must.Get(profile.Diff(sonar, p, 10))
	check.That(t, strings.Contains(d, "- ┌ words    words in body x 1") &&
		strings.Contains(d, "+ ┌ words    words in title x 1"), "the difference is\n%s", d)
	d, err := profile.Diff(sonar, sonar, 10)
	check.That(t, d == "" && err == nil, "a profile differs from itself: %s, %v", d, err)
	for text, want := range map[string]string{
		"name: a\nextends: sonar\nparameters: {dcay: 1}\n": `unknown parameter of the profile that is extended ` +
			`"dcay": did you mean "decay"?`,
		"name: a\nextends: sonar\nbranches: {wrods: {limit: 3}}\n": `unknown branch of the profile that is extended ` +
			`"wrods": did you mean "words"?`,
		"name: a\nextends: sonar\nparameters: {decay: 3}\n":       "must be a number within 0..1",
		"name: a\nextends: sonar\nbranches: {words: {limt: 3}}\n": `unknown key of a text branch "limt"`,
		"name: a\nextends: [sonar]\n":                             "extends must be a single value",
	} {
		_, err := profile.Parse("a.yaml", []byte(text), profile.Builtin)
		check.That(t, err != nil && strings.Contains(err.Error(), want), "%q: got %v, want %s", text, err, want)
	}
}

// TestExtendsInCircles checks that no profile extends itself, with or without a name.
func TestExtendsInCircles(t *testing.T) {
	dir := folder(t, map[string]string{"a": "name: a\nextends: b\n", "b": "name: b\nextends: c\n",
		"c": "name: c\nextends: b\n", "own": "name: own\nextends: own\n", "alone": "extends: alone\n",
		"one": "extends: two\n", "two": "extends: one\n", "sonar": "extends: sonar\n"})
	for name, want := range map[string]string{"a": "a extends b extends c extends b", "own": "own extends own",
		"alone": "alone extends alone", "one": "two extends one extends two", "sonar": "sonar extends sonar"} {
		check.Fails(t, must.Err(profile.Load(name, profile.In(dir))), sheaf.ErrInvalid, "extends itself: "+want, "%s", name)
	}
}

// TestExtendsTheBuiltinOfItsName checks that a profile may have the name of the built-in profile that it changes.
func TestExtendsTheBuiltinOfItsName(t *testing.T) {
	sonar := must.Get(profile.Load("sonar", profile.Builtin))
	text := must.Get(profile.New("sonar", sonar))
	text = bytes.Replace(text, []byte("decay: 0.95"), []byte("decay: 0.5"), 1)
	dir := folder(t, map[string]string{"sonar": string(text), "mine": "name: mine\nextends: sonar\n"})
	for _, name := range []string{"sonar", "mine"} {
		p := must.Get(profile.Load(name, profile.In(dir)))
		if plan, err := p.Plan(10, nil); err != nil || plan.Values["decay"] != "0.5" {
			t.Errorf("%s: decay %s, want 0.5 (%v)", name, plan.Values["decay"], err)
		}
	}
}

// TestExtendsBesideTheFile checks that a file finds the profile that it extends first in its own
// folder, then in the others. The error for a missing profile lists the searched places.
func TestExtendsBesideTheFile(t *testing.T) {
	others := folder(t, map[string]string{"base": "name: base\nextends: sonar\nparameters: {decay: 0.1}\n",
		"far": "name: far\nextends: sonar\nparameters: {decay: 0.2}\n"})
	mine := folder(t, map[string]string{"base": "name: base\nextends: tail\nparameters: {decay: 0.3}\n",
		"tail": "name: tail\nextends: sonar\n", "beside": "name: a\nextends: base\n", "far": "name: a\nextends: far\n",
		"built": "name: a\nextends: sonar\n", "lost": "name: a\nextends: bas\n",
		"file": "name: a\nextends: ./base.yaml\n"})
	// A file that extends its own name finds the other profile of this name.
	for name, want := range map[string]string{"beside": "0.3", "far": "0.2", "built": "0.95"} {
		p := must.Get(profile.Load(filepath.Join(mine, name+".yaml"), profile.In(others)))
		check.Equal(t, must.Get(p.Plan(10, nil)).Values["decay"], want, "%s: decay", name)
	}
	for name, want := range map[string][]string{
		"lost": {"lost.yaml:2:10", "looked for bas.yaml in " + mine + ", in " + others +
			", and among the built-in profiles (bench, ", `did you mean "base"?`},
		"file": {`write "base"`},
	} {
		_, err := profile.Load(filepath.Join(mine, name+".yaml"), profile.In(others))
		for _, part := range want {
			check.Fails(t, err, sheaf.ErrInvalid, part, "%s", name)
		}
	}
}

// TestNewOfEveryName checks that Parse reads the output of New, even for names like "null" or "yes".
func TestNewOfEveryName(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"null", "true", "yes", "on", "n", "e1", "after-null"} {
		from := "sonar"
		if name == "after-null" {
			from = "null"
		}
		p := must.Get(profile.Load(from, profile.In(dir)))
		text := must.Get(profile.New(name, p))
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o644))
		made, err := profile.Load(name, profile.In(dir))
		check.That(t, err == nil && made.Name == name, "%s: %v", name, err)
	}
}

func TestFolders(t *testing.T) {
	sonar := must.Get(profile.Load("sonar", profile.Builtin))
	text := must.Get(profile.New("mine", sonar))
	dir := folder(t, map[string]string{"mine": string(text), "broken": "name: broken\n",
		"lost": "name: lost\nextends: nope\n"})
	mine := must.Get(profile.Load("mine", profile.In(dir)))
	d, err := profile.Diff(sonar, mine, 10)
	check.That(t, d == "" && err == nil, "the new profile does something else: %s, %v", d, err)
	infos := must.Get(profile.List(dir, filepath.Join(dir, "nowhere")))
	found := map[string]bool{}
	for _, info := range infos {
		found[info.Name] = info.Err == nil
	}
	check.That(t, found["mine"] && found["sonar"] && !found["broken"] && !found["lost"] &&
		len(found) == len(must.Get(profile.List()))+3, "found %v", found)
	for _, name := range []string{"sonra", "../sonar", "", "mine.txt"} {
		check.Is(t, must.Err(profile.Load(name, profile.In(dir))), sheaf.ErrNotFound, "%q", name)
	}
	check.NoError(t, must.Err(profile.Load(filepath.Join(dir, "mine.yaml"), profile.In())), "by file")
	check.Is(t, must.Err(profile.New("Bad Name", sonar)), sheaf.ErrInvalid, "a bad name")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	for _, name := range []string{"sheaf", "onyx-vespa", "bench"} {
		_, text, err := profile.Builtin(name)
		must.Do(f, err)
		f.Add(text)
	}
	f.Add([]byte("name: a\nextends: sonar\nbranches: {words: {limit: 4x + (2}}"))
	f.Add([]byte("? a\n: - b\n- - - c\n..."))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := profile.Parse("p.yaml", text, profile.Builtin)
		if err != nil {
			must.That(t, errors.Is(err, sheaf.ErrInvalid), "no category: %v", err)
			return
		}
		_, err = p.Show(10, nil)
		must.That(t, err == nil, "loads and does not show: %v", err)
	})
}

func TestNewStage(t *testing.T) {
	r := sheaf.Ranking{{ID: "a", Score: 8}, {ID: "b", Score: 7}, {ID: "c", Score: 2}}
	step := must.Get(profile.NewStage("elbow", map[string]string{"ratio": "0.5"}, 10, ""))
	out, err := step.Stage.Apply(r, rank.Env{})
	check.That(t, err == nil && len(out) == 2 && step.Text == "elbow: {ratio: 0.5}",
		"%s gives %v, %v", step.Text, out, err)
	step = must.Get(profile.NewStage("pin", map[string]string{"ids": "c, b"}, 10, ""))
	out, err = step.Stage.Apply(r, rank.Env{})
	check.That(t, err == nil && out[0].ID == "c" && out[1].ID == "b", "pinned: %v, %v", out, err)
	for _, name := range profile.Stages() {
		check.Fails(t, must.Err(profile.NewStage(name, map[string]string{"nonsense": "1"}, 10, "")), sheaf.ErrInvalid,
			"nonsense", "%s", name)
	}
	for name, want := range map[string]string{"ebow": `did you mean "elbow"?`, "budget": "needs tokens"} {
		check.Fails(t, must.Err(profile.NewStage(name, nil, 10, "")), sheaf.ErrInvalid, want, "%s", name)
	}
}

// place returns a position in a profile as errors write it: after bytes behind the first occurrence of text.
func place(profile, text string, after int) string {
	at := strings.Index(profile, text) + after
	line := strings.Count(profile[:at], "\n") + 1
	return fmt.Sprintf("p.yaml:%d:%d:", line, at-strings.LastIndexByte(profile[:at], '\n'))
}
