package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/store"
)

// commits holds what the next commit publishes, and the state of the last commit.
type commits struct {
	update catalog.Update
	// removing is the number of documents of worklist.removed that the next commit removes.
	removing int
	// written holds the documents that were written to the store, by ID.
	written map[sheaf.ID]writtenDocument
	// recording receives the result of writing the last commit to the catalog. It is nil if no write runs.
	recording chan error
}

// writtenDocument is a document that was written to the store, with what it adds to the counts of the report.
type writtenDocument struct {
	skip   catalog.Skip // used when the store refuses it
	known  bool
	given  bool
	chunks int
}

// commit makes a batch durable: first in the store, then in the catalog. commit writes the catalog in the background,
// while the run reads the next batch. If last is true, no batch follows. In this case, commit also records the times of
// changes and the list of skipped files.
func (r *runner) commit(ctx context.Context, last bool) error {
	if err := r.awaitCatalog(); err != nil {
		return err
	}
	view := r.o.Catalog.View()
	settings, pendingBefore := view.Settings(), view.Pending()
	firstReread := r.list.rereads && (ReadBefore(view) || r.list.hides != HidesComments(view))
	view.Close()
	u := r.commits.update
	r.commits.update = catalog.Update{}
	sortSkips(r.report.Skipped)
	skipped := hashSkips(r.report.Skipped)
	seen, newer := map[string]string{}, false
	for tree, at := range r.list.until {
		if key := seenKey(tree); last { // before the last commit, a file seen earlier may not be indexed yet
			seen[key] = strconv.FormatInt(at, 10)
			newer = newer || settings.Extra[key] != seen[key]
		}
	}
	if last && len(r.list.begun)+len(u.Put)+len(u.Encoded)+len(u.Delete) == 0 && r.list.settings == nil &&
		settings.Extra[skippedKey] == skipped && !(r.list.unsure && newer) {
		return nil // the run changes nothing
	}
	r.tell(PhaseCommit, true)
	if err := r.begin(ctx, pendingBefore, u.Delete); err != nil {
		return err
	}
	var partial *store.PartialError
	var refused error
	switch err := r.writer.Commit(ctx); {
	case errors.As(err, &partial):
		if r.dropRejected(partial, &u) {
			refused = err
		}
		skipped = hashSkips(r.report.Skipped)
	case err != nil:
		return err
	}
	clear(r.commits.written)
	r.report.Removed += r.commits.removing
	r.commits.removing = 0
	settings.Trees = r.o.Trees
	if r.list.settings != nil {
		settings = *r.list.settings
	}
	extra := settings.Extra
	settings.Extra = map[string]string{}
	maps.Copy(settings.Extra, extra)
	if firstReread || last && settings.Extra[skippedKey] != skipped { // the next run also reads the skipped files again
		settings.Extra[skippedKey] = skipped
		u.Skipped = &r.report.Skipped
	}
	maps.Copy(settings.Extra, seen)
	pending := maps.Clone(r.pending)
	u.Settings, u.Pending = &settings, &pending
	u.Whole = last && r.list.outdated > 0 && waitsFor(pending, ReasonReread) == 0 // every document is filed again
	r.commits.recording = make(chan error, 1)
	// If the run is stopped now, the catalog still records what the store has.
	ctx = context.WithoutCancel(ctx)
	go func() { r.commits.recording <- r.o.Catalog.Update(ctx, u) }()
	if refused != nil {
		return errors.Join(refused, r.awaitCatalog())
	}
	return nil
}

// begin records in the catalog which documents this commit writes to the store or removes from it. If the run stops
// before the commit is complete, the next run repeats the work. The documents in waiting, which the catalog already
// lists as pending, stay pending.
func (r *runner) begin(ctx context.Context, waiting map[sheaf.ID]string, removed []sheaf.ID) error {
	if len(r.commits.written)+len(removed) == 0 {
		return nil
	}
	pending := make(map[sheaf.ID]string, len(waiting)+len(r.commits.written)+len(removed))
	maps.Copy(pending, waiting)
	for id := range r.commits.written {
		pending[id] = ReasonBegun
	}
	for _, id := range removed {
		pending[id] = ReasonBegun
	}
	return r.o.Catalog.Update(ctx, catalog.Update{Pending: &pending})
}

// dropRejected removes from the update u the documents that the store refused. The store no longer has their earlier
// versions. The next run reads a refused file again only if it has changed. If given is true, a program sent one of
// these documents and waits for an answer. In this case, commit records the other documents and returns an error.
func (r *runner) dropRejected(partial *store.PartialError, u *catalog.Update) (given bool) {
	for _, doc := range slices.Sorted(maps.Keys(partial.Rejected)) {
		f, ok := r.commits.written[doc]
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

// awaitCatalog waits until the catalog has recorded the last commit.
func (r *runner) awaitCatalog() error {
	if r.commits.recording == nil {
		return nil
	}
	err := <-r.commits.recording
	r.commits.recording = nil
	return err
}
