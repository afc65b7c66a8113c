package profile_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
	"sheaf/rank"
)

const oneBranch = "branches: [{retrieve: text, fields: {body: 1}}]\n"

// TestSources checks the defaults and the parameters of the parts before the branches.
func TestSources(t *testing.T) {
	p, err := profile.Parse("p.yaml", []byte("name: p\nparameters: {n: {default: 20, min: 1, max: 100, integer: "+
		"true}}\nlimits: {default: 7, max: 2 x n}\n"+
		"expand: {variants: 2, timeout: 1.5, passage: true}\ncandidates: {scan: {files: n, memory_mb: 30}}\n"+oneBranch),
		profile.Builtin)
	must.Do(t, err)
	plan := must.Get(p.Plan(10, map[string]string{"n": "30"}))
	want := (profile.Expand{Variants: 2, Passage: true, Timeout: 1500 * time.Millisecond})
	check.That(t, *plan.Expand == want, "expand %+v", plan.Expand)
	if want := (profile.Scan{Files: 30, ChunkChars: 6000, MaxVectors: 1000, ListValues: 10, FrontmatterDepth: 1,
		MemoryBytes: 30 << 20}); *plan.Scan != want {
		t.Errorf("scan %+v", plan.Scan)
	}
	if !p.Scans() || p.DefaultLimit(nil) != 7 {
		t.Errorf("scans %v, %d by default", p.Scans(), p.DefaultLimit(nil))
	}
	check.Fails(t, must.Err(p.Plan(41, nil)), sheaf.ErrInvalid, "limit is 41: profile p allows 1..40", "limit 41")
	check.NoError(t, must.Err(p.Plan(41, map[string]string{"n": "21"})), "limit 41 of 42")
	for text, want := range map[string]*profile.Expand{"{when: 0}": nil,
		"{variants: 0, all_words: true, when: 2}": {AllWords: true, Timeout: 5 * time.Second}} {
		p := must.Get(profile.Parse("w.yaml", []byte("name: w\nexpand: "+text+"\n"+oneBranch), profile.Builtin))
		plan, err := p.Plan(5, nil)
		check.That(t, err == nil && reflect.DeepEqual(plan.Expand, want), "%s: %+v, %v", text, plan.Expand, err)
	}
	plain := must.Get(profile.Parse("q.yaml", []byte("name: q\nexpand: 0\n"+oneBranch), profile.Builtin))
	plan, err = plain.Plan(5, nil)
	check.That(t, err == nil && plan.Scan == nil && plan.Expand.Variants == 0 && plan.Expand.Timeout == 5*time.Second &&
		plain.DefaultLimit(nil) == 0, "%+v, %v", plan, err)
}

func TestSourcesRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"expand: {variant: 1}":                  `p.yaml:2:10: `,
		"expand: {variants: 11}":                "expand.variants is 11: must be a whole number within 0..10",
		"expand: {timeout: 0}":                  "expand.timeout is 0",
		"expand: {passage: 1}":                  "must be true or false",
		"candidates: {scan: {files: 0}}":        "scan.files is 0: must be a whole number within 1..10000",
		"candidates: {scan: {memory_mb: 5000}}": "scan.memory_mb is 5000",
		"candidates: {scan: {}, limit: 5}":      `"limit"`,
		"limits: {max: 0}":                      "limits.max is 0",
		"limits: {default: 9, max: 8}":          "limits.default is 9, above limits.max, which is 8",
		"limits: 5":                             "takes no single value",
		"then: [{top: {n: 5, when: x}}]":        "when",
		"then: [{top: {n: 5, wen: 1}}]":         `"wen"`,
		"fuse: {method: rrf, direct: maybe}":    "must be true or false",
		"then: [{reading_order: -1}]":           "reading_order.within is -1",
	} {
		_, err := profile.Parse("p.yaml", []byte("name: p\n"+text+"\n"+oneBranch), profile.Builtin)
		check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), want) &&
			strings.Contains(err.Error(), "p.yaml:2:"), "%s: %v, want %s", text, err, want)
	}
}

// TestWhenAndDirect checks that when: 0 disables a stage, and that any other number keeps it.
// direct keeps the scores of a branch only when no other branch counts.
func TestWhenAndDirect(t *testing.T) {
	p := must.Get(profile.Parse("p.yaml", []byte(`name: p
parameters: {on: {default: 1, min: -5, max: 5}, w: {default: 0.5, min: 0, max: 1}}
branches:
  - {name: a, retrieve: text, fields: {body: 1}, weight: w}
  - {name: b, retrieve: vector, weight: 1 - w}
fuse: {method: rrf, k: 10, direct: true}
then:
  - top: {n: 3, when: on}
  - top: 5
`), profile.Builtin))
	for _, c := range []struct {
		on, w  string
		stages int
		fusion rank.Fusion
	}{
		{"1", "0.5", 2, rank.RRF{K: 10}}, {"0", "0.5", 1, rank.RRF{K: 10}},
		{"-5", "1", 2, rank.Scores{Norm: rank.NormNone, Mean: rank.MeanArithmetic}},
		{"0", "0", 1, rank.Scores{Norm: rank.NormNone, Mean: rank.MeanArithmetic}},
	} {
		plan, err := p.Plan(10, map[string]string{"on": c.on, "w": c.w})
		check.That(t, err == nil && len(plan.Main.Then) == c.stages && reflect.DeepEqual(plan.Main.Fusion, c.fusion),
			"%+v: %d stages, %+v, %v", c, len(plan.Main.Then), plan.Main.Fusion, err)
	}
}

// TestRunStages checks that stages for runs are a part of all stages. Other stages return an error.
func TestRunStages(t *testing.T) {
	for _, name := range profile.Stages() {
		_, err := profile.NewRunStage(name, map[string]string{}, 10)
		runs := false
		for _, r := range profile.RunStages() {
			runs = runs || r == name
		}
		check.That(t, runs || err != nil, "%s works on runs and is not listed", name)
		help, err := profile.StageHelp(name)
		check.That(t, err == nil && strings.HasPrefix(help, name+" ") && !strings.Contains(help, "\t"),
			"%s: %q, %v", name, help, err)
	}
	for name, hint := range map[string]string{"zzzzzzzz": "", "elbo": `: did you mean "elbow"?`} {
		want := fmt.Sprintf("unknown stage %q%s (allowed: %s)", name, hint, strings.Join(profile.RunStages(), ", "))
		check.Fails(t, must.Err(profile.NewRunStage(name, nil, 10)), sheaf.ErrInvalid, want, "stage %s", name)
	}
	check.Is(t, must.Err(profile.NewRunStage("aggregate", map[string]string{"to": "parent"}, 10)), sheaf.ErrUnsupported,
		"to parents")
	check.Is(t, must.Err(profile.StageHelp("nothing")), sheaf.ErrInvalid, "StageHelp")
	for _, o := range profile.FusionOptions() {
		check.That(t, o.Name != "" && o.About != "" && o.Allowed() != "" && o.Name != "complete" && !slices.Contains(o.OneOf,
			"share"), "%+v", o)
	}
}

// TestLimitBeyondWhatBranchesRetrieve checks that a plan knows its largest possible number of
// results. A larger limit is an error with advice.
func TestLimitBeyondWhatBranchesRetrieve(t *testing.T) {
	for _, test := range []struct {
		name string
		set  map[string]string
		most int
	}{
		{"onyx-elastic", nil, 40}, {"onyx-elastic", map[string]string{"rank_window_size": "7"}, 14}, {"tree", nil, 20},
		{"tree", map[string]string{"max_results": "200"}, 100}, {"bench", nil, 200}, {"sonar", nil, 80},
		{"onyx-vespa", map[string]string{"rerank_count": "30"}, 30}, {"tiered", nil, 20},
		{"tiered", map[string]string{"semantic": "1", "semantic_weight": "1"}, 100},
	} {
		p := must.Get(profile.Load(test.name, profile.Builtin))
		plan := must.Get(p.Plan(10, test.set))
		check.Equal(t, plan.Most(), test.most, "%s %v: most results", test.name, test.set)
		check.NoError(t, plan.CheckLimit(test.most), "%s", test.name)
		check.Fails(t, plan.CheckLimit(test.most+1), sheaf.ErrInvalid,
			fmt.Sprint("ask for at most ", test.most), "%s", test.name)
	}
}

// TestDefaultLimitFollowsParameters checks that the default number of results follows the
// parameters, for example max_results of tree.
func TestDefaultLimitFollowsParameters(t *testing.T) {
	p := must.Get(profile.Load("tree", nil))
	for value, want := range map[string]int{"": 20, "7": 7, "50": 50, "50000": 10000, "x": 0} {
		set := map[string]string{"max_results": value}
		if value == "" {
			set = nil
		}
		check.Equal(t, p.DefaultLimit(set), want, "max_results %q: default limit", value)
	}
}
