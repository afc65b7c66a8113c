// Package collectiontest makes collections for tests of doors, with a real catalog and engine, and artificial vectors.
package collectiontest

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/eval/calibrate"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// Tree is the tree of every collection in this package. Identifiers are "notes:path#slug".
const Tree = "notes"

// Fixture is a collection with its folder.
type Fixture struct {
	*collection.Collection
	// Root is the folder of the files. Options are those with which the collection was opened.
	Root    string
	Options collection.Options
	index   string
}

// Open makes and indexes a collection from files, a map from paths to texts. It closes the collection at the end of the
// test. change edits the options first, unless it is nil.
func Open(t testing.TB, files map[string]string, change func(*collection.Options)) *Fixture {
	t.Helper()
	f := Unindexed(t, files, change)
	f.Index(t)
	return f
}

// Unindexed works like Open and does not index the files, so searches find no file.
func Unindexed(t testing.TB, files map[string]string, change func(*collection.Options)) *Fixture {
	t.Helper()
	root := must.Get(filepath.EvalSymlinks(t.TempDir()))
	f := &Fixture{Root: root, index: t.TempDir()}
	for path, text := range files {
		f.Write(t, path, text)
	}
	f.open(t, change)
	return f
}

// At opens the index in a folder, for the files in root. The index may be one that another process made.
func At(t testing.TB, root, index string, change func(*collection.Options)) *Fixture {
	t.Helper()
	f := &Fixture{Root: root, index: index}
	f.open(t, change)
	return f
}

// Beside opens the same index a second time, as another process would.
func (f *Fixture) Beside(t testing.TB) *Fixture {
	t.Helper()
	g := &Fixture{Root: f.Root, index: f.index}
	g.open(t, nil)
	return g
}

func (f *Fixture) open(t testing.TB, change func(*collection.Options)) {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: "en"}))
	c := must.Get(catalog.Open(vfs.Disk{}, filepath.Join(f.index, "catalog"), catalog.Options{}))
	e := hashed.New(64)
	o := embedded.Options{Dir: filepath.Join(f.index, "engine"), Analyzer: a}
	for _, field := range []string{store.VectorBody, store.VectorTitle} {
		o.Vectors = append(o.Vectors, store.VectorField{Name: field, Model: e.Model(), Dims: e.Dims()})
	}
	st := must.Get(embedded.Open(o))
	f.Options = collection.Options{Name: Tree, Catalog: c, Backend: st, Store: "the index", Analyzer: a,
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			return e.Embed(ctx, model.Query, texts)
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
	f.Collection = must.Get(collection.New(f.Options))
	t.Cleanup(func() {
		_ = f.Collection.Close()
		_ = st.Close()
		_ = c.Close()
	})
}

// Write writes a file into the folder. Searches find the file after the next call of Index.
func (f *Fixture) Write(t testing.TB, path, text string) {
	t.Helper()
	full := filepath.Join(f.Root, filepath.FromSlash(path))
	must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
	must.Do(t, os.WriteFile(full, []byte(text), 0o644))
}

// Index updates the collection from the folder.
func (f *Fixture) Index(t testing.TB) {
	t.Helper()
	must.Get(f.Collection.Refresh(context.Background()))
}

// Documentation returns the Markdown files of the folder SHEAF_TEST_DIR, by path. If this variable is empty, it returns
// the documentation of this repository. The folder of the test must be two levels below the root of the repository.
func Documentation(t testing.TB) map[string]string {
	t.Helper()
	root := os.Getenv("SHEAF_TEST_DIR")
	if root == "" {
		root = filepath.Join("..", "..", "doc")
	}
	out := map[string]string{}
	must.Do(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		out[path] = string(text)
		return err
	}))
	return out
}

// Calibrated returns a function that gives every profile the same calibration. The confidence of a result is 1/(1 +
// e^-bias), or at most 0.25 if the query is unanswerable.
func Calibrated(bias float64, answerable bool) func(*profile.Profile) *search.Calibration {
	none := make([]float64, len(new(search.Evidence).Features()))
	c := &search.Calibration{
		Right:    calibrate.Logistic{Bias: bias, Weights: none},
		Answered: calibrate.Logistic{Bias: -20, Weights: none},
		Least:    0.5,
	}
	if answerable {
		c.Answered.Bias = 20
	}
	return func(*profile.Profile) *search.Calibration { return c }
}

// Asked has the queries of [Searches]. They are about the documentation of this repository.
var Asked = []string{"reciprocal rank fusion", "how does a crash lose nothing", "titles of chunks",
	"row level security", "what does a profile hold"}

// Searches makes a collection of the documentation of this repository. The function that it returns answers the query
// Asked[query] with the profile.
func Searches(b *testing.B, profile string, change func(*collection.Options)) (*Fixture, func(query int) error) {
	b.Helper()
	f := Open(b, Documentation(b), change)
	r := must.Get(f.For(access.Unrestricted()))
	b.Cleanup(r.Close)
	return f, func(query int) error {
		_, err := r.Search(b.Context(), collection.SearchRequest{Text: Asked[query], Profile: profile})
		return err
	}
}

// Picky is a store without transactions. It refuses documents whose text contains "heavy", and writes the others.
type Picky struct{ store.Backend }

// Write implements store.Backend.
func (p Picky) Write(ctx context.Context, batch store.Batch) error {
	partial := &store.PartialError{Rejected: map[sheaf.ID]error{}}
	taken := store.Batch{Replace: batch.Replace}
	for _, c := range batch.Chunks {
		if slices.ContainsFunc(c.Fields, func(f store.Field) bool { return strings.Contains(f.Text, "heavy") }) {
			partial.Rejected[c.Doc] = sheaf.Invalidf("it is too heavy")
			continue
		}
		taken.Chunks = append(taken.Chunks, c)
	}
	if err := p.Backend.Write(ctx, taken); err != nil || len(partial.Rejected) == 0 {
		return err
	}
	return partial
}

// Working runs c.Work in the background until the caller calls end, or until the test ends.
func Working(t testing.TB, c *collection.Collection) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Work(ctx) }()
	end = sync.OnceFunc(func() {
		stop()
		check.NoError(t, <-done, "work ended with")
	})
	t.Cleanup(end)
	return end
}
