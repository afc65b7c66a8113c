package collection_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func reader(t testing.TB, f *collectiontest.Fixture, g access.Grant) *collection.Reader {
	t.Helper()
	r := must.Get(f.For(g))
	t.Cleanup(r.Close)
	return r
}

func find(t testing.TB, r *collection.Reader, q collection.SearchRequest) *collection.Answer {
	t.Helper()
	a := must.Get(r.Search(context.Background(), q))
	return a
}

// TestPropertyFiltersInBrackets checks that property filters in brackets work the same for a caller that sees
// only a part.
func TestPropertyFiltersInBrackets(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{
		"a.md":     "---\nstatus: draft\nnext step: call Ann\npath: x\n---\nText.\n",
		"b.md":     "---\nstatus: done\nnext step: call Ann\npath: x\n---\nText.\n",
		"c.md":     "---\nstatus: done\nsecret: yes\n---\nText.\n",
		"Sub/d.md": "Text.\n",
	}, nil)
	check.Equal(t, len(find(t, reader(t, f, access.Unrestricted()),
		collection.SearchRequest{Text: "path:sub/"}).Results), 1, "a path in another case: results")
	kept := access.Unrestricted()
	kept.Baked = "-prop.secret:*"
	for _, grant := range []access.Grant{access.Unrestricted(), kept} {
		r := reader(t, f, grant)
		for text, want := range map[string]int{"[status:draft OR done][next step:call Ann]": 2, "[path:x][status:done]": 1,
			"-[status:done] [path:x]": 1} {
			if a := find(t, r, collection.SearchRequest{Text: text}); len(a.Results) != want || len(a.Notes) != 0 {
				t.Errorf("%s: %d results with notes %q, want %d", text, len(a.Results), a.Notes, want)
			}
		}
	}
}

func TestRequestsOutOfRange(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, nil)
	r := reader(t, f, access.Unrestricted())
	for field, q := range map[string]collection.SearchRequest{
		"limit":           {Limit: collection.MaxLimit + 1},
		"window":          {Window: -1},
		"query":           {Text: strings.Repeat("a", collection.MaxQueryBytes+1)},
		"sort":            {Sort: "-random"},
		"facets":          {Facets: []string{"secret"}},
		"filter":          {Filter: "words and no filter"},
		"profile":         {Profile: "none"},
		"parameters/none": {Parameters: map[string]string{"none": "1"}},
	} {
		_, err := r.Search(context.Background(), q)
		var at *collection.FieldError
		check.That(t, errors.As(err, &at) && at.Field == field && (field != "sort" ||
			strings.Contains(err.Error(), "date, path or prop.NAME")), "%s: %v", field, err)
	}
}

// TestPagesWhileIndexChanges checks that pages neither repeat nor lose a result while the index changes.
func TestPagesWhileIndexChanges(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("n%02d.md", i)] = fmt.Sprintf("# Note %d\n\napples %s\n", i, strings.Repeat("pear ", i))
	}
	f := collectiontest.Open(t, files, nil)
	first := find(t, reader(t, f, access.Unrestricted()),
		collection.SearchRequest{Text: "apples", Limit: 7, Window: 50, Parameters: map[string]string{"meaning": "0"}})
	must.That(t, first.Total.Value == 40 && first.Next != "", "total %v, next %q", first.Total, first.Next)
	seen := map[sheaf.ID]int{}
	page := first
	for n := 0; ; n++ {
		for _, r := range page.Results {
			seen[r.ID]++
			check.Equal(t, r.Rank, len(seen), "rank of %s", r.ID)
		}
		if page.Next == "" {
			break
		}
		f.Write(t, fmt.Sprintf("n%02d.md", n), "# Note\n\napples apples apples\n")
		f.Write(t, fmt.Sprintf("new%d.md", n), "# New\n\napples\n")
		f.Index(t)
		r := reader(t, f, access.Unrestricted())
		must.That(t, r.Generation() != first.Generation, "the index did not change")
		page = must.Get(r.Page(context.Background(), page.Next, collection.SearchRequest{Text: "apples"}))
		check.Equal(t, page.Generation, first.Generation, "generation of a page, and of the first page")
	}
	check.Equal(t, len(seen), 40, "results on all pages")
	for id, n := range seen {
		check.Equal(t, n, 1, "how often %s is there", id)
	}
}

func TestStages(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n"}, nil)
	r := reader(t, f, access.Unrestricted())
	legs := [][]collection.Scored{{{ID: "A", Score: 3}, {ID: "B", Score: 2}, {ID: "C", Score: 1}},
		{{ID: "B", Score: 3}, {ID: "D", Score: 2}, {ID: "A", Score: 1}}}
	// Equal scores keep their input order, as in a run, independent of the identifiers.
	alike := [][]collection.Scored{{{ID: "B", Score: 1}, {ID: "A", Score: 1}, {ID: "C", Score: 2}}}
	foreign := [][]collection.Scored{{{ID: "there.md#2", Score: 3}, {ID: "notes:a.md", Score: 2.5},
		{ID: "there.md#7", Score: 2}}}
	rrf := map[string]string{"method": "rrf", "k": "60"}
	for name, c := range map[string]struct {
		run   collection.StageRun
		want  string
		first float64 // the first score; 0 for any
	}{
		"fuse": {collection.StageRun{Name: "fuse", Settings: rrf, Rankings: legs}, "B A D C", 0},
		"weights": {collection.StageRun{Name: "fuse", Settings: rrf, Rankings: legs, Weights: []float64{3, 1}},
			"A B C D", 3.0/61 + 1.0/63},
		"k by limit": {collection.StageRun{Name: "fuse", Settings: map[string]string{"method": "rrf", "k": "limit + 10"},
			Rankings: legs[:1], Limit: 50}, "A B C", 1.0 / 61},
		"top": {collection.StageRun{Name: "top", Settings: map[string]string{"n": "2"}, Rankings: legs[:1]}, "A B", 3},
		"passages of another system": {collection.StageRun{Name: "aggregate",
			Settings: map[string]string{"method": "top_m_sum", "m": "2"}, Rankings: foreign}, "there.md notes:a.md", 5},
		"top of equal scores": {collection.StageRun{Name: "top", Settings: map[string]string{"n": "2"}, Rankings: alike},
			"C B", 0},
		"fuse of equal scores":    {collection.StageRun{Name: "fuse", Settings: rrf, Rankings: alike}, "C B A", 0},
		"recency of equal scores": {collection.StageRun{Name: "recency", Rankings: alike}, "C B A", 0},
	} {
		c.run.Limit = cmp.Or(c.run.Limit, 10)
		got, err := r.Stage(c.run)
		var ids []string
		for _, s := range got {
			ids = append(ids, string(s.ID))
		}
		check.That(t, err == nil && strings.Join(ids, " ") == c.want && (c.first == 0 || got[0].Score == c.first),
			"%s: %+v, %v, want %s", name, got, err, c.want)
	}
}

// TestFolderSizesCountVisibleDocuments checks that folder sizes in stages count only documents the caller sees.
func TestFolderSizesCountVisibleDocuments(t *testing.T) {
	const public = "---\naccess: [public]\n---\n# Public\n"
	f := collectiontest.Open(t, map[string]string{"f/a.md": public, "f/b.md": public, "f/c.md": "# Hidden\n",
		"f/g/d.md": public, "e.md": public}, nil)
	for grant, of := range map[*access.Grant]float64{{Scopes: []access.Scope{access.ScopeSearch}}: 2,
		new(access.Unrestricted()): 3} {
		run := collection.StageRun{Name: "folder_boost", Settings: map[string]string{"max": "0"},
			Rankings: [][]collection.Scored{{{ID: "notes:f/a.md", Score: 1}, {ID: "notes:f/b.md", Score: 1}}}, Limit: 10}
		got, err := reader(t, f, *grant).Stage(run)
		if want := 1 + (math.Log2(3)-1)*math.Sqrt(2/of); err != nil || len(got) != 2 || math.Abs(got[0].Score-want) > 1e-9 {
			t.Errorf("2 of %v documents: %v, %v, want %v", of, got, err, want)
		}
	}
}

func TestProfileNamesAreNoPaths(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\ntext\n", "evil.yaml": "name: evil\n"}, nil)
	for _, name := range []string{f.Root + "/evil.yaml", "../evil.yaml", "evil.yaml", "a\x00b", strings.Repeat("a", 200)} {
		check.Is(t, must.Err(f.Load(name)), sheaf.ErrNotFound, "profile %q", name)
	}
	list, err := f.Profiles()
	check.That(t, err == nil && len(list) >= 5, "profiles: %v, %v", list, err)
}

// TestWarningOfOutdatedIndex checks that an answer from an outdated index has a warning. Callers that
// may not see everything get no names from the error.
func TestWarningOfOutdatedIndex(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "A harbor.\n", "b.md": "Another harbor.\n"}, nil)
	f.Write(t, "b.md", "Another harbor, and a lighthouse.\n")
	a := find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: "harbor"})
	check.That(t, len(a.Warnings) == 1 && strings.Contains(a.Warnings[0], "1 of the results changed"),
		"after a change: %q", a.Warnings)
	must.Do(t, os.Rename(f.Root, f.Root+".away"))
	if _, err := f.Refresh(context.Background()); err == nil {
		t.Fatal("a folder that is gone was indexed")
	}
	a = find(t, reader(t, f, access.Unrestricted()), collection.SearchRequest{Text: "harbor"})
	check.That(t, len(a.Warnings) != 0 && strings.Contains(a.Warnings[0], f.Root), "without the folder: %q", a.Warnings)
	fused, err := reader(t, f, access.Unrestricted()).Fused(context.Background(), "harbor", "rrf", 60, 5)
	check.That(t, err == nil && len(fused.Warnings) != 0 && strings.Contains(fused.Warnings[0], f.Root),
		"fused, without the folder: %+v, %v", fused, err)
	some := access.Unrestricted()
	some.Baked = "ext:md"
	a = find(t, reader(t, f, some), collection.SearchRequest{Text: "harbor"})
	check.That(t, len(a.Warnings) != 0 && !strings.Contains(a.Warnings[0], f.Root) &&
		strings.Contains(a.Warnings[0], "from the last indexing run"),
		"to a caller from whom something is kept: %q", a.Warnings)
}

// TestWarningOfUnreadableIgnoreFile checks that answers warn while an unreadable ignore file stops
// indexing. Only callers that see everything learn the reason.
func TestWarningOfUnreadableIgnoreFile(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	ignores := filepath.Join(f.Root, ".gitignore")
	if err := os.Symlink("nowhere", ignores); err != nil {
		t.Skip(err)
	}
	f.Write(t, "b.md", "# B\n\nA harbor.\n")
	of := func(grant access.Grant) []string {
		return find(t, reader(t, f, grant), collection.SearchRequest{Text: "harbor", Limit: 10}).Warnings
	}
	f.Index(t)
	told := of(access.Unrestricted())
	check.That(t, len(told) == 1 && strings.Contains(told[0], ".gitignore") &&
		strings.Contains(told[0], "from the last indexing run"), "who may do everything is told %q", told)
	told = of(access.Grant{Tenant: access.All, Access: []string{"ann"}})
	check.That(t, len(told) == 1 && !strings.Contains(told[0], ".gitignore") &&
		strings.Contains(told[0], "from the last indexing run"), "a caller from whom something is kept is told %q", told)
	must.Do(t, os.Remove(ignores))
	f.Index(t)
	check.Equal(t, len(of(access.Unrestricted())), 0, "when it is gone")
}

// TestExpiredGrant checks that an expired grant can neither read nor change anything.
func TestExpiredGrant(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nwords\n"}, nil)
	grant := access.Unrestricted()
	grant.Expires = time.Now().Add(-time.Second)
	check.Is(t, must.Err(f.For(grant)), collection.ErrForbidden, "read")
	change := collection.Change{ID: "api:b.md", Put: &collection.DocumentInput{Text: "words"}}
	check.Is(t, must.Err(f.Collection.Write(t.Context(), grant, []collection.Change{change})), collection.ErrForbidden,
		"write")
	check.Is(t, must.Err(f.SaveProfile(grant, "mine", collection.ProfileInput{})), collection.ErrForbidden, "save")
	task := must.Get(f.Submit(t.Context(), access.Unrestricted(), "", []collection.Change{change}))
	_, err := f.Task(grant, "", task.ID)
	check.That(t, errors.Is(err, collection.ErrForbidden) && len(f.Tasks(grant, "", "", 10)) <= 0, "tasks: %v", err)
	grant.Expires = time.Now().Add(time.Hour)
	r := must.Get(f.For(grant))
	r.Close()
}
