package scan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/memory"
	"sheaf/text/chunk"
)

// gatherResult is what gather found: the documents that it cut and indexed.
type gatherResult struct {
	docs   []candidate // best first
	chunks int
	paths  map[string]bool // by path
	failed int             // files that could not be read
	// refused has the files that the scan excludes because of a forbidden word of the query.
	refused map[string]bool
	tried   int  // matches that were examined
	beyond  int  // matches beyond the limit
	full    bool // the memory was full before the limit was reached
	// warnings report vectors that the model could not compute.
	warnings []string
	took     map[string]time.Duration
}

// records returns the documents with these IDs for a catalog, or all documents if ids is empty.
func (g *gatherResult) records(ids []sheaf.ID) []catalog.Encoded {
	out := make([]catalog.Encoded, 0, len(g.docs))
	for i := range g.docs {
		if len(ids) == 0 || slices.Contains(ids, g.docs[i].id) {
			out = append(out, g.docs[i].record)
		}
	}
	return out
}

func (g *gatherResult) notes(maxVectors int) []string {
	var notes []string
	switch {
	case g.full:
		notes = append(notes, fmt.Sprintf("the index is full after %d files: %d further files hold words of the query and "+
			"are no candidates (raise the memory)", len(g.docs), g.beyond))
	case g.beyond > 0:
		notes = append(notes, fmt.Sprintf("%d further files hold words of the query and are not candidates", g.beyond))
	}
	if g.failed > 0 {
		notes = append(notes, fmt.Sprintf("%d files could not be read", g.failed))
	}
	if maxVectors > 0 && g.chunks > maxVectors {
		notes = append(notes, fmt.Sprintf("the first %d of %d chunks have vectors", maxVectors, g.chunks))
	}
	return notes
}

// The scan processes files in batches of these sizes, so that memory holds only the texts of one batch.
const (
	batchFiles = 64
	batchBytes = 4 << 20
)

// firstBatch returns the first matches, as many as make one batch, but at least one if there are any.
func firstBatch(files []ingest.File, matches []match) []match {
	n, bytes := 0, int64(0)
	for n < min(len(matches), batchFiles) && bytes < batchBytes {
		bytes += files[matches[n].file].Bytes
		n++
	}
	return matches[:n]
}

// newChunker returns a chunker that cuts at headings into sections of at most chars characters. 0 means the default.
func newChunker(chars int) (chunk.Chunker, error) {
	return chunk.New(chunk.Options{Chunker: "sections", Sections: chunk.SectionOptions{Cap: chars}})
}

// gatherer cuts and indexes the matches of one request.
type gatherer struct {
	*Scanner
	req     search.ScanRequest
	chunker chunk.Chunker
	store   store.Backend
	files   []ingest.File
	leftOut leftOut
	out     *gatherResult
	budget  int64 // bytes that the index may still use
	vectors int   // chunks that may still be embedded
}

// gather cuts the matching files into chunks, best file first, and writes the chunks to st. It stops after
// req.Limits.Files files, or when the next file would exceed budget, in bytes of the index. The first file may exceed
// budget.
func (s *Scanner) gather(ctx context.Context, f *needleMatches, req search.ScanRequest, st store.Backend,
	budget int64) (*gatherResult, error) {
	chunker, err := newChunker(req.Limits.ChunkChars)
	if err != nil {
		return nil, err
	}
	g := &gatherer{Scanner: s, req: req, chunker: chunker, store: st, files: f.files, leftOut: f.leftOut,
		budget: budget, vectors: req.Limits.MaxVectors,
		out: &gatherResult{paths: map[string]bool{}, refused: map[string]bool{}, took: map[string]time.Duration{}}}
	matches := f.matches
	for len(matches) > 0 && len(g.out.docs) < req.Limits.Files && !g.out.full {
		// Also take one more file for each file that was dropped so far, so that batches do not get small.
		n := req.Limits.Files - len(g.out.docs) + g.out.tried - len(g.out.docs)
		batch := firstBatch(f.files, matches[:min(len(matches), n)])
		if err := g.batch(ctx, batch); err != nil {
			return nil, err
		}
		matches = matches[len(batch):]
	}
	g.out.beyond = len(f.matches) - g.out.tried
	return g.out, nil
}

// batch cuts further matches and writes their chunks to the store, in order.
func (g *gatherer) batch(ctx context.Context, matches []match) error {
	start := time.Now()
	took := func(step string) {
		now := time.Now()
		g.out.took[step] += now.Sub(start)
		start = now
	}
	cut, err := g.cut(ctx, g.files, matches, g.chunker)
	if err != nil {
		return err
	}
	took("chunk")
	refused, err := g.refusedFiles(ctx, matches, cut)
	if err != nil {
		return err
	}
	took("index")
	docs := g.choose(cut, refused)
	embedded := 0
	if g.vectors > 0 {
		if embedded, err = g.embed(ctx, docs); err != nil {
			return err
		}
		took("embed")
	}
	var batch store.Batch
	for i, d := range docs {
		batch.Chunks = append(batch.Chunks, d.entries(&g.req, i < embedded)...)
	}
	err = g.store.Write(ctx, batch)
	took("index")
	return err
}

// refusedFiles returns the files that may have a forbidden word, and in which g.req.Answering finds no chunk. It
// indexes the files with such words separately, so that these files do not change the rarity of words.
func (g *gatherer) refusedFiles(ctx context.Context, matches []match, cut []*loadedFile) (map[*loadedFile]bool, error) {
	if len(g.req.Answering) == 0 {
		return nil, nil
	}
	var batch store.Batch
	refused := map[*loadedFile]bool{}
	of := map[sheaf.ID]*loadedFile{}
	for i, d := range cut {
		if d == nil || !g.leftOut.mayContain(&matches[i]) || !d.passesFilter(g.req.Filter) {
			continue
		}
		refused[d] = true
		for _, c := range d.entries(&g.req, false) {
			of[c.ID] = d
			batch.Chunks = append(batch.Chunks, c)
		}
	}
	if len(refused) == 0 || len(of) > store.MaxLimit { // more documents than a request can name
		return nil, nil
	}
	queries := make([]sheaf.TextQuery, len(g.req.Answering))
	for i, t := range g.req.Answering {
		queries[i] = t.Query
	}
	st := memory.NewFor(g.o.Analyzer, queries...)
	if err := st.Write(ctx, batch); err != nil {
		return nil, err
	}
	for i := range g.req.Answering {
		hits, err := st.Retrieve(ctx, store.Request{Text: &g.req.Answering[i], Limit: max(1, len(of))})
		if err != nil {
			return nil, err
		}
		for j := range hits {
			delete(refused, of[hits[j].ID])
		}
	}
	return refused, nil
}

// choose returns the files that pass the filter and are not refused, in order. It stops at the largest number of files,
// or when the next file would exceed g.budget. The first file of all may exceed it. choose records in g.out what it
// chose and refused.
func (g *gatherer) choose(cut []*loadedFile, refused map[*loadedFile]bool) []*loadedFile {
	var docs []*loadedFile
	for _, d := range cut {
		if len(g.out.docs) == g.req.Limits.Files {
			break
		}
		switch {
		case d == nil:
			g.out.failed++
		case !d.passesFilter(g.req.Filter):
		case refused[d]:
			g.out.refused[d.file.Path] = true
		default:
			n := d.bytes + entryBytes*int64(len(d.doc.Chunks))
			if n > g.budget && len(g.out.docs) > 0 {
				g.out.full = true
				return docs
			}
			g.budget -= n
			docs = append(docs, d)
			g.out.docs = append(g.out.docs, d.candidate)
			g.out.paths[d.file.Path] = true
			g.out.chunks += len(d.doc.Chunks)
		}
		g.out.tried++
	}
	return docs
}

// cut cuts the files of matches into chunks. If a file cannot be cut, its entry is nil.
func (s *Scanner) cut(ctx context.Context, files []ingest.File, matches []match, chunker chunk.Chunker) ([]*loadedFile,
	error) {
	docs := make([]*loadedFile, len(matches))
	n := min(runtime.GOMAXPROCS(0), len(matches))
	group, ctx := errgroup.WithContext(ctx)
	for w := range n {
		group.Go(func() error {
			var buffer []byte
			for i := w; i < len(matches); i += n {
				if err := ctx.Err(); err != nil {
					return err
				}
				docs[i] = s.load(&files[matches[i].file], chunker, &buffer)
			}
			return nil
		})
	}
	return docs, group.Wait()
}

// load reads and cuts a file, or takes it from the cache. It returns nil when the file is unreadable or has no text.
// buffer holds memory for the bytes of a file, and is used again for the next file.
func (s *Scanner) load(f *ingest.File, chunker chunk.Chunker, buffer *[]byte) *loadedFile {
	key := chunker.Name() + "\x00" + f.Path
	if d, ok := s.cache.Get(key); ok && d.file.Bytes == f.Bytes && d.file.ModTime.Equal(f.ModTime) {
		return d
	}
	raw, err := s.readFile(f.Path, f.Bytes, *buffer)
	if err != nil {
		return nil
	}
	*buffer = raw[:0]
	text, ok := s.textOf(f.Path, raw)
	if !ok {
		return nil
	}
	text = bytes.Clone(text) // the chunks share the text, and the buffer is reused
	d, err := newLoaded(key, f, raw, text, chunker.Chunk(s.o.Tree, f.Path, text))
	if err != nil {
		return nil
	}
	s.cache.Put(key, d, d.memory())
	return d
}

// embed computes vectors for the first documents, as many as g.vectors allows, and returns how many documents these
// are. It replaces each of these documents in docs by a copy with vectors, unless a cached document already has
// vectors. If the model fails, embed adds a warning. If the model refuses one document, embed continues with the rest.
func (g *gatherer) embed(ctx context.Context, docs []*loadedFile) (int, error) {
	model := g.o.Embedder.Model()
	n := 0
	for n < len(docs) && g.vectors >= len(docs[n].doc.Chunks) {
		g.vectors -= len(docs[n].doc.Chunks)
		n++
	}
	if n < len(docs) {
		g.vectors = 0
	}
	refused := make([]error, n)
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(max(2, runtime.GOMAXPROCS(0)))
	for i, d := range docs[:n] {
		if d.embedded == model {
			continue
		}
		group.Go(func() error {
			with := new(*d) // other queries may be reading d
			with.embedded, with.vectors = model, nil
			entries := with.entries(&g.req, false)
			if err := ingest.Embed(inner, g.o.Embedder, &with.doc, entries); err != nil {
				if errors.Is(err, context.DeadlineExceeded) || !ingest.Answers(inner, g.o.Embedder) {
					return err
				}
				refused[i] = err
				return nil
			}
			with.vectors = make([][]store.Vectors, len(entries))
			for j := range entries {
				with.vectors[j] = entries[j].Vectors
			}
			docs[i] = with
			g.cache.Put(with.key, with, with.memory())
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil {
		g.vectors = 0
	} else if i := slices.IndexFunc(refused, func(err error) bool { return err != nil }); i >= 0 {
		err = refused[i]
	}
	if err != nil {
		g.out.warnings = append(g.out.warnings, fmt.Sprintf("vectors of candidates: %v", err))
	}
	return n, nil
}

// whyNot returns the reason why a document is not a candidate, or "" if it is a candidate.
func (s *Scanner) whyNot(f *needleMatches, g *gatherResult, id sheaf.ID, req search.ScanRequest) (string, error) {
	name, inside := strings.CutPrefix(string(id), s.o.Tree+":")
	at := slices.IndexFunc(f.files, func(f ingest.File) bool { return f.Path == name })
	if !inside || at < 0 {
		return "", fmt.Errorf("%w: %s is not a file of this folder", sheaf.ErrNotFound, id)
	}
	if g.paths[name] {
		return "", nil
	}
	if req.Shown != nil {
		chunker, err := newChunker(req.Limits.ChunkChars)
		if err != nil {
			return "", err
		}
		if d := s.load(&f.files[at], chunker, new([]byte)); d == nil || !d.passesFilter(req.Shown) {
			return "", fmt.Errorf("%w: %s is not a file of this folder", sheaf.ErrNotFound, id)
		}
	}
	rank := slices.IndexFunc(f.matches, func(m match) bool { return m.file == at })
	if rank < 0 {
		return fmt.Sprintf("neither the path nor the text of %s holds any of: %s", path.Base(name),
			f.needlesOf(math.MaxUint64)), nil
	}
	holds := fmt.Sprintf("its file holds %q", f.needlesOf(f.matches[rank].path|f.matches[rank].content))
	switch {
	case rank >= g.tried && g.full:
		return fmt.Sprintf("%s and is number %d of the files that match: the memory was full after %d", holds, rank+1,
			len(g.docs)), nil
	case rank >= g.tried:
		return fmt.Sprintf("%s and is number %d of the files that match: only the first %d are candidates", holds, rank+1,
			req.Limits.Files), nil
	case g.refused[name]:
		return holds + ", but each section that would answer has a word that the query leaves out", nil
	case req.Filter != nil:
		return "the filter leaves its file out, or it could not be read", nil
	}
	return "its file could not be read", nil
}
