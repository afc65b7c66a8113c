package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/model/static"
	"sheaf/model/static/builtin"
	"sheaf/model/static/english"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// openOptions say how a command wants its index.
type openOptions struct {
	// refresh brings it up to date first, unless the settings say otherwise.
	refresh bool
	// updates says that the command brings it up to date itself, so that a language
	// guessed from little text is looked at again first, as refresh does; asked does
	// the same whatever the settings say.
	updates, asked bool
	// whole says that an answer as of the last time it was indexed is none.
	whole bool
	// make makes one when there is none; else that is an error.
	make bool
	// asIs leaves a damaged index alone and reports the damage; damaged says that damage was
	// met where it is not seen when the index is opened: it is looked for, and mended.
	asIs, damaged bool
	// rebuild drops what there is first.
	rebuild bool
	// scans says that the command can do without an index when its profile
	// can; set are the parameters of the profile.
	scans bool
	set   []string
}

func (a *app) finder(c *config.Config) location.Finder {
	return location.Finder{Data: c.DataDir, Index: a.index, Approved: trust().FolderApproved}
}

// meant is the folder that a command in folder is about: that of an index which is named
// alone, where it is not of this one.
func (a *app) meant(folder string) string {
	if a.index != "" && a.in == "" {
		if r, err := location.ReadRecord(a.index); err == nil {
			if _, ok := location.Under(r.Root, folder); !ok {
				return r.Root
			}
		}
	}
	return folder
}

// open opens the index that serves the folder of the command.
func (a *app) open(cmd *cobra.Command, o openOptions) (*session, error) {
	folder, err := a.commandFolder()
	if err != nil {
		return nil, err
	}
	c, err := a.settings(cmd, folder)
	if err != nil {
		return nil, err
	}
	if o.scans {
		if p, err := loadProfile(c.Profile); err != nil {
			return nil, setIn(c, "profile", err)
		} else if p.Scans() {
			return a.openScan(cmd.Context(), folder, o.set)
		}
	}
	finder := a.finder(c)
	folder = a.meant(folder)
	where, notices, err := finder.Find(folder)
	if err != nil {
		return nil, elsewhere(err)
	}
	for _, n := range notices {
		a.notice("%s", n)
	}
	s, err := a.openAt(cmd.Context(), folder, where, o)
	if err != nil {
		return nil, err
	}
	if folder == s.where.Root || s.holds(folder) || !o.make {
		return s, nil
	}
	// The index above leaves this folder out, so it gets one of its own.
	s.close()
	return a.openAt(cmd.Context(), folder, finder.Own(folder), o)
}

// gcPercent is GOGC of commands that answer queries. They use little memory, so seldom collecting pays.
const gcPercent = 300

// openAt opens the index at where, and refreshes it when asked to.
func (a *app) openAt(ctx context.Context, folder string, where location.Location, o openOptions) (*session, error) {
	s := &session{
		app: a, site: site{folder: folder, where: where, base: where},
		purpose:       purpose{whole: o.whole, rebuilds: o.rebuild, asIs: o.asIs, waits: mixed, started: time.Now()},
		languageState: languageState{grows: make(chan struct{}, 1)},
	}
	if o.refresh {
		s.waits = hasty
	}
	if o.updates {
		s.rests = restAfter
	}
	if (o.refresh || o.updates) && os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if err := s.locateStore(ctx, o); err != nil {
		return nil, err
	}
	if o.rebuild {
		if err := s.askBeforeLoss(ctx); err != nil {
			return nil, s.advise(err)
		}
	}
	if err := s.prepare(ctx, o); err != nil {
		return nil, err
	}
	if err := s.bringUp(ctx, o); err != nil {
		s.close()
		return nil, s.advise(err)
	}
	return s, nil
}

// bringUp opens the stores, and makes the index again or refreshes it where that is needed and wanted.
func (s *session) bringUp(ctx context.Context, o openOptions) error {
	life := collection.Life{Reopen: func(context.Context) error {
		s.close()
		return nil
	}}
	return life.Do(ctx, collection.NeedFresh, func() error { return s.bringUpOnce(ctx, o) })
}

func (s *session) bringUpOnce(ctx context.Context, o openOptions) error {
	err := s.openStores(ctx)
	if err != nil && !o.asIs && collection.Remakable(err) {
		err = s.remake(ctx, err, errors.Is(err, sheaf.ErrCorrupt))
	} else if err == nil && o.damaged {
		err = s.remakeDamaged(ctx)
		s.app.mended = time.Now() // it may have taken long
		if errors.Is(err, sheaf.ErrNotFound) || vfs.NoSpace(err) {
			s.notice("%v: it is made again when that is over", err)
			err = s.openStores(ctx)
		}
	}
	if err != nil {
		return err
	}
	if s.outdated == nil && o.scans {
		if err := s.checkProfile(o.set); err != nil {
			return err
		}
	}
	if s.outdated == nil && (o.asked || (o.refresh || o.updates) && s.config.Refresh) {
		s.outdated = s.languageOutgrown(ctx)
	}
	switch {
	case s.outdated != nil && !o.asIs:
		if err = s.remake(ctx, s.outdated, false); vfs.Forbidden(err) {
			err = s.openStores(ctx)
		}
	case o.refresh && s.config.Refresh, s.remaking() && !o.asIs && !o.rebuild:
		if err = s.refresh(ctx); errors.Is(err, sheaf.ErrCorrupt) {
			err = s.remake(ctx, err, true)
		}
	case o.updates && s.first():
		err = s.refuseStrangers(ctx, s.trees())
	case o.refresh:
		s.noteReading(false)
	}
	return err
}

// locateStore finds the server that the settings name. What is known of the
// documents there lies in a folder of its own inside the index, so that the engine
// and every server have what they were given, no more and no less.
func (s *session) locateStore(ctx context.Context, o openOptions) error {
	own := location.Finder{}.Own(s.where.Root)
	target, err := s.app.configuredStore(filepath.Base(own.Dir))
	if err != nil || target == nil {
		return err
	}
	base := o
	base.rebuild = false
	if err := s.prepare(ctx, base); err != nil {
		return err
	}
	s.target, s.where = target, s.where.Store(target.String())
	return nil
}

// advise adds what a person can do about an index that cannot be used.
func (s *session) advise(err error) error {
	var advised *collection.HintError
	switch {
	case errors.As(err, &advised):
	case errors.Is(err, sheaf.ErrCorrupt):
		return withHint(err, "repair it: sheaf check --repair --in %s", wording.ShellQuoted(s.where.Root))
	case errors.Is(err, store.ErrMadeOtherwise):
		return withHint(err, "make it again from the files: sheaf index --rebuild --in %s", wording.ShellQuoted(s.where.Root))
	case errors.Is(err, vfs.ErrVersion), errors.Is(err, location.ErrFormat), errors.Is(err, errAnalyzer):
		return withHint(err, "another version of sheaf made it: make it again from the files: sheaf index --rebuild --in %s",
			wording.ShellQuoted(s.where.Root))
	case vfs.Forbidden(err):
		return withHint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "the index in %s cannot be written: name another "+
			"folder with --index or SHEAF_DATA_DIR", s.where.Dir)
	case vfs.NoSpace(err):
		return withHint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "there is no space for the index in %s: make "+
			"some, or name another folder with --index or SHEAF_DATA_DIR", s.where.Dir)
	}
	return err
}

// elsewhere says of an index whose folder cannot be made or opened what can be
// done; errors of another kind stay.
func elsewhere(err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return err
	}
	return withHint(fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err), "the index cannot be in %s: name another folder "+
		"with --index or SHEAF_DATA_DIR", path.Path)
}

// prepare makes the index's folder, or checks the one that is there.
func (s *session) prepare(ctx context.Context, o openOptions) error {
	if !s.where.Exists {
		if !o.make {
			return withHint(fmt.Errorf("%w: %s has no index yet", sheaf.ErrNotFound, s.folder), "make one: sheaf index --in %s",
				wording.ShellQuoted(s.folder))
		}
		if err := os.MkdirAll(s.where.Dir, 0o700); err != nil {
			return elsewhere(fmt.Errorf("make index: %w", err))
		}
		if s.where.Here {
			// Keeps version control and other indexers out.
			if err := os.WriteFile(filepath.Join(s.where.Dir, ".gitignore"), []byte("*\n"), 0o600); err != nil {
				return s.advise(fmt.Errorf("make index: %w", err))
			}
		}
		if err := s.writeRecord(); err != nil || !o.rebuild || s.target == nil {
			return s.advise(err)
		}
		return s.advise(s.drop(ctx, false)) // the server may hold something
	}
	_, err := location.ReadRecord(s.where.Dir)
	switch {
	case err == nil:
	case o.asIs || !collection.Remakable(err):
		return s.advise(err)
	case errors.Is(err, sheaf.ErrCorrupt) && s.app.index == "":
		// Where the index lies says what it covers; nothing else is lost.
		s.notice("%v: it is written again", err)
		if err := s.writeRecord(); err != nil {
			return s.advise(err)
		}
	default:
		s.notice("%v: the index is made again from the files", err)
		if err := s.drop(ctx, false); err != nil {
			return s.advise(err)
		}
	}
	if o.rebuild {
		return s.advise(s.drop(ctx, false))
	}
	return nil
}

func (s *session) writeRecord() error {
	return location.Record{Format: location.RecordFormat, Root: s.where.Root}.Write(s.where.Dir)
}

// openStores opens catalog and engine, with the analyzer that they were made
// with, or the one that fits the folder when they are new.
func (s *session) openStores(ctx context.Context) error {
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(s.where.Dir), catalog.Options{})
	if err != nil {
		return err
	}
	s.catalog, s.view, s.outdated = c, c.View(), nil
	if s.view.Settings().Extra[remakingKey] == remakingEngine {
		if err = errRemaking; !s.asIs {
			err = s.whenFree(ctx, func() error {
				return s.empty(ctx, remakingEngine, func() error { return embedded.Empty(location.EngineDir(s.where.Dir)) })
			})
		}
		if err != nil {
			s.close()
			return err
		}
	}
	if err := s.openChunker(); err != nil {
		s.close()
		return err
	}
	if err := s.openAnalyzer(ctx); err != nil {
		s.close()
		return err
	}
	if err := s.openEmbedder(ctx); err != nil {
		s.close()
		return err
	}
	if s.expander, err = newExpander(s.config.Chat); err != nil {
		s.close()
		return err
	}
	if s.reranker, err = newReranker(s.config.Reranker); err != nil {
		s.close()
		return err
	}
	s.backend, err = s.openBackend(ctx)
	if err != nil {
		s.close()
		return err
	}
	return nil
}

// openChunker finds out how documents are cut: as the index was begun, or as
// the settings say when it is new.
func (s *session) openChunker() error {
	o, err := chunk.Options{}, error(nil)
	if made := s.view.Settings().Chunker; made != "" {
		if o, err = chunk.Parse(made, collection.ModelTokens); err != nil {
			return fmt.Errorf("open index: %w", err)
		}
	} else if o, err = s.newChunker(); err != nil {
		return err
	}
	c, err := chunk.New(o)
	if err != nil {
		return err
	}
	s.cutting, s.chunker = o, c.Name()
	return nil
}

// errAnalyzer says that an index was made with an analyzer that this program does not have.
var errAnalyzer = fmt.Errorf("%w: the words of the index are cut otherwise", sheaf.ErrUnsupported)

func (s *session) openAnalyzer(ctx context.Context) error {
	name := s.view.Settings().Analyzer
	if name == "" {
		return s.newAnalyzer(ctx)
	}
	s.language, s.detected = s.view.Settings().Language, s.view.Settings().LanguageDetected
	a, err := analysis.Parse(name)
	if err != nil {
		return fmt.Errorf("open index: %w: %w", errAnalyzer, err)
	}
	s.analyzer = a
	return nil
}

// newAnalyzer is the analyzer of a new index.
func (s *session) newAnalyzer(ctx context.Context) (err error) {
	s.language, s.detected = s.config.Language, false
	switch s.language {
	case "auto":
		s.detected = true
		if s.language, err = s.detectLanguage(ctx); err != nil {
			return err
		}
	case "none":
		s.language = ""
	}
	a, err := analysis.New(analysis.Options{Language: s.language, StopWords: s.config.StopWords})
	if err != nil {
		return sheaf.Invalidf("language %q: %w", s.language, err)
	}
	s.analyzer = a
	return nil
}

// openEmbedder opens the model. It refuses to mix vectors of two models: an
// index without vectors, or with those of another version of the built-in
// model, is to be made again, which costs seconds; one that an endpoint made
// is left to the person, because that may cost hours, and one in a store that others
// may search, because nobody else knows what it was made with. A server that does not
// answer when its first index is made leaves that index without vectors.
func (s *session) openEmbedder(ctx context.Context) error {
	settings := s.view.Settings()
	made := settings.Embedder
	// Documents without a source file stay while an index is made again.
	empty := s.view.Docs() == 0 || made == "" && s.remaking()
	if made == "" && !empty && s.config.Embedder.Remote() && s.config.Embedder.Model != "" {
		s.warn("the index has no vectors: to search by meaning with %s: sheaf index --rebuild", s.config.Embedder.Model)
		return nil // and nobody is asked for more
	}
	e, err := newEmbedder(ctx, s.config, settings.Dims, s.waits)
	if err == nil && empty && s.waits == hasty && s.config.Embedder.Remote() {
		// It answers, and the first index takes its time anyway.
		e, err = newEmbedder(ctx, s.config, e.Dims(), mixed)
	}
	vectors := made != "" && !empty // of documents that stay as they are
	switch {
	case errors.Is(err, sheaf.ErrUnavailable) && made == "":
		s.warn("%v: words alone are searched", err)
	case err != nil:
		return err
	case vectors && (e == nil || builtIn(e) && !builtin.Made(made)):
		s.warn("the index was made with the model %s, which is not configured now: words alone are searched; to use what "+
			"is configured: sheaf index --rebuild", made)
	case e == nil:
	case vectors && builtIn(e) && s.target != nil && made != e.Model():
		s.embedder, err = builtInOf(made)
		if s.embedder == nil && err == nil {
			s.warn("the index was made with the model %s, which is not in this program: words alone are searched; to use %s: "+
				"sheaf index --rebuild", made, e.Model())
		} else if err == nil {
			s.notice("the index was made with the model %s, which is used; to use %s: sheaf index --rebuild", made, e.Model())
		}
		return err
	case builtIn(e) && !empty && made != e.Model():
		s.outdated = fmt.Errorf("the index has %s, and the built-in model is now %s", describeModel(made), e.Model())
	case vectors && builtin.Made(made) && e.Model() != made:
		s.notice("the index was made with the built-in model, which is used; to use %s: sheaf index --rebuild", e.Model())
		s.embedder, err = builtInOf(made)
		return err
	case made != "" && e.Model() != made:
		return withHint(sheaf.Invalidf("the index was made with the model %s, and %s is configured", made, e.Model()),
			"configure the former, or make the index again: sheaf index --rebuild")
	default:
		s.embedder = e
	}
	return nil
}

func builtIn(e model.Embedder) bool {
	_, ok := e.(*static.Embedder)
	return ok
}

// builtInOf returns the built-in model of this name, or nil when the program does not have it. The English table is
// a model of its own: earlier versions of the program used it for all texts.
func builtInOf(made string) (model.Embedder, error) {
	for _, open := range []func() (*static.Embedder, error){builtin.New, english.New} {
		e, err := open()
		if err != nil {
			return nil, damagedModel(err)
		}
		if e.Model() == made {
			return e, nil
		}
	}
	return nil, nil
}

func describeModel(made string) string {
	if made == "" {
		return "no vectors"
	}
	return "vectors of the model " + made
}

// close releases everything that is open; it may be called twice.
func (s *session) close() {
	if s.view != nil {
		s.view.Close()
	}
	if s.backend != nil {
		_ = s.backend.Close() // nothing is written at close
	}
	if s.catalog != nil {
		_ = s.catalog.Close()
	}
	if s.memory != nil {
		_ = s.memory.Close() // what it could not keep is asked for again
	}
	s.view, s.backend, s.catalog, s.memory, s.walk = nil, nil, nil, nil, nil
}

// holds reports whether any document lies in folder.
func (s *session) holds(folder string) bool {
	for _, t := range s.view.Settings().Trees {
		if rel, ok := location.Under(t.Root, folder); ok && s.view.Holds(t.Name, rel) {
			return true
		}
	}
	return false
}

// localModel returns the built-in model when the index uses it, and nil otherwise.
func (s *session) localModel() model.Embedder {
	if !builtIn(s.embedder) {
		return nil
	}
	return s.embedder
}

// embedQuery turns a query into a vector; nil without a model.
func (s *session) embedQuery() func(ctx context.Context, text string) ([]float32, error) {
	if s.view.Settings().Embedder == "" {
		return nil
	}
	return s.queryVector()
}

// queryVector does so also while there are no vectors yet, for a server that
// will have them in a moment, and for candidates that are embedded when they are
// found.
func (s *session) queryVector() func(ctx context.Context, text string) ([]float32, error) {
	if s.embedder == nil {
		return nil
	}
	return func(ctx context.Context, text string) ([]float32, error) {
		vectors, err := s.embedder.Embed(ctx, model.Query, []string{text})
		if err != nil {
			return nil, err
		}
		return vectors[0], nil
	}
}
