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
// HTTP, MCP and the web page ask a [Collection] for a [Reader]. A Reader is a snapshot of the index for one caller. All
// reads go through a Reader, so every read passes the access check. This check is in one file, guard.go. It is between
// the Reader and the data: the store and the catalog.
//
// Types with JSON names are the output of doors. Their doc tags describe each field in the HTTP interface.
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

// Options say how to open a collection. The caller closes the parts in Options, after closing the collection.
type Options struct {
	// Name is the name of the collection.
	Name    string
	Catalog *catalog.Catalog
	Backend store.Backend
	// Store is the name of the store in warnings; if it is "", warnings say "the store". Distant means that the store
	// is on a network, so that other requests can run while one request waits.
	Store    string
	Distant  bool
	Analyzer *analysis.Analyzer
	// SharedStatistics matters for stores that count words only over all documents. If it is true, restricted callers
	// may search such a store by words. The scores then reveal whether hidden documents contain a word. If it is false,
	// such a search returns sheaf.ErrUnsupported.
	SharedStatistics bool
	// ShowComments shows comments of Markdown files to restricted callers. If it is false, words of a comment can
	// still find its section, unless ingest.Options.HideComments excluded them.
	ShowComments bool
	// Embed returns a vector for each text of a query, in order. Without a model, Embed is nil.
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
	// Passages says how texts were cut into passages for the model. A snippet can then show the passage that was found.
	// With the zero value, a snippet shows the beginning of the text.
	Passages chunk.Passages
	// Confidence returns the calibration of a profile. If Confidence is nil, answers have no confidence.
	Confidence func(p *profile.Profile) *search.Calibration
	// Model, unless nil, replaces Embed. Model is a local model, which can embed more than queries.
	Model model.Embedder
	// Rerank scores the first results again, for profiles that rerank. Without a reranking model, Rerank is nil.
	Rerank model.Reranker
	// Profiles finds ranking profiles by name. ProfileDirs are folders with more profiles: lists of profiles show these
	// too. If Profiles is nil, New sets it to profile.In(ProfileDirs...).
	Profiles    profile.Source
	ProfileDirs []string
	// Tuned is the folder of the profiles that were tuned for this index, or "".
	Tuned string
	// Profile is the name of the profile for requests that name no profile. "" is profile.Default.
	Profile string
	// Scanner reads the files of the folder, for profiles that need no index. Without a folder, Scanner is nil.
	Scanner search.Scanner
	// Local describes the person who runs the command. For callers over HTTP or MCP, Local is nil.
	Local *Local
	// Ingest says how to write documents. It is nil for a collection that only answers. New sets its Catalog, Backend
	// and Writing.
	Ingest *ingest.Options
	// Intake is the folder of intake.db. This file stores given documents, and stores accepted tasks until they are
	// done. If Intake is "", the collection accepts neither.
	Intake string
	// Judged is the folder for judgements that callers save. "" means that callers cannot save judgements.
	Judged string
	// CacheBytes limits the memory for cached answers; 0 is DefaultCacheBytes. If negative, only cursors use the cache.
	CacheBytes int64
	// Now returns the current time; nil is time.Now.
	Now func() time.Time
	// [Collection.Work] calls Notice with errors that belong to no request. Notice may be nil.
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
	given    givenState
	recall   recallMeter
	health
	watch
	updates    bool   // Search updates the index before it answers
	closeIndex func() // closes what Open opened; nil when the stores belong to the caller of New
}

// health records what happened to the index since the collection opened.
type health struct {
	agreedGeneration atomic.Uint64 // newest generation whose settings are known to agree with Options
	// replaced is canceled when another process has remade the index with other settings. damaged is canceled when a
	// request finds damage; the cause of the cancellation is the damage.
	replaced, damaged context.Context
	replace, damage   context.CancelCauseFunc
}

// watchHealth creates the two contexts of h. noteDamage cancels them.
func (h *health) watchHealth() {
	h.replaced, h.replace = context.WithCancelCause(context.Background())
	h.damaged, h.damage = context.WithCancelCause(context.Background())
}

// watch is the state of the work that keeps the collection up to date with its folders.
type watch struct {
	watching atomic.Pointer[watchState]
	indexing atomic.Pointer[ingest.Progress] // progress of a run; nil without a run
	// fresh means that the index was empty at the start. willWatch means that the program calls Watch now or later.
	fresh     bool
	willWatch atomic.Bool
}

// New opens a collection with these options. Without a catalog, a store or an analyzer, the error is sheaf.ErrInvalid.
// If the store cannot run the default profile, the error is sheaf.ErrUnsupported.
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
	if o.Local != nil { // requests of a local person return the error
		return c, nil
	}
	if _, err := c.Load(""); errors.Is(err, sheaf.ErrUnsupported) {
		return nil, fmt.Errorf("open collection %q: %w", o.Name, err)
	}
	return c, nil
}

// closeWait is the longest time that Close waits for open Readers. Most requests end within this time, because it is
// also their usual time limit.
const closeWait = 10 * time.Second

// Close releases what the collection itself holds. The catalog and the store stay open; close them afterwards. Close
// waits for open Readers, 10 s at most. After Close, [Collection.For] returns an error.
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
		c.closeIndex()
	}
	return nil
}

// shut returns the error for a request to a closed collection. The error says why the collection was closed.
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

// Profile returns the name of the ranking profile for requests that name no profile.
func (c *Collection) Profile() string { return c.o.Profile }

// For returns a Reader: a snapshot of the collection, limited to what the grant allows. Close the Reader when done. If
// the grant has expired, the error is [ErrForbidden]. If another process is remaking the index, or has remade it with
// other settings, the error wraps [ingest.ErrRebuilt].
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
	if err := c.notExpired(&grant); err != nil {
		return nil, err
	}
	// Pin the store before reading the catalog. The catalog then knows all documents of the pinned
	// store, even those that another process indexed.
	st, pinned := c.o.Backend, store.Backend(nil)
	if p, ok := st.(store.Pinner); ok {
		held, err := p.Pin()
		switch {
		case err == nil: // after another error, use the store without a snapshot: requests report the error
			st, pinned = held, held
		case errors.Is(err, store.ErrMadeOtherwise): // remade since opening; the catalog may not know it yet
			c.noteDamage(ingest.ErrRebuilt)
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
	g := &guard{view: view, store: st, at: at, counts: &c.counts, o: &c.o, viewer: grant.Viewer()}
	if !grant.SeesAll() {
		g.filter, g.visibleTo, g.hides = grant.Filter(), grant.Fingerprint(), !c.o.ShowComments
	}
	return &Reader{c: c, done: done, grant: grant, view: view, state: at, versioned: versioned, pinned: pinned,
		guard: g}, nil
}

// notExpired returns [ErrForbidden] if a grant has expired.
func (c *Collection) notExpired(grant *access.Grant) error {
	if !grant.Expires.IsZero() && grant.Ended(c.o.Now()) {
		return fmt.Errorf("%w: your access has expired: ask for a new key or sign in again", ErrForbidden)
	}
	return nil
}

// latest returns the newest view of the catalog, with the writes of other processes. The caller closes the view. If
// another process is remaking the index, or has changed its settings, the error wraps ingest.ErrRebuilt.
func (c *Collection) latest() (*catalog.View, error) {
	if err := c.o.Catalog.Follow(); err != nil {
		c.noteDamage(err)
		return nil, err
	}
	view := c.o.Catalog.View()
	if c.o.Ingest != nil && view.Generation() != c.agreedGeneration.Load() {
		err := c.o.Ingest.Agrees(view)
		if err == nil && view.Settings().Extra[ingest.RemakingKey] != "" {
			err = ingest.ErrRebuilt
		}
		if err != nil {
			view.Close()
			c.noteDamage(err)
			return nil, err
		}
		c.agreedGeneration.Store(view.Generation())
	}
	return view, nil
}

// Replaced returns a channel. It is closed when the collection sees that another process remakes the index, or has
// remade it with other settings. From then on, requests fail. Close the collection and open it again.
func (c *Collection) Replaced() <-chan struct{} { return c.replaced.Done() }

// Damaged returns a channel. It is closed when the collection finds damage in the index. The collection still answers
// from the undamaged parts. Repair the index, then close the collection and open it again.
func (c *Collection) Damaged() <-chan struct{} { return c.damaged.Done() }

// Damage waits until the channel of Damaged is closed. It returns the first error of damage, which wraps
// [vfs.ErrCorrupt].
func (c *Collection) Damage() error {
	<-c.damaged.Done()
	return context.Cause(c.damaged)
}

// noteDamage closes the channel of Replaced if the index was remade, and the channel of Damaged if err means damage.
func (c *Collection) noteDamage(err error) {
	if errors.Is(err, ingest.ErrRebuilt) {
		c.replace(err)
	}
	if errors.Is(err, vfs.ErrCorrupt) {
		c.damage(err)
	}
}

// stampOf returns the stamp of a view and a store. The result versioned is false if the store has no version.
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

// now returns the time, cut to the minute. Dates and ages use it, so that an answer can be cached for a minute.
func (c *Collection) now() time.Time { return c.o.Now().Truncate(time.Minute) }

// Cache says how many answers came from the cache, and how large the cache is.
func (c *Collection) Cache() CacheCounts { return c.answers.state() }

// watchState is the result of the last run of Watch.
type watchState struct {
	Watching
	stale error // why answers may be older than the folders; nil if they are current
}

// WillWatch announces a call of Watch. A collection without documents is not ready until the first run of Watch ends. A
// server that accepts requests before it calls Watch calls WillWatch first.
func (c *Collection) WillWatch() { c.willWatch.Store(true) }

// Watch keeps the collection up to date with its folders until ctx ends, and then returns nil. After every run, Watch
// calls onRun, unless onRun is nil. If Options.Ingest is nil, the error is sheaf.ErrUnsupported.
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

// withProgress returns the options for a run. In these options, Progress also stores the progress, so that Status shows
// it.
func (c *Collection) withProgress() ingest.Options {
	o := *c.o.Ingest
	progress := o.Progress
	o.Progress = func(p ingest.Progress) {
		if p.AllFiles > 0 {
			c.indexing.Store(&p)
		} else { // the run looks for changed files, or has ended
			c.indexing.Store(nil)
		}
		if progress != nil {
			progress(p)
		}
	}
	return o
}

// Refresh updates the collection from its folders once. If Options.Ingest is nil, the error is sheaf.ErrUnsupported.
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

func (c *Collection) ran(report *ingest.Report, err error) {
	c.noteDamage(err)
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

// Looking reports whether the first run of [Collection.Watch] has not ended. Until it ends, answers may lack files that
// changed before the collection opened.
func (c *Collection) Looking() bool { return c.willWatch.Load() && c.watching.Load() == nil }

// filling reports whether the index was empty when the collection opened, and the first run of Watch has not ended.
func (c *Collection) filling() bool {
	return c.fresh && c.Looking()
}

// Ready returns nil if the collection can answer, else the reason. With a [Collection.Watch], a collection that was
// empty when it opened is ready after the first run.
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

// Moved returns an error if the name of the store now leads to another index than when the collection opened. The name
// may be an alias on a server. The collection still uses the first index.
func (c *Collection) Moved() error {
	if m, ok := c.o.Backend.(store.Mover); ok {
		return m.Moved()
	}
	return nil
}

// Coming reports whether waiting helps: the collection is not ready now, but may soon be. If the index is missing,
// waiting does not help, and Coming returns false.
func (c *Collection) Coming(ctx context.Context) bool {
	err := c.Ready(ctx)
	return err != nil && !errors.Is(err, catalog.ErrGone)
}

// profileCache keeps each profile for a short time, so that few requests read files, and edits take effect soon.
type profileCache struct {
	mu     sync.Mutex
	loaded map[string]loadedProfile
}

// loadedProfile is a profile that was read from a file.
type loadedProfile struct {
	profile  *profile.Profile
	plan     *profile.Plan // in the cache: for a request without parameters and with the default window
	loadedAt time.Time
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxProfileName = 100 // bytes

// profileAge is the time for which the cache keeps a profile. After this time, Load reads the profile again.
const profileAge = time.Second

// Load returns the profile of this name, or the default profile for "". Unlike package profile, Load accepts no path:
// callers must not make the server read any file of its disk.
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
	if before, known := cache.loaded[name]; known && time.Since(before.loadedAt) < profileAge {
		return before, nil
	}
	p, _, err := profile.LoadTuned(c.o.Tuned, name, c.o.Profiles)
	if err != nil {
		return loadedProfile{}, profile.WithoutFolders(err)
	}
	most, err := p.MostWanted(nil)
	if err != nil {
		return loadedProfile{}, err
	}
	plan, err := p.Plan(min(max(DefaultWindow, usualLimit(p, nil)), most), nil)
	if err != nil {
		return loadedProfile{}, err
	}
	s := search.Searcher{Backend: c.o.Backend, Store: c.o.Store, Embed: c.o.Embed, Scanner: c.o.Scanner}
	if c.o.Model != nil {
		s.SetModel(c.o.Model, c.o.Analyzer, 0)
	}
	if err := s.Check(plan); err != nil { // this collection cannot run all of the profile
		return loadedProfile{}, err
	}
	if cache.loaded == nil || len(cache.loaded) >= 64 {
		cache.loaded = map[string]loadedProfile{}
	}
	loaded := loadedProfile{profile: p, plan: plan, loadedAt: time.Now()}
	cache.loaded[name] = loaded
	return loaded, nil
}

// reread makes the next use of each profile read its file again. Call it after writing a profile, because other
// profiles may extend the written one.
func (c *profileCache) reread() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.loaded)
}

// usualLimit returns the limit of a request that names no limit. parameters has the values of the profile's parameters.
func usualLimit(p *profile.Profile, parameters map[string]string) int {
	return cmp.Or(p.DefaultLimit(parameters), DefaultLimit)
}

// Reader answers questions about a snapshot of a collection, for one caller. It shows only what the caller may see. A
// Reader is safe for concurrent use until Close. The results of its methods stay valid after Close. Do not change them:
// answers share parts, such as Parameters.
type Reader struct {
	c     *Collection
	grant access.Grant
	view  *catalog.View
	guard *guard
	// state is the state of the index in this snapshot. The boolean versioned is false if the store has no version.
	state     stamp
	versioned bool
	// pinned is a snapshot of the store, or nil if the store has no snapshots.
	pinned store.Backend
	done   func() // tells the collection that the reader is closed
}

// Close releases the reader.
func (r *Reader) Close() {
	if r.pinned != nil {
		_ = r.pinned.Close() // it was only read
	}
	r.c.noteDamage(r.Err())
	r.view.Close()
	r.done()
}

// Collection returns the collection of the reader.
func (r *Reader) Collection() *Collection { return r.c }

// Generation returns the generation of the catalog's snapshot.
func (r *Reader) Generation() uint64 { return r.view.Generation() }

// Err returns the first error of the reader's catalog lookups, or nil.
func (r *Reader) Err() error { return r.view.Err() }
