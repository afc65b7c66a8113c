package serve_test

import (
	"testing"

	"sheaf/profile"
	"sheaf/serve"
	"sheaf/serve/servetest"
)

// TestTunedProfiles: a profile that was tuned to the index is what its doors use
// under the name of the one it changes; others are as they were.
func TestTunedProfiles(t *testing.T) {
	dir := t.TempDir()
	change := profile.Tuning{Parameters: map[string]string{"meaning": "0.125"}}
	if err := profile.WriteTuned(dir, "sheaf", change.Text("sheaf", "A test.")); err != nil {
		t.Fatal(err)
	}
	f := servetest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, func(o *serve.Options) { o.Tuned = dir })
	for name, want := range map[string]string{"": "sheaf-tuned", "sheaf": "sheaf-tuned", "rrf": "rrf"} {
		p, err := f.Load(name)
		if err != nil || p.Name != want {
			t.Errorf("profile %q is %v, %v, want %s", name, p, err, want)
		}
	}
}
