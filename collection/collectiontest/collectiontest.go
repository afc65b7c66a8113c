// Package collectiontest makes collections of a few files for the tests of doors: a
// real catalog, the embedded engine, and vectors that need no model.
package collectiontest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// Tree is the name of the tree of every collection here: identifiers are
// "notes:path#slug".
const Tree = "notes"

// Fixture is a collection with the folder that it is made of.
type Fixture struct {
	*collection.Collection
	// Root is the folder of the files, Options what the collection was opened
	// with.
	Root    string
	Options collection.Options
	index   string
}

// Open makes a collection of files, by path, and closes it when the test ends.
// change, which may be nil, changes the options first.
func Open(t testing.TB, files map[string]string, change func(*collection.Options)) *Fixture {
	t.Helper()
	f := Unindexed(t, files, change)
	f.Index(t)
	return f
}

// Unindexed is Open before the first run: none of the files can be found.
func Unindexed(t testing.TB, files map[string]string, change func(*collection.Options)) *Fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &Fixture{Root: root, index: t.TempDir()}
	for path, text := range files {
		f.Write(t, path, text)
	}
	f.open(t, change)
	return f
}

// At opens the index in a folder, which another process may have made, of the files in root.
func At(t testing.TB, root, index string, change func(*collection.Options)) *Fixture {
	t.Helper()
	f := &Fixture{Root: root, index: index}
	f.open(t, change)
	return f
}

// Beside is the same index opened once more, as another process does.
func (f *Fixture) Beside(t testing.TB) *Fixture {
	t.Helper()
	g := &Fixture{Root: f.Root, index: f.index}
	g.open(t, nil)
	return g
}

func (f *Fixture) open(t testing.TB, change func(*collection.Options)) {
	t.Helper()
	a, err := analysis.New(analysis.Options{Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(vfs.Disk{}, filepath.Join(f.index, "catalog"), catalog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := hashed.New(64)
	o := embedded.Options{Dir: filepath.Join(f.index, "engine"), Analyzer: a}
	for _, field := range []string{store.VectorBody, store.VectorTitle} {
		o.Vectors = append(o.Vectors, store.VectorField{Name: field, Model: e.Model(), Dims: e.Dims()})
	}
	st, err := embedded.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	f.Options = collection.Options{Name: Tree, Catalog: c, Backend: st, Store: "the index", Analyzer: a,
		Embed: func(ctx context.Context, text string) ([]float32, error) {
			vectors, err := e.Embed(ctx, model.Query, []string{text})
			if err != nil {
				return nil, err
			}
			return vectors[0], nil
		},
		Ingest: &ingest.Options{Trees: []catalog.Tree{{Name: Tree, Root: f.Root}}, Embedder: e,
			Settings: func(s *catalog.Settings) {
				s.Analyzer, s.Chunker, s.Language, s.Embedder, s.Dims = a.Name(), "tree", "en", e.Model(), e.Dims()
			}},
		Intake:      f.index,
		ProfileDirs: []string{filepath.Join(f.index, "profiles")}, Judged: filepath.Join(f.index, "judged"),
	}
	if change != nil {
		change(&f.Options)
	}
	if f.Collection, err = collection.New(f.Options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.Collection.Close()
		_ = st.Close()
		_ = c.Close()
	})
}

// Write puts a file into the folder; Index makes it findable.
func (f *Fixture) Write(t testing.TB, path, text string) {
	t.Helper()
	full := filepath.Join(f.Root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Index brings the collection up to date with the folder.
func (f *Fixture) Index(t testing.TB) {
	t.Helper()
	if _, err := f.Collection.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// Documentation are the Markdown files of the folder that SHEAF_TEST_DIR names, or of
// this repository's documentation, by path, for Open. The test runs two folders below
// the root of the repository.
func Documentation(t testing.TB) map[string]string {
	t.Helper()
	root := os.Getenv("SHEAF_TEST_DIR")
	if root == "" {
		root = filepath.Join("..", "..", "doc")
	}
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
