package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/model/remember"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// Index opens, updates, checks and repairs the index of a folder. To ask questions, use [Index.Collection]. An Index is
// not safe for concurrent use.
type Index struct {
	Site
	Making
	Events
	Stores
	Models
	Findings
	language
	want    IndexOptions
	printed printedNotices
	// Answering holds the options of the collection that the caller sets. The index sets the other options.
	Answering Options
}

// Site is the folder in which a person works, and the index that covers this folder.
type Site struct {
	Folder string
	Where  location.Location
	// Base is the place of the index, and Where is the place of its catalog. If a server stores the chunks, Where is the
	// server's folder inside Base; otherwise both are equal.
	Base location.Location
	// Target is the server that stores the chunks. If it is nil, the engine stores them.
	Target store.Opener
	// Address is the address of the store in the settings. Flag is the command-line flag that set the address, or "".
	Address, Flag string
	// In is the folder as the person typed it. Named means that the person also gave the name of the index.
	In    string
	Named bool
}

// IndexOptions say how a command uses an index.
type IndexOptions struct {
	// Refresh updates the index first, unless the settings forbid it.
	Refresh bool
	// Updates means that the command exists to update the index. Asked means that the person asked for an update now.
	// With either, Open detects the language again if it was guessed from little text. Settings that forbid updates
	// prevent this for Updates, but not for Asked.
	Updates, Asked bool
	// Whole means that the command needs an up-to-date index. If the update fails, the command fails: it does not answer
	// from the last indexing run.
	Whole bool
	// Make creates the index if it is missing. Without Make, a missing index is an error. A missing index is also an
	// error if Refresh is set and the settings forbid updates.
	Make bool
	// AsIs makes Open report damage and not repair it. Damaged says that an earlier use of the index found damage; Open
	// then repairs the index.
	AsIs, Damaged bool
	// Keep makes Open fail if it would have to remake the index.
	Keep bool
	// Rebuild empties the index before it is filled again.
	Rebuild bool
	// Open calls Check, unless it is nil, after the stores are open and before anything is written.
	Check func() error
}

// Making says how to make and update an index. The zero value makes an index without vectors.
type Making struct {
	// Language is the code of a language, "auto" or "none".
	Language  string
	StopWords bool
	// Chunk returns how a new index cuts documents. If Chunk is nil, a new index uses the default.
	Chunk   func() (chunk.Options, error)
	Walk    ingest.WalkOptions
	Workers int
	// Engine has options of the engine. The index sets the folder, the analyzer and the vectors itself.
	Engine embedded.Options
	// Embed opens the model. It is nil if there is no model. dims is the number of dimensions, or 0 if it is unknown. p
	// says how often to repeat failed requests.
	Embed func(ctx context.Context, dims int, p Patience) (model.Embedder, error)
	// Remote is the name of a model on a server. It is "" for a built-in model and without a model.
	Remote string
	// Update means that the index is updated before each answer.
	Update bool
	// HideComments reports whether to exclude comments from the text. If HideComments is nil, the index excludes
	// comments once it has keys.
	HideComments func() bool
}

// Events tell a person what happens to the index. Notice and Warn are required.
type Events struct {
	Notice func(format string, args ...any)
	// Warn reports something that may make the answer wrong.
	Warn func(format string, args ...any)
	// Quiet omits the report after an indexing run.
	Quiet bool
	// Indexing starts a display of the progress of an update, and Checking of a check. Call update to show new
	// progress, and done to end the display.
	Indexing func() (update func(ingest.Progress), done func())
	Checking func() (update func(done, total int64), done func())
	// Confirm asks the person before data is lost. The text loss describes the loss, and the text advice says how to
	// avoid it. If the person refuses, Confirm returns an error.
	Confirm func(loss, advice string) error
}

// Stores are the open catalog and store of an index.
type Stores struct {
	Catalog *catalog.Catalog
	View    *catalog.View
	Backend store.Backend
	// Outdated is nil, or says why the vectors of the index cannot be used before the index is remade.
	Outdated error
	// locked means that this process is remaking the index and holds its lock.
	locked bool
}

// Models hold the analyzer, the chunker and the embedder of an index.
type Models struct {
	cutting  chunk.Options // how documents are cut
	chunker  string        // the name of the chunker, with its options
	Analyzer *analysis.Analyzer
	Embedder model.Embedder     // nil without a model
	Waits    Patience           // for a server that makes vectors
	memory   *remember.Embedder // a cache of vectors for Embedder; nil before documents are embedded
}

// language is the language of an index, and how it was determined: by the settings, or detected in the text.
type language struct {
	code     string
	detected bool
	sampled  int           // bytes of text that were analyzed
	settled  bool          // the language was detected again with enough text
	grown    bool          // a watching program detected the language again with enough text
	grows    chan struct{} // receives a value when the language changed
	walk     *ingest.Walk  // the last walk of the folder; nil without one
}

// Findings are results of a check or a repair that are not faults. A text is "" if there is nothing to report.
type Findings struct {
	Stopped      string // a run stopped early
	Foreign      string // the store holds documents of another folder
	OutdatedRead string // another version of the program parsed documents
	reached      *Reach // which chunks a server finds
	// Lost lists documents that a rebuild could not restore. Copied is the folder of a copy of the damaged catalog.
	Lost   []string
	Copied string
}

// printedNotices remembers the printed notices, so that each is printed once.
type printedNotices struct {
	missingFolders []string // folders that are missing
	watchGap       string   // why a watch misses some changes
}

// NewIndex returns the index of a folder. It is not open: call [Index.Open].
func NewIndex(site Site, making Making, events Events) *Index {
	site.Base = site.Where
	if events.Indexing == nil {
		events.Indexing = func() (func(ingest.Progress), func()) { return func(ingest.Progress) {}, func() {} }
	}
	return &Index{Site: site, Making: making, Events: events, language: language{grows: make(chan struct{}, 1)}}
}

// Grown returns a channel. It receives a value when new text shows that the index should have another language.
func (x *Index) Grown() <-chan struct{} { return x.grows }

// Open opens the index. If target is nil, the engine stores the chunks; otherwise the server that target opens stores
// them. Open makes, updates, repairs or remakes the index, as far as o allows. Close the index even after an error.
func (x *Index) Open(ctx context.Context, target store.Opener, o IndexOptions) error {
	x.want, x.Waits = o, Mixed
	if o.Refresh {
		x.Waits = Hasty
	}
	if target != nil {
		if err := x.UseStore(ctx, target, o); err != nil {
			return err
		}
	}
	if o.Rebuild {
		if err := x.askBeforeLoss(ctx); err != nil {
			return x.Advise(err)
		}
	}
	if err := x.Prepare(ctx, o); err != nil {
		return err
	}
	return x.Advise(x.BringUp(ctx, o))
}

// BringUp opens the catalog and the store. If necessary and allowed, it remakes or updates the index.
func (x *Index) BringUp(ctx context.Context, o IndexOptions) error {
	x.want = o
	for tries := 1; ; tries++ {
		err := x.bringUpOnce(ctx)
		if !OpenAgain(&err, tries) {
			return err
		}
		x.Close()
	}
}

func (x *Index) bringUpOnce(ctx context.Context) error {
	o := x.want
	err := x.OpenStores(ctx)
	if err != nil && !o.AsIs && !o.Keep && Remakable(err) {
		err = x.Remake(ctx, err, errors.Is(err, sheaf.ErrCorrupt))
	} else if err == nil && o.Damaged {
		err = x.remakeDamaged(ctx)
		if errors.Is(err, sheaf.ErrNotFound) || vfs.NoSpace(err) {
			x.Notice("%v: the index is made again when this problem is over", err)
			err = x.OpenStores(ctx)
		}
	}
	if err != nil {
		return err
	}
	if x.Outdated == nil && o.Check != nil {
		if err := o.Check(); err != nil {
			return err
		}
	}
	if x.Outdated == nil && (o.Asked || (o.Refresh || o.Updates) && x.Update) {
		x.Outdated = x.languageOutgrown(ctx)
	}
	switch {
	case x.Outdated != nil && o.Keep:
		err = fmt.Errorf("%w: %w", sheaf.ErrUnsupported, x.Outdated)
	case x.Outdated != nil && !o.AsIs:
		if err = x.Remake(ctx, x.Outdated, false); vfs.Forbidden(err) {
			err = x.OpenStores(ctx)
		}
	case o.Refresh && x.Update, x.remaking() && !o.AsIs && !o.Rebuild:
		if err = x.Refresh(ctx); errors.Is(err, sheaf.ErrCorrupt) {
			err = x.Remake(ctx, err, true)
		}
	case o.Updates && x.First():
		err = x.refuseStrangers(ctx, x.Trees())
	case o.Refresh:
		x.NoteReading(false)
	}
	return err
}

// UseStore makes the index store its chunks on the server that target opens. Each server has its own folder inside the
// index, with its own catalog. So each catalog matches the chunks on its server.
func (x *Index) UseStore(ctx context.Context, target store.Opener, o IndexOptions) error {
	base := o
	base.Rebuild = false
	if err := x.Prepare(ctx, base); err != nil {
		return err
	}
	x.Target, x.Where = target, x.Where.Store(target.String())
	return nil
}

// Prepare makes the folder of the index. If the index exists, Prepare checks its record, and repairs or empties the
// index as far as o allows.
func (x *Index) Prepare(ctx context.Context, o IndexOptions) error {
	if !x.Where.Exists {
		if !o.Make || o.Refresh && !x.Update {
			err := fmt.Errorf("%w: %s has no index yet", sheaf.ErrNotFound, x.Folder)
			if x.Target != nil {
				err = fmt.Errorf("%w in %s", err, x.Target)
			}
			return Hint(err, "make one: %s", x.withStore("sheaf index --in "+wording.ShellQuoted(x.Folder)))
		}
		if err := os.MkdirAll(x.Where.Dir, 0o700); err != nil {
			return Elsewhere(fmt.Errorf("make index: %w", err))
		}
		if x.Where.Here {
			// Keep version control and other indexers out.
			if err := os.WriteFile(filepath.Join(x.Where.Dir, ".gitignore"), []byte("*\n"), 0o600); err != nil {
				return x.Advise(fmt.Errorf("make index: %w", err))
			}
		}
		if err := x.writeRecord(); err != nil || !o.Rebuild || x.Target == nil {
			return x.Advise(err)
		}
		return x.Advise(x.Drop(ctx, false)) // the server may hold chunks
	}
	record, err := location.ReadRecord(x.Where.Dir)
	switch {
	case err == nil && !o.AsIs && !o.Keep &&
		(record.Root != x.Where.Root && !x.Named || record.Store == "" && x.Target != nil):
		// Either the folder moved together with its index, or an earlier version recorded no address of the server. For a
		// read-only index, the old record stays.
		if err := x.writeRecord(); err != nil && !vfs.Forbidden(err) && !vfs.NoSpace(err) {
			return x.Advise(err)
		}
	case err == nil:
	case o.AsIs || o.Keep || !Remakable(err):
		return x.Advise(err)
	case errors.Is(err, sheaf.ErrCorrupt) && !x.Named:
		// The record only names the folder, which also follows from the location of the index.
		x.Notice("%v: it is written again", err)
		if err := x.writeRecord(); err != nil {
			return x.Advise(err)
		}
	default:
		x.Notice("%v: the index is made again from the files", err)
		if err := x.Drop(ctx, false); err != nil {
			return x.Advise(err)
		}
	}
	if o.Rebuild {
		return x.Advise(x.Drop(ctx, false))
	}
	return nil
}

func (x *Index) writeRecord() error {
	r := location.Record{Format: location.RecordFormat, Root: x.Where.Root}
	if x.Target != nil {
		r.Store = x.Target.String()
	}
	return r.Write(x.Where.Dir)
}

// OpenStores opens the catalog and the engine, with the analyzer that the index was made with. For a new index, it
// chooses the analyzer that fits the folder. After an error, neither is open.
func (x *Index) OpenStores(ctx context.Context) error {
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(x.Where.Dir), catalog.Options{})
	if err != nil {
		return err
	}
	x.Catalog, x.View, x.Outdated = c, c.View(), nil
	for _, open := range []func(context.Context) error{x.emptyEngine, x.openChunker, x.OpenAnalyzer, x.OpenEmbedder,
		x.openBackend} {
		if err := open(ctx); err != nil {
			x.Close()
			return err
		}
	}
	return nil
}

// emptyEngine empties the engine if this is the next step of an interrupted rebuild.
func (x *Index) emptyEngine(ctx context.Context) error {
	return x.empty(ctx, remakingEngine, func() error { return embedded.Empty(location.EngineDir(x.Where.Dir)) })
}

// Close closes everything that the index has open. A second call of Close does nothing.
func (x *Index) Close() {
	if x.View != nil {
		x.View.Close()
	}
	if x.Backend != nil {
		_ = x.Backend.Close() // Close writes nothing
	}
	if x.Catalog != nil {
		_ = x.Catalog.Close()
	}
	if x.memory != nil {
		_ = x.memory.Close() // lost vectors are computed again
	}
	x.View, x.Backend, x.Catalog, x.memory, x.walk = nil, nil, nil, nil, nil
}

// Holds reports whether the index contains a document that is in folder or below it.
func (x *Index) Holds(folder string) bool {
	for _, t := range x.View.Settings().Trees {
		if rel, ok := location.Under(t.Root, folder); ok && x.View.Holds(t.Name, rel) {
			return true
		}
	}
	return false
}

// StoreInErrors returns the address of the server, for error texts. Without a server, it returns "the index".
func (x *Index) StoreInErrors() string {
	if x.Target == nil {
		return "the index"
	}
	return x.Target.String()
}

// Collection returns a collection that answers questions about the index. Unless AsIs is set, the collection can also
// write. Close the collection before the index.
func (x *Index) Collection() (*Collection, error) {
	o, ingests := x.answering(), x.IngestOptions()
	if err := SomeFolder(ingests.Trees); err != nil {
		return nil, err
	}
	var err error
	if o.Scanner, err = x.folderScanner(ingests); err != nil {
		return nil, err
	}
	o.Name, o.Embed, o.Model = ingests.Trees[0].Name, x.QueryVector(), x.LocalModel()
	if !x.want.AsIs { // otherwise nothing is written
		o.Ingest = &ingests
		o.Intake = x.Where.Dir
		o.Judged = filepath.Join(x.Where.Dir, location.JudgedName)
	}
	return New(o)
}

// answering returns the options of a collection that only answers and has no model.
func (x *Index) answering() Options {
	o := x.Answering
	o.Store = cmp.Or(o.Store, x.StoreInErrors())
	o.Catalog, o.Backend, o.Distant, o.Tuned = x.Catalog, x.Backend, x.Target != nil, x.Where.Dir
	o.Analyzer = x.Analyzer
	o.Confidence = x.Calibration
	if x.Embedder != nil {
		o.Passages = ingest.PassagesOf(x.Embedder)
	}
	return o
}

// folderScanner returns a scanner for the files of the index's folder. Without a folder, it returns nil.
func (x *Index) folderScanner(o ingest.Options) (search.Scanner, error) {
	i := slices.IndexFunc(o.Trees, func(t catalog.Tree) bool { return t.Root == x.Where.Root && t.Root != "" })
	if i < 0 {
		return nil, nil
	}
	return scan.New(scan.Options{Root: o.Trees[i].Root, Tree: o.Trees[i].Name, Walk: o.Walk, Analyzer: x.Analyzer,
		Embedder: x.Embedder})
}
