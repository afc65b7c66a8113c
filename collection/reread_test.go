package collection_test

import (
	"os"
	"path/filepath"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/profile"
)

// TestProfilesReread: a profile is what its files say when they are looked at again, its own
// and those that it is made of, and is not made again while they say the same.
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
		{base, "name: base\nextends: bench\n"}, // which has no such parameter
		{base, "name: base\nextends: sheaf\nparameters:\n  names: 0.25\n"},
		{tuned, "name: own-tuned\nextends: none\n"},
		{filepath.Join(dir, "none.yaml"), "name: none\nextends: sheaf\nparameters:\n  meaning: 0.6\n"}, // so that it is tuned
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
		var again *profile.Profile
		pieces := testing.AllocsPerRun(1, func() {
			collection.RereadProfiles(f.Collection)
			again, err = f.Load("own")
		})
		if err != nil || again != got || pieces > 500 {
			t.Errorf("after %s says %q it is made again, in %v pieces of memory: %v", step.file, step.text, pieces, err)
		}
	}
}
