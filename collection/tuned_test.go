package collection_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/profile"
)

// TestTunedProfiles checks that a profile tuned to the index replaces its base under that name.
// Other profiles stay unchanged.
func TestTunedProfiles(t *testing.T) {
	dir := t.TempDir()
	change := profile.Tuning{Parameters: map[string]string{"meaning": "0.125"}}
	if err := profile.WriteTuned(dir, "sheaf", change.Text("sheaf", "A test.")); err != nil {
		t.Fatal(err)
	}
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, func(o *collection.Options) { o.Tuned = dir })
	for name, want := range map[string]string{"": "sheaf-tuned", "sheaf": "sheaf-tuned", "rrf": "rrf"} {
		p, err := f.Load(name)
		if err != nil || p.Name != want {
			t.Errorf("profile %q is %v, %v, want %s", name, p, err, want)
		}
	}
}

// TestProfilePathIsHidden checks that callers do not see the path of the collection's profile.
func TestProfilePathIsHidden(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, func(o *collection.Options) {
		o.Profile = "/home/ann/mine.yaml"
		o.Profiles = func(name string) (string, []byte, error) {
			if name == o.Profile {
				name = profile.Default
			}
			return profile.Builtin(name)
		}
	})
	list, err := f.Profiles()
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, p := range list {
		if strings.Contains(p.Name, "mine") {
			t.Errorf("%q is listed", p.Name)
		}
	}
}

// TestProfilesListProfileOfProgram checks that Profiles lists the collection's profile if a program provides it.
func TestProfilesListProfileOfProgram(t *testing.T) {
	text := []byte("name: mine\nabout: A test.\nparameters:\n  much: {default: 2, min: 1, max: 9, about: How " +
		"much.}\nbranches: [{name: words, retrieve: text, fields: {body: much}}]\n")
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, func(o *collection.Options) {
		o.Profile = "mine"
		o.Profiles = func(name string) (string, []byte, error) {
			if name == "mine" {
				return "mine.yaml", text, nil
			}
			return profile.Builtin(name)
		}
	})
	list, err := f.Profiles()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(list, func(a, b collection.Profile) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("not by name: %+v", list)
	}
	i := slices.IndexFunc(list, func(p collection.Profile) bool { return p.Default })
	if i < 0 {
		t.Fatalf("no default among %+v", list)
	}
	if p := list[i]; p.Name != "mine" || p.About != "A test." || p.Builtin || p.Error != "" || len(p.Parameters) != 1 ||
		p.Parameters[0].Name != "much" {
		t.Errorf("it is %+v", p)
	}
}
