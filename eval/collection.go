package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/eval/dataset"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/model"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// tree is the name of the tree of a data set's documents.
const tree = "data"

// Store is a store for the index of a data set.
type Store struct {
	Name string
	// Open opens the store in the folder dir, and creates it in an empty folder. e is nil without a model.
	Open func(dir string, a *analysis.Analyzer, e model.Embedder) (store.Backend, error)
	// Fleeting says that a closed store loses its content, so every run indexes again.
	Fleeting bool
}

// Indexing says how to index a data set, and where to store the index.
type Indexing struct {
	// Cache is the folder of indexes. Missing indexes are built again.
	Cache string
	Store Store
	// Language is the language of the words: a code, "" for none, "auto" to detect it from the documents.
	Language  string
	StopWords bool
	// Embedder computes vectors; nil searches only words.
	Embedder model.Embedder
	OtherModels
	Chunk chunk.Options
	Walk  ingest.WalkOptions
	// Program identifies the build of this program. An index of another build is not used. ""
	// accepts every build.
	Program string
	// Fresh builds the index again.
	Fresh    bool
	Workers  int
	Progress func(ingest.Progress)
}

// OtherModels are for profiles with a reranking model or a chat model; nil for none.
type OtherModels struct {
	Reranker model.Reranker
	Expander *search.Expander
}

// Collection is a data set with an open index. It is safe for concurrent use.
type Collection struct {
	Dataset  *dataset.Dataset
	View     *catalog.View
	Backend  store.Backend
	Analyzer *analysis.Analyzer
	Embedder model.Embedder
	OtherModels
	Store string
	Index
	// Now is the clock for ages; nil is time.Now.
	Now func() time.Time

	catalog *catalog.Catalog
	vectors *sync.Map // by text; nil unless the collection is cached
}

// Index describes the index of a data set.
type Index struct {
	// Hash identifies the version of the documents.
	Hash string
	// Indexed is the time of indexing; 0 when the index existed.
	Indexed time.Duration
	// Bytes is the size of the index on disk.
	Bytes int64
}

// Open indexes d like a user's folder (cut into chunks, analyzed, embedded), or opens the index of
// an earlier run.
func Open(ctx context.Context, d *dataset.Dataset, o Indexing) (*Collection, error) {
	a, err := o.analyzer(ctx, d)
	if err != nil {
		return nil, err
	}
	dir, err := o.folder(d, a)
	if err != nil {
		return nil, err
	}
	if d.Folder != "" || o.Store.Fleeting {
		// Documents may change, and a store may lose its content, so compare the index every time.
		if o.Fresh || o.Store.Fleeting {
			if err := os.RemoveAll(dir); err != nil {
				return nil, err
			}
		}
		return o.open(ctx, d, a, dir, true)
	}
	if !o.Fresh {
		if _, err := os.Stat(dir); err == nil {
			c, err := o.open(ctx, d, a, dir, false)
			if err == nil || !errors.Is(err, sheaf.ErrCorrupt) {
				return c, err
			}
		}
	}
	return o.make(ctx, d, a, dir)
}

// make indexes into a folder beside dir and renames it when it is complete. So an interrupted run
// leaves no partial index.
func (o *Indexing) make(ctx context.Context, d *dataset.Dataset, a *analysis.Analyzer, dir string) (*Collection,
	error) {
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".making-*")
	if err != nil {
		return nil, fmt.Errorf("index data set: %w", err)
	}
	defer os.RemoveAll(tmp)
	c, err := o.open(ctx, d, a, tmp, true)
	if err != nil {
		return nil, err
	}
	took := c.Indexed
	if err := c.Close(); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp, dir); err != nil {
		return nil, fmt.Errorf("index data set: %w", err)
	}
	sweep(dir, d.Name)
	if c, err = o.open(ctx, d, a, dir, false); err != nil {
		return nil, err
	}
	c.Indexed = took
	return c, nil
}

// kept is how many different indexes of one data set stay in the cache.
const kept = 3

// sweep removes old indexes of the data set of this name.
func sweep(dir, name string) {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return
	}
	type made struct {
		dir string
		at  time.Time
	}
	var all []made
	for _, e := range entries {
		prefix, ok := strings.CutPrefix(e.Name(), plainName(name)+"-")
		if info, err := e.Info(); err == nil && ok && len(prefix) == keyDigits {
			all = append(all, made{filepath.Join(filepath.Dir(dir), e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b made) int { return b.at.Compare(a.at) })
	for _, m := range all[min(kept, len(all)):] {
		_ = os.RemoveAll(m.dir) // a fault does not matter for a cache
	}
}

// open opens the index in dir, and fills it if fill is set.
func (o *Indexing) open(ctx context.Context, d *dataset.Dataset, a *analysis.Analyzer, dir string,
	fill bool) (c *Collection, err error) {
	c = &Collection{Dataset: d, Analyzer: a, Embedder: o.Embedder, OtherModels: o.OtherModels, Store: o.Store.Name,
		Index: Index{Hash: d.Hash}}
	defer func() {
		if err != nil {
			c.Close()
			c = nil
		}
	}()
	if c.catalog, err = catalog.Open(vfs.Disk{}, filepath.Join(dir, "catalog"), catalog.Options{}); err != nil {
		return c, fmt.Errorf("index data set: %w", err)
	}
	if c.Backend, err = o.Store.Open(filepath.Join(dir, "store"), a, o.Embedder); err != nil {
		return c, fmt.Errorf("index data set: %w", err)
	}
	if fill {
		if err := o.fill(ctx, c); err != nil {
			return c, err
		}
	}
	if err := c.catalog.Reload(); err != nil {
		return c, err
	}
	c.View = c.catalog.View()
	c.Bytes = bytesOf(dir)
	if d.Folder != "" {
		c.Hash = FilesHash(c.View)
		if c.Dataset, err = resolve(d, c.View); err != nil {
			return c, err
		}
	}
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // sweep removes the oldest folders
	return c, nil
}

func (o *Indexing) fill(ctx context.Context, c *Collection) error {
	began := time.Now()
	d := c.Dataset
	var err error
	root := "" // given documents have no folder
	if d.Folder != "" {
		if root, err = filepath.Abs(d.Folder); err != nil {
			return err
		}
	}
	in := ingest.Options{
		Catalog: c.catalog, Backend: c.Backend, Walk: o.Walk, Chunk: o.Chunk, Analyzer: c.Analyzer, Embedder: o.Embedder,
		Workers: o.Workers, Progress: o.Progress,
		Trees: []catalog.Tree{{Name: tree, Root: root}}, CommitBytes: 32 << 20,
		Settings: func(s *catalog.Settings) { s.Analyzer = c.Analyzer.Name() },
	}
	var report *ingest.Report
	if d.Folder != "" {
		report, err = ingest.Run(ctx, in)
	} else {
		report, err = ingest.Put(ctx, in, given(d))
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", d.Name, err)
	}
	if report.EmbedError != "" {
		return fmt.Errorf("index %s: %w: %s", d.Name, sheaf.ErrUnavailable, report.EmbedError)
	}
	c.Indexed = time.Since(began)
	return nil
}

// given returns the documents of d as texts to index. An ID that is no file name gives no title.
func given(d *dataset.Dataset) []ingest.Given {
	docs := make([]ingest.Given, len(d.Documents))
	for i, doc := range d.Documents {
		docs[i] = ingest.Given{Tree: tree, Path: doc.ID, Title: doc.Title, Text: []byte(doc.Text),
			Untitled: doc.Title == "" && chunk.KindOf(doc.ID) == chunk.KindText}
	}
	return docs
}

// sampleTexts is the number of documents for detecting the language.
const sampleTexts = 60

func (o *Indexing) analyzer(ctx context.Context, d *dataset.Dataset) (*analysis.Analyzer, error) {
	language := o.Language
	switch {
	case language != "auto":
	case d.Folder != "": // like the folder's own index
		walk, err := ingest.NewWalk(ctx, d.Folder, o.Walk)
		if err != nil {
			return nil, fmt.Errorf("index data set: %w", err)
		}
		language = analysis.Detect(walk.LanguageSample())
	default:
		language = analysis.Detect(sample(d))
	}
	a, err := analysis.New(analysis.Options{Language: language, StopWords: o.StopWords})
	if err != nil {
		return nil, sheaf.Invalidf("language %q: %w", language, err)
	}
	return a, nil
}

// sample returns the starts of documents from all parts of the collection.
func sample(d *dataset.Dataset) string {
	var b strings.Builder
	const head = 4 << 10
	for i := 0; i < len(d.Documents); i += max(1, len(d.Documents)/sampleTexts) {
		text := d.Documents[i].Text
		b.WriteString(strings.ToValidUTF8(text[:min(head, len(text))], " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// keyDigits is the length of the hash in a folder name. The hash separates indexes of one data set.
const keyDigits = 16

// folder returns the path of the index. Its name includes everything that changes an index.
func (o *Indexing) folder(d *dataset.Dataset, a *analysis.Analyzer) (string, error) {
	if err := os.MkdirAll(o.Cache, 0o700); err != nil {
		return "", fmt.Errorf("index data set: %w", err)
	}
	model := ""
	if o.Embedder != nil {
		model = fmt.Sprintf("%s/%d", o.Embedder.Model(), o.Embedder.Dims())
	}
	cut, err := chunk.New(o.Chunk)
	if err != nil {
		return "", err
	}
	key := xxh3.HashString(strings.Join([]string{d.Hash, d.Folder, o.Store.Name, a.Name(), model, cut.Name(),
		fmt.Sprintf("%+v", o.Walk), o.Program}, "\x00"))
	return filepath.Join(o.Cache, fmt.Sprintf("%s-%016x", plainName(d.Name), key)), nil
}

// plainName keeps the characters that are allowed in a folder name.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, name)
}

func bytesOf(dir string) int64 {
	var n int64
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// FilesHash identifies the version of a folder by the content of its files.
func FilesHash(v *catalog.View) string {
	h := xxh3.New()
	for id, state := range v.Files() {
		_, _ = h.WriteString(string(id)) // never fails
		_, _ = h.Write(state.Hash[:])
	}
	return fmt.Sprintf("%016x", h.Sum128().Hi)
}

// Close releases the collection. Callers may call it twice.
func (c *Collection) Close() error {
	if c == nil {
		return nil
	}
	var faults []error
	if c.View != nil {
		c.View.Close()
	}
	if c.Backend != nil {
		faults = append(faults, c.Backend.Close())
	}
	if c.catalog != nil {
		faults = append(faults, c.catalog.Close())
	}
	c.View, c.Backend, c.catalog = nil, nil, nil
	return errors.Join(faults...)
}

// Searcher returns a searcher for the collection.
func (c *Collection) Searcher() *search.Searcher {
	s := &search.Searcher{Backend: c.Backend, Store: c.Store, Facts: c.View, Analyzer: c.Analyzer, Now: c.Now,
		Models: search.Models{Expander: c.Expander}}
	if c.Reranker != nil {
		s.Rerank, s.Text = c.Reranker.Rerank, search.TextOf(c.View, c.View.Text)
	}
	if c.Embedder != nil {
		s.SetModel(c.Embedder, c.Analyzer, c.View.Chunks())
		if c.vectors != nil {
			s.Embed = embedOnce(c.vectors, s.Embed)
		}
	}
	return s
}
