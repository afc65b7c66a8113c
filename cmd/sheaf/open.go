package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/search"
	"sheaf/search/scan"
	"sheaf/store"
	"sheaf/text/query"
)

type openOptions = collection.IndexOptions

func (a *app) finder(c *config.Config) location.Finder {
	return location.Finder{Data: c.DataDir, Index: a.index, Approved: trust().FolderApproved}
}

// workFolder returns the folder that a command works on, which is usually the parameter folder. With --index but
// without --in, workFolder returns the root folder of the index, unless folder is below this root.
func (a *app) workFolder(folder string) string {
	if a.index != "" && a.in == "" {
		if r, err := location.ReadRecord(a.index); err == nil {
			if _, ok := location.Under(r.Root, folder); !ok {
				return r.Root
			}
		}
	}
	return folder
}

// openOrScan opens the index for the command's folder. If the profile scans files, it opens a session without an index.
// set has the parameters of the profile. openOrScan returns an error if the store cannot rank like the profile.
func (a *app) openOrScan(cmd *cobra.Command, o openOptions, set []string) (*session, error) {
	folder, c, err := a.folderSettings(cmd)
	if err != nil {
		return nil, err
	}
	if p, err := loadProfile(c.Profile); err != nil {
		return nil, setIn(c, "profile", err)
	} else if p.Scans() {
		return a.openScan(cmd.Context(), folder, set)
	}
	return a.openFound(cmd.Context(), folder, o, func(s *session) error {
		plan, err := s.plan(set)
		if err != nil {
			return err
		}
		return (&search.Searcher{Backend: s.Backend, Store: s.StoreInErrors()}).CheckStore(plan)
	})
}

func (a *app) open(cmd *cobra.Command, o openOptions) (*session, error) {
	folder, _, err := a.folderSettings(cmd)
	if err != nil {
		return nil, err
	}
	return a.openFound(cmd.Context(), folder, o, nil)
}

// openFound finds the index for the command's folder, and opens it like openIndex.
func (a *app) openFound(ctx context.Context, folder string, o openOptions, check func(*session) error) (*session,
	error) {
	folder = a.workFolder(folder)
	where, notices, err := a.finder(a.config).Find(folder)
	if err != nil {
		return nil, collection.Elsewhere(err)
	}
	a.notices(notices...)
	return a.openIndex(ctx, folder, where, o, check)
}

// These are the values of GOGC for commands that answer queries, in percent. Such commands use little memory, so
// collecting garbage less often saves time. The value for a server is lower, because a server keeps more in memory.
const (
	searchGCPercent = 400
	serverGCPercent = 300
)

// openIndex opens the index for folder, whose place is the parameter where. If o asks for an update, openIndex updates
// the index. If check is not nil, openIndex calls check before it writes, and returns the error of check. If the index
// at where excludes folder, and o.Make is true, openIndex opens the folder's own index.
func (a *app) openIndex(ctx context.Context, folder string, where location.Location, o openOptions,
	check func(*session) error) (*session, error) {
	s := a.newSession(folder, where)
	switch {
	case os.Getenv("GOGC") != "":
	case o.Updates:
		debug.SetGCPercent(serverGCPercent)
	case o.Refresh:
		debug.SetGCPercent(searchGCPercent)
	}
	if err := s.openModels(); err != nil {
		return nil, err
	}
	server, err := s.server()
	if err != nil {
		return nil, err
	}
	if check != nil {
		o.Check = func() error { return check(s) }
	}
	err = s.Open(ctx, server, o)
	if o.Damaged {
		a.lastRepair = time.Now() // opening may have taken long
	}
	if err != nil {
		s.Close()
		return nil, a.ofStore(err)
	}
	if folder == where.Root || s.Holds(folder) || !o.Make {
		return s, nil
	}
	// The index above excludes this folder, so the folder gets its own index.
	s.Close()
	return a.openIndex(ctx, folder, a.finder(a.config).Own(folder), o, check)
}

// ofStore adds the name of the flag that chose the store to err. It returns errors of other origin unchanged.
func (a *app) ofStore(err error) error {
	if _, ok := errors.AsType[collection.StoreError](err); ok && a.storeFlag != "" {
		return fmt.Errorf("%s: %w", a.storeFlag, err)
	}
	return err
}

func (s *session) openModels() (err error) {
	if s.expander, err = newExpander(s.config.Chat); err != nil {
		return err
	}
	s.reranker, err = newReranker(s.config.Reranker)
	s.Answering.Rerank = s.reranker
	return err
}

// server returns the server that the settings name as the store, or nil if the engine stores the chunks.
func (s *session) server() (store.Opener, error) {
	target, err := s.configuredStore(filepath.Base(location.Finder{}.Own(s.Where.Root).Dir))
	if err != nil || target == nil {
		return nil, err
	}
	s.Answering.Store = target.Kind // callers may not see its address
	return target, nil
}

// openScan opens a session on a folder without an index. The profile finds its candidates in the files.
func (a *app) openScan(ctx context.Context, folder string, set []string) (s *session, err error) {
	c := a.config
	s = a.newSession(folder, location.Location{Root: folder})
	s.Waits = collection.Hasty
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.Catalog, err = scan.Empty(catalog.TreeName(folder), folder); err != nil {
		return s, err
	}
	s.View = s.Catalog.View()
	if err := s.OpenAnalyzer(ctx); err != nil {
		return s, err
	}
	plan, err := s.plan(set)
	if err != nil {
		return s, err
	}
	if plan.Scan != nil {
		// Without a limit, the process would grow to twice the memory in use.
		debug.SetMemoryLimit(plan.Scan.MemoryBytes / 4 * 3)
	}
	if s.expander, err = newExpander(c.Chat); err != nil {
		return s, err
	}
	if search.NeedsVectors(plan) {
		if err := s.OpenEmbedder(ctx); err != nil {
			return s, err
		}
	}
	s.scanner, err = scan.New(scan.Options{Root: folder, Analyzer: s.Analyzer, Embedder: s.Embedder,
		HideComments: c.Comments == config.CommentsHide, Walk: c.Walk.Options()})
	return s, err
}

// readNamed calls readAll if a query has the name of a property or a path, which files must explain.
func (s *session) readNamed(ctx context.Context, text string, set []string) error {
	named := false
	query.Parse(text, query.Options{
		Look:      func(string) (is, known bool) { named = true; return false, true },
		Spellings: func(string) []string { named = true; return nil },
	})
	if !named {
		return nil
	}
	return s.readAll(ctx, set)
}

// readAll reads every file of a folder without an index. Then Catalog and View know all paths and properties. set has
// the parameters of the profile. With an index, readAll does nothing.
func (s *session) readAll(ctx context.Context, set []string) error {
	if s.scanner == nil {
		return nil
	}
	plan, err := s.plan(set)
	if err != nil {
		return err
	}
	slow := time.AfterFunc(time.Second, func() { s.notice("all files are read, to learn their properties and paths") })
	defer slow.Stop()
	all, err := s.scanner.All(ctx, plan.Scan.ChunkChars)
	if err != nil {
		return err
	}
	s.View.Close()
	empty := s.Catalog
	s.Catalog, s.View = all, all.View()
	return empty.Close()
}

// reopenStep is the minimum time between two openings of the index.
const reopenStep = time.Second

// errGrown asks the caller to reopen the index, because most text of the index is now in another language.
var errGrown = errors.New("the language of the index changed")

// damagedRest is the minimum time between two repairs of an index. A repair may fail again and again, for example on a
// full disk. Until the next repair, the server answers from the intact parts.
const damagedRest = time.Minute

// refusedRest is the time between two attempts to open an index again. An attempt can fail, for example because another
// index now uses the store of this index.
const refusedRest = 30 * time.Second

// reopening calls the function run, which opens the index with the options o and works until ctx ends. reopening calls
// run again when run returns one of these errors:
//   - another process rebuilt the index
//   - the language of the text changed
//   - damage needs repair
//   - a store or another process prevented the opening, but not at the first call
//
// reopening returns any other error. When ctx ends, it returns nil.
func (a *app) reopening(ctx context.Context, run func(o openOptions) error) error {
	o := openOptions{Updates: true, Make: true}
	for again := false; ; again = true {
		began := time.Now()
		err := run(o)
		remade := errors.Is(err, ingest.ErrRebuilt)
		busy := again && errors.Is(err, vfs.ErrLocked)
		damaged := errors.Is(err, vfs.ErrCorrupt) && time.Since(a.lastRepair) >= damagedRest
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		var store collection.StoreError
		refused := again && err != nil && (errors.As(err, &store) || errors.Is(err, sheaf.ErrInvalid) ||
			errors.Is(err, sheaf.ErrUnavailable))
		if !remade && !busy && !damaged && !refused && !errors.Is(err, errGrown) || ctx.Err() != nil {
			return err
		}
		if refused && !remade && !busy && !damaged { // the store worked before and may work again
			a.notice("%v: it is tried again every %v", err, refusedRest)
			began = time.Now().Add(refusedRest - reopenStep)
		}
		if o.Damaged = damaged || busy && o.Damaged; damaged {
			a.lastRepair = time.Now()
		}
		if remade {
			a.notice("%v: it is opened again", ingest.ErrRebuilt)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reopenStep - time.Since(began)):
		}
	}
}

// eventSource reports that an open index was remade or is damaged. [collection.Collection] implements it.
type eventSource interface {
	Replaced() <-chan struct{}
	Damaged() <-chan struct{}
	Damage() error
}

// untilReplaced waits until the index was remade, needs a repair, or should have another language. It returns an error
// with this reason, so that the caller opens the index again. While a damaged index cannot be repaired yet,
// untilReplaced keeps waiting. When ctx ends, it returns nil.
func (s *session) untilReplaced(ctx context.Context, door eventSource) error {
	damaged, rested := door.Damaged(), (<-chan time.Time)(nil)
	for {
		select {
		case <-door.Replaced():
			return ingest.ErrRebuilt
		case <-damaged:
			damaged, rested = nil, time.After(damagedRest-time.Since(s.lastRepair))
			if !collection.Writable(s.Where.Dir) {
				s.notice("%v: it is made again once the index can be written", door.Damage())
			}
		case <-rested:
			if collection.Writable(s.Where.Dir) {
				return door.Damage()
			}
			rested = time.After(damagedRest)
		case <-s.Grown():
			return errGrown
		case <-ctx.Done():
			return nil
		}
	}
}

// follow keeps an open index up to date with its folders, and calls ran after every run. It returns when ctx ends, or
// with the reason why the caller must open the index again.
func (s *session) follow(ctx context.Context, door *collection.Collection, ran func(*ingest.Report, error)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.untilReplaced(ctx, door) })
	group.Go(func() error {
		return door.Watch(ctx, func(report *ingest.Report, err error) {
			s.Ran(ctx, report, err)
			ran(report, err)
		})
	})
	return group.Wait()
}
