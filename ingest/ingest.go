// Package ingest brings changes into catalog and store. [Run] indexes folders: it walks them, finds new and changed
// files, cuts and embeds them, and writes. [Change] indexes given documents, and [Watch] keeps running. All changes
// become one work list (worklist.go), which one runner carries out (run.go, commit.go). An interrupted run keeps what
// it committed; the next run continues there.
package ingest

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/model"
	"sheaf/store"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// Options say what to index and where to write it.
type Options struct {
	Catalog *catalog.Catalog
	Backend store.Backend
	// Trees are the folders to index; the run removes documents of other trees. Known are the trees that the catalog had
	// when the caller chose Trees. If another process has changed the trees since then, the run keeps these changes. If
	// Known is nil, the run discards them.
	Trees, Known []catalog.Tree
	Walk         WalkOptions
	// Walked, if not nil, is a recent walk of one of the trees with the same options. The run uses it instead of a new
	// walk.
	Walked *Walk
	Chunk  chunk.Options
	// Analyzer decides which words in lists of links are the same. If it is nil, the run treats such lists as other text.
	Analyzer *analysis.Analyzer
	// HideComments reports whether to skip comments in Markdown: see [chunk.WithoutComments]. Each run calls it.
	// When its answer changes, the next run reads all documents again. If HideComments is nil, comments are text.
	HideComments func() bool
	// Embedder makes vectors; nil makes none.
	Embedder model.Embedder
	// Workers is the number of files that are read and cut at once; 0 means one for each core.
	Workers int
	// CommitBytes limits the bytes of files in one commit; 0 means DefaultCommitBytes. All commits have about the same
	// size.
	CommitBytes int64
	// Kept returns a given document as the program sent it. doc is the ID of the document, and hash its hash in the
	// catalog. Kept returns false if the document was not stored. If Kept is nil, the run uses the text in the catalog.
	Kept func(doc sheaf.ID, hash catalog.Hash) (Given, bool, error)
	// Settings changes the recorded settings of the collection, except the trees. If the catalog records no chunker or
	// model, Run records those of the run. If Settings is nil, the recorded settings stay. A run with another chunker
	// or model then fails with sheaf.ErrInvalid, unless the collection is empty or Rebuild is set. If documents come
	// with vectors and Embedder is nil, Settings must set the model and Dims of these vectors. Otherwise doors accept
	// no vectors.
	Settings func(*catalog.Settings)
	// Rebuild indexes every file again.
	Rebuild bool
	// Writing is the mutex of writers in this process. A run locks it. It may be nil if only one goroutine writes.
	Writing *Writing
	// Progress is called at most ten times a second, and at the end of every phase. Two calls never overlap. After each
	// run, Watch calls Progress with the zero value. Progress may be nil.
	Progress func(Progress)
}

// DefaultCommitBytes is the default of Options.CommitBytes. It limits the memory, and the work that an interruption can
// lose. Smaller commits leave more segments, which slow down every query.
const DefaultCommitBytes = 12 << 20

// Phase is the part of the work that a run is doing.
type Phase string

// These are the phases of a run.
const (
	PhaseScan   Phase = "scanning"
	PhaseIndex  Phase = "indexing"
	PhaseCommit Phase = "writing"
)

// Progress says what a run has done so far.
type Progress struct {
	Phase     Phase
	Files     int // files that are done
	AllFiles  int // files to do, as far as known
	Bytes     int64
	AllBytes  int64
	Elapsed   time.Duration
	Remaining time.Duration // 0 when unknown
}

// Report says what a run did.
type Report struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Renamed   int `json:"renamed"` // of Added and of Removed: files with a new name
	Unchanged int `json:"unchanged"`
	Touched   int `json:"touched"` // of Unchanged: same content, new time
	Ignored   int `json:"ignored"` // files and folders excluded by ignore files
	Chunks    int `json:"chunks"`  // written
	Pending   int `json:"pending"` // documents that wait for vectors
	// Bytes is the size of the files that were read.
	Bytes   int64          `json:"bytes"`
	Skipped []catalog.Skip `json:"skipped,omitempty"`
	// ByRule lists the files and folders that rules exclude, each with the line of the rule, sorted like Skipped. The
	// path of a folder ends with a slash and means its whole content. Only [Scan] with Walk.ListIgnored fills ByRule,
	// with up to 100,000 entries for each tree. AllByRule counts all.
	ByRule    []catalog.Skip `json:"by_rule,omitempty"`
	AllByRule int            `json:"all_by_rule,omitempty"`
	Warnings  []FileWarning  `json:"warnings,omitempty"`
	Warned    int            `json:"-"` // documents with warnings
	Took      time.Duration  `json:"took_ns"`
	// Waiting lists the documents to index or remove, in order; only [Scan] fills it.
	Waiting []sheaf.ID `json:"-"`
	// Gone lists folders that are missing although other folders are there, and folders on a disk
	// that is not mounted. Their indexed documents stay.
	Gone []string `json:"gone,omitempty"`
	// Unseen says why the system does not report all changes of files, so that [Watch] polls. It is "" if the system
	// reports all changes, and outside a watch.
	Unseen string `json:"unseen,omitempty"`
	// EmbedError says why vectors are missing. It is "" if none is missing.
	EmbedError string `json:"embed_error,omitempty"`
}

// Unread returns the folders of trees that could not be read, each with the reason. Their indexed documents stay.
func (r *Report) Unread() (folders []catalog.Skip) {
	if r == nil {
		return nil
	}
	for _, s := range r.Skipped {
		if s.Path == "." && s.Reason == ReasonUnreadable {
			folders = append(folders, s)
		}
	}
	return folders
}

// FileWarning is a warning about a document.
type FileWarning struct {
	Doc     sheaf.ID `json:"doc"`
	Line    int      `json:"line"`
	Message string   `json:"message"`
}

// Changes reports whether the run wrote anything.
func (r *Report) Changes() bool { return r.Added+r.Changed+r.Removed > 0 }

// maxWarnings limits the warnings that a report lists.
const maxWarnings = 1000

// prepare sets defaults. It returns an error if a required option is missing.
func (o *Options) prepare() error {
	if o.Catalog == nil || o.Backend == nil {
		return sheaf.Invalidf("index: a catalog and a store are needed")
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.CommitBytes <= 0 {
		o.CommitBytes = DefaultCommitBytes
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return nil
}

// Scan returns what Run would do, without doing it. Scan compares sizes and times. It reads a file only if size and
// time do not show what Run would do. So a file with a new time and the same content counts as changed. A document that
// a stopped run left in the store, and whose file is gone, counts as removed.
func Scan(ctx context.Context, o Options) (*Report, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	l, err := o.folders(ctx)
	if err != nil {
		return nil, err
	}
	report := &l.report
	report.Removed, report.Waiting = len(l.removed), l.removed
	err = o.scanItems(l)
	coming := make(map[sheaf.ID]bool, len(l.items))
	for i := range l.items {
		coming[l.items[i].doc] = true
	}
	for _, id := range l.begun {
		if !coming[id] {
			report.Removed++
			report.Waiting = append(report.Waiting, id)
		}
	}
	slices.Sort(report.Waiting)
	return report, err
}

// scanItems counts the items of the work list that a run would change, for Scan.
func (o *Options) scanItems(l *worklist) error {
	view := o.Catalog.View()
	defer view.Close()
	skipped, err := view.Skipped()
	if err != nil {
		return err
	}
	before := map[sheaf.ID]catalog.Skip{}
	for _, s := range skipped {
		before[sheaf.DocumentID(s.Tree, s.Path)] = s
	}
	report := &l.report
	r := &runner{o: o, list: l, pending: l.pending}
	for i := range l.items {
		it := &l.items[i]
		s, skipped := before[it.doc]
		switch {
		case skipped && r.skipsAgain(it, s):
			report.Skipped = append(report.Skipped, s)
			if it.known {
				report.Unchanged++ // unreadable files keep their indexed state
			}
		case !it.known:
			report.Added++
			report.Waiting = append(report.Waiting, it.doc)
		case (it.old.ModTime == 0 || it.unsure) && it.old.Size == it.size && !r.isPending(it.doc) && sameContent(it):
			report.Unchanged++
		default:
			report.Changed++
			report.Waiting = append(report.Waiting, it.doc)
		}
	}
	sortSkips(report.Skipped)
	return nil
}

// skipsAgain reports whether the next run would skip a file again. s has the reason why the last run skipped the file.
func (r *runner) skipsAgain(it *item, s catalog.Skip) bool {
	c, err := it.content()
	if err != nil {
		return skipOf(err).Reason == s.Reason // every run tries the file again, so the file does not wait
	}
	_, _, reason := r.cut(it, &c)
	return reason == s.Reason
}

// sameContent reports whether a file still has the indexed content. It reads the whole file.
func sameContent(it *item) bool {
	c, err := it.content()
	return err == nil && c.state.Hash == it.old.Hash
}

// Run brings catalog and store up to date with the folders. If nothing changed, it writes nothing and takes no lock. It
// skips unreadable files, reports why, and indexes the rest. While another process is indexing, the error is
// sheaf.ErrUnavailable. If another process built the index with settings other than o.Settings, the error is
// [ErrRebuilt].
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	if err := o.awaitEmptied(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	l, err := o.folders(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { l.report.Took = time.Since(began) }()
	if l.isEmpty() {
		return &l.report, nil
	}
	unlock, err := o.lock(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, unlock()) }()
	view := o.Catalog.View()
	stale := view.Generation() != l.generation
	view.Close()
	if stale { // another process changed the catalog
		fresh, err := o.folders(ctx)
		if err != nil {
			return &l.report, err
		}
		l = fresh
	}
	if !l.isEmpty() { // otherwise the other process may still hold the store's lock
		err = o.carryOut(ctx, l, began)
	}
	return &l.report, err
}

// Change indexes docs and removes the documents in removed. A document in docs replaces the document with the same tree
// and path. All other documents stay. Removing an unknown document is not an error. The catalog stores the texts.
// Change walks no folders. It records Trees and the trees of docs, which may lack a folder. If Trees is nil, the
// recorded trees stay. CommitBytes limits what an interruption can lose. The first commit removes the documents in
// removed. Change waits up to five seconds for another process that writes. It returns the same errors as [Run].
//
// After a [store.PartialError], the catalog and the store lack the documents that the error names. The other changes of
// that commit are done. Later commits are not done.
func Change(ctx context.Context, o Options, docs []Given, removed []sheaf.ID) (*Report, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	if _, err := chunk.New(o.Chunk); err != nil {
		return nil, err
	}
	if err := o.awaitEmptied(ctx); err != nil {
		return nil, err
	}
	began := time.Now()
	unlock, err := o.lock(ctx, lockPatience)
	if err != nil {
		return nil, err
	}
	l, err := o.documents(docs, removed)
	if err == nil {
		err = o.carryOut(ctx, l, began)
	}
	err = cmp.Or(err, unlock())
	l.report.Took = time.Since(began)
	return &l.report, err
}
