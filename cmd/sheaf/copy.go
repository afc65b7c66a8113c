package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
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

func (a *app) copyCommand() *cobra.Command {
	var o copyOptions
	cmd := &cobra.Command{
		Use:   "copy --to ADDRESS",
		Short: "Copy the documents of this index into another store",
		Long: `Fills the store at ADDRESS with the documents of this folder's index. Then it checks
the copy: a search must find every chunk. The index in use does not change.

With --from, the documents come from that store, with their texts and vectors: sheaf
reads no files and computes no vectors. With --alias, that name moves to the new
store in one step after the check. A search by the name finds the old store or the
new one, never neither. Documents that programs gave to the name come along.
OpenSearch and Elasticsearch have such names.

With --given, the documents that programs gave to another store over HTTP are copied
too: to the store of --from, or else to the one in use. All others come from the files.

After an interruption, the same command continues. Later, the same command copies
only what changed. Vectors of a model behind an endpoint come from the memory beside
the index; they are not computed again. To search the copy, set ` + "`store`" + ` to its
address. To compare the two stores first, see sheaf parity.

Addresses:
  postgres://user@host/database?schema=notes&hnsw=16
  opensearch://host:9200/index     opensearch+https://user@host/index
  elasticsearch://host:9200/index
  weaviate://host:8080/Class       vespa://host:8080/schema?config=host:19071
  embedded                         the engine beside the index
Passwords and keys: see store_key_env and store_key_file in sheaf config.`,
		Example: `  sheaf copy --to postgres://me@127.0.0.1/notes
  sheaf copy --from opensearch://127.0.0.1:9200/notes --to embedded
  sheaf copy --to opensearch://127.0.0.1:9200/notes-2 --alias notes
  SHEAF_STORE_KEY_FILE=~/.key sheaf copy --to opensearch+https://me@search.example.org/notes`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.to == "" {
				return withHint(sheaf.Invalidf("--to is not set"), "name the store to fill, as in --to postgres://me@host/database")
			}
			return a.copyTo(cmd, &o)
		},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "address of a store to copy out of, instead of the files")
	cmd.Flags().StringVar(&o.alias, "alias", "", "second name that moves to the filled store")
	cmd.Flags().StringVar(&o.to, "to", "", "address of the store to fill")
	cmd.Flags().BoolVar(&o.given, "given", false, "also copy the documents that came over HTTP to the store of --from, "+
		"or else to the store in use; all others come from the files")
	return a.withJSON(cmd)
}

type copyOptions struct {
	to, from, alias string
	given           bool
}

// copyJSON is the answer of `sheaf copy`.
type copyJSON struct {
	Schema    string  `json:"schema"`
	Store     string  `json:"store"`           // the name of the store that has the copy
	Documents int     `json:"documents"`       // how many documents the copy has
	Chunks    int     `json:"chunks"`          // how many chunks the copy has
	Vectors   int     `json:"vectors"`         // how many vectors the copy has
	Alias     string  `json:"alias,omitempty"` // the alias that now names the store
	Given     int     `json:"given"`           // how many documents from HTTP were copied, with --given or --alias
	Verified  int     `json:"verified"`        // how many copied chunks were read back and compared
	TookMS    float64 `json:"took_ms"`         // the time of the copy, in milliseconds
}

// withStore returns a copy of the app. Its settings name another store, count words exactly, and refresh the index.
// flag is the name of the flag with this store, for errors.
func (a *app) withStore(flag, store string) *app {
	b, c := *a, *a.config
	c.Store.URL, c.Refresh, c.BM25 = store, true, config.BM25Exact
	b.config, b.storeFlag = &c, flag
	return &b
}

func (a *app) copyTo(cmd *cobra.Command, o *copyOptions) error {
	folder, c, err := a.folderSettings(cmd)
	if err == nil && o.given {
		err = a.checkGiven(folder, c, o)
	}
	if err != nil {
		return err
	}
	began := time.Now()
	streams := o.from != "" && !o.given
	if streams {
		if err := a.stream(cmd, o.from, o.to); err != nil {
			return err
		}
	}
	s, err := a.withStore("--to", o.to).open(cmd, openOptions{Refresh: !streams, Whole: true, Make: true})
	if err != nil {
		return err
	}
	defer s.Close()
	given, err := a.copyGiven(cmd.Context(), s, o)
	if err != nil {
		return err
	}
	out, err := s.verifyCopy(cmd.Context())
	if err != nil {
		return withHint(err, "repair it: %s", s.RepairCommand())
	}
	out.Given = given
	if out.Alias = o.alias; o.alias != "" {
		if err := s.moveAlias(cmd.Context(), o.alias); err != nil {
			return err
		}
	}
	out.TookMS = millis(time.Since(began).Seconds())
	return a.print(out, func() {
		fmt.Fprintf(a.stdout, "%s holds %s, %s and %s; %s were looked for and found\n", wording.Clean(out.Store),
			wording.Plural(out.Documents, "document", "documents"), wording.Plural(out.Chunks, "chunk", "chunks"),
			wording.Plural(out.Vectors, "vector", "vectors"), wording.Count(out.Verified))
		if o.given || out.Given > 0 {
			fmt.Fprintln(a.stdout, wording.Plural(out.Given, "document that came over HTTP was copied",
				"documents that came over HTTP were copied"))
		}
	})
}

// checkGiven refuses stores for `sheaf copy --given`: a source that is the target, or that the index never used.
func (a *app) checkGiven(folder string, c *config.Config, o *copyOptions) error {
	base, _, err := a.finder(c).Find(a.workFolder(folder))
	if err != nil {
		return collection.Elsewhere(err)
	}
	source := cmp.Or(o.from, c.Store.URL, collection.EngineStore)
	from, err := a.placeOf(base, "--from", source)
	if err != nil {
		return err
	}
	to, err := a.placeOf(base, "--to", o.to)
	if err != nil {
		return err
	}
	if from == to {
		return withHint(sheaf.Invalidf("--given copies from another store, and --to names %s itself", source),
			"name the former store with --from")
	}
	if o.from == "" {
		return nil
	}
	if err := collection.KnownStore(base, from, o.from); err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	return nil
}

// copyGiven copies documents that came over HTTP into the store of the session target, and returns their number. It
// copies them if the user set --given, or if o.alias names the source. Otherwise it prints a note about the documents
// that stay in the source.
func (a *app) copyGiven(ctx context.Context, target *session, o *copyOptions) (int, error) {
	from := cmp.Or(o.from, a.config.Store.URL, collection.EngineStore)
	dir, err := a.placeOf(target.Base, "--from", from)
	if err != nil || dir == target.Where.Dir {
		return 0, err
	}
	given := o.given
	if t, ok := target.Target.(*storeurl.Target); ok && o.alias != "" {
		named, err := t.As(o.alias)
		if err != nil {
			return 0, err
		}
		given = given || dir == target.Base.Store(named.String()).Dir
	}
	if given {
		ids, err := target.TakeGiven(ctx, dir)
		return len(ids), target.Advise(err)
	}
	ids, err := collection.LeftBehind(dir, target.Where.Dir)
	if err == nil && len(ids) > 0 {
		a.notice("%s", collection.LeftBehindText(ids, target.Base.Root, from, o.to))
	}
	return 0, err
}

// placeOf returns the catalog folder for the store at address in the index at base. flag names the address in errors.
func (a *app) placeOf(base location.Location, flag, address string) (string, error) {
	target, err := a.withStore(flag, address).configuredStore(filepath.Base(location.Finder{}.Own(base.Root).Dir))
	if err != nil || target == nil {
		return base.Dir, err
	}
	return base.Store(target.String()).Dir, nil
}

// verifySample is the number of copied chunks that transfer compares with their source.
const verifySample = 200

// verifyCopy checks the store after a copy, and returns an error if something is missing. It compares the counts, and
// searches for every chunk by ID and by tree. If the server can lose vectors, it also searches by meaning.
func (s *session) verifyCopy(ctx context.Context) (*copyJSON, error) {
	out := &copyJSON{Schema: "sheaf.copy/1", Store: s.StoreName(), Documents: s.View.Docs(), Chunks: s.View.Chunks()}
	if r, ok := s.Backend.(store.Reporter); ok {
		stats, err := r.Stats(ctx)
		if err != nil {
			return nil, err
		}
		out.Vectors = stats.Vectors
		if stats.Chunks != out.Chunks {
			return nil, fmt.Errorf("%w: %s holds %d chunks, and the documents have %d",
				sheaf.ErrCorrupt, out.Store, stats.Chunks, out.Chunks)
		}
	}
	reached, err := s.SearchOurs(ctx)
	if err != nil {
		return nil, err
	}
	if n := len(reached.Missing); n > 0 {
		return nil, fmt.Errorf("%w: %s does not find %d of %d chunks, %s among them",
			sheaf.ErrCorrupt, out.Store, n, out.Chunks, reached.Missing[0])
	}
	if reached.Unreached > 0 {
		return nil, fmt.Errorf("%w: %s keeps %w: %d", sheaf.ErrCorrupt, out.Store, collection.ErrUnreached, reached.Unreached)
	}
	out.Verified = reached.Found
	return out, nil
}

// copyState records the progress of a copy in a file beside the target index. A complete copy removes the file.
type copyState struct {
	From   string `json:"from"`
	Cursor string `json:"cursor"`
	Chunks int    `json:"chunks"`
}

const copyStateName = "copy.json"

// stream copies all chunks from one store to another, then copies the catalog.
func (a *app) stream(cmd *cobra.Command, from, to string) error {
	source, err := a.withStore("--from", from).open(cmd, openOptions{})
	if _, refused := errors.AsType[collection.StoreError](err); errors.Is(err, sheaf.ErrNotFound) && !refused {
		return withHint(fmt.Errorf("--from: %w: this folder did not fill %s, so its documents are unknown here",
			sheaf.ErrNotFound, from),
			"leave --from out: the files are read then")
	}
	if err != nil {
		return err
	}
	defer source.Close()
	out, ok := source.Backend.(store.Streamer)
	if !ok {
		return withHint(fmt.Errorf("%w: %s keeps no texts that can be copied", sheaf.ErrUnsupported, source.StoreName()),
			"leave --from out: the files are read then")
	}
	into, make := a.withStore("--to", to).newSession(source.Folder, source.Base), openOptions{Make: true}
	into.Analyzer, into.Embedder = source.Analyzer, source.Embedder
	server, err := into.server()
	if err == nil && server != nil {
		err = into.UseStore(cmd.Context(), server, make)
	}
	if err == nil {
		err = into.Prepare(cmd.Context(), make)
	}
	if err != nil {
		return err
	}
	if into.Where.Dir == source.Where.Dir {
		return sheaf.Invalidf("--from and --to name the same store")
	}
	release, err := location.Lock(into.Where.Dir)
	if err != nil {
		return err
	}
	defer release()
	state, err := into.copyState(source.StoreName())
	if err != nil {
		return err
	}
	st, err := into.OpenEmpty(cmd.Context())
	if err != nil {
		return into.ofStore(err)
	}
	defer st.Close()
	if err := a.transfer(cmd.Context(), source, out, st, filepath.Join(into.Where.Dir, copyStateName), state); err != nil {
		return err
	}
	staged, err := stageCatalog(source.Where.Dir)
	if err == nil {
		err = replaceCatalog(staged, into.Where.Dir)
	}
	if err != nil {
		return fmt.Errorf("copy the catalog: %w", err)
	}
	// Copying from an empty store writes no state.
	if err := os.Remove(filepath.Join(into.Where.Dir, copyStateName)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// transfer copies the chunks and verifies them. It continues from state, and writes its progress to file.
func (a *app) transfer(ctx context.Context, source *session, from store.Streamer, to store.Backend, file string,
	state copyState) error {
	total := source.View.Chunks()
	if r, ok := source.Backend.(store.Reporter); ok {
		stats, err := r.Stats(ctx)
		if err != nil {
			return err
		}
		total = stats.Chunks
	}
	before := state.Chunks
	if begins := "copying " + wording.Plural(total, "chunk", "chunks"); !a.json {
		if before > 0 { // an earlier copy did these
			begins = "going on after " + wording.Count(before) + " of " + wording.Plural(total, "chunk", "chunks")
		}
		a.notice("%s from %s", begins, source.StoreName())
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
	// Continuing cannot repair a difference.
	if _, err = transfer.Verify(ctx, from, to, verifySample); errors.Is(err, sheaf.ErrCorrupt) {
		err = withHint(errors.Join(err, writeState(file, copyState{From: state.From})),
			"one of the two changed while it was copied: repeat the command, which copies everything again, or copy into "+
				"another store")
	}
	return err
}

func writeState(file string, state copyState) error {
	data, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return vfs.WriteFile(file, data, 0)
}

// copyState returns the progress of an unfinished copy from the same source. Without such a copy, it returns a state
// without progress, or an error if the index already has documents.
func (s *session) copyState(from string) (copyState, error) {
	state := copyState{From: from}
	data, err := os.ReadFile(filepath.Join(s.Where.Dir, copyStateName))
	if err == nil && json.Unmarshal(data, &state) == nil && state.From == from {
		return state, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return state, err
	}
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(s.Where.Dir), catalog.Options{})
	if err != nil {
		return state, err
	}
	defer c.Close()
	view := c.View()
	defer view.Close()
	if view.Docs() > 0 {
		return state, withHint(sheaf.Invalidf("%s holds %s already", s.StoreName(),
			wording.Plural(view.Docs(), "document", "documents")),
			"copy into another store, or let sheaf copy --to read the files, which brings what changed")
	}
	return copyState{From: from}, nil
}

// stageCatalog copies the catalog of the index in dir to a new folder beside it. [replaceCatalog] then renames it.
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

// replaceCatalog replaces the catalog of the index in dir with the copy in the folder staged.
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

// moveAlias makes an alias on the server lead to the store of the session. It also replaces the catalog of the alias by
// a copy of the session's catalog. It makes the copy first, so that the alias and its catalog differ only for a short
// time.
func (s *session) moveAlias(ctx context.Context, alias string) error {
	if s.Target == nil {
		return withHint(fmt.Errorf("%w: the engine has no aliases", sheaf.ErrUnsupported), "leave --alias out")
	}
	named, err := s.Target.(*storeurl.Target).As(alias)
	if err != nil {
		return err
	}
	st, ok := s.Backend.(store.Switcher)
	if !ok {
		return fmt.Errorf("%w: %s has no aliases", sheaf.ErrUnsupported, s.StoreName())
	}
	known := s.newSession(s.Folder, s.Base.Store(named.String()))
	if err := known.Prepare(ctx, openOptions{Make: true}); err != nil {
		return err
	}
	staged, err := stageCatalog(s.Where.Dir)
	if err != nil {
		return err
	}
	if err := st.Alias(ctx, alias); err != nil {
		return errors.Join(err, os.RemoveAll(staged))
	}
	return replaceCatalog(staged, known.Where.Dir)
}
