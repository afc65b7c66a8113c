package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// rebuildCommand returns the command line that empties the store and fills it again. Before it removes documents that
// no file can restore, this command asks the person.
func (x *Index) rebuildCommand() string {
	return x.withStore("sheaf index --rebuild --in " + wording.ShellQuoted(x.Where.Root))
}

// RepairCommand returns the command line that repairs the store of the index.
func (x *Index) RepairCommand() string {
	return x.withStore("sheaf check --repair --in " + wording.ShellQuoted(x.Where.Root))
}

// withStore returns the command line in command. If a flag named the store, an environment variable in front of the
// command names the same store.
func (x *Index) withStore(command string) string {
	if x.Flag == "" {
		return command
	}
	return "SHEAF_STORE=" + wording.ShellQuoted(x.Address) + " " + command
}

// openBackend opens the store of the index: its server, or the engine in the same folder as the catalog. It returns an
// error if the catalog has chunks but the engine has none.
func (x *Index) openBackend(ctx context.Context) error {
	if x.Target != nil {
		if err := x.openServer(ctx); err != nil {
			return StoreError{err}
		}
		return nil
	}
	st, err := x.openEngine(x.View.Docs() == 0 || x.View.Settings().Analyzer == "")
	if err != nil {
		return err
	}
	x.Backend = st
	r, ok := st.(store.Reporter)
	if !ok || x.remaking() || x.View.Chunks() == 0 {
		return nil
	}
	// The engine itself reports no error if it has lost its chunks, because an engine without its manifest looks new.
	stats, err := r.Stats(ctx)
	if err != nil || stats.Chunks > 0 {
		return err
	}
	// Another process may have removed the last document meanwhile.
	if err := x.reload(); err != nil || x.View.Chunks() == 0 || x.remaking() {
		return err
	}
	return fmt.Errorf("%w: the engine in %s is empty, and the catalog knows %s", sheaf.ErrCorrupt,
		location.EngineDir(x.Where.Dir), wording.Plural(x.View.Chunks(), "chunk", "chunks"))
}

func (x *Index) openServer(ctx context.Context) error {
	if err := x.emptyServer(ctx); err != nil {
		return err
	}
	access, filled := store.Make, x.View.Chunks() > 0 && !x.remaking()
	if filled { // do not recreate a missing store: another index may use its name
		access = store.Existing
	}
	if x.want.AsIs {
		access = store.ReadOnly
	}
	st, err := x.Target.Open(ctx, x.Analyzer, VectorFields(x.Embedder), access)
	switch {
	case !errors.Is(err, sheaf.ErrNotFound):
	case filled:
		err = x.serverLost(err)
	case x.want.AsIs:
		err = Hint(err, "fill it: sheaf index --in %s", wording.ShellQuoted(x.Where.Root))
	}
	if errors.Is(err, store.ErrMadeOtherwise) {
		if x.First() {
			err = Hint(err, "nothing here was written to it, so it may be another folder's: %s", x.otherPlace())
		} else {
			err = Hint(err, "fill it again from the files: %s", x.rebuildCommand())
		}
	}
	if err != nil {
		return err
	}
	x.Backend = st
	if r, ok := st.(store.Reporter); ok && (filled || x.First()) {
		stats, err := r.Stats(ctx)
		if !filled {
			if stats.Chunks > 0 && len(x.View.Pending()) == 0 { // Stats fails for an empty store
				x.Notice("%s already has %s of another index, and documents of equal paths replace each other: unless "+
					"that index is of the same files, %s", x.Target,
					wording.Plural(stats.Chunks, "chunk", "chunks"), x.otherPlace())
			}
			return nil
		}
		if errors.Is(err, sheaf.ErrNotFound) || err == nil && stats.Chunks == 0 {
			return x.serverLost(cmp.Or(err, sheaf.ErrNotFound))
		}
		return err
	}
	return nil
}

// tryWrite returns an error if the server takes no writes from this user. It writes a chunk, and then removes this
// chunk. The ID of the chunk belongs to no file, because Sheaf skips the folder ".sheaf". If the store is missing or
// has other settings, tryWrite returns nil, because a rebuild makes the store again.
func (x *Index) tryWrite(ctx context.Context, analyzer string) error {
	a, err := analysis.Parse(analyzer)
	if x.Target == nil || err != nil {
		return nil
	}
	st, err := x.Target.Open(ctx, a, nil, store.Existing)
	if err == nil {
		doc := sheaf.DocumentID(catalog.TreeName(x.Where.Root), ".sheaf/probe")
		err = st.Write(ctx, store.Batch{Chunks: []store.Chunk{{ID: doc, Doc: doc}}})
		if err == nil {
			err = st.Write(ctx, store.Batch{Replace: []sheaf.ID{doc}})
		}
		err = errors.Join(err, st.Close())
	}
	if err == nil || errors.Is(err, store.ErrMadeOtherwise) || errors.Is(err, sheaf.ErrNotFound) {
		return nil
	}
	return StoreError{fmt.Errorf("write to %s: nothing was removed: %w", x.Target, err)}
}

// dropOther drops the store on the server if a rebuild makes it with other settings. Call it before anything on this
// machine is removed, because the server may refuse.
func (x *Index) dropOther(ctx context.Context) error {
	err := x.NewAnalyzer(ctx)
	if err != nil {
		return err
	}
	var e model.Embedder
	if x.Embed != nil {
		e, _ = x.Embed(ctx, 0, x.Waits) // OpenEmbedder returns the error
	}
	st, err := x.Target.Open(ctx, x.Analyzer, VectorFields(e), store.Existing)
	if err == nil {
		return st.Close()
	}
	if !errors.Is(err, store.ErrMadeOtherwise) {
		return nil
	}
	if dropped := x.Target.Drop(ctx); dropped != nil {
		return StoreError{fmt.Errorf("drop %s: nothing was removed: %w", x.Target, dropped)}
	}
	x.Notice("%v: it is emptied and filled again", err)
	return nil
}

// serverLost returns the error of a server that has lost all chunks of the index.
func (x *Index) serverLost(err error) error {
	return Hint(fmt.Errorf("%s lost the %d chunks that were written to it: %w", x.Target, x.View.Chunks(),
		err), "fill it again: %s", x.rebuildCommand())
}

// emptyServer empties the server if that is the next step of a rebuild. If settings on the server differ, or a part of
// the index is missing, emptyServer drops the whole index there.
func (x *Index) emptyServer(ctx context.Context) error {
	return x.empty(ctx, remakingServer, func() error {
		st, err := x.Target.Open(ctx, x.Analyzer, VectorFields(x.Embedder), store.Make)
		if err == nil {
			if emptier, ok := st.(store.Emptier); ok {
				err = emptier.Empty(ctx)
			} else {
				err = fmt.Errorf("%w: %s cannot be emptied", sheaf.ErrUnsupported, x.Target)
			}
			if errors.Is(err, store.ErrForbidden) {
				x.Notice("%v: documents are written in place instead", err)
				err = nil
			}
			err = errors.Join(err, st.Close())
		}
		if !errors.Is(err, store.ErrMadeOtherwise) && !errors.Is(err, sheaf.ErrNotFound) {
			return err
		}
		if dropped := x.Target.Drop(ctx); dropped != nil { // Drop may refuse, because others have documents there
			return dropped
		}
		x.Notice("%v: it is emptied and filled again", err)
		return nil
	})
}

// restAfter is the time without a write after which the engine cleans up, in a command that keeps running. It is longer
// than the usual pause between two saves of a note.
const restAfter = 2 * time.Second

// openEngine opens the engine. empty says that the index has no documents. If the engine of an empty index has other
// settings, the error is sheaf.ErrUnsupported. The caller then remakes the index, which loses nothing.
func (x *Index) openEngine(empty bool) (store.Backend, error) {
	o := x.Engine
	o.Dir, o.Analyzer, o.Vectors = location.EngineDir(x.Where.Dir), x.Analyzer, VectorFields(x.Embedder)
	if x.want.Updates {
		o.Rest = restAfter
	}
	st, err := embedded.Open(o)
	if err != nil {
		if empty && errors.Is(err, sheaf.ErrInvalid) {
			err = fmt.Errorf("%w: %w", sheaf.ErrUnsupported, err)
		}
		return nil, err
	}
	return st, nil
}

// EngineStore is the store address in the settings that selects the embedded engine.
const EngineStore = "embedded"

// StoreName returns the name of the store, for texts that people read.
func (x *Index) StoreName() string {
	if x.Target == nil {
		return EngineStore
	}
	return x.Target.String()
}

// OpenEmpty opens the store of an index whose catalog is not open.
func (x *Index) OpenEmpty(ctx context.Context) (store.Backend, error) {
	if x.Target == nil {
		return x.openEngine(true)
	}
	st, err := x.Target.Open(ctx, x.Analyzer, VectorFields(x.Embedder), store.Make)
	if err != nil {
		return nil, StoreError{err}
	}
	return st, nil
}
