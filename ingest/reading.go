package ingest

import (
	"fmt"
	"strconv"

	"sheaf"
	"sheaf/index/catalog"
)

// Reading is the version of how documents are read. It is to be raised with every change
// after which a text that stays the same is another document: package chunk finds other
// titles, chunks, links, tags, properties, dates or warnings in it; this package gives the
// store other fields, columns or passages, or takes another file for none; package catalog
// files documents under other names. TestReading fails after such a change. What has a name
// of its own in the settings is none: the options of the chunker, the analyzer, the model;
// nor is a format.
//
// Documents that were read with a lower version, or with none, are read again by the next
// [Run], a commit at a time, and are found as they were read until then. Those of a higher
// version stay, or two programs that are open side by side, of which one was upgraded, would read
// everything again in turn: what the one with the lower version reads waits for the other.
const Reading = 8

// readingKey is where the settings keep the Reading with which documents are read, or are
// being read: those that wait for it are pending.
const readingKey = "reading"

var readingText = strconv.Itoa(Reading)

// ReasonReading is why a document waits that was read in another way than that of [Reading].
const ReasonReading = "reading"

// ReadBefore reports whether everything in a catalog was read with a lower version, or nobody
// knows with which. Once a run has begun to read it again, that is so no longer: see Outdated.
func ReadBefore(view *catalog.View) bool {
	version, err := strconv.Atoi(view.Settings().Extra[readingKey])
	return err != nil || version < Reading
}

// Newer reports whether documents were read with a higher version than [Reading]: by a newer
// version of the program.
func Newer(view *catalog.View) bool {
	version, err := strconv.Atoi(view.Settings().Extra[readingKey])
	return err == nil && version > Reading
}

// Outdated is how many documents are in an index as an older version of the program read
// them. They are found so until the next [Run] has read them again, unless the index is one
// that a newer version made: then they wait for that.
func Outdated(view *catalog.View) int {
	if ReadBefore(view) {
		return view.Docs()
	}
	return waitsFor(view.Pending(), ReasonReading)
}

// waitsFor is how many documents wait for a reason.
func waitsFor(pending map[sheaf.ID]string, reason string) (n int) {
	for _, why := range pending {
		if why == reason {
			n++
		}
	}
	return n
}

// planReading finds the documents that are to be read again.
func (p *plan) planReading(view *catalog.View) {
	p.newer, p.remaking = Newer(view), view.Settings().Extra[RemakingKey] != ""
	p.hidesNow = p.hides && !HidesComments(view)
	p.reads = ReadBefore(view) || !p.newer && p.hides != HidesComments(view)
	if p.reads && view.Docs() > 0 {
		pending := make(map[sheaf.ID]string, view.Docs())
		for id := range view.Files() {
			pending[id] = ReasonReading
		}
		for id, reason := range p.pending {
			if pending[id] == "" || reason == ReasonBegun {
				pending[id] = reason
			}
		}
		p.before, p.pending = p.pending, pending
	}
	p.outdated = waitsFor(p.pending, ReasonReading)
}

// takesStored reports whether a document without a folder is to be looked at again: one that
// waits, unless the store would lose what was given where nobody knows how that was.
func (p *plan) takesStored(id sheaf.ID, state *catalog.FileState, o *Options) (takes bool, err error) {
	reason := p.pending[id]
	switch {
	case !p.again(reason, o):
		return false, nil
	case reason == ReasonReading || p.remaking:
		return true, nil
	case o.Kept == nil:
		return false, nil
	}
	_, takes, err = o.Kept(id, state.Hash)
	return takes, err
}

// takeStored prepares the job of a document without a folder: as it was given, or, into a
// store that was emptied, as the catalog tells. whole is false where it is to stay as it is.
func (r *runner) takeStored(j *job) (whole bool, err error) {
	view := r.o.Catalog.View()
	defer view.Close()
	var g Given
	if r.o.Kept != nil {
		g, whole, err = r.o.Kept(j.doc, j.old.Hash)
	}
	if err == nil && !whole && r.plan.remaking {
		g, err = stored(view, j.doc)
		whole = true
	}
	if err == nil {
		j.given, err = g.ready()
	}
	if err != nil {
		return false, fmt.Errorf("index %s: %w", j.path, err)
	}
	return whole, nil
}

// refile records a document that stays as it is once more, filed as catalog files it now.
func (r *runner) refile(j *job) error {
	view := r.o.Catalog.View()
	defer view.Close()
	rec, err := view.Record(j.doc)
	if err != nil {
		return err
	}
	again := *rec
	if again.HasText {
		if again.Text, err = view.Text(j.doc); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.update.Put = append(r.update.Put, again)
	r.report.Unchanged++
	r.files++
	if r.pending[j.doc] != ReasonReading {
		return nil
	}
	delete(r.pending, j.doc)
	if reason := r.plan.before[j.doc]; reason != "" {
		r.pending[j.doc] = reason
	}
	return nil
}
