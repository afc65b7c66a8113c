package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/storeurl"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/wording"
	"sheaf/store"
	"sheaf/store/transfer"
)

// copyState is where a copy out of a store is, kept beside what it fills until it is
// whole.
type copyState struct {
	From   string `json:"from"`
	Cursor string `json:"cursor"`
	Chunks int    `json:"chunks"`
}

const copyStateName = "copy.json"

// stream copies what one store holds into another, and then what is known of the
// documents.
func (a *app) stream(cmd *cobra.Command, from, to string) error {
	source, err := a.with("--from", from).open(cmd, openOptions{})
	var refused collection.StoreError
	if errors.Is(err, sheaf.ErrNotFound) && !errors.As(err, &refused) {
		return withHint(fmt.Errorf("--from: %w: nothing is known here of the documents in %s, which this folder did not fill",
			sheaf.ErrNotFound, from),
			"leave --from out: the files are read then")
	}
	if err != nil {
		return err
	}
	defer source.close()
	out, ok := source.backend.(store.Streamer)
	if !ok {
		return withHint(fmt.Errorf("%w: %s keeps no texts to copy out of it", sheaf.ErrUnsupported, source.storeName()),
			"leave --from out: the files are read then")
	}
	into := &session{
		app: a.with("--to", to), site: site{folder: source.folder, where: source.base, base: source.base},
		models: models{analyzer: source.analyzer, embedder: source.embedder},
	}
	if err := into.locateStore(cmd.Context(), openOptions{make: true}); err != nil {
		return err
	}
	if err := into.prepare(cmd.Context(), openOptions{make: true}); err != nil {
		return err
	}
	if into.where.Dir == source.where.Dir {
		return sheaf.Invalidf("--from and --to name the same store")
	}
	release, err := location.Lock(into.where.Dir)
	if err != nil {
		return err
	}
	defer release()
	state, err := into.copyState(source.storeName())
	if err != nil {
		return err
	}
	st, err := into.openEmpty(cmd.Context())
	if err != nil {
		return err
	}
	defer st.Close()
	if err := a.transfer(cmd.Context(), source, out, st, filepath.Join(into.where.Dir, copyStateName), state); err != nil {
		return err
	}
	staged, err := stageCatalog(source.where.Dir)
	if err == nil {
		err = replaceCatalog(staged, into.where.Dir)
	}
	if err != nil {
		return fmt.Errorf("copy what is known of the documents: %w", err)
	}
	// Out of a store without chunks nothing came, and nothing was written down.
	if err := os.Remove(filepath.Join(into.where.Dir, copyStateName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// transfer copies the chunks, verifies them, and writes down how far it is.
func (a *app) transfer(ctx context.Context, source *session, from store.Streamer, to store.Backend, file string,
	state copyState) error {
	total := source.view.Chunks()
	if r, ok := source.backend.(store.Reporter); ok {
		stats, err := r.Stats(ctx)
		if err != nil {
			return err
		}
		total = stats.Chunks
	}
	before := state.Chunks
	if !a.json {
		a.notice("%s", copyBegins(source.storeName(), before, total))
	}
	progress := terminal.NewProgress(source.err, "copying")
	progress.GoOn(before)
	defer progress.Done()
	_, err := transfer.Copy(ctx, from, to, transfer.Options{Cursor: state.Cursor,
		Progress: func(n int, cursor string) error {
			state.Chunks, state.Cursor = before+n, cursor
			progress.Update(state.Chunks, total, 0, "chunks")
			return writeState(file, state)
		}})
	if errors.Is(err, sheaf.ErrUnsupported) {
		err = withHint(err, "leave --from out: the documents themselves are read then")
	}
	if err != nil {
		return err
	}
	// which going on would never mend
	if _, err = transfer.Verify(ctx, from, to, sampled); errors.Is(err, sheaf.ErrCorrupt) {
		err = withHint(errors.Join(err, writeState(file, copyState{From: state.From})),
			"one of the two changed while it was copied: repeat the command, which copies everything again, or copy into "+
				"another store")
	}
	return err
}

// copyBegins says how much there is to copy out of a store, and how much of it an earlier
// copy brought.
func copyBegins(from string, before, total int) string {
	if before == 0 {
		return fmt.Sprintf("copying %s from %s", wording.Plural(total, "chunk", "chunks"), from)
	}
	return fmt.Sprintf("going on after %s of %s from %s", wording.Count(before), wording.Plural(total, "chunk", "chunks"),
		from)
}

func writeState(file string, state copyState) error {
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return vfs.WriteFile(file, data, 0)
}

// copyState is how far an earlier copy came. A place that holds documents, and was
// not being filled from there, is left alone.
func (s *session) copyState(from string) (copyState, error) {
	state := copyState{From: from}
	data, err := os.ReadFile(filepath.Join(s.where.Dir, copyStateName))
	if err == nil && json.Unmarshal(data, &state) == nil && state.From == from {
		return state, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return state, err
	}
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(s.where.Dir), catalog.Options{})
	if err != nil {
		return state, err
	}
	defer c.Close()
	view := c.View()
	defer view.Close()
	if view.Docs() > 0 {
		return state, withHint(sheaf.Invalidf("%s holds %s already", s.storeName(),
			wording.Plural(view.Docs(), "document", "documents")),
			"copy into another store, or let sheaf copy --to read the files, which brings what changed")
	}
	return copyState{From: from}, nil
}

// openEmpty opens the store of a session of which nothing is known yet.
func (s *session) openEmpty(ctx context.Context) (store.Backend, error) {
	if s.target == nil {
		return openEngine(s.app.config, location.EngineDir(s.where.Dir), s.analyzer, s.embedder, 0, true)
	}
	st, err := s.target.Open(ctx, s.analyzer, collection.VectorFields(s.embedder), storeurl.Make)
	if err != nil {
		return nil, collection.StoreError{Err: err}
	}
	return st, nil
}

// stageCatalog copies what is known of the documents in a folder of an index, so that
// replaceCatalog need not wait for that.
func stageCatalog(dir string) (staged string, err error) {
	staged = location.CatalogDir(dir) + ".copy"
	if err := os.RemoveAll(staged); err != nil {
		return "", err
	}
	if err := os.CopyFS(staged, os.DirFS(location.CatalogDir(dir))); err != nil {
		return "", errors.Join(err, os.RemoveAll(staged))
	}
	return staged, nil
}

// replaceCatalog puts what was staged in the place of what is known in another folder.
func replaceCatalog(staged, dir string) error {
	old := location.CatalogDir(dir) + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(location.CatalogDir(dir), old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(staged, location.CatalogDir(dir)); err != nil {
		return err
	}
	return os.RemoveAll(old)
}

// moveAlias gives the store of the session a second name, under which the same is
// known of the documents. That is made ready before, so that a search by the name hardly
// ever finds the one without the other.
func (s *session) moveAlias(ctx context.Context, alias string) error {
	if s.target == nil {
		return withHint(fmt.Errorf("%w: the engine has no aliases", sheaf.ErrUnsupported), "leave --alias out")
	}
	named, err := s.target.As(alias)
	if err != nil {
		return err
	}
	st, ok := s.backend.(store.Switcher)
	if !ok {
		return fmt.Errorf("%w: %s has no aliases", sheaf.ErrUnsupported, s.storeName())
	}
	known := &session{app: s.app, site: site{folder: s.folder, where: s.base.Store(named.String())}}
	if err := known.prepare(ctx, openOptions{make: true}); err != nil {
		return err
	}
	staged, err := stageCatalog(s.where.Dir)
	if err != nil {
		return err
	}
	if err := st.Alias(ctx, alias); err != nil {
		return errors.Join(err, os.RemoveAll(staged))
	}
	return replaceCatalog(staged, known.where.Dir)
}
