package collection_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/index/catalog"
	"sheaf/profile"
)

// TestProfilesListProfileOfProgram checks that Profiles lists the profile that a program provides for the collection.
// It does not list a profile by the path of its file, which stays secret.
func TestProfilesListProfileOfProgram(t *testing.T) {
	text := []byte("name: mine\nabout: A test.\nparameters:\n  much: {default: 2, min: 1, max: 9, about: How " +
		"much.}\nbranches: [{name: words, retrieve: text, fields: {body: much}}]\n")
	for name, listed := range map[string]bool{"mine": true, "/home/ann/mine.yaml": false} {
		f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, func(o *collection.Options) {
			o.Profile = name
			o.Profiles = func(asked string) (string, []byte, error) {
				if asked == name {
					return "mine.yaml", text, nil
				}
				return profile.Builtin(asked)
			}
		})
		list, err := f.Profiles()
		if err != nil ||
			!slices.IsSortedFunc(list, func(a, b collection.Profile) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("%s: %+v, %v: want a list by name", name, list, err)
		}
		i := slices.IndexFunc(list, func(p collection.Profile) bool { return strings.Contains(p.Name, "mine") })
		if (i >= 0) != listed {
			t.Fatalf("%s: %+v: listed %t, want %t", name, list, i >= 0, listed)
		}
		if !listed {
			continue
		}
		if p := list[i]; p.Name != "mine" || p.About != "A test." || p.Builtin || !p.Default || p.Error != "" ||
			len(p.Parameters) != 1 || p.Parameters[0].Name != "much" {
			t.Errorf("it is %+v", p)
		}
	}
}

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

// TestModelIsRecorded checks that a collection records chunker, analyzer and model even without
// Settings of the program. It accepts vectors of that model.
func TestModelIsRecorded(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nwords\n"}, func(o *collection.Options) {
		o.Ingest.Settings = nil
		o.Model = o.Ingest.Embedder
	})
	dims := f.Options.Model.Dims()
	if got := f.Collection.Dims(); got != dims {
		t.Errorf("%d dimensions, want %d", got, dims)
	}
	r := reader(t, f, access.Unrestricted())
	if s, err := r.Status(t.Context()); err != nil || s.Model != f.Options.Model.Model() || s.Dims != dims ||
		s.Chunker != "tree" || s.Analyzer != f.Options.Analyzer.Name() {
		t.Errorf("%+v, %v", s, err)
	}
	own := make([]float32, dims)
	own[0] = 2
	in := &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "a ship", Vectors: [][]float32{own}}}}
	if _, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: catalog.FreeTree + ":ship", Put: in}}); err != nil {
		t.Error(err)
	}
}

// TestWriteKeepsDocumentOfCaller checks that Write does not change the caller's document: sets from a grant
// and normalized vectors go into a copy.
func TestWriteKeepsDocumentOfCaller(t *testing.T) {
	f := collectiontest.Open(t, nil, nil)
	own := make([]float32, f.Collection.Dims())
	own[0] = 2
	in := &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "a ship", Vectors: [][]float32{own}}}}
	changes := []collection.Change{{ID: catalog.FreeTree + ":ship", Put: in}}
	for _, set := range []string{"a", "b"} {
		bound := access.Grant{Scopes: access.Scopes, Access: []string{access.All}, Sets: []string{set}}
		changes[0].ID += sheaf.ID(set)
		if _, err := f.Collection.Write(t.Context(), bound, changes); err != nil {
			t.Error(err)
		}
		if len(in.Sets) > 0 || own[0] != 2 || len(changes[0].Within) > 0 {
			t.Errorf("%+v, %v, %v", in, own[0], changes[0].Within)
		}
	}
}
