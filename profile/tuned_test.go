package profile_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/profile"
)

// TestTuned checks that an index uses its tuned profile, and that others are unaffected. A tuned
// profile that no longer fits is ignored with an error.
func TestTuned(t *testing.T) {
	dir := t.TempDir()
	load := func(name string) (*profile.Profile, error) {
		t.Helper()
		p, fault, err := profile.LoadTuned(dir, name, profile.Builtin)
		must.Do(t, err)
		return p, fault
	}
	if p, fault := load("sheaf"); p.Name != "sheaf" || fault != nil {
		t.Errorf("%s, %v", p.Name, fault)
	}
	change := profile.Tuning{Parameters: map[string]string{"meaning": "0.25"},
		Fields: map[string]map[string]string{"words": {"title": "3", "body": "1"}}}
	must.Do(t, profile.WriteTuned(dir, "sheaf", change.Text("sheaf", "Found: by a test.")))
	p, fault := load("sheaf")
	plan, err := p.Plan(10, nil)
	must.That(t, err == nil && fault == nil && p.Name == "sheaf-tuned" && p.About == "Found: by a test." &&
		plan.Values["meaning"] == "0.25", "%+v, %v, %v", p, fault, err)
	fields := plan.Main.Branches[0].Text.Fields
	check.That(t, len(fields) == 2 && fields[0] == (profile.Field{Name: "title", Weight: 3}), "%+v", fields)
	p, _ = load("rrf")
	check.That(t, p.Name == "rrf", "%s", p.Name)
	must.Do(t, profile.WriteTuned(dir, "sheaf",
		profile.Tuning{Parameters: map[string]string{"gone": "1"}}.Text("sheaf", "x")))
	p, fault = load("sheaf")
	check.That(t, p.Name == "sheaf" && errors.Is(fault, sheaf.ErrInvalid) && strings.Contains(fault.Error(), "gone"),
		"%s, %v", p.Name, fault)
	must.Do(t, os.Remove(profile.TunedFile(dir, "sheaf")))
	p, fault = load("sheaf")
	check.That(t, p.Name == "sheaf" && fault == nil, "%s, %v", p.Name, fault)
	must.Do(t, os.WriteFile(profile.TunedFile(dir, "sheaf"), make([]byte, 2<<20), 0o600))
	var file *profile.FileError
	text, err := profile.TunedText(dir, "sheaf")
	check.That(t, text == nil && errors.As(err, &file), "2 MiB: %d bytes, %v", len(text), err)
	p, fault = load("sheaf")
	check.That(t, p.Name == "sheaf" && errors.As(fault, &file), "%s, %v", p.Name, fault)
	_, _, err = profile.LoadTuned(dir, "../sheaf", profile.Builtin)
	check.That(t, errors.Is(err, sheaf.ErrNotFound), "%v", err)
}
