// Package collection owns an index and answers questions about it. A Go program needs three calls:
//
//	c, err := collection.Open("notes")
//	answer, err := c.Search(ctx, "how do I undo a commit")
//	err = c.Close()
//
// Another module finds Sheaf in a checkout beside it:
//
//	go mod edit -require sheaf@v0.0.0 -replace sheaf=../sheaf
//	go mod tidy
//
// HTTP, MCP and the web page ask a [Collection] for a [Reader]. A Reader is the index at one moment, as one caller
// may see it. It searches, gets, explains, lists and counts, so every read passes the access check. That check is in
// one place, guard.go, between the Reader and the store and catalog.
//
// Types with JSON names are the output of doors. Their doc tags describe each field in the HTTP
// interface.
package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/lru"
	"sheaf/model"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// Options say how to open a collection. Everything in them stays open until the caller closes it,
// after the collection.
type Options struct {
	// Name is the name of the collection.
	Name    string
	Catalog *catalog.Catalog
	Backend store.Backend
	// Store names the store in warnings; "" is "the store". Distant means that the store answers over a network, so
	// other requests may run while one waits.
	Store    string
	Distant  bool
	Analyzer *analysis.Analyzer
	// SharedStatistics lets restricted callers search by words in a store that counts words over
	// all documents only. Scores then reveal whether hidden documents contain a word. Without it,
	// such searches are sheaf.ErrUnsupported.
	SharedStatistics bool
	// ShowComments shows comments in Markdown to restricted callers. Without it their words may still find a section
	// when the index was made with them: see ingest.Options.HideComments.
	ShowComments bool
	// Embed returns the vector of a query; nil without a model.
	Embed func(ctx context.Context, text string) ([]float32, error)
	// Passages says how texts were cut for the model, so that a snippet can show the found passage. Zero shows the
	// beginning.
	Passages chunk.Passages
	// Confidence returns the calibration of a profile. Without it answers have no confidence.
	Confidence func(p *profile.Profile) *search.Calibration
	// Model replaces Embed unless nil. It is a local model, which can do more than embed queries.
	Model model.Embedder
	// Rerank scores the first results again, for profiles that use it; nil without a reranking model.
	Rerank model.Reranker
	// Profiles finds ranking profiles; nil finds the built-in ones. ProfileDirs are listed beside
	// the built-in profiles.
	Profiles    profile.Source
	ProfileDirs []string
	// Tuned is the folder of profiles that are tuned to this index, or "".
	Tuned string
	// Profile ranks when a request names no profile; "" is profile.Default.
	Profile string
	// Scanner reads the files of the folder for profiles without an index; nil without a folder.
	Scanner search.Scanner
	// Local describes the person who runs the command; nil for callers over HTTP or MCP.
	Local *Local
	// Ingest says how documents are written. It is nil for a collection that only answers. New sets its Catalog,
	// Backend and Turn.
	Ingest *ingest.Options
	// Intake is the folder of intake.db, which stores given documents and accepted work until the
	// work is done. "" means that the collection accepts neither.
	Intake string
	// Judged is the folder for saved judgements; "" for none.
	Judged string
	// CacheBytes bounds the memory of cached answers; 0 is DefaultCacheBytes. With a negative value, only cursors
	// find cached answers.
	CacheBytes int64
	// Now returns the time; nil is time.Now.
	Now func() time.Time
	// Notice gets the errors of Work, which belong to no request; it may be nil.
	Notice func(error)
}

// Collection is an open collection. It is safe for concurrent use.
type Collection struct {
	o        Options
	answers  *answers
	counts   lru.Cache[answerKey, int]
	profiles profileCache
	closed   atomic.Bool
	reading  sync.RWMutex // every Reader holds it for reading
	given    given
	recall   recallMeter
	health
	watch
	updates    bool         // Search updates the index before it answers
	closeIndex func() error // closes what Open opened; nil when the stores belong to the caller of New
}

// health records events of the index since the collection opened.
type health struct {
	agreed atomic.Uint64 // generation that was made as Options says
	// replaced ends if another process remade the index with other settings. damaged ends when a
	// request finds damage; its cause is the damage.
	replaced, damaged context.Context
	replace, damage   context.CancelCauseFunc
}

// watchHealth prepares the contexts that seen ends.
func (h *health) watchHealth() {
	h.replaced, h.replace = context.WithCancelCause(context.Background())
	h.damaged, h.damage = context.WithCancelCause(context.Background())
}

// watch is the state of following the folders.
type watch struct {
	watching atomic.Pointer[watchState]
	indexing atomic.Pointer[ingest.Progress] // progress of a run; nil without a run
	// fresh means that nothing was indexed when the collection was opened. willWatch means that Watch is or will be
	// called.
	fresh     bool
	willWatch atomic.Bool
}

// New opens a collection with these options.
func New(o Options) (*Collection, error) {
	if o.Catalog == nil || o.Backend == nil && o.Local == nil || o.Analyzer == nil {
		return nil, sheaf.Invalidf("open collection %q: a catalog, a store and an analyzer are needed", o.Name)
	}
	if o.Profiles == nil {
		o.Profiles = profile.In(o.ProfileDirs...)
	}
	if o.Profile == "" {
		o.Profile = profile.Default
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ingest != nil {
		options := *o.Ingest
		options.Catalog, options.Backend = o.Catalog, o.Backend
		options.Writing = ingest.NewWriting()
		o.Ingest = &options
	}
	view := o.Catalog.View()
	defer view.Close()
	c := &Collection{o: o, answers: newAnswers(o.CacheBytes), given: newGiven(&o), watch: watch{fresh: view.Docs() == 0}}
	c.counts.Limit(maxCounts)
	c.watchHealth()
	if o.Local != nil { // its requests return the error
		return c, nil
	}
	if _, err := c.Load(""); errors.Is(err, sheaf.ErrUnsupported) {
		return nil, fmt.Errorf("open collection %q: %w", o.Name, err)
	}
	return c, nil
}

// closeWait is how long Close waits for readers: as long as a request may take.
const closeWait = 10 * time.Second

// Close releases what the collection itself holds. Its catalog and store stay open; close them
// afterwards. For fails from now on. Close waits for open Readers, 10 s at most.
func (c *Collection) Close() error {
	c.closed.Store(true)
	for began := time.Now(); time.Since(began) < closeWait; time.Sleep(time.Millisecond) {
		if c.reading.TryLock() {
			c.reading.Unlock()
			break
		}
	}
	c.recall.close()
	c.answers.cache.Limit(0)
	if c.closeIndex != nil {
		return c.closeIndex()
	}
	return nil
}

// shut returns why a closed collection does not answer. Its owner may open it again.
func (c *Collection) shut() error {
	switch {
	case c.replaced.Err() != nil:
		return ingest.ErrRebuilt
	case c.damaged.Err() != nil:
		return fmt.Errorf("%w: the index is damaged, and is made again", sheaf.ErrUnavailable)
	}
	return fmt.Errorf("%w: the collection is closed", sheaf.ErrUnavailable)
}

// Name returns the name of the collection.
func (c *Collection) Name() string { return c.o.Name }

// Profile returns the ranking profile of requests that name none.
func (c *Collection) Profile() string { return c.o.Profile }

// For returns the collection at this moment, as a caller with grant may see it. Close the Reader
// when done. An expired grant gives [ErrForbidden]. If another process has remade the index with
// other settings, or is remaking it, the error wraps [ingest.ErrRebuilt].
func (c *Collection) For(grant access.Grant) (r *Reader, err error) {
	c.reading.RLock()
	done := sync.OnceFunc(c.reading.RUnlock)
	defer func() {
		if r == nil {
			done()
		}
	}()
	if c.closed.Load() {
		return nil, c.shut()
	}
	if err := c.good(&grant); err != nil {
		return nil, err
	}
	// Pin the store before reading the catalog. The catalog then knows all documents of the pinned
	// store, even those that another process indexed.
	st, pinned := c.o.Backend, store.Backend(nil)
	if p, ok := st.(store.Pinner); ok {
		held, err := p.Pin()
		switch {
		case err == nil: // otherwise its requests report the error
			st, pinned = held, held
		case errors.Is(err, store.ErrMadeOtherwise): // remade since opening; the catalog may not know it yet
			c.seen(ingest.ErrRebuilt)
			return nil, ingest.ErrRebuilt
		}
	}
	view, err := c.latest()
	if err != nil {
		if pinned != nil {
			err = errors.Join(err, pinned.Close())
		}
		return nil, err
	}
	at, versioned := stampOf(view, st)
	return &Reader{c: c, done: done, grant: grant, view: view, at: at, versioned: versioned, pinned: pinned,
		guard: newGuard(view, st, at, c, &grant)}, nil
}

// good returns nil while a grant is valid.
func (c *Collection) good(grant *access.Grant) error {
	if !grant.Expires.IsZero() && grant.Ended(c.o.Now()) {
		return fmt.Errorf("%w: your access has expired: ask for a new key or sign in again", ErrForbidden)
	}
	return nil
}

// latest returns the newest view of the catalog, including writes of other processes. The error
// wraps ingest.ErrRebuilt if another process remakes the index, or remade it with other settings:
// words and vectors of queries no longer fit.
func (c *Collection) latest() (*catalog.View, error) {
	if err := c.o.Catalog.Follow(); err != nil {
		c.seen(err)
		return nil, err
	}
	view := c.o.Catalog.View()
	if c.o.Ingest != nil && view.Generation() != c.agreed.Load() {
		err := c.o.Ingest.Agrees(view)
		if err == nil && view.Settings().Extra[ingest.RemakingKey] != "" {
			err = ingest.ErrRebuilt
		}
		if err != nil {
			view.Close()
			c.seen(err)
			return nil, err
		}
		c.agreed.Store(view.Generation())
	}
	return view, nil
}

// Replaced is closed when the collection sees that another process remakes the index, or remade it
// with other settings. Requests then fail with that error: close the collection and open it again.
func (c *Collection) Replaced() <-chan struct{} { return c.replaced.Done() }

// Damaged is closed when the collection finds damage in the index. It still answers from the rest.
// Close it and open it again after a repair.
func (c *Collection) Damaged() <-chan struct{} { return c.damaged.Done() }

// Damage waits until Damaged is closed, and returns the first damage. It wraps [vfs.ErrCorrupt].
func (c *Collection) Damage() error {
	<-c.damaged.Done()
	return context.Cause(c.damaged)
}

// seen closes Replaced or Damaged when err says so.
func (c *Collection) seen(err error) {
	if errors.Is(err, ingest.ErrRebuilt) {
		c.replace(err)
	}
	if errors.Is(err, vfs.ErrCorrupt) {
		c.damage(err)
	}
}

// stampOf returns the state of a view and a store. versioned is false if the store has no version.
func stampOf(view *catalog.View, st store.Backend) (s stamp, versioned bool) {
	s.generation = view.Generation()
	v, ok := st.(store.Versioned)
	if !ok {
		return s, false
	}
	version, err := v.Version()
	s.version = version
	return s, err == nil
}

// now returns the current minute, for relative dates and ages. An answer can be cached for that minute.
func (c *Collection) now() time.Time { return c.o.Now().Truncate(time.Minute) }

// Cache says where answers came from and how large the cache is.
func (c *Collection) Cache() CacheCounts { return c.answers.state() }

// watchState is the result of the last run of Watch.
type watchState struct {
	Watching
	stale error // why answers may be older than the folders; nil if they are current
}

// WillWatch announces a call of Watch. Until its first run ends, a collection without documents is
// not ready. A server that listens before it watches calls WillWatch first.
func (c *Collection) WillWatch() { c.willWatch.Store(true) }

// Watch keeps the collection up to date with its folders until ctx ends, and then returns nil. It
// calls onRun, unless nil, after every run. The first run is over when Ready returns nil.
func (c *Collection) Watch(ctx context.Context, onRun func(*ingest.Report, error)) error {
	if c.o.Ingest == nil {
		return fmt.Errorf("watch %s: %w: it was opened for reading only", c.o.Name, sheaf.ErrUnsupported)
	}
	c.WillWatch()
	return ingest.Watch(ctx, c.withProgress(), func(report *ingest.Report, err error) {
		c.ran(report, err)
		if onRun != nil {
			onRun(report, err)
		}
	})
}

// withProgress returns the options of runs, with a Progress that Status shows.
func (c *Collection) withProgress() ingest.Options {
	o := *c.o.Ingest
	progress := o.Progress
	o.Progress = func(p ingest.Progress) {
		if p.AllFiles > 0 {
			c.indexing.Store(&p)
		} else { // it looks for changed files, or has ended
			c.indexing.Store(nil)
		}
		if progress != nil {
			progress(p)
		}
	}
	return o
}

// Refresh updates the collection from its folders once.
func (c *Collection) Refresh(ctx context.Context) (*ingest.Report, error) {
	if c.o.Ingest == nil {
		return nil, fmt.Errorf("refresh %s: %w: it was opened for reading only", c.o.Name, sheaf.ErrUnsupported)
	}
	report, err := ingest.Run(ctx, c.withProgress())
	c.indexing.Store(nil)
	if ctx.Err() == nil {
		c.ran(report, err)
	}
	return report, err
}

// ran records the result of a run.
func (c *Collection) ran(report *ingest.Report, err error) {
	c.seen(err)
	state := &watchState{Watching: Watching{At: c.o.Now()}, stale: err}
	if unread := report.Unread(); err == nil && len(unread) > 0 {
		state.stale = fmt.Errorf("cannot read folder %s: %s", unread[0].Tree, unread[0].Detail)
	}
	if before := c.watching.Load(); before != nil {
		state.Changed = before.Changed
	}
	if err != nil {
		state.Error = err.Error()
	} else if report.Changes() {
		state.Changed = state.At
	}
	if report != nil {
		state.Took = float64(report.Took.Microseconds()) / 1000
		state.Embed, state.Gone, state.Unseen = report.EmbedError, report.Gone, report.Unseen
		if seconds := report.Took.Seconds(); report.Bytes > 0 && seconds > 0 {
			state.Rate = float64(report.Bytes) / seconds
		}
	}
	c.watching.Store(state)
}

// Looking reports whether the first search for changed files is still running. Until it ends,
// answers may lack files that were saved earlier.
func (c *Collection) Looking() bool { return c.willWatch.Load() && c.watching.Load() == nil }

// filling reports whether the folder is being indexed for the first time.
func (c *Collection) filling() bool {
	return c.fresh && c.Looking()
}

// Ready returns nil if the collection can answer, else the reason. A collection without documents
// is ready after the first search for files.
func (c *Collection) Ready(ctx context.Context) error {
	if c.closed.Load() {
		return c.shut()
	}
	if c.filling() {
		return fmt.Errorf("%w: the folder is indexed for the first time", sheaf.ErrUnavailable)
	}
	if c.given.recovering.Load() && c.given.stuck.Load() == nil {
		return fmt.Errorf("%w: documents that were accepted are being indexed", sheaf.ErrUnavailable)
	}
	view, err := c.latest()
	if err != nil {
		return err
	}
	view.Close()
	if r, ok := c.o.Backend.(store.Reporter); ok {
		if _, err := r.Stats(ctx); err != nil && !errors.Is(err, sheaf.ErrUnsupported) {
			return fmt.Errorf("%w: the store does not answer: %w", sheaf.ErrUnavailable, store.Gone(err))
		}
	}
	return nil
}

// Moved returns an error if the name of the store now leads to another index. The collection
// still uses the earlier index.
func (c *Collection) Moved() error {
	if m, ok := c.o.Backend.(store.Mover); ok {
		return m.Moved()
	}
	return nil
}

// Coming reports whether a collection that cannot answer may answer soon, so that waiting helps. It returns false
// while the index is missing.
func (c *Collection) Coming(ctx context.Context) bool {
	err := c.Ready(ctx)
	return err != nil && !errors.Is(err, catalog.ErrGone)
}

// profileCache keeps profiles briefly: requests share the read files, and edits apply soon.
type profileCache struct {
	mu     sync.Mutex
	loaded map[string]loadedProfile
	// editions counts the different profiles that were read.
	editions uint64
}

// loadedProfile is a profile as it was read. Another text has another edition.
type loadedProfile struct {
	profile *profile.Profile
	plan    *profile.Plan // for one request; nil in the cache
	edition uint64
	at      time.Time
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxProfileName = 100 // bytes

// profileAge is how long a profile is used before it is read again.
const profileAge = time.Second

// Load returns the named profile, "" for the default one. Unlike package profile, it does not read
// files by path: callers must not make the server read its disk.
func (c *Collection) Load(name string) (*profile.Profile, error) {
	p, err := c.load(name)
	return p.profile, err
}

func (c *Collection) load(name string) (loadedProfile, error) {
	if name == "" {
		name = c.o.Profile
	}
	if name != c.o.Profile && (len(name) > maxProfileName || !plainName.MatchString(name)) {
		return loadedProfile{}, fmt.Errorf("%w: there is no profile %q", sheaf.ErrNotFound, name)
	}
	cache := &c.profiles
	cache.mu.Lock()
	defer cache.mu.Unlock()
	before, known := cache.loaded[name]
	if known && time.Since(before.at) < profileAge {
		return before, nil
	}
	p, _, err := profile.LoadTuned(c.o.Tuned, name, c.o.Profiles)
	if err != nil {
		return loadedProfile{}, profile.WithoutFolders(err)
	}
	if known && p.Equal(before.profile) {
		before.at = time.Now()
		cache.loaded[name] = before
		return before, nil
	}
	if err := c.canRun(p); err != nil {
		return loadedProfile{}, err
	}
	if cache.loaded == nil || len(cache.loaded) >= 64 {
		cache.loaded = map[string]loadedProfile{}
	}
	cache.editions++
	loaded := loadedProfile{profile: p, edition: cache.editions, at: time.Now()}
	cache.loaded[name] = loaded
	return loaded, nil
}

// reread makes the next request read its profile again. Call it after writing a profile, because
// others may extend that one.
func (c *profileCache) reread() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, p := range c.loaded {
		p.at = time.Time{}
		c.loaded[name] = p
	}
}

// usualLimit returns the number of results of a request that does not set one.
func usualLimit(p *profile.Profile, set map[string]string) int {
	return cmp.Or(p.DefaultLimit(set), DefaultLimit)
}

// canRun returns an error when a profile cannot run here as it is written.
func (c *Collection) canRun(p *profile.Profile) error {
	plan, err := p.Plan(usualLimit(p, nil), nil)
	if err != nil {
		return err
	}
	s := search.Searcher{Backend: c.o.Backend, Store: c.o.Store, Embed: c.o.Embed, Scanner: c.o.Scanner}
	if c.o.Model != nil {
		s.SetModel(c.o.Model, c.o.Analyzer, 0)
	}
	return s.Check(plan)
}

// Reader is a collection at one moment as one caller may see it. It is safe for concurrent use until it is closed.
// The results of its methods stay valid after Close and must not be changed: answers share parts, such as Parameters.
type Reader struct {
	c     *Collection
	grant access.Grant
	view  *catalog.View
	guard *guard
	// at is the state of the index. versioned is false when the store has no version.
	at        stamp
	versioned bool
	// pinned is a snapshot of the store, or nil if the store has none.
	pinned store.Backend
	done   func() // tells the collection that the reader is closed
}

// Close releases the reader.
func (r *Reader) Close() {
	if r.pinned != nil {
		_ = r.pinned.Close() // it was only read
	}
	r.c.seen(r.Err())
	r.view.Close()
	r.done()
}

// Collection returns the collection of the reader.
func (r *Reader) Collection() *Collection { return r.c }

// Generation returns the generation of the catalog's snapshot.
func (r *Reader) Generation() uint64 { return r.view.Generation() }

// Err returns the first error of a catalog lookup, or nil.
func (r *Reader) Err() error { return r.view.Err() }
