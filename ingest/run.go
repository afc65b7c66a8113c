package ingest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/chunk"
)

// runner carries out the work list of one run.
type runner struct {
	o         *Options
	list      *worklist
	report    *Report
	writer    store.BulkWriter
	embedding embedding
	began     time.Time

	mu       sync.Mutex // guards the fields below, report and embedding
	progress Progress
	told     time.Time // when Options.Progress was called last
	commits  commits
	// pending maps the documents that wait after this run to the reasons.
	pending map[sheaf.ID]string
}

// carryOut does the work of a work list, in batches of about CommitBytes. Several workers read, cut and write the
// documents of a batch. Then carryOut commits the batch to the store and to the catalog. If ctx ends between these two
// commits, carryOut still finishes the second. After a crash between them, the next run repeats the batch.
func (o *Options) carryOut(ctx context.Context, l *worklist, began time.Time) (err error) {
	view := o.Catalog.View()
	settings := view.Settings()
	view.Close()
	r := &runner{o: o, list: l, report: &l.report, began: began, pending: map[sheaf.ID]string{}}
	maps.Copy(r.pending, l.pending)
	r.commits.written = map[sheaf.ID]writtenDocument{}
	r.embedding.wanted = settings.Embedder != ""
	r.progress.AllFiles = len(l.items)
	for i := range l.items {
		r.progress.AllBytes += l.items[i].size
	}
	if bulk, ok := o.Backend.(store.Bulk); ok {
		r.writer, err = bulk.Bulk(ctx)
	} else {
		r.writer = &plainWriter{b: o.Backend}
	}
	// Another process may have written the index and not recorded it yet.
	if settings.Analyzer == "" && errors.Is(err, store.ErrMadeOtherwise) {
		return fmt.Errorf("%w: %v", ErrRebuilt, err) // the request itself is valid
	}
	if err != nil {
		return err
	}
	defer func() {
		err = cmp.Or(err, r.writer.Close())
		l.report.Pending = waitsFor(r.pending, ReasonVectors)
		slices.SortStableFunc(l.report.Warnings, func(a, b FileWarning) int { // workers read files in any order
			return cmp.Or(strings.Compare(string(a.Doc), string(b.Doc)), cmp.Compare(a.Line, b.Line))
		})
	}()
	if gone := slices.Concat(l.removed, l.begun); len(gone) > 0 {
		if err := r.writer.Add(ctx, store.Batch{Replace: gone}); err != nil {
			return err
		}
		r.commits.update.Delete, r.commits.removing = slices.Clip(l.removed), len(l.removed)
		for _, id := range gone {
			delete(r.pending, id)
		}
	}
	r.tell(PhaseIndex, true) // a run of one file tells the phase only here
	// All commits have about the same size, at most CommitBytes.
	items, all := l.items, r.progress.AllBytes
	commits := max(1, (all+o.CommitBytes-1)/o.CommitBytes)
	most := max(1, (all+commits-1)/commits)
	for first := true; first || len(items) > 0; first = false {
		n, size := 0, int64(0)
		for n < len(items) && (size < most || items[n].size == 0) {
			size += items[n].size
			n++
		}
		batch := items[:n]
		items = items[n:]
		if err := r.batch(ctx, batch); err != nil {
			_ = r.awaitCatalog() // the next run repeats what the catalog lacks
			return err
		}
		if err := r.commit(ctx, len(items) == 0); err != nil {
			return err
		}
	}
	return r.awaitCatalog()
}

// plainWriter collects chunks, with their vectors, until a commit writes them to the store in one batch. It serves
// stores that do not implement store.Bulk.
type plainWriter struct {
	b  store.Backend
	mu sync.Mutex
	// batch has the chunks since the last commit.
	batch store.Batch
}

func (w *plainWriter) Add(_ context.Context, batch store.Batch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.batch.Replace = append(w.batch.Replace, batch.Replace...)
	w.batch.Chunks = append(w.batch.Chunks, batch.Chunks...)
	return nil
}

func (w *plainWriter) Commit(ctx context.Context) error {
	w.mu.Lock()
	batch := w.batch
	w.batch = store.Batch{}
	w.mu.Unlock()
	err := w.b.Write(ctx, batch)
	if !errors.Is(err, sheaf.ErrUnavailable) {
		return err
	}
	some := fmt.Sprintf("some of the last %d chunks may be written", len(batch.Chunks))
	if len(batch.Chunks) == 0 {
		some = fmt.Sprintf("some of %d documents may be removed already", len(batch.Replace))
	}
	return fmt.Errorf("%w; %s: repeat the command when the store answers", err, some)
}

func (w *plainWriter) Close() error { return nil }

// batch reads, cuts and writes the documents of a batch, several at once. It does not commit them.
func (r *runner) batch(ctx context.Context, batch []item) error {
	group, working := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(r.o.Workers, len(batch)) {
		memory := new([]float32)
		if _, keeps := r.writer.(*plainWriter); keeps {
			memory = nil
		}
		group.Go(func() error {
			for i := next.Add(1) - 1; i < int64(len(batch)) && working.Err() == nil; i = next.Add(1) - 1 {
				batch[i].vectors = memory
				if err := r.index(working, &batch[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return cmp.Or(group.Wait(), ctx.Err())
}

// tell calls Options.Progress with this phase, at most ten times a second unless now is true.
func (r *runner) tell(phase Phase, now bool) {
	t := time.Now()
	if !now && t.Sub(r.told) < 100*time.Millisecond {
		return
	}
	r.told = t
	p := r.progress
	p.Phase, p.Elapsed = phase, t.Sub(r.began)
	if p.Bytes > 0 && p.AllBytes > p.Bytes {
		p.Remaining = time.Duration(float64(p.Elapsed) * float64(p.AllBytes-p.Bytes) / float64(p.Bytes))
	}
	r.o.Progress(p)
}

// count adds a file that was read to the progress and to the report.
func (r *runner) count(c *content) {
	r.progress.Files++
	r.progress.Bytes += c.state.Size
	r.report.Bytes += c.state.Size
	r.tell(PhaseIndex, false)
}

func (r *runner) index(ctx context.Context, it *item) error {
	if it.stored {
		if whole, err := r.takeStored(it); err != nil {
			return err
		} else if !whole {
			return r.refile(it)
		}
		defer func() { it.given = nil }() // frees the text before the next item
	}
	c, err := it.content()
	if err != nil {
		return r.unreadable(ctx, it, err)
	}
	same := c.state.Hash == it.old.Hash && c.state.Size == it.old.Size
	if it.given == nil && it.known && !r.o.Rebuild && same && !r.isPending(it.doc) {
		if done, err := r.renewTime(it, &c); done || err != nil {
			return err
		}
	}
	doc, shown, reason := r.cut(it, &c)
	if reason != "" {
		return r.refuse(ctx, it, &c, reason)
	}
	rec := catalog.Record{File: c.state, Document: doc, Date: chunk.DateOf(&doc, c.modified)}
	if it.given != nil {
		it.given.declare(&rec.Document)
		it.given.retitle(&rec.Document)
		rec.Date = it.given.dateOf(&rec.Document, rec.Date)
	}
	if c.decoded || it.given != nil {
		rec.Text, rec.HasText = c.data, true
	}
	chunks, fault, err := r.add(ctx, it, &rec.Document, newEntries(&rec.Document, it.text(shown), rec.Date))
	if err != nil {
		return fmt.Errorf("index %s: %w", it.path, err)
	}
	encoded, err := catalog.Encode(&rec)
	if err != nil {
		return fmt.Errorf("index %s: %w", it.path, err)
	}
	r.recordDone(it, &c, &rec.Document, encoded, chunks, fault)
	return nil
}

// pieceChunks is the largest number of chunks of a document that are embedded and written at once, to limit memory.
const pieceChunks = 256

// add adds vectors to the chunks of a document, writes the chunks and counts them. fault says why vectors are missing.
// err says why the chunks were not written.
func (r *runner) add(ctx context.Context, it *item, doc *sheaf.Document,
	from *entries) (chunks int, fault, err error) {
	size := len(doc.Chunks)
	if _, ok := r.o.Embedder.(model.WindowEmbedder); (ok || r.o.Embedder == nil) && it.given == nil {
		size = pieceChunks
	}
	at := chunksOf(doc)
	for first := true; ; first = false {
		batch := store.Batch{Chunks: from.take(size)}
		if len(batch.Chunks) == 0 && !(first && it.known) {
			return chunks, fault, nil
		}
		if first {
			batch.Replace = []sheaf.ID{it.doc}
		}
		chunks += len(batch.Chunks)
		if it.given != nil {
			for i := range it.given.Chunks { // vectors that a program sent with a chunk stay
				batch.Chunks[i].Vectors = it.given.Chunks[i].Vectors
			}
		}
		words := r.o.takeLists(doc, at, batch.Chunks)
		if err := r.embedChunks(ctx, doc, at, batch.Chunks, it.vectors); err != nil {
			fault = err
		}
		r.o.completeBodies(doc, batch.Chunks, words)
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		if err := r.writer.Add(ctx, batch); err != nil {
			return 0, nil, err
		}
	}
}

func (r *runner) isPending(doc sheaf.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list.indexAgain(r.pending[doc], r.o)
}

// renewTime records the new time of a file whose content is already indexed. If the date of the document comes from the
// time of the file and is now wrong, done is false. The caller must then index the file again.
func (r *runner) renewTime(it *item, c *content) (done bool, err error) {
	rec := catalog.Record{}
	if !it.unsure {
		if rec, err = r.record(it.doc); err != nil {
			return false, err
		}
		if rec.Date.Source == sheaf.DateModified && rec.Date.Time.UnixMilli() != c.modified.UnixMilli() {
			return false, nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !it.unsure {
		rec.File = c.state
		r.commits.update.Put = append(r.commits.update.Put, rec)
		r.report.Touched++
	}
	r.report.Unchanged++
	r.count(c)
	return true, nil
}

// record returns the catalog's record of a document, with its text.
func (r *runner) record(doc sheaf.ID) (catalog.Record, error) {
	view := r.o.Catalog.View()
	defer view.Close()
	old, err := view.Record(doc)
	if err != nil {
		return catalog.Record{}, err
	}
	rec := *old
	if rec.HasText {
		rec.Text, err = view.Text(doc)
	}
	return rec, err
}

// cut converts a file's content to UTF-8 and cuts it into a document. It sets c.data to the converted text. If the file
// cannot be indexed, reason says why; a given text always makes a document. shown is the text to index.
func (r *runner) cut(it *item, c *content) (doc sheaf.Document, shown []byte, reason string) {
	if it.given != nil && len(it.given.Chunks) > 0 {
		return it.given.cut(it.doc), r.visibleText(it, c), ""
	}
	switch text, note, ok := decode(c.data); {
	case ok:
		c.decoded, c.note = !bytes.Equal(text, c.data), note
		c.data = text
	case it.given == nil:
		return doc, nil, ReasonBinary
	}
	chunker, err := chunk.For(it.path, r.o.Chunk)
	if err != nil {
		panic(err) // the options were checked before the run
	}
	shown = r.visibleText(it, c)
	doc = chunker.Chunk(it.doc.Tree(), it.path, shown)
	if it.given == nil && len(doc.Chunks) == 0 {
		return doc, nil, ReasonEmpty
	}
	if c.note != "" {
		doc.Warnings = append(doc.Warnings, sheaf.Warning{Message: c.note})
	}
	return doc, shown, ""
}

// visibleText returns the text of a document without the comments that the options hide.
func (r *runner) visibleText(it *item, c *content) []byte {
	if r.list.hides {
		return chunk.WithoutComments(it.path, c.data)
	}
	return c.data
}

// recordDone records an indexed document for the next commit. chunks counts its chunks. embedFault says why its vectors
// are missing, or is nil.
func (r *runner) recordDone(it *item, c *content, doc *sheaf.Document, encoded catalog.Encoded, chunks int,
	embedFault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	skip := it.skip(ReasonRefused)
	skip.Size, skip.ModTime = c.state.Size, c.state.ModTime
	r.commits.update.Encoded = append(r.commits.update.Encoded, encoded)
	r.commits.written[it.doc] = writtenDocument{skip, it.known, it.given != nil && !it.stored, chunks}
	switch {
	case it.known:
		r.report.Changed++
	case r.list.renamed[c.state.Hash] > 0:
		r.list.renamed[c.state.Hash]--
		r.report.Renamed++
		r.report.Added++
	default:
		r.report.Added++
	}
	r.report.Chunks += chunks
	if len(doc.Warnings) > 0 {
		r.report.Warned++
	}
	for _, warning := range doc.Warnings {
		if len(r.report.Warnings) < maxWarnings {
			r.report.Warnings = append(r.report.Warnings, FileWarning{it.doc, warning.Line, warning.Message})
		}
	}
	delete(r.pending, it.doc)
	switch {
	case r.list.newer:
		r.pending[it.doc] = ReasonReread
	case embedFault != nil:
		r.pending[it.doc] = ReasonVectors
	}
	r.count(c)
}

// refuse skips a file that was read, for this reason, and removes its document from the index. Later runs read the file
// again only if it changed.
func (r *runner) refuse(ctx context.Context, it *item, c *content, reason string) error {
	if err := r.forget(ctx, it); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	skip := it.skip(reason)
	skip.Size, skip.ModTime = c.state.Size, c.state.ModTime
	r.report.Skipped = append(r.report.Skipped, skip)
	r.count(c)
	return nil
}

// forget removes the document of a file from the index.
func (r *runner) forget(ctx context.Context, it *item) error {
	if !it.known {
		return nil
	}
	if err := r.writer.Add(ctx, store.Batch{Replace: []sheaf.ID{it.doc}}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits.update.Delete = append(r.commits.update.Delete, it.doc)
	delete(r.pending, it.doc)
	r.report.Removed++
	return nil
}

// mayReturn reports whether a file that was not found may come back: its disk or its tree's folder is missing.
func (r *runner) mayReturn(it *item) bool {
	tree := it.doc.Tree()
	if _, err := os.Stat(it.root); err != nil || r.list.mounted[tree] && !isMount(it.root) {
		return true
	}
	return slices.ContainsFunc(r.list.below[tree], func(disk string) bool {
		return strings.HasPrefix(it.path, disk) && !isDisk(it.root, disk)
	})
}

// unreadable skips a file that cannot be read. It removes the document from the index in two cases. Either the file
// will not come back, or comments of the text must now be hidden.
func (r *runner) unreadable(ctx context.Context, it *item, err error) error {
	gone := errors.Is(err, fs.ErrNotExist) && !r.mayReturn(it)
	r.mu.Lock()
	// The index may still have the words of these comments.
	comments := r.list.hides && r.pending[it.doc] == ReasonReread
	r.mu.Unlock()
	if gone || comments {
		if err := r.forget(ctx, it); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress.Files++
	r.progress.Bytes += it.size
	if gone {
		return nil
	}
	if tree := it.doc.Tree(); it.unsure { // the next run reads the file, whose last change was at it.state
		r.list.until[tree] = min(r.list.until[tree], it.state-1)
	}
	skip, why := it.skip(""), skipOf(err)
	skip.Reason, skip.Detail = why.Reason, why.Detail
	r.report.Skipped = append(r.report.Skipped, skip)
	return nil
}
