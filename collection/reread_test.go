package collection_test

import (
	"os"
	"path/filepath"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/profile"
)

// TestProfilesReread checks that rereading a profile follows changes of its file and of the files
// that it extends. Without a change it returns the same profile.
func TestProfilesReread(t *testing.T) {
	dir, index := t.TempDir(), t.TempDir()
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, func(o *collection.Options) {
		o.ProfileDirs, o.Tuned = []string{dir}, index
	})
	own, base, tuned := filepath.Join(dir, "own.yaml"), filepath.Join(dir, "base.yaml"), profile.TunedFile(index, "own")
	if err := os.MkdirAll(filepath.Dir(tuned), 0o700); err != nil {
		t.Fatal(err)
	}
	const of = "name: own\nextends: base\nparameters:\n  meaning: "
	for _, step := range []struct{ file, text string }{
		{base, "name: base\nextends: sheaf\nparameters:\n  meaning: 0.2\n"},
		{own, of + "0.3\n"},
		{own, of + "0.4\n"},
		{own, of + "0.3\n"},
		{base, "name: base\nextends: bench\n"}, // bench has no such parameter
		{base, "name: base\nextends: sheaf\nparameters:\n  names: 0.25\n"},
		{tuned, "name: own-tuned\nextends: none\n"},
		{filepath.Join(dir, "none.yaml"), "name: none\nextends: sheaf\nparameters:\n  meaning: 0.6\n"}, // makes tuned valid
		{tuned, "name: own-tuned\nextends: own\nparameters:\n  meaning: 0.7\n"},
		{tuned, ""},
		{filepath.Join(dir, "sheaf.yaml"), "name: sheaf\nextends: sheaf\nparameters:\n  names: 0.125\n"},
		{base, ""},
	} {
		err := os.WriteFile(step.file, []byte(step.text), 0o600)
		if step.text == "" {
			err = os.Remove(step.file)
		}
		if err != nil {
			t.Fatal(err)
		}
		collection.RereadProfiles(f.Collection)
		want, _, wantErr := profile.LoadTuned(index, "own", profile.In(dir))
		got, err := f.Load("own")
		if (err == nil) != (wantErr == nil) || err == nil && !got.Equal(want) {
			t.Errorf("after %s says %q: %+v, %v: want %+v, %v", step.file, step.text, got, err, want, wantErr)
		}
		if err != nil {
			continue
		}
		collection.RereadProfiles(f.Collection)
		if again, err := f.Load("own"); err != nil || again != got {
			t.Errorf("after %s says %q the profile is another one, %v", step.file, step.text, err)
		}
	}
}
