package collection_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/eval/dataset"
	"sheaf/index/catalog"
	"sheaf/internal/check"
	"sheaf/internal/must"
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
		check.That(t, err == nil &&
			slices.IsSortedFunc(list, func(a, b collection.Profile) int { return strings.Compare(a.Name, b.Name) }),
			"%s: %+v, %v: want a list by name", name, list, err)
		i := slices.IndexFunc(list, func(p collection.Profile) bool { return strings.Contains(p.Name, "mine") })
		must.Equal(t, i >= 0, listed, "%s is in %+v", name, list)
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
	must.Do(t, os.MkdirAll(filepath.Dir(tuned), 0o700))
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
		must.Do(t, err)
		collection.RereadProfiles(f.Collection)
		want, _, wantErr := profile.LoadTuned(index, "own", profile.In(dir))
		got, err := f.Load("own")
		check.That(t, (err == nil) == (wantErr == nil) && (err != nil || got.Equal(want)),
			"after %s says %q: %+v, %v: want %+v, %v", step.file, step.text, got, err, want, wantErr)
		if err != nil {
			continue
		}
		collection.RereadProfiles(f.Collection)
		if again, err := f.Load("own"); err != nil || !again.Equal(got) {
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
	check.Equal(t, f.Collection.Dims(), dims, "dimensions")
	r := reader(t, f, access.Unrestricted())
	s, err := r.Status(t.Context())
	check.That(t, err == nil && s.Model == f.Options.Model.Model() && s.Dims == dims && s.Chunker == "tree" &&
		s.Analyzer == f.Options.Analyzer.Name(), "%+v, %v", s, err)
	own := make([]float32, dims)
	own[0] = 2
	in := &collection.DocumentInput{Chunks: []collection.ChunkInput{{Text: "a ship", Vectors: [][]float32{own}}}}
	if _, err := f.Collection.Write(t.Context(), access.Unrestricted(),
		[]collection.Change{{ID: catalog.FreeTree + ":ship", Put: in}}); err != nil {
		t.Error(err)
	}
}

// TestWriteKeepsDocumentOfCaller checks that Write changes a copy of the caller's document: its sets and its
// normalized vectors.
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
		check.That(t, len(in.Sets) == 0 && own[0] == 2 && len(changes[0].Within) == 0, "%+v, %v, %v", in, own[0],
			changes[0].Within)
	}
}

// notes are the files of a small collection.
var notes = map[string]string{
	"git.md": "---\naccess: public\n---\n# Git\n\nVersion control.\n\n## Undo a commit\n\nUse reset to undo a commit.\n",
	"hg.md":  "# Mercurial\n\nUse rollback to undo the last commit.\n",
}

func TestSaveProfile(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	all, dir := access.Unrestricted(), f.Options.ProfileDirs[0]
	file := filepath.Join(dir, "mine.yaml")
	writeFile(t, filepath.Join(dir, "few.yaml"), "name: few\nextends: sonar\nlimits: {default: 2, max: 5}\n")
	number := func(extends, name, value string, replace bool) collection.ProfileInput {
		return collection.ProfileInput{Extends: extends, Parameters: map[string]string{name: value}, Replace: replace}
	}
	mine := number("sheaf", "meaning", "0.5", false)
	mine.About = "It's: mine"
	const first = "name: mine\nabout: \"It's: mine\"\nextends: sheaf\nparameters:\n  meaning: 0.5\n"
	for _, c := range []struct {
		what, name string
		in         collection.ProfileInput
		want       error
		text       string // of the file mine.yaml afterwards
	}{
		{"the first", "mine", mine, nil, first},
		{"numbers of a profile that allows few results", "fewer", number("few", "decay", "0.5", false), nil, first},
		{"itself", "x", collection.ProfileInput{Extends: "x"}, sheaf.ErrNotFound, first},
		{"what is no number in one", "x", number("sheaf", "meaning", "0.5\nname: y", false), sheaf.ErrInvalid, first},
		{"itself, not to be replaced", "mine", collection.ProfileInput{Extends: "mine"}, collection.ErrConflict, first},
		{"other numbers", "mine", number("mine", "names", "0.25", true), nil, first + "  names: 0.25\n"},
		{"a number with a leading 0", "mine", number("mine", "names", "010", true), nil, first + "  names: 10\n"},
		{"other numbers again", "mine", number("mine", "names", "0.25", true), nil, first + "  names: 0.25\n"},
		{"one out of range", "mine", number("mine", "names", "11", true), sheaf.ErrInvalid, first + "  names: 0.25\n"},
	} {
		saved, err := f.SaveProfile(all, c.name, c.in)
		check.That(t, errors.Is(err, c.want) && (err != nil || saved.File == filepath.Join(dir, c.name+".yaml")),
			"%s: %+v, %v, want %v", c.what, saved, err, c.want)
		text, err := os.ReadFile(file)
		check.That(t, err == nil && string(text) == c.text, "%s: the file is %s, %v", c.what, text, err)
		if c.what == "the first" {
			r := reader(t, f, all)
			own := find(t, r, collection.SearchRequest{Text: "undo a commit", Profile: "mine"})
			set := find(t, r, collection.SearchRequest{Text: "undo a commit", Parameters: map[string]string{"meaning": "0.5"}})
			check.That(t, len(own.Results) != 0 && reflect.DeepEqual(own.Results, set.Results),
				"a saved profile ranks %v, its numbers %v", own.Results, set.Results)
		}
	}
	check.Is(t, must.Err(os.Stat(filepath.Join(dir, "x.yaml"))), os.ErrNotExist, "the file of a wrong profile")
	if p, err := f.Load("mine"); err != nil ||
		!slices.ContainsFunc(p.Parameters, func(p profile.Parameter) bool {
			return p.Name == "names" && p.Default == "0.25"
		}) {
		t.Errorf("a profile that was just saved has %+v, %v", p.Parameters, err)
	}
	byHand := "# as agreed\n" + first
	writeFile(t, file, byHand)
	_, err := f.SaveProfile(all, "mine", collection.ProfileInput{Extends: "mine", Replace: true})
	check.That(t, errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), "choose another name"),
		"a profile that was written by hand: %v", err)
	text, err := os.ReadFile(file)
	check.That(t, err == nil && string(text) == byHand, "it reads %s now, %v", text, err)
	if _, err := f.SaveProfile(all, "mine", collection.ProfileInput{Extends: "sheaf", Replace: true}); err != nil {
		t.Error(err)
	}
	searcher := access.Grant{Scopes: []access.Scope{access.ScopeSearch, access.ScopeIngest}, Tenant: access.All}
	check.Is(t, must.Err(f.SaveJudged(searcher, "y", collection.JudgedInput{})), collection.ErrForbidden,
		"without the scope admin")
}

// TestSavedFilesHidePaths checks that callers that may not see everything get no paths of saved files.
func TestSavedFilesHidePaths(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	some := access.Grant{Scopes: []access.Scope{access.ScopeAdmin}}
	in := collection.JudgedInput{Queries: []collection.JudgedQuery{{Query: "undo", Expect: []sheaf.ID{"notes:git.md"}}}}
	for grant, told := range map[*access.Grant]bool{&some: false, new(access.Unrestricted()): true} {
		p, err := f.SaveProfile(*grant, "mine", collection.ProfileInput{Extends: "sheaf", Replace: true})
		check.That(t, err == nil && (p.File != "") == told, "told %t: %+v, %v", told, p, err)
		in.Replace = true
		j, err := f.SaveJudged(*grant, "mine", in)
		check.That(t, err == nil && (j.File != "") == told, "told %t: %+v, %v", told, j, err)
	}
}

func TestSaveJudged(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	r := reader(t, f, access.Unrestricted())

	a, err := r.Search(context.Background(), collection.SearchRequest{Text: "undo a commit"})
	must.That(t, err == nil && len(a.Results) != 0, "%+v, %v", a, err)
	in := collection.JudgedInput{Queries: []collection.JudgedQuery{{Query: "undo: a \"commit\"",
		Expect: []sheaf.ID{a.Results[0].ID}}}}
	saved := must.Get(f.SaveJudged(access.Unrestricted(), "mine", in))
	set, err := dataset.Notes(saved.File, "")
	check.That(t, err == nil && set.Folder == f.Root && set.Judgements() == 1, "%+v, %v", set, err)
	outside := []string{"../mine2", "a/b", ""}
	if runtime.GOOS == "windows" {
		outside = append(outside, "con", "nul", "com1", `a\b`, "a:b")
	}
	for _, name := range outside {
		check.Is(t, must.Err(f.SaveJudged(access.Unrestricted(), name, in)), sheaf.ErrInvalid, "the name %q", name)
	}
}

func TestMeasureRecall(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	r := must.Get(f.For(access.Unrestricted()))
	st, err := r.Status(context.Background())
	check.That(t, err == nil && st.Recall == nil, "before: %+v, %v", st, err)
	must.Do(t, f.MeasureRecall())
	until(t, "the measurement", func() error {
		st, err := r.Status(context.Background())
		switch {
		case err != nil || st.Recall == nil:
			t.Fatalf("%+v, %v", st, err)
		case st.Recall.Measuring:
			return errors.New("it still runs")
		case st.Recall.Error != "" || len(st.Recall.Fields) != 2 || st.Recall.Fields[0].At10 < 0.9 ||
			st.Recall.Generation != st.Generation:
			t.Errorf("%+v", st.Recall)
		}
		return nil
	})
	r.Close() // Close of the collection waits for this
	must.Do(t, f.Close())
	check.Is(t, f.MeasureRecall(), sheaf.ErrUnavailable, "after it was closed")
}

// TestJudgingHiddenChunk checks that judging a hidden chunk returns the same error as judging a missing one.
func TestJudgingHiddenChunk(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	grant := access.Grant{Scopes: []access.Scope{access.ScopeAdmin}} // sees public documents only
	save := func(id sheaf.ID) error {
		_, err := f.SaveJudged(grant, "mine", collection.JudgedInput{Queries: []collection.JudgedQuery{{Query: "undo",
			Expect: []sheaf.ID{id}}}, Replace: true})
		return err
	}
	hidden, none := save("notes:hg.md#mercurial"), save("notes:no.md#mercurial")
	check.That(t, errors.Is(hidden, sheaf.ErrNotFound) && errors.Is(none, sheaf.ErrNotFound) &&
		strings.ReplaceAll(hidden.Error(), "hg.md", "no.md") == none.Error(), "a hidden chunk: %v; none: %v", hidden, none)
	check.NoError(t, save("notes:git.md#undo-a-commit"), "a public chunk")
}
