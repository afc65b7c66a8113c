// Package scan finds answers to a query without an index. It searches the paths and files of a
// folder for the words of the query. It cuts the best files into sections and indexes them in
// memory while the query runs. Its main type is [Scanner], which implements search.Scanner.
//
// It writes nothing to disk. It caches cut files within a memory limit, so that the next query does
// not cut them again. It detects a changed file by size and time.
//
// Source: the tiered search specification. There, candidates are the first matching files that the folder
// lists. Here, all matching files are candidates, and files with most of the rare words come first.
package scan

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/lru"
	"sheaf/model"
	"sheaf/search"
	"sheaf/store/memory"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// Options are the settings of a scanner.
type Options struct {
	// Root is the folder to scan. Tree is the name of the tree of its documents; "" means the name of the folder.
	Root string
	Tree string
	Walk ingest.WalkOptions
	// Analyzer splits texts into terms.
	Analyzer *analysis.Analyzer
	// Embedder computes the vectors of candidates when a query needs them; nil means no vectors.
	Embedder model.Embedder
	// HideComments removes comments from Markdown: see chunk.WithoutComments.
	HideComments bool
}

// Scanner scans one folder. It is safe for concurrent use.
type Scanner struct {
	o Options
	// cache has the files that were cut and used last. The key is the chunker and the path.
	cache lru.Cache[string, *loadedFile]
	// commentless returns a scanner of the same folder that hides comments. Each call returns the same scanner.
	commentless func() *Scanner
}

// readFile returns the content of a file of about size bytes. The content is in buffer if buffer is large enough.
func (s *Scanner) readFile(name string, size int64, buffer []byte) ([]byte, error) {
	if int64(cap(buffer)) <= size {
		buffer = make([]byte, size+size/4+512)
	}
	return ingest.ReadHead(filepath.Join(s.o.Root, filepath.FromSlash(name)), buffer[:cap(buffer)])
}

// textOf returns the text in raw, the bytes of a file. ok is false if the file has no text.
func (s *Scanner) textOf(name string, raw []byte) (text []byte, ok bool) {
	text, ok = ingest.Text(raw)
	if ok && s.o.HideComments {
		text = chunk.WithoutComments(name, text)
	}
	return text, ok
}

var _ search.Scanner = (*Scanner)(nil)

// New returns a scanner of a folder. Every query reads the folder again.
func New(o Options) (*Scanner, error) {
	if o.Root == "" || o.Analyzer == nil {
		return nil, sheaf.Invalidf("scan: a folder and an analyzer are needed")
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", o.Root, err)
	}
	o.Root = root
	if o.Tree == "" {
		o.Tree = catalog.TreeName(root)
	}
	s := &Scanner{o: o}
	s.commentless = sync.OnceValue(func() *Scanner {
		o.HideComments = true
		return &Scanner{o: o}
	})
	return s, nil
}

// split divides an amount of memory: 35 % for cut files, 65 % for the index. All numbers are bytes.
func split(memory int64) (cut, index int64) {
	return int64(0.35 * float64(memory)), int64(0.65 * float64(memory))
}

// Scan implements search.Scanner.
func (s *Scanner) Scan(ctx context.Context, req search.ScanRequest) (*search.Scanned, error) {
	if err := check(&req); err != nil {
		return nil, err
	}
	if req.HideComments && !s.o.HideComments {
		return s.commentless().Scan(ctx, req)
	}
	if !req.Vectors || s.o.Embedder == nil {
		req.Limits.MaxVectors = 0
	}
	out := &search.Scanned{}
	start := time.Now()
	took := func(step string) {
		out.Took = append(out.Took, search.Timing{Step: step, Duration: time.Since(start)})
		start = time.Now()
	}
	files, _, err := ingest.Files(ctx, s.o.Root, s.o.Walk)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	if req.Visible != nil {
		files = slices.DeleteFunc(files, func(f ingest.File) bool { return !req.Visible(sheaf.DocumentID(s.o.Tree, f.Path)) })
	}
	took("list")
	found, err := s.match(ctx, files, req)
	if err != nil {
		return nil, err
	}
	took("scan")
	cut, index := split(req.Limits.MemoryBytes)
	s.cache.Limit(cut)
	store := memory.NewFor(s.o.Analyzer, req.Words)
	g, err := s.gather(ctx, found, req, store, index)
	if err != nil {
		return nil, err
	}
	for _, step := range []string{"chunk", "embed", "index"} {
		if d, ok := g.took[step]; ok {
			out.Took = append(out.Took, search.Timing{Step: step, Duration: d})
		}
	}
	out.Notes, out.Warnings = g.notes(req.Limits.MaxVectors), g.warnings
	out.Catalog = func(docs ...sheaf.ID) (*catalog.View, error) { return s.openView(g.records(docs), nil) }
	facts, err := s.newFacts(files, g)
	if err != nil {
		return nil, err
	}
	out.Backend, out.Facts, out.Text = store, facts, facts.text
	out.Files, out.Matched, out.Candidates, out.Chunks = len(files), len(found.matches), len(g.docs), g.chunks
	out.WhyNot = func(id sheaf.ID) (string, error) { return s.whyNot(found, g, id, req) }
	return out, nil
}

// These are bounds of what a request may ask for.
const (
	maxFiles      = 10_000
	minMemory     = 1 << 20
	maxMemory     = 1000 << 20
	maxQueries    = 16
	maxQueryBytes = 4000
)

func check(req *search.ScanRequest) error {
	switch {
	case req.Limits.Files < 1 || req.Limits.Files > maxFiles:
		return sheaf.Invalidf("scan: the limit of files is %d: must be within 1..%d", req.Limits.Files, maxFiles)
	case req.Limits.MemoryBytes < minMemory || req.Limits.MemoryBytes > maxMemory:
		return sheaf.Invalidf("scan: memory is %d bytes: must be within %d..%d", req.Limits.MemoryBytes, minMemory, maxMemory)
	case len(req.Queries) > maxQueries:
		return sheaf.Invalidf("scan: there are %d queries: at most %d are allowed", len(req.Queries), maxQueries)
	}
	return nil
}

// All returns a catalog of every document of the folder, cut into sections of at most chunkChars characters. Callers
// use it to look up addresses, paths and properties, and must close it.
func (s *Scanner) All(ctx context.Context, chunkChars int) (*catalog.Catalog, error) {
	files, skipped, err := ingest.Files(ctx, s.o.Root, s.o.Walk)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	chunker, err := newChunker(chunkChars)
	if err != nil {
		return nil, err
	}
	matches := make([]match, len(files))
	for i := range matches {
		matches[i].file = i
	}
	var docs []catalog.Encoded
	for n := 0; n < len(files); {
		batch := firstBatch(files, matches[n:])
		cut, err := s.cut(ctx, files, batch, chunker)
		if err != nil {
			return nil, err
		}
		for _, d := range cut {
			if d != nil {
				docs = append(docs, d.record)
			}
		}
		n += len(batch)
	}
	return s.openCatalog(docs, skipped)
}
