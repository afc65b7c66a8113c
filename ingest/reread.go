package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/text/chunk"
)

// ParserVersion is the version of the rules by which documents are read. Raise it with every change that makes a
// different document from the same text. TestParserVersion fails after such a change. The change may be in one of these
// packages:
//   - chunk: other titles, chunks, links, tags, properties, dates or warnings
//   - ingest: other fields, columns or passages, or other skipped files of the same endings
//   - catalog: other names under which documents are filed
//   - analysis: other terms of few texts
//
// Other options of chunker, analyzer or model need no new version, because the settings record their names. Other file
// formats need none either.
//
// The next [Run] reads documents with a lower or unknown version again, one commit at a time. Until then, search finds
// their old state. Documents with a higher version stay unchanged: otherwise two programs that share an index would
// undo each other's work. Documents that an older program reads then wait for the newer program.
const ParserVersion = 32

// parserKey is the key in the settings for the ParserVersion with which documents were read. Documents that were read
// with another version are pending.
const parserKey = "reading"

var parserText = strconv.Itoa(ParserVersion)

// ReasonReread marks a document that waits to be read again. It was read with another [ParserVersion], or with another
// setting for hidden comments.
const ReasonReread = "reading"

// parserOf returns the ParserVersion with which the documents were read, or 0 if it is unknown.
func parserOf(view *catalog.View) int {
	version, _ := strconv.Atoi(view.Settings().Extra[parserKey]) // 0 for an error
	return version
}

// ReadBefore reports whether the index records an older or unknown ParserVersion. It is false after a run has begun to
// read the documents again: see [Outdated].
func ReadBefore(view *catalog.View) bool { return parserOf(view) < ParserVersion }

// Newer reports whether documents were read with a newer ParserVersion, by a newer program.
func Newer(view *catalog.View) bool { return parserOf(view) > ParserVersion }

// Outdated counts the documents that were read with an older ParserVersion. Until the next [Run] reads them again,
// search finds their old state. If a newer program made the index, Outdated counts the documents that wait for that
// program.
func Outdated(view *catalog.View) int {
	if ReadBefore(view) {
		return view.Docs()
	}
	return waitsFor(view.Pending(), ReasonReread)
}

// waitsFor counts the pending documents with this reason.
func waitsFor(pending map[sheaf.ID]string, reason string) (n int) {
	for _, why := range pending {
		if why == reason {
			n++
		}
	}
	return n
}

// planReread finds the documents that must be read again, and adds them to w.pending.
func (w *waitingDocuments) planReread(view *catalog.View) {
	w.newer, w.remaking = Newer(view), view.Settings().Extra[RemakingKey] != ""
	w.hidesNow = w.hides && !HidesComments(view)
	w.rereads = ReadBefore(view) || !w.newer && w.hides != HidesComments(view)
	if w.rereads && view.Docs() > 0 {
		pending := make(map[sheaf.ID]string, view.Docs())
		for id := range view.Files() {
			pending[id] = ReasonReread
		}
		for id, reason := range w.pending {
			if pending[id] == "" || reason == ReasonBegun {
				pending[id] = reason
			}
		}
		w.earlier, w.pending = w.pending, pending
	}
	w.outdated = waitsFor(w.pending, ReasonReread)
}

// takesStored reports whether this run reads a given document again. takes is false if the document does not wait for
// this run. It is also false if reading the document again could lose data that only the store has.
func (w *waitingDocuments) takesStored(id sheaf.ID, state *catalog.FileState, o *Options) (takes bool, err error) {
	reason := w.pending[id]
	switch {
	case !w.indexAgain(reason, o):
		return false, nil
	case reason == ReasonReread || w.remaking:
		return true, nil
	case o.Kept == nil:
		return false, nil
	}
	_, takes, err = o.Kept(id, state.Hash)
	return takes, err
}

// takeStored prepares to index a document again that a program gave. It uses the document as the program sent it, from
// Options.Kept. If Kept lacks the document, a rebuild uses the text in the catalog. If no text was found, whole is
// false, and the caller leaves the document unchanged.
func (r *runner) takeStored(it *item) (whole bool, err error) {
	view := r.o.Catalog.View()
	defer view.Close()
	var g Given
	if r.o.Kept != nil {
		g, whole, err = r.o.Kept(it.doc, it.old.Hash)
	}
	if err == nil && !whole && r.list.remaking {
		g, err = stored(view, it.doc)
		whole = true
	}
	if err == nil {
		it.given, err = g.ready()
	}
	if err != nil {
		return false, fmt.Errorf("index %s: %w", it.path, err)
	}
	return whole, nil
}

// refile records an unchanged document again, because this version of the program uses other names for documents in the
// catalog.
func (r *runner) refile(it *item) error {
	rec, err := r.record(it.doc)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commits.update.Put = append(r.commits.update.Put, rec)
	r.report.Unchanged++
	r.progress.Files++
	if r.pending[it.doc] != ReasonReread {
		return nil
	}
	delete(r.pending, it.doc)
	if reason := r.list.earlier[it.doc]; reason != "" {
		r.pending[it.doc] = reason
	}
	return nil
}

// commentsKey is the key in the settings that records whether comments are hidden.
const (
	commentsKey    = "comments"
	commentsHidden = "hidden"
)

// CommentsExtra returns the entries of Settings.Extra that record whether comments are hidden.
func CommentsExtra(hidden bool) map[string]string {
	if !hidden {
		return nil
	}
	return map[string]string{commentsKey: commentsHidden}
}

// HidesComments reports whether the index leaves out the comments in documents, such as <!-- --> in HTML.
func HidesComments(view *catalog.View) bool {
	return view.Settings().Extra[commentsKey] == commentsHidden
}

// Shown returns the searchable text of a document: without comments where the index hides them. Bytes keep their
// positions. It returns the errors of the catalog.
func Shown(view *catalog.View, doc sheaf.ID) ([]byte, error) {
	text, err := view.Text(doc)
	if err != nil || !HidesComments(view) {
		return text, err
	}
	return chunk.WithoutComments(doc.Path(), text), nil
}

func (o *Options) hidesComments() bool { return o.HideComments != nil && o.HideComments() }

// Relist repairs the catalog's lists of skipped and pending documents, and its copy of the settings. The next Run finds
// skipped files again. If the list of pending documents is lost, all documents are read again and wait for vectors. In
// this case, documents that a run had begun stay in the store if their files are gone. changed says that Relist wrote.
func Relist(ctx context.Context, c *catalog.Catalog) (changed bool, err error) {
	release, err := c.Hold()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	view := c.View()
	defer view.Close()
	skippedErr, pendingErr, settingsErr := view.ListFaults()
	err = errors.Join(skippedErr, pendingErr, settingsErr)
	if !errors.Is(err, sheaf.ErrCorrupt) && !errors.Is(err, sheaf.ErrUnsupported) {
		return false, err
	}
	settings := view.Settings()
	settings.Extra = maps.Clone(settings.Extra)
	u := catalog.Update{Settings: &settings} // an update writes the copy
	if skippedErr != nil {
		u.Skipped = &[]catalog.Skip{}
		delete(settings.Extra, skippedKey) // makes the next run write the list
	}
	if pendingErr != nil {
		delete(settings.Extra, parserKey) // it is unknown which documents wait to be read again
		pending := map[sheaf.ID]string{}
		for id := range view.Files() {
			if settings.Embedder != "" {
				pending[id] = ReasonVectors
			}
		}
		u.Pending = &pending
	}
	if err := view.Err(); err != nil {
		return false, err
	}
	return true, c.Update(ctx, u)
}
