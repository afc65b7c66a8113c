package profile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
)

// TestRemovedNames checks that what the default ranking no longer has gets a message with the replacement.
func TestRemovedNames(t *testing.T) {
	check := func(err error, want string) {
		t.Helper()
		if !errors.Is(err, sheaf.ErrInvalid) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for name, instead := range map[string]string{"similarity": "remove it", "support": "remove it", "whole": "remove it",
		"coverage":  "remove it, or use pairs",
		"threshold": "remove it, or write the stage tree into then", "pool": "remove it, or write limit into the branches",
		"trust": "remove it"} {
		_, err := must.Get(profile.Load("sheaf", nil)).Plan(10, map[string]string{name: "0.5"})
		check(err, fmt.Sprintf("profile sheaf has no parameter %q: it was removed: %s (its parameters: meaning,", name,
			instead))
		_, err = profile.Parse("p.yaml", fmt.Appendf(nil, "name: mine\nextends: sheaf\nparameters:\n  %s: 0.5\n", name), nil)
		check(err, fmt.Sprintf("p.yaml:4:3: unknown parameter of the profile that is extended %q: it was removed: %s", name,
			instead))
		// A profile may declare a parameter of the old name.
		own := parse(t, fmt.Sprintf("name: mine\nextends: sheaf\nparameters:\n  %s: {default: 0.5, min: 0, max: 1}\n", name))
		if plan, err := own.Plan(10, map[string]string{name: "0.25"}); err != nil || plan.Values[name] != "0.25" {
			t.Errorf("%s of one's own: %v", name, err)
		}
	}
	for stage, instead := range map[string]string{"support": "remove it", "whole": "use word_pairs", "guard": "remove it",
		"title_boost": "use names", "min_score": "use adaptive, with floor 0 and the least score as absolute"} {
		want := fmt.Sprintf("unknown stage %q: it was removed: %s (allowed: aggregate, ", stage, instead)
		for _, step := range []string{stage, stage + ": 10", stage + ": {x: 1}"} {
			_, err := profile.Parse("p.yaml", fmt.Appendf(nil, "name: mine\nextends: sheaf\nthen:\n  - %s\n", step), nil)
			check(err, "p.yaml:4:5: "+want)
		}
		_, err := profile.NewRunStage(stage, nil, 10)
		check(err, want)
	}
	_, err := profile.Parse("p.yaml", []byte("name: mine\nextends: sheaf\nbranches:\n  titles: {weight: 0.1}\n"), nil)
	check(err, `p.yaml:4:3: unknown branch of the profile that is extended "titles": it was removed: remove it; the `+
		`stage names looks at titles (allowed: words, meaning)`)
}

// TestProfileTunedToPreviousRanking checks that a profile tuned to the previous ranking is not used. An error says
// so.
func TestProfileTunedToPreviousRanking(t *testing.T) {
	dir := t.TempDir()
	const before = "# Written by sheaf tune; sheaf tune --undo removes it.\nname: sheaf-tuned\nextends: sheaf\n" +
		"about: x\nparameters:\n  names: 0.7\n"
	must.Do(t, profile.WriteTuned(dir, "sheaf", []byte(before)))
	p, fault, err := profile.LoadTuned(dir, "sheaf", nil)
	const want = "was found before the default ranking changed; run sheaf tune again"
	check.That(t, err == nil && errors.Is(fault, sheaf.ErrInvalid) && strings.Contains(fault.Error(), want) &&
		p.Name == "sheaf", "%v, %v, %v", p, fault, err)
}
