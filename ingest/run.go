package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/chunk"
)

// run carries out the plan, now that nobody else can change the catalog, or another
// one when somebody has done so since the plan was made, in rounds of about
// CommitBytes: each round is read, cut and written by several workers, then
// committed, first to the backend and then to the catalog, also when ctx ends
// between the two. What a crash leaves there is done again.
func (o *Options) run(ctx context.Context, p *plan, report *Report, began time.Time) error {
	view := o.Catalog.View()
	stale := view.Generation() != p.generation
	view.Close()
	var err error
	if stale {
		if p, err = makePlan(ctx, o); err != nil {
			return err
		}
	}
	report.Unchanged, report.Ignored, report.Skipped, report.Gone = p.unchanged, p.ignored, slices.Clone(p.skipped), p.goneRoots()
	if p.nothing() { // who did it may hold the store's lock still
		report.Pending = wantVectors(p.pending)
		return nil
	}
	p.known = len(p.removed)
	return o.carryOut(ctx, p, report, began)
}

// carryOut does what the plan says.
func (o *Options) carryOut(ctx context.Context, p *plan, report *Report, began time.Time) error {
	r := &runner{o: o, plan: p, report: report, began: began, pending: maps.Clone(p.pending)}
	view := o.Catalog.View()
	r.modeled = view.Settings().Embedder != ""
	unmade := view.Settings().Analyzer == ""
	view.Close()
	if r.pending == nil {
		r.pending = map[sheaf.ID]string{}
	}
	for _, j := range p.work {
		r.allBytes += j.size
	}
	writer, err := r.writer(ctx)
	if unmade && errors.Is(err, store.ErrMadeOtherwise) { // by a process that has not recorded it yet
		return fmt.Errorf("%w: %v", ErrMadeAnew, err) // nobody asked for anything wrong
	}
	if err != nil {
		return err
	}
	err = r.rounds(ctx, writer)
	if closeErr := writer.Close(); err == nil {
		err = closeErr
	}
	report.Pending = wantVectors(r.pending)
	slices.SortStableFunc(report.Warnings, func(a, b FileWarning) int { // workers read files in any order
		return cmp.Or(strings.Compare(string(a.Doc), string(b.Doc)), cmp.Compare(a.Line, b.Line))
	})
	return err
}

type runner struct {
	o        *Options
	plan     *plan
	report   *Report
	began    time.Time
	allBytes int64

	mu      sync.Mutex
	files   int
	bytes   int64
	told    time.Time
	update  catalog.Update
	pending map[sheaf.ID]string
	// removing is how many documents of update are removed by the plan.
	removing int
	// written are the files of the documents in update, by document.
	written map[sheaf.ID]writtenFile
	// recording ends with what the catalog says of the last commit; nil when
	// nothing is being recorded.
	recording chan error
	// embedFault is set when the embedder failed; it is not asked again in
	// this run.
	embedFault error
	// refusing is since when it refuses every document; zero while it does not.
	refusing time.Time
	// modeled says that the documents of before have vectors.
	modeled bool
	// unread is, for each tree, when the first of the unsure files changed that could
	// not be read.
	unread map[string]int64
}

// writer is the backend's bulk writer, or its plain writes made to look like
// one.
func (r *runner) writer(ctx context.Context) (store.BulkWriter, error) {
	if bulk, ok := r.o.Backend.(store.Bulk); ok {
		return bulk.Bulk(ctx)
	}
	return &plainWriter{b: r.o.Backend}, nil
}

// plainWriter gathers batches and writes them at once.
type plainWriter struct {
	b  store.Backend
	mu sync.Mutex
	// batch is what was added since the last commit.
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
	some := fmt.Sprintf("of the last %d chunks some may be written", len(batch.Chunks))
	if len(batch.Chunks) == 0 {
		some = fmt.Sprintf("of %d documents to be removed some may be gone", len(batch.Replace))
	}
	return fmt.Errorf("%w; %s: repeat this when the store answers, and it is whole", err, some)
}

func (w *plainWriter) Close() error { return nil }

// rounds carries the plan out.
func (r *runner) rounds(ctx context.Context, w store.BulkWriter) error {
	if gone := slices.Concat(r.plan.removed, r.plan.begun); len(gone) > 0 {
		if err := w.Add(ctx, store.Batch{Replace: gone}); err != nil {
			return err
		}
		r.update.Delete, r.removing = slices.Clip(r.plan.removed), r.plan.known
		for _, id := range gone {
			delete(r.pending, id)
		}
	}
	r.tell(PhaseIndex, true) // the first file may be all there is
	work := r.plan.work
	share := r.share()
	for first := true; first || len(work) > 0; first = false {
		n, size := 0, int64(0)
		for n < len(work) && (size < share || work[n].size == 0) {
			size += work[n].size
			n++
		}
		round := work[:n]
		work = work[n:]
		if err := r.round(ctx, w, round); err != nil {
			_ = r.recorded() // what the catalog has not is done again
			return err
		}
		if err := r.commit(ctx, w, len(work) == 0); err != nil {
			return err
		}
	}
	return r.recorded()
}

// share is how many bytes of files are written before they are committed: as few
// commits as CommitBytes allows have about the same.
func (r *runner) share() int64 {
	commits := max(1, (r.allBytes+r.o.CommitBytes-1)/r.o.CommitBytes)
	return max(1, (r.allBytes+commits-1)/commits)
}

// round reads, cuts and adds files, several at once.
func (r *runner) round(ctx context.Context, w store.BulkWriter, round []job) error {
	jobs := make(chan *job)
	group, ctx := errgroup.WithContext(ctx)
	for range min(r.o.Workers, len(round)) {
		group.Go(func() error {
			for j := range jobs {
				if err := r.file(ctx, w, j); err != nil {
					return err
				}
			}
			return nil
		})
	}
	group.Go(func() error {
		defer close(jobs)
		for i := range round {
			select {
			case jobs <- &round[i]:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	return group.Wait()
}

// commit makes the round durable: backend first, then catalog. The catalog is
// written beside the next round.
func (r *runner) commit(ctx context.Context, w store.BulkWriter, last bool) error {
	if err := r.recorded(); err != nil {
		return err
	}
	view := r.o.Catalog.View()
	settings, waiting := view.Settings(), view.Pending()
	reads := r.plan.reads && (ReadBefore(view) || r.plan.hides != HidesComments(view)) // this is the first commit
	view.Close()
	u := r.update
	r.update = catalog.Update{}
	sortSkips(r.report.Skipped)
	skipped := hashSkips(r.report.Skipped)
	if last && len(r.plan.begun) == 0 && !(r.plan.unsure && r.seesMore(&settings)) && len(u.Put)+len(u.Encoded)+len(u.Delete) == 0 && r.plan.settings == nil && settings.Extra[skippedKey] == skipped {
		return nil // files that could not be read still cannot
	}
	r.tell(PhaseCommit, true)
	if err := r.begin(ctx, waiting, u.Delete); err != nil {
		return err
	}
	var partial *store.PartialError
	var refused error
	switch err := w.Commit(ctx); {
	case errors.As(err, &partial):
		if r.rejected(partial, &u) {
			refused = err
		}
		skipped = hashSkips(r.report.Skipped)
	case err != nil:
		return err
	}
	clear(r.written)
	r.report.Removed += r.removing
	r.removing = 0
	settings.Trees = r.o.Trees
	if r.plan.settings != nil {
		settings = *r.plan.settings
	}
	settings.Extra = maps.Clone(settings.Extra)
	if settings.Extra == nil {
		settings.Extra = map[string]string{}
	}
	if reads || last && settings.Extra[skippedKey] != skipped { // files that were left out are to be read again, too
		settings.Extra[skippedKey] = skipped
		u.Skipped = &r.report.Skipped
	}
	if last { // before, what was seen may not be indexed
		for tree := range r.plan.seen {
			settings.Extra[seenKey(tree)] = r.seen(tree)
		}
	}
	pending := maps.Clone(r.pending)
	u.Settings, u.Pending = &settings, &pending
	u.Whole = last && r.plan.outdated > 0 && waitsFor(pending, ReasonReading) == 0 // nothing stays as it was filed
	r.recording = make(chan error, 1)
	// A run that is stopped now still records what the backend has.
	ctx = context.WithoutCancel(ctx)
	go func() { r.recording <- r.o.Catalog.Update(ctx, u) }()
	if refused != nil {
		return errors.Join(refused, r.recorded())
	}
	return nil
}

// begin records which documents the store is about to get and to lose: should this run be
// stopped before the catalog has them, whatever becomes of their files meanwhile, the next one
// writes them again, or removes what the store has of them. Those that are waiting
// go on to, until the store has what they wait for.
func (r *runner) begin(ctx context.Context, waiting map[sheaf.ID]string, removed []sheaf.ID) error {
	if len(r.written)+len(removed) == 0 {
		return nil
	}
	pending := make(map[sheaf.ID]string, len(waiting)+len(r.written)+len(removed))
	maps.Copy(pending, waiting)
	for id := range r.written {
		pending[id] = ReasonBegun
	}
	for _, id := range removed {
		pending[id] = ReasonBegun
	}
	return r.o.Catalog.Update(ctx, catalog.Update{Pending: &pending})
}

// seen is until when changes of a tree are known, as the settings have it: an unsure file
// that could not be read is unsure again in the next run.
func (r *runner) seen(tree string) string {
	at := r.plan.seen[tree]
	if first, ok := r.unread[tree]; ok {
		at = min(at, first-1)
	}
	return strconv.FormatInt(at, 10)
}

// seesMore reports whether that differs from what is recorded.
func (r *runner) seesMore(settings *catalog.Settings) bool {
	for tree := range r.plan.seen {
		if settings.Extra[seenKey(tree)] != r.seen(tree) {
			return true
		}
	}
	return false
}

// writtenFile is a file whose document was written, and what the report counted of it.
type writtenFile struct {
	skip   catalog.Skip
	known  bool
	given  bool
	chunks int
}

// rejected leaves out the documents that the store did not take, and what it had of
// them before, which it has no longer: files are not read again until they change. given
// says that some were given as texts: that is an error, once the rest is recorded, since
// whoever gave them waits for an answer.
func (r *runner) rejected(partial *store.PartialError, u *catalog.Update) (given bool) {
	for _, doc := range slices.Sorted(maps.Keys(partial.Rejected)) {
		f, ok := r.written[doc]
		if !ok || f.given {
			given = true
		} else {
			f.skip.Detail = partial.Rejected[doc].Error()
			r.report.Skipped = append(r.report.Skipped, f.skip)
		}
		u.Delete = append(u.Delete, doc)
		r.report.Chunks -= f.chunks
		switch {
		case f.known:
			r.report.Changed--
			r.report.Removed++
		case ok:
			r.report.Added--
		}
		delete(r.pending, doc)
	}
	u.Encoded = slices.DeleteFunc(u.Encoded, func(e catalog.Encoded) bool { return partial.Rejected[e.ID()] != nil })
	u.Put = slices.DeleteFunc(u.Put, func(rec catalog.Record) bool { return partial.Rejected[rec.Document.ID] != nil })
	sortSkips(r.report.Skipped)
	return given
}

// recorded waits until the catalog has what was committed.
func (r *runner) recorded() error {
	if r.recording == nil {
		return nil
	}
	err := <-r.recording
	r.recording = nil
	return err
}

// tell reports progress, at most ten times a second unless now is set.
func (r *runner) tell(phase Phase, now bool) {
	t := time.Now()
	if !now && t.Sub(r.told) < 100*time.Millisecond {
		return
	}
	r.told = t
	p := Progress{Phase: phase, Files: r.files, AllFiles: len(r.plan.work), Bytes: r.bytes, AllBytes: r.allBytes, Elapsed: t.Sub(r.began)}
	if r.bytes > 0 && r.allBytes > r.bytes {
		p.Remaining = time.Duration(float64(p.Elapsed) * float64(r.allBytes-r.bytes) / float64(r.bytes))
	}
	r.o.Progress(p)
}

// file indexes one file.
func (r *runner) file(ctx context.Context, w store.BulkWriter, j *job) error {
	if j.stored {
		if whole, err := r.takeStored(j); err != nil {
			return err
		} else if !whole {
			return r.refile(j)
		}
		defer func() { j.given = nil }() // not all texts at once
	}
	c, err := j.content()
	if err != nil {
		return r.unreadable(ctx, w, j, err)
	}
	rec := catalog.Record{File: c.state}
	if j.given == nil && j.known && !r.o.Rebuild && c.state.Hash == j.old.Hash && c.state.Size == j.old.Size && !r.isPending(j.doc) {
		if j.unsure {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.report.Unchanged++
			r.count(&c)
			return nil
		}
		if done, err := r.touched(j, &c); done || err != nil {
			return err
		}
	}
	doc, shown, reason := r.cut(j, &c)
	if reason != "" {
		return r.refuse(ctx, w, j, &c, reason)
	}
	rec.Document, rec.Date = doc, chunk.DateOf(&doc, c.modified)
	if j.given != nil {
		j.given.declare(&rec.Document)
		j.given.retitle(&rec.Document)
		rec.Date = j.given.dated(&rec.Document, rec.Date)
	}
	if c.decoded || j.given != nil {
		rec.Text, rec.HasText = c.data, true
	}
	chunks, fault, err := r.add(ctx, w, j, &rec.Document, newEntries(&rec.Document, j.text(shown), rec.Date))
	if err != nil {
		return fmt.Errorf("index %s: %w", j.path, err)
	}
	encoded, err := catalog.Encode(&rec)
	if err != nil {
		return fmt.Errorf("index %s: %w", j.path, err)
	}
	r.done(j, &c, &rec.Document, encoded, chunks, fault)
	return nil
}

// pieceChunks is how many chunks of a document are embedded and written at a time,
// so that what is written of a long one is not in memory all at once.
const pieceChunks = 256

// add gives the chunks of a document their vectors and writes them: so many. fault
// is why vectors are missing.
func (r *runner) add(ctx context.Context, w store.BulkWriter, j *job, doc *sheaf.Document, from *entries) (chunks int, fault, err error) {
	to := &space{}
	if _, ok := r.o.Backend.(store.Bulk); ok { // which gives vectors back
		to = spaces.Get().(*space)
		defer spaces.Put(to)
	}
	size := len(doc.Chunks)
	if _, ok := r.o.Embedder.(model.WindowEmbedder); (ok || r.o.Embedder == nil) && j.given == nil {
		size = pieceChunks
	}
	at := chunksOf(doc)
	for first := true; ; first = false {
		batch := store.Batch{Chunks: from.take(size)}
		if len(batch.Chunks) == 0 && !(first && j.known) {
			return chunks, fault, nil
		}
		if first {
			batch.Replace = []sheaf.ID{j.doc}
		}
		chunks += len(batch.Chunks)
		taken := r.o.takeLists(doc, at, batch.Chunks)
		if err := r.vectors(ctx, j, doc, at, batch.Chunks, to); err != nil {
			fault = err
		}
		giveLists(batch.Chunks, taken)
		r.o.addFound(doc, batch.Chunks)
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		if err := w.Add(ctx, batch); err != nil {
			return 0, nil, err
		}
	}
}

var spaces = sync.Pool{New: func() any { return &space{} }}

func (r *runner) isPending(doc sheaf.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan.again(r.pending[doc], r.o)
}

// touched records that a file has another time but the content that is indexed.
// done is false when the document is dated by that time, so that it must be
// indexed again.
func (r *runner) touched(j *job, c *content) (done bool, err error) {
	view := r.o.Catalog.View()
	defer view.Close()
	old, err := view.Record(j.doc)
	if err != nil {
		return false, err
	}
	if old.Date.Source == sheaf.DateModified && old.Date.Time.UnixMilli() != c.modified.UnixMilli() {
		return false, nil
	}
	rec := *old
	rec.File = c.state
	if rec.HasText {
		if rec.Text, err = view.Text(j.doc); err != nil {
			return false, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.update.Put = append(r.update.Put, rec)
	r.report.Unchanged++
	r.report.Touched++
	r.count(c)
	return true, nil
}

func (r *runner) count(c *content) {
	r.files++
	r.bytes += c.state.Size
	r.report.Bytes += c.state.Size
	r.tell(PhaseIndex, false)
}

// cut makes a document of a file's content, which becomes UTF-8, or says for what reason it is
// none. What was given as a text is one whatever it holds. shown is the text that is indexed.
func (r *runner) cut(j *job, c *content) (doc sheaf.Document, shown []byte, reason string) {
	if j.given != nil && len(j.given.Chunks) > 0 {
		return j.given.cut(j.doc), r.shown(j, c), ""
	}
	switch text, note, ok := decode(c.data); {
	case ok:
		c.decoded, c.note = !sameBytes(text, c.data), note
		c.data = text
	case j.given == nil:
		return doc, nil, ReasonBinary
	}
	chunker, err := chunk.For(j.path, r.o.Chunk)
	if err != nil {
		panic(err) // the options were checked before the run
	}
	shown = r.shown(j, c)
	doc = chunker.Chunk(j.tree, j.path, shown)
	if j.given == nil && len(doc.Chunks) == 0 {
		return doc, nil, ReasonEmpty
	}
	if c.note != "" {
		doc.Warnings = append(doc.Warnings, sheaf.Warning{Message: c.note})
	}
	return doc, shown, ""
}

// shown is the text of a document without what is no text by the options.
func (r *runner) shown(j *job, c *content) []byte {
	if r.plan.hides {
		return chunk.WithoutComments(j.path, c.data)
	}
	return c.data
}

// sameBytes reports whether two slices are one memory.
func sameBytes(a, b []byte) bool {
	return unsafe.SliceData(a) == unsafe.SliceData(b) && len(a) == len(b)
}

// errNoModel is why vectors are missing that a run with a model adds.
var errNoModel = errors.New("no model is configured")

// refusedFor is how long an embedder may refuse one document after another until it is asked no
// more: a server that fails at all but a word takes seconds for each, with the pauses between attempts.
const refusedFor = time.Minute

// embedChunks adds vectors, when there is an embedder that works. A document that it refuses
// waits for its own; the others go on.
func (r *runner) embedChunks(ctx context.Context, doc *sheaf.Document, at map[sheaf.ID]*sheaf.Chunk, chunks []store.Chunk, to *space) error {
	switch {
	case len(chunks) == 0, r.o.Embedder == nil && !r.modeled:
		return nil
	case r.o.Embedder == nil:
		return errNoModel
	}
	r.mu.Lock()
	fault := r.embedFault
	r.mu.Unlock()
	if fault != nil {
		return fault
	}
	began := time.Now()
	err := embed(ctx, r.o.Embedder, doc, at, chunks, r.o.suffixOf(doc), to)
	if err != nil && ctx.Err() != nil {
		return err
	}
	// Others need not wait, too, for one that is away.
	answers := err == nil || Answers(ctx, r.o.Embedder)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.refusing = time.Time{}
		return nil
	}
	if r.refusing.IsZero() {
		r.refusing = began
	}
	r.report.EmbedError = err.Error()
	if !answers || time.Since(r.refusing) > refusedFor {
		r.embedFault = err
	}
	return err
}

// done records an indexed file for the next commit.
func (r *runner) done(j *job, c *content, doc *sheaf.Document, encoded catalog.Encoded, chunks int, embedFault error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.update.Encoded = append(r.update.Encoded, encoded)
	if r.written == nil {
		r.written = map[sheaf.ID]writtenFile{}
	}
	r.written[j.doc] = writtenFile{catalog.Skip{Tree: j.tree, Path: j.path, Reason: ReasonRefused, Size: c.state.Size, ModTime: c.state.ModTime}, j.known, j.given != nil && !j.stored, chunks}
	switch {
	case j.known:
		r.report.Changed++
	case r.plan.removedBy[c.state.Hash] > 0:
		r.plan.removedBy[c.state.Hash]--
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
			r.report.Warnings = append(r.report.Warnings, FileWarning{j.doc, warning.Line, warning.Message})
		}
	}
	delete(r.pending, j.doc)
	switch {
	case r.plan.newer:
		r.pending[j.doc] = ReasonReading
	case embedFault != nil:
		r.pending[j.doc] = ReasonVectors
	}
	r.count(c)
}

// refuse leaves a file out that was read, and what was indexed of it before. It
// is not read again until it changes.
func (r *runner) refuse(ctx context.Context, w store.BulkWriter, j *job, c *content, reason string) error {
	if err := r.forget(ctx, w, j); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Skipped = append(r.report.Skipped, catalog.Skip{Tree: j.tree, Path: j.path, Reason: reason, Size: c.state.Size, ModTime: c.state.ModTime})
	r.count(c)
	return nil
}

// forget removes what was indexed of a file before.
func (r *runner) forget(ctx context.Context, w store.BulkWriter, j *job) error {
	if !j.known {
		return nil
	}
	if err := w.Add(ctx, store.Batch{Replace: []sheaf.ID{j.doc}}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.update.Delete = append(r.update.Delete, j.doc)
	delete(r.pending, j.doc)
	r.report.Removed++
	return nil
}

// stands reports whether the folder of a file's tree, and the disks that it lies on, are there:
// else it is not known whether the file is.
func (r *runner) stands(j *job) bool {
	root := strings.TrimSuffix(j.full, filepath.FromSlash(j.path))
	if _, err := os.Stat(root); err != nil || r.plan.mounted[j.tree] && !isMount(root) {
		return false
	}
	return !slices.ContainsFunc(r.plan.disks[j.tree], func(disk string) bool { return strings.HasPrefix(j.path, disk) && !isDisk(root, disk) })
}

// unreadable skips a file. What was indexed of it before stays when it may come
// back, and goes when the file is gone.
func (r *runner) unreadable(ctx context.Context, w store.BulkWriter, j *job, err error) error {
	gone := errors.Is(err, fs.ErrNotExist) && r.stands(j)
	if gone || r.hasComments(j) {
		if err := r.forget(ctx, w, j); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files++
	r.bytes += j.size
	if gone {
		return nil
	}
	if j.unsure {
		if r.unread == nil {
			r.unread = map[string]int64{}
		}
		if first, ok := r.unread[j.tree]; !ok || j.state < first {
			r.unread[j.tree] = j.state
		}
	}
	left := skipOf(err)
	left.Tree, left.Path = j.tree, j.path
	r.report.Skipped = append(r.report.Skipped, *left)
	return nil
}

// hasComments reports whether the index may have words of a document's comments, which are to be hidden.
func (r *runner) hasComments(j *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan.hides && r.pending[j.doc] == ReasonReading
}
