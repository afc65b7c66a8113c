package collection_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
)

// TestChangedFileErrorHidesPath checks that the message about a changed file names the document, not its path.
func TestChangedFileErrorHidesPath(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	f.Index(t)
	r := reader(t, f, access.Unrestricted())
	if err := os.WriteFile(filepath.Join(f.Root, "a.md"), []byte("# A\n\nNo harbor.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	id := sheaf.DocumentID(collectiontest.Tree, "a.md")
	_, got := r.Get(t.Context(), id, collection.GetOptions{})
	_, similar := r.Similar(t.Context(), id, collection.SearchRequest{})
	for _, err := range []error{got, similar} {
		if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), string(id)) ||
			strings.Contains(err.Error(), f.Root) {
			t.Errorf("told: %v", err)
		}
	}
}

// TestProfileErrorsHideFolders checks that errors of profiles name the file without its folder
// and without the searched folders.
func TestProfileErrorsHideFolders(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a.md": "# A\n\nA harbor.\n"}, nil)
	dir := f.Options.ProfileDirs[0]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"lost": "name: lost\nextends: nowhere\n",
		"wrong": "name: wrong\nextends: sonar\nnothing: 1\n", "large": "# " + strings.Repeat("x", 2<<20)} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := f.Profiles()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, p := range list {
		told[p.Name] = p.Error
	}
	for _, name := range []string{"lost", "wrong", "large"} {
		_, err := f.Load(name)
		if err == nil {
			t.Fatalf("%s is read", name)
		}
		for _, text := range []string{told[name], err.Error()} {
			if !strings.Contains(text, name+".yaml:") || strings.Contains(text, filepath.Dir(dir)) {
				t.Errorf("%s: told: %s", name, text)
			}
		}
	}
	if !strings.Contains(told["lost"], "lost.yaml:2:10: extends \"nowhere\": no profile has this name: looked for "+
		"nowhere.yaml among the built-in profiles") {
		t.Errorf("told: %s", told["lost"])
	}
}

// TestAddressesRevealNoFolder checks that a caller that sees a part finds a document by its path inside the folder, but
// not by a path from outside. An outside path would reveal where the folder is.
func TestAddressesRevealNoFolder(t *testing.T) {
	f := collectiontest.Open(t, map[string]string{"a/b.md": "---\naccess: public\n---\n# B\n\nA harbor.\n"}, nil)
	part, all := reader(t, f, access.Grant{Scopes: []access.Scope{access.ScopeSearch}}),
		reader(t, f, access.Unrestricted())
	outside := "../" + filepath.Base(f.Root) + "/a/b.md"
	for _, path := range []string{"a/b.md", "./a/b.md", "a/../a/b.md", "notes:a/b.md", "a/b.md#b", "a/b.md:4", outside,
		filepath.Join(f.Root, "a/b.md")} {
		if got, err := all.Find(path); err != nil || got.Doc.Path != "a/b.md" {
			t.Errorf("%s by who sees everything: %q, %v", path, got.Doc.Path, err)
		}
		got, err := part.Find(path)
		if within := path != outside && !filepath.IsAbs(path); within != (err == nil) || within && got.Doc.Path != "a/b.md" {
			t.Errorf("%s by who sees a part: %q, %v", path, got.Doc.Path, err)
		}
	}
}
