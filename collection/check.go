package collection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/wording"
	"sheaf/store"
)

// Faults reads the whole index and lists its faults. If the server does not answer, Faults returns an error, because
// the chunks on the server may be intact. It also sets x.Stopped after an interrupted run, and x.OutdatedRead if an
// older program parsed documents. It sets x.Foreign if the server has documents of another folder.
func (x *Index) Faults(ctx context.Context) ([]error, error) {
	x.Stopped, x.Foreign, x.reached = "", "", nil
	show, done := func(int64, int64) {}, func() {}
	if x.Checking != nil {
		show, done = x.Checking()
	}
	faults, stored := x.catalogFaults(), []error{}
	if c, ok := x.Backend.(store.Checker); ok {
		stored = c.Check(ctx, show)
	}
	done()
	faults = append(faults, stored...)
	var err error
	if len(faults) == 0 {
		if faults, err = x.agreement(ctx); err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 && len(stored) == 0 && !errors.Is(errors.Join(faults...), sheaf.ErrCorrupt) {
		// Another process that writes may be the cause. Check again while no process can write.
		var silent error
		err = x.whenFree(ctx, NeedFresh, x.Notice, func() error {
			release, err := x.Catalog.Hold()
			if err != nil {
				return err
			}
			if err = x.reload(); err == nil {
				if faults = x.catalogFaults(); len(faults) == 0 {
					faults, silent = x.agreement(ctx)
				}
			}
			return errors.Join(err, release())
		})
		if silent != nil {
			return nil, silent
		}
		if errors.Is(err, vfs.ErrLocked) {
			return nil, err
		} // otherwise the index is read-only and stays as it is
	}
	if err := intake.Open(x.Where.Dir).Check(); err != nil {
		faults = append(faults, fmt.Errorf("%w: %w", sheaf.ErrCorrupt, err))
	}
	return faults, ctx.Err()
}

func (x *Index) catalogFaults() []error {
	faults := x.View.Check()
	if x.OutdatedRead = x.OutdatedText(); x.OutdatedRead != "" {
		faults = slices.DeleteFunc(faults, func(err error) bool { return errors.Is(err, catalog.ErrMisfiled) })
	}
	if x.remaking() {
		faults = append(faults, ErrRemaking)
	}
	return faults
}

// agreement compares the chunks in the catalog with those in the store, by number. On a server, it also searches for
// each chunk. It accepts two differences: chunks of other folders on the server, and chunks of a stopped run.
func (x *Index) agreement(ctx context.Context) (faults []error, err error) {
	defer func() {
		if errors.Is(err, sheaf.ErrCorrupt) {
			faults, err = []error{err}, nil
		}
	}()
	r, ok := x.Backend.(store.Reporter)
	if !ok {
		return nil, nil
	}
	stats, err := r.Stats(ctx)
	if err != nil {
		return nil, err
	}
	if stats.Chunks == x.View.Chunks() && x.Target == nil {
		return nil, nil // on a server, other chunks can make up for missing ones
	}
	if _, report, err := x.Pending(ctx); err == nil {
		if x.Stopped = x.StoppedRun(stats.Chunks, report.Waiting); x.Stopped != "" {
			return nil, nil
		}
	}
	if x.Target == nil {
		return []error{fewer(x.View.Chunks(), stats.Chunks)}, nil
	}
	reached, err := x.SearchOurs(ctx)
	if err != nil {
		return nil, err
	}
	if reached.Unreached > 0 {
		faults = append(faults, fmt.Errorf("%[1]w: at least %[3]s at %[2]s, perhaps because its process was killed",
			ErrUnreached,
			x.Target, wording.Plural(reached.Unreached, "passage", "passages")))
	}
	if len(reached.Missing) > 0 {
		faults = append(faults, fewer(x.View.Chunks(), reached.Found))
	}
	x.reached = reached
	if stats.Chunks <= reached.Found {
		return faults, nil
	}
	lost, err := x.strays(ctx)
	if err != nil {
		return nil, err
	}
	extra := wording.Plural(stats.Chunks-reached.Found, "chunk", "chunks")
	switch {
	case len(lost.ours) > 0:
		faults = append(faults, fmt.Errorf("%w: %s holds %s of unknown documents, %s: another machine wrote them, or "+
			"an indexing run was stopped", errStrays, x.Target, extra, lost.names(lost.ours)))
	case len(lost.foreign) == 0:
		faults = append(faults, fmt.Errorf("%s holds %s more than the documents have: sheaf check --repair", x.Target, extra))
	}
	if len(lost.foreign) > 0 {
		x.Foreign = fmt.Sprintf("%s holds %s of another folder, %s, and counts their words too: %s", x.Target,
			wording.Plural(len(lost.foreign), "document", "documents"), lost.names(lost.foreign), x.otherPlace())
	}
	return faults, nil
}

func fewer(known, found int) error {
	return fmt.Errorf("the catalog knows %s chunks, %s can be found", wording.Count(known), wording.Count(found))
}

// strays lists stray documents: the server has them, the catalog does not list them, and no file can restore them.
func (x *Index) strays(ctx context.Context) (*losses, error) {
	lost := &losses{}
	err := lost.addStrays(ctx, x.Backend, x.Trees(), func(id sheaf.ID) bool { _, ok := x.View.Document(id); return ok })
	return lost, err
}

// countBatch is the largest number of chunks in one request. Every server can return this many results.
const countBatch = 1000

// Reach says which chunks of the catalog a search on the server finds.
type Reach struct {
	Found   int
	Missing []sheaf.ID
	// Unreached is the number of passages that search by meaning does not find, although the server stores them.
	// doubtful lists the chunks that may have these passages.
	Unreached int
	doubtful  []sheaf.ID
}

// SearchOurs asks the server for every chunk of the catalog, and returns which chunks it found. A request names the IDs
// of chunks and their tree. Comparing totals is not enough: chunks of other folders can make up for missing ones.
func (x *Index) SearchOurs(ctx context.Context) (*Reach, error) {
	out := &Reach{}
	inspector, _ := x.Backend.(store.Inspector)
	var batch []sheaf.ID // of one tree
	ask := func() error {
		if len(batch) == 0 {
			return nil
		}
		hits, err := x.Backend.Retrieve(ctx, anyChunk(store.Request{Limit: len(batch), Within: batch,
			Filter: sheaf.TextIn(sheaf.ColumnTree, batch[0].Tree())}))
		if err != nil {
			return err
		}
		there := map[sheaf.ID]bool{}
		for _, h := range hits {
			there[h.ID] = true
		}
		out.Found += len(there)
		for _, id := range batch {
			if !there[id] {
				out.Missing = append(out.Missing, id)
			}
		}
		if inspector != nil {
			n, err := inspector.Unreached(ctx, batch)
			if err != nil {
				return err
			}
			if out.Unreached += n; n > 0 {
				out.doubtful = append(out.doubtful, batch...)
			}
		}
		batch = batch[:0]
		return nil
	}
	for id := range x.View.Files() { // in the order of trees
		doc, _ := x.View.Document(id)
		for i := range doc.Chunks {
			if len(batch) == countBatch || len(batch) > 0 && batch[0].Tree() != id.Tree() {
				if err := ask(); err != nil {
					return nil, err
				}
			}
			batch = append(batch, doc.Chunks[i].ID)
		}
	}
	if err := ask(); err != nil {
		return nil, err
	}
	return out, x.View.Err()
}

// errStrays means that the server has stray documents: see strays.
var errStrays = errors.New("chunks of no document")

// ErrUnreached means that search by meaning does not find some passages, although the server stores them.
var ErrUnreached = errors.New("passages that no search by meaning finds")

// OnlyStrays reports whether all faults are chunks on the server that belong to no document of this folder. Indexing
// the documents again does not remove such chunks.
func OnlyStrays(faults []error) bool {
	return len(faults) > 0 && !slices.ContainsFunc(faults, func(err error) bool { return !errors.Is(err, errStrays) })
}

// Strayed returns the error to report to the user if [OnlyStrays] is true.
func (x *Index) Strayed() error {
	return Hint(fmt.Errorf("%w: %s holds chunks of no document", sheaf.ErrCorrupt, x.Target),
		"no search shows them, but the store counts their words, and they can displace hits of this folder: sheaf check "+
			"--repair names them and asks before it removes them")
}

// StoppedRun returns a text for the user if a stopped or unfinished run explains why chunks are missing, else "". found
// is the number of chunks that a search finds. waiting lists the documents that wait to be indexed. If more chunks are
// missing than these documents have, the run is not the reason.
func (x *Index) StoppedRun(found int, waiting []sheaf.ID) string {
	if found == x.View.Chunks() || len(waiting) == 0 {
		return ""
	}
	settled := x.View.Chunks()
	for _, id := range waiting {
		if doc, ok := x.View.Document(id); ok {
			settled -= len(doc.Chunks)
		}
	}
	if found < settled {
		return ""
	}
	return fmt.Sprintf("the last run was stopped before its end, or still runs: %s recorded, %s can be found; nothing "+
		"is lost, and the next sheaf index or search goes on",
		wording.Plural(x.View.Chunks(), "chunk is", "chunks are"), wording.Count(found))
}
