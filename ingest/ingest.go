// Package ingest brings what changed into catalog and store. It walks folders, finds the
// files that are new or changed, cuts them into chunks, embeds them when there is an
// embedder, and writes. Folders and documents that programs give make one work list
// (worklist.go), which one runner carries out (run.go, commit.go). An interrupted run loses
// nothing that it committed; the next one continues there. [Run] indexes folders, [Change]
// given documents, and [Watch] keeps running.
package ingest

import (
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

// Options say what is indexed, and where to.
type Options struct {
	Catalog *catalog.Catalog
	Backend store.Backend
	// Trees are the folders to index; documents of other trees are removed. Known are
	// those that the catalog had when the caller chose Trees: a run keeps what another
	// process added to them, moved or removed since then. Nil keeps none of that.
	Trees, Known []catalog.Tree
	Walk         WalkOptions
	// Walked is a recent walk of one of the trees with the same options, which the run uses
	// instead of another walk; nil is none.
	Walked *Walk
	Chunk  chunk.Options
	// Analyzer says which words of a list of links are the same; nil compares their letters.
	Analyzer *analysis.Analyzer
	// HideComments says, at each run, whether to leave out comments in Markdown: see
	// [chunk.WithoutComments]. When its answer changes, the next run reads all documents
	// again. Nil hides none.
	HideComments func() bool
	// Embedder makes vectors; nil makes none.
	Embedder model.Embedder
	// Workers is how many files are read and cut at once; 0 is one a core.
	Workers int
	// CommitBytes is the most bytes of files in one commit; the commits of one run have
	// about the same size. 0 is DefaultCommitBytes.
	CommitBytes int64
	// Kept returns a given document as it was given, by the hash that the catalog has of it;
	// false when it is kept nowhere. With nil, the text in the catalog must do.
	Kept func(doc sheaf.ID, hash catalog.Hash) (Given, bool, error)
	// Settings changes what is recorded of the collection besides the trees. Run records its
	// chunker and model where none is recorded. Nil changes nothing: then another chunker or
	// model than the recorded one is sheaf.ErrInvalid while there are documents, except with
	// Rebuild. When vectors are given without an Embedder, Settings must name their model and
	// Dims; otherwise doors accept no vectors.
	Settings func(*catalog.Settings)
	// Rebuild indexes every file again.
	Rebuild bool
	// Writing is locked while a run writes. Nil is for processes with one writing goroutine.
	Writing *Writing
	// Progress is called at most ten times a second and at the end of every phase, by one
	// goroutine at a time. Watch calls it with the zero Progress when a run has ended. It
	// may be nil.
	Progress func(Progress)
}

// DefaultCommitBytes bounds what an interruption can lose and what is in memory. Smaller
// commits leave more segments, and every query looks at each.
const DefaultCommitBytes = 12 << 20

// Phase is what a run is doing.
type Phase string

// The phases of a run.
const (
	PhaseScan   Phase = "scanning"
	PhaseIndex  Phase = "indexing"
	PhaseCommit Phase = "writing"
)

// Progress is how far a run is.
type Progress struct {
	Phase     Phase
	Files     int // done
	AllFiles  int // to do, as far as known
	Bytes     int64
	AllBytes  int64
	Elapsed   time.Duration
	Remaining time.Duration // 0 when unknown
}

// Report is what a run did.
type Report struct {
	Added     int `json:"added"`
	Changed   int `json:"changed"`
	Removed   int `json:"removed"`
	Renamed   int `json:"renamed"` // of Added and of Removed: files with another name than before
	Unchanged int `json:"unchanged"`
	Touched   int `json:"touched"` // of Unchanged: same content, another time
	Ignored   int `json:"ignored"` // files and folders that ignore files leave out
	Chunks    int `json:"chunks"`  // written
	Pending   int `json:"pending"` // documents that wait for vectors
	// Bytes is the size of the files that were read.
	Bytes   int64          `json:"bytes"`
	Skipped []catalog.Skip `json:"skipped,omitempty"`
	// ByRule are the files and folders that rules leave out, sorted as Skipped, each with
	// the line of the rule. A folder, which ends with a slash, includes all that it holds.
	// Only [Scan] lists them, with Walk.ListIgnored, and at most 100,000 of a tree;
	// AllByRule counts all.
	ByRule    []catalog.Skip `json:"by_rule,omitempty"`
	AllByRule int            `json:"all_by_rule,omitempty"`
	Warnings  []FileWarning  `json:"warnings,omitempty"`
	Warned    int            `json:"-"` // documents with warnings
	Took      time.Duration  `json:"took_ns"`
	// Waiting are the documents to index or remove, in order; only [Scan] lists them.
	Waiting []sheaf.ID `json:"-"`
	// Gone are the folders that are missing while others are there, or whose disk is not
	// mounted. Their indexed documents stay.
	Gone []string `json:"gone,omitempty"`
	// Unseen is why the system does not report all changes, so that [Watch] polls; ""
	// when it does, and for a run outside a watch.
	Unseen string `json:"unseen,omitempty"`
	// EmbedError is why vectors are missing, "" when none are.
	EmbedError string `json:"embed_error,omitempty"`
}

// Unread returns the folders of trees that could not be read, each with the reason. Their
// indexed documents stay.
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

// Changes reports whether anything was written.
func (r *Report) Changes() bool { return r.Added+r.Changed+r.Removed > 0 }

// maxWarnings bounds how many warnings a report lists.
const maxWarnings = 1000

// ready returns an error when an option is missing.
func (o *Options) ready() error {
	if o.Catalog == nil || o.Backend == nil {
		return sheaf.Invalidf("index: a catalog and a store are needed")
	}
	return nil
}

func (o *Options) defaults() {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.CommitBytes <= 0 {
		o.CommitBytes = DefaultCommitBytes
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
}

// Scan says what Run would do, without doing it. It reads files only where their size and
// time cannot tell, so a file that was touched counts as changed. What a stopped run left in
// the store of files that are gone counts as removed.
func Scan(ctx context.Context, o Options) (*Report, error) {
	if err := o.ready(); err != nil {
		return nil, err
	}
	o.defaults()
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

// scanItems counts the items that would change anything.
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
				report.Unchanged++ // as it was when it could be read
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

// skipsAgain reports whether the next run would skip a file for the same reason as the last
// one did.
func (r *runner) skipsAgain(it *item, s catalog.Skip) bool {
	c, err := it.content()
	if err != nil {
		return skipOf(err).Reason == s.Reason // tried again by each run; it does not wait
	}
	_, _, reason := r.cut(it, &c)
	return reason == s.Reason
}

// sameContent reports whether a file whose time cannot tell has the content that it had.
func sameContent(it *item) bool {
	c, err := it.content()
	return err == nil && c.state.Hash == it.old.Hash
}

// Run brings catalog and store up to date with the folders. When nothing changed it writes
// nothing and takes no lock. It skips files that cannot be read, with the reason, and
// indexes the rest. Errors wrap sheaf.ErrUnavailable when another process is indexing, and
// [ErrMadeAnew] when another process made the index in another way than Settings records.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.ready(); err != nil {
		return nil, err
	}
	o.defaults()
	return whenEmptied(ctx, func() (*Report, error) { return once(ctx, o) })
}

// once is [Run] without waiting.
func once(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	if err := o.Catalog.Follow(); err != nil {
		return nil, err
	}
	l, err := o.folders(ctx)
	if err != nil {
		return nil, err
	}
	if !l.nothing() {
		unlock, err := o.lock(ctx, 0)
		if err != nil {
			return nil, err
		}
		l, err = o.run(ctx, l, began)
		if unlockErr := unlock(); err == nil {
			err = unlockErr
		}
		if err != nil {
			return &l.report, err
		}
	}
	l.report.Took = time.Since(began)
	return &l.report, nil
}

// run carries out a work list, or another one if the catalog changed since it was made.
// Nobody else can change the catalog meanwhile.
func (o *Options) run(ctx context.Context, l *worklist, began time.Time) (*worklist, error) {
	view := o.Catalog.View()
	stale := view.Generation() != l.generation
	view.Close()
	if stale {
		fresh, err := o.folders(ctx)
		if err != nil {
			return l, err
		}
		l = fresh
	}
	if l.nothing() { // the process that changed the catalog may still hold the store's lock
		return l, nil
	}
	return l, o.carryOut(ctx, l, began)
}

// Put indexes docs, each instead of the document of the same tree and path, and keeps all
// others. The catalog keeps the texts. Put does not use Trees and Walk of the options, except
// that it records Trees, or the recorded ones for nil, and the trees of docs, which need no
// folder. CommitBytes bounds what an interruption can lose. Put waits up to five seconds for
// another process that writes. Errors are those of [Run].
func Put(ctx context.Context, o Options, docs []Given) (*Report, error) {
	return Change(ctx, o, docs, nil)
}

// Change is [Put] that also removes other documents in its first commit. An unknown one is no
// error. After a [store.PartialError] the catalog says what the store has: nothing of the
// documents that the error names, and what was asked for of the others of the commit; later
// commits are not made.
func Change(ctx context.Context, o Options, docs []Given, removed []sheaf.ID) (*Report, error) {
	if err := o.ready(); err != nil {
		return nil, err
	}
	o.defaults()
	if _, err := chunk.New(o.Chunk); err != nil {
		return nil, err
	}
	return whenEmptied(ctx, func() (*Report, error) { return changeOnce(ctx, o, docs, removed) })
}

// changeOnce is [Change] without waiting for the store to be emptied.
func changeOnce(ctx context.Context, o Options, docs []Given, removed []sheaf.ID) (*Report, error) {
	began := time.Now()
	unlock, err := o.lock(ctx, lockPatience)
	if err != nil {
		return nil, err
	}
	l, err := o.documents(docs, removed)
	if err == nil {
		err = o.carryOut(ctx, l, began)
	}
	if unlockErr := unlock(); err == nil {
		err = unlockErr
	}
	l.report.Took = time.Since(began)
	return &l.report, err
}
