package profile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/profile"
)

// TestRemovedParameters checks that a query or profile with an old parameter of the default ranking
// gets a message with the replacement.
func TestRemovedParameters(t *testing.T) {
	const list = "(parameters: meaning, pairs, names, exact, links, per_document, rerank, hyde)"
	p := must(profile.Load("sheaf", nil))
	var names []string
	for _, q := range p.Parameters {
		names = append(names, q.Name)
	}
	if got := "(parameters: " + strings.Join(names, ", ") + ")"; got != list {
		t.Fatalf("got %s", got)
	}
	mine := parse(t, "name: mine\nextends: sheaf\nparameters: {meaning: 0.5}\n")
	for name, instead := range map[string]string{"similarity": "remove it", "support": "remove it", "whole": "remove it",
		"coverage":  "remove it, or use pairs",
		"threshold": "remove it, or write the stage tree into then", "pool": "remove it, or write limit into the branches",
		"trust": "remove it"} {
		for _, p := range []*profile.Profile{p, mine} {
			want := fmt.Sprintf("parameter %s of profile %s is gone: the default ranking no longer has it; %s %s", name, p.Name,
				instead, list)
			_, err := p.Plan(10, map[string]string{name: "0.5"})
			var parameter *profile.ParameterError
			if !errors.Is(err, sheaf.ErrInvalid) || !errors.As(err, &parameter) || parameter.Name != name ||
				err.Error() != "invalid: "+want {
				t.Errorf("a query sets %s:\n got %v\nwant %s", name, err, want)
			}
		}
		want := fmt.Sprintf("parameter %s of profile sheaf is gone: the default ranking no longer has it; %s %s", name,
			instead, list)
		for _, value := range []string{"0.5", "{default: 0.5}", "[1]"} {
			_, err := profile.Parse("p.yaml", fmt.Appendf(nil, "name: mine\nextends: sheaf\nparameters:\n  %s: %s\n", name,
				value), nil)
			if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "p.yaml:4:3: "+want) {
				t.Errorf("a profile has %s: %s:\n got %v\nwant %s", name, value, err, want)
			}
		}
		_, err := profile.Parse("p.yaml", fmt.Appendf(nil, "name: mine\nextends: sheaf\nlimits: {default: ceil(%s)}\n", name),
			nil)
		if want := "limits.default is \"ceil(" + name + ")\": parameter " + name +
			" of profile sheaf is gone"; !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("an expression names %s:\n got %v\nwant %s", name, err, want)
		}
		// A profile may declare a parameter of the old name.
		own := parse(t, fmt.Sprintf("name: mine\nextends: sheaf\nparameters:\n  %s: {default: 0.5, min: 0, max: 1}\n", name))
		if plan, err := own.Plan(10, map[string]string{name: "0.25"}); err != nil || plan.Values[name] != "0.25" {
			t.Errorf("%s of one's own: %v", name, err)
		}
		// The parameter is unknown in profiles that never had it.
		rrf := must(profile.Load("rrf", nil))
		if _, err := rrf.Plan(10, map[string]string{name: "1"}); err == nil || strings.Contains(err.Error(), "gone") {
			t.Errorf("rrf, %s: %v", name, err)
		}
	}
}

// TestRemovedStagesAndBranches checks that a removed stage or branch gets a message with the replacement.
func TestRemovedStagesAndBranches(t *testing.T) {
	for stage, instead := range map[string]string{"support": "remove it", "whole": "use word_pairs", "guard": "remove it",
		"title_boost": "use names",
		"min_score":   "use adaptive, with floor 0 and the least score as absolute"} {
		want := fmt.Sprintf("stage %s is gone: %s (stages: aggregate, ", stage, instead)
		for _, step := range []string{stage, stage + ": 10", stage + ": {x: 1}"} {
			_, err := profile.Parse("p.yaml", fmt.Appendf(nil, "name: mine\nextends: sheaf\nthen:\n  - %s\n", step), nil)
			if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), "p.yaml:4:5: "+want) {
				t.Errorf("%s:\n got %v\nwant %s", step, err, want)
			}
		}
		if _, err := profile.NewStage(stage, nil, 10); !errors.Is(err, sheaf.ErrInvalid) ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("alone: %v", err)
		}
		if _, err := profile.NewRunStage(stage, nil, 10); !errors.Is(err, sheaf.ErrInvalid) ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("on a run: %v", err)
		}
		if _, err := profile.StageHelp(stage); !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("help: %v", err)
		}
	}
	_, err := profile.Parse("p.yaml", []byte("name: mine\nextends: sheaf\nbranches:\n  titles: {weight: 0.1}\n"), nil)
	want := "p.yaml:4:3: branch titles of profile sheaf is gone: remove it; the stage names looks at titles (branches: " +
		"words, meaning)"
	if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestProfileTunedToPreviousRanking checks that a profile that was tuned to the previous ranking is not used, even if
// all of its parameters still exist. An error says so.
func TestProfileTunedToPreviousRanking(t *testing.T) {
	const before = "# Written by sheaf tune; sheaf tune --undo removes it.\nname: %s-tuned\nextends: %[1]s\nabout: " +
		"x\nparameters:\n  %s\n"
	for _, c := range []struct{ name, set, want string }{
		{"sheaf", "whole: 0.2", "parameter whole of profile sheaf is gone"},
		{"sheaf", "names: 0.7", "was found before the default ranking changed; run sheaf tune again"},
		{"rrf", "rrf_k: 20", ""},
	} {
		dir := t.TempDir()
		if err := profile.WriteTuned(dir, c.name, fmt.Appendf(nil, before, c.name, c.set)); err != nil {
			t.Fatal(err)
		}
		p, fault, err := profile.LoadTuned(dir, c.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if fault != nil || p.Name != c.name+"-tuned" {
				t.Errorf("%s: %s, %v", c.set, p.Name, fault)
			}
			continue
		}
		if !errors.Is(fault, sheaf.ErrInvalid) || !strings.Contains(fault.Error(), c.want) || p.Name != c.name {
			t.Errorf("%s: %s, %v", c.set, p.Name, fault)
		}
	}
}

// TestSavedProfileIsListedWithFault checks that a list shows the fault of a saved profile of the lab.
func TestSavedProfileIsListedWithFault(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"),
		[]byte("name: mine\nextends: sheaf\nparameters:\n  coverage: 0.2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list := must(profile.List(dir))
	for _, info := range list {
		if info.Name == "mine" && (info.Err == nil ||
			!strings.Contains(info.Err.Error(), "parameter coverage of profile sheaf is gone")) {
			t.Errorf("got %v", info.Err)
		}
	}
	if _, err := profile.Load("mine", profile.In(dir)); err == nil ||
		!strings.Contains(err.Error(), "mine.yaml:4:3: parameter coverage of profile sheaf is gone") {
		t.Errorf("got %v", err)
	}
}
