// Package indexing opens data sets and indexes of folders for package eval. Its searches rank like a user's searches.
package indexing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/eval"
	"sheaf/eval/dataset"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/model"
	"sheaf/search"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// tree is the name of the tree that has the documents of a data set.
const tree = "data"

// Options say how to index a data set, and where to store the index.
type Options struct {
	// Cache is a folder that contains indexes. Open builds an index that is missing there.
	Cache string
	// Making says how to cut and analyze documents. Embedder replaces the model of Making; nil means no vectors.
	Making   collection.Making
	Embedder model.Embedder
	// Reranker and Expander are for profiles that need a reranking model or a chat model. They may be nil.
	Reranker model.Reranker
	Expander *search.Expander
	// Memory stores the chunks in memory, in the exhaustive store, instead of in the engine. Every run indexes again.
	Memory bool
	// Program identifies the build of this program. Open does not use an index that another build made. If Program is
	// "", it uses indexes of all builds.
	Program string
	// Fresh builds the index again even if it exists.
	Fresh    bool
	Progress func(ingest.Progress)
}

// Of makes a collection without data set from an open index. expander may be nil. Close the collection, then the index.
func Of(ctx context.Context, x *collection.Index, expander *search.Expander) (*eval.Collection, error) {
	asked, err := x.Ask(nil, expander)
	if err != nil {
		return nil, err
	}
	reader, err := asked.For(access.Unrestricted())
	if err != nil {
		return nil, errors.Join(err, asked.Close())
	}
	s := reader.Searcher(ctx)
	s.Confidence = nil
	return &eval.Collection{View: x.View, Searcher: s, Store: x.StoreInErrors(), Hash: filesHash(x.View),
		Err: func() error { return cmp.Or(reader.Err(), x.View.Err()) },
		Close: sync.OnceFunc(func() {
			reader.Close()
			_ = asked.Close() // it wrote nothing
		})}, nil
}

// filesHash identifies the version of a folder. It is a hash of the content of the folder's files.
func filesHash(v *catalog.View) string {
	h := xxh3.New()
	for id, state := range v.Files() {
		_, _ = h.WriteString(string(id)) // never fails
		_, _ = h.Write(state.Hash[:])
	}
	return fmt.Sprintf("%016x", h.Sum128().Hi)
}

// Open indexes d as a user's folder is indexed: it cuts, analyzes and embeds the documents. If an earlier run has made
// the index, Open only opens it. If this index is damaged, Open builds it again.
func Open(ctx context.Context, d *dataset.Dataset, o Options) (*eval.Collection, error) {
	if d.Folder != "" {
		absolute, err := filepath.Abs(d.Folder)
		if err != nil {
			return nil, err
		}
		named := *d
		d, named.Folder = &named, absolute
	}
	dir, err := o.folder(d)
	if err == nil && (o.Fresh || o.Memory) {
		err = os.RemoveAll(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("index data set: %w", err)
	}
	c, err := o.open(ctx, d, dir)
	if errors.Is(err, sheaf.ErrCorrupt) && os.RemoveAll(dir) == nil {
		c, err = o.open(ctx, d, dir)
	}
	return c, err
}

// open opens the index in dir. It then indexes the documents that the index lacks.
func (o *Options) open(ctx context.Context, d *dataset.Dataset, dir string) (*eval.Collection, error) {
	making := o.Making
	if making.Language == "auto" && d.Folder == "" {
		making.Language = analysis.Detect(sample(d))
	}
	making.Embed = func(context.Context, int, collection.Patience) (model.Embedder, error) { return o.Embedder, nil }
	silent := func(string, ...any) {}
	site := collection.Site{Folder: d.Folder, Where: location.Location{Root: d.Folder, Dir: dir}}
	x := collection.NewIndex(site, making, collection.Events{Notice: silent, Warn: silent})
	x.Answering.Rerank = o.Reranker
	if err := x.OpenStores(ctx); err != nil {
		return nil, fmt.Errorf("index data set: %w", err)
	}
	c, err := o.fill(ctx, d, x)
	if err != nil {
		x.Close()
		return nil, err
	}
	closeReader := c.Close
	c.Close = sync.OnceFunc(func() {
		closeReader()
		x.Close()
	})
	c.Bytes = location.Bytes(dir)
	now := time.Now()
	_ = os.Chtimes(dir, now, now) // sweep removes the oldest folders
	sweep(dir, d.Name)
	return c, nil
}

// fill indexes the documents that an open index lacks. It returns a collection for the index.
func (o *Options) fill(ctx context.Context, d *dataset.Dataset, x *collection.Index) (*eval.Collection, error) {
	storeName := collection.EngineStore
	if o.Memory {
		exhaustive := memory.New(x.Analyzer)
		if x.Engine.AllChunks {
			exhaustive.CountAllChunks()
		} else {
			exhaustive.KeepLengths(func(n int) int { return int(x.Engine.Lengths.Of(uint32(n))) })
		}
		_ = x.Backend.Close() // it is empty
		storeName, x.Backend = "memory", exhaustive
	}
	took := time.Duration(0)
	// Files may change. Given documents do not, but their indexing may have stopped, or the model was down.
	if d.Folder != "" || x.View.Docs() < len(d.Documents) || len(x.View.Pending()) > 0 {
		began := time.Now()
		in := x.IngestOptions()
		in.Trees, in.CommitBytes, in.Progress = []catalog.Tree{{Name: tree, Root: d.Folder}}, 32<<20, o.Progress
		report, err := (*ingest.Report)(nil), error(nil)
		if d.Folder != "" {
			report, err = ingest.Run(ctx, in)
		} else {
			report, err = ingest.Change(ctx, in, givenDocuments(d), nil)
		}
		if err == nil && report.EmbedError != "" {
			err = fmt.Errorf("%w: %s", sheaf.ErrUnavailable, report.EmbedError)
		}
		if err == nil {
			err = x.Catalog.Reload()
		}
		if err != nil {
			return nil, fmt.Errorf("index %s: %w", d.Name, err)
		}
		x.View.Close()
		x.View, took = x.Catalog.View(), time.Since(began)
	}
	c, err := Of(ctx, x, o.Expander)
	if err != nil {
		return nil, fmt.Errorf("index data set: %w", err)
	}
	c.Dataset, c.Store, c.Indexed = d, storeName, took
	if d.Folder == "" {
		c.Hash = d.Hash
	} else if c.Dataset, err = resolve(d, c.View); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// givenDocuments returns the documents of d as texts to index. A document without title takes its title from its ID if
// the ID names a Markdown or code file. Otherwise the title stays empty.
func givenDocuments(d *dataset.Dataset) []ingest.Given {
	docs := make([]ingest.Given, len(d.Documents))
	for i, doc := range d.Documents {
		docs[i] = ingest.Given{Tree: tree, Path: doc.ID, Title: doc.Title, Text: []byte(doc.Text),
			Untitled: doc.Title == "" && chunk.KindOf(doc.ID) == chunk.KindText}
	}
	return docs
}

// sampleTexts is the approximate number of documents that [sample] reads. It reads all documents if there are fewer.
const sampleTexts = 60

// sample returns the beginnings of some documents, to detect the language. The documents come from all parts of d.
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

// folder returns the path of the index folder. The name depends on everything that changes an index.
func (o *Options) folder(d *dataset.Dataset) (string, error) {
	if err := os.MkdirAll(o.Cache, 0o700); err != nil {
		return "", err
	}
	model, cutting, err := "", chunk.Options{}, error(nil)
	if o.Embedder != nil {
		model = fmt.Sprintf("%s/%d", o.Embedder.Model(), o.Embedder.Dims())
	}
	if o.Making.Chunk != nil {
		if cutting, err = o.Making.Chunk(); err != nil {
			return "", err
		}
	}
	cut, err := chunk.New(cutting)
	if err != nil {
		return "", err
	}
	key := xxh3.HashString(fmt.Sprintf("%q %+v %v %v", []string{d.Hash, d.Folder, o.Making.Language, model, cut.Name(),
		o.Program}, o.Making.Walk, o.Making.StopWords, o.Memory))
	return filepath.Join(o.Cache, fmt.Sprintf("%s-%016x", plainName(d.Name), key)), nil
}

// keptIndexes limits the indexes of one data set in the cache. sweep removes the least recently used ones.
const keptIndexes = 3

// sweep removes the old indexes of a data set from the cache. It ignores errors, because an old index does no harm.
func sweep(dir, name string) {
	cache := os.DirFS(filepath.Dir(dir))
	all, _ := fs.Glob(cache, plainName(name)+"-"+strings.Repeat("?", 16))
	used := map[string]time.Time{}
	for _, index := range all {
		if info, err := fs.Stat(cache, index); err == nil {
			used[index] = info.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return used[b].Compare(used[a]) })
	for _, index := range all[min(keptIndexes, len(all)):] {
		_ = os.RemoveAll(filepath.Join(filepath.Dir(dir), index))
	}
}

// plainName returns name without the characters that a folder name may not have.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, name)
}
