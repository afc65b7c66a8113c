package collection

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/model"
	"sheaf/model/static/builtin"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// Option changes how [Open] opens an index.
type Option func(*opening)

// opening says how an index is opened.
type opening struct {
	folder, index string
	model         model.Embedder
	words         bool // search by words alone
	walk          ingest.WalkOptions
	language      string // "auto" detects it
	options       Options
	never         bool // Search does not look for changed files
}

// WithIndex keeps the index in a folder of its own instead of the user's data folder.
func WithIndex(dir string) Option { return func(o *opening) { o.index = dir } }

// WithModel searches by meaning with this model instead of the built-in one; nil searches by words alone. An index
// keeps to the model that made it.
func WithModel(m model.Embedder) Option {
	return func(o *opening) { o.model, o.words = m, m == nil }
}

// WithProfile ranks with this profile when a request names none. The folders may have profiles beside the built-in
// ones.
func WithProfile(name string, dirs ...string) Option {
	return func(o *opening) { o.options.Profile, o.options.ProfileDirs = name, dirs }
}

// WithWalk says which files of the folder are documents.
func WithWalk(walk ingest.WalkOptions) Option { return func(o *opening) { o.walk = walk } }

// WithLanguage makes a new index for this language instead of the detected one; "" stems no words.
func WithLanguage(code string) Option { return func(o *opening) { o.language = code } }

// WithoutUpdate lets Search answer from the index as it is. [Collection.Refresh] still updates it.
func WithoutUpdate() Option { return func(o *opening) { o.never = true } }

// Open opens the index of a folder, and makes an empty one when there is none. It is the index that the command
// sheaf has for this folder, but settings files of the command do not apply. [Collection.Search] updates the index
// before it answers. Close the collection when done.
//
// An index that is damaged is sheaf.ErrCorrupt; the command repairs it: sheaf check --repair. An index that another
// model or another version made is an error, too.
func Open(folder string, options ...Option) (*Collection, error) {
	o := &opening{language: "auto"}
	for _, change := range options {
		change(o)
	}
	real, err := filepath.EvalSymlinks(folder)
	if err == nil {
		o.folder, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, fmt.Errorf("open index: %w: %w", sheaf.ErrNotFound, err)
	}
	if info, err := os.Stat(o.folder); err != nil || !info.IsDir() {
		return nil, sheaf.Invalidf("open index: %s is not a folder", o.folder)
	}
	where, err := o.place()
	if err != nil {
		return nil, err
	}
	if o.model == nil && !o.words {
		if o.model, err = builtin.New(); err != nil {
			return nil, fmt.Errorf("open index: the built-in model: %w", err)
		}
	}
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(where.Dir), catalog.Options{})
	if err != nil {
		return nil, err
	}
	out, err := o.open(where, c)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return out, nil
}

// place finds the index of the folder, or makes its folder.
func (o *opening) place() (location.Location, error) {
	where := location.Finder{Index: o.index}.Own(o.folder)
	if where.Exists {
		record, err := location.ReadRecord(where.Dir)
		if err == nil && record.Root != o.folder {
			err = sheaf.Invalidf("open index: %s is the index of %s", where.Dir, record.Root)
		}
		return where, err
	}
	if err := os.MkdirAll(where.Dir, 0o700); err != nil {
		return where, fmt.Errorf("make index: %w", err)
	}
	return where, location.Record{Format: location.RecordFormat, Root: o.folder}.Write(where.Dir)
}

// open opens the engine and makes the collection of it.
func (o *opening) open(where location.Location, c *catalog.Catalog) (*Collection, error) {
	view := c.View()
	defer view.Close()
	settings := view.Settings()
	if settings.Extra[ingest.RemakingKey] != "" {
		return nil, fmt.Errorf("open index: %w", ingest.ErrMadeAnew)
	}
	making, err := o.making(view)
	if err != nil {
		return nil, err
	}
	st, err := embedded.Open(embedded.Options{
		Dir: location.EngineDir(where.Dir), Analyzer: making.analyzer, Vectors: VectorFields(o.model),
	})
	if err != nil {
		return nil, err
	}
	trees := settings.Trees
	if len(trees) == 0 {
		trees = []catalog.Tree{{Name: catalog.TreeName(o.folder), Root: o.folder}}
	}
	options := o.options
	options.Name, options.Catalog, options.Backend, options.Store = trees[0].Name, c, st, "the index"
	options.Analyzer, options.Model, options.Tuned = making.analyzer, o.model, where.Dir
	options.Documents = filepath.Join(where.Dir, location.DocumentsName)
	options.Tasks = filepath.Join(where.Dir, location.TasksName)
	options.Judged = filepath.Join(where.Dir, location.JudgedName)
	options.Ingest = &ingest.Options{
		Trees: trees, Embedder: o.model, Walk: o.walk, Chunk: making.chunker, Analyzer: making.analyzer,
		Settings: making.record, Kept: Kept(options.Documents), HideComments: func() bool { return anyKeys(where.Dir) },
	}
	if o.model != nil {
		options.Passages = ingest.PassagesOf(o.model)
		options.Embed = func(ctx context.Context, text string) ([]float32, error) {
			vectors, err := o.model.Embed(ctx, model.Query, []string{text})
			if err != nil {
				return nil, err
			}
			return vectors[0], nil
		}
	}
	out, err := New(options)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	out.opened = &openedStores{update: !o.never, close: sync.OnceValue(func() error {
		return errors.Join(st.Close(), c.Close())
	})}
	return out, nil
}

// anyKeys reports whether an index has keys, or may have: then comments are no text of its documents.
func anyKeys(dir string) bool {
	keys, err := access.OpenKeys(filepath.Join(dir, location.KeysName))
	if err != nil {
		return true
	}
	some, err := keys.Any()
	return some || err != nil
}

// openedStores are what a collection that [Open] opened closes itself.
type openedStores struct {
	update bool // before Search answers
	close  func() error
}

// making is how the documents of an index are cut and their words made into terms: as the index was made, or as a new
// one will be.
type making struct {
	analyzer *analysis.Analyzer
	chunker  chunk.Options
	language string
	detected bool
	sample   int // bytes of text that the language was detected from
	name     string
	model    model.Embedder
}

// making reads how the index was made, or decides how it will be.
func (o *opening) making(view *catalog.View) (m making, err error) {
	settings := view.Settings()
	if made := settings.Embedder; view.Docs() > 0 && made != modelName(o.model) {
		return m, Hint(sheaf.Invalidf("open index: it was made with the model %q, not %q", made, modelName(o.model)),
			"open it with that model, or make it again: sheaf index --rebuild --in %s", o.folder)
	}
	m.model, m.language, m.detected = o.model, settings.Language, settings.LanguageDetected
	if settings.Analyzer != "" {
		if m.analyzer, err = analysis.Parse(settings.Analyzer); err != nil {
			return m, fmt.Errorf("open index: %w: %w", sheaf.ErrUnsupported, err)
		}
	} else {
		if m.language, m.detected = o.language, o.language == "auto"; m.detected {
			walk, err := ingest.NewWalk(context.Background(), o.folder, o.walk)
			if err != nil {
				return m, err
			}
			sample := walk.LanguageSample()
			m.language, m.sample = analysis.Detect(sample), len(sample)
		}
		if m.analyzer, err = analysis.New(analysis.Options{Language: m.language}); err != nil {
			return m, sheaf.Invalidf("language %q: %w", m.language, err)
		}
	}
	if settings.Chunker != "" {
		if m.chunker, err = chunk.Parse(settings.Chunker, ModelTokens); err != nil {
			return m, fmt.Errorf("open index: %w", err)
		}
	}
	chunker, err := chunk.New(m.chunker)
	if err == nil {
		m.name = chunker.Name()
	}
	return m, err
}

// record writes how the index is made into its settings.
func (m *making) record(settings *catalog.Settings) {
	if settings.Analyzer == "" {
		settings.Language, settings.LanguageDetected = m.language, m.detected
		RecordGuess(settings, m.sample)
	}
	settings.Analyzer, settings.Chunker = m.analyzer.Name(), m.name
	if m.model != nil {
		settings.Embedder, settings.Dims = m.model.Model(), m.model.Dims()
	}
}

func modelName(m model.Embedder) string {
	if m == nil {
		return ""
	}
	return m.Model()
}

// ModelTokens are the tokens of this name for windows of text; nil when they are not those of the built-in model.
func ModelTokens(name string) chunk.Tokens {
	if e, err := builtin.New(); err == nil && e.Tokens() == name {
		return e.Pieces
	}
	return nil
}

// VectorFields are the vectors that a model makes of a chunk; nil without a model.
func VectorFields(m model.Embedder) []store.VectorField {
	if m == nil {
		return nil
	}
	return []store.VectorField{
		{Name: store.VectorBody, Model: m.Model(), Dims: m.Dims()},
		{Name: store.VectorTitle, Model: m.Model(), Dims: m.Dims()},
	}
}

// Search answers a query for a caller who sees everything. A collection that [Open] opened is updated before; when
// that fails, the answer comes from the last indexing run and has a warning. change may set more of the request.
func (c *Collection) Search(ctx context.Context, text string, change ...func(*SearchRequest)) (*Answer, error) {
	if c.opened != nil && c.opened.update {
		if err := c.update(ctx); err != nil {
			return nil, err
		}
	}
	request := SearchRequest{Text: text}
	for _, f := range change {
		f(&request)
	}
	r, err := c.For(access.Unrestricted())
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Search(ctx, request)
}

// update brings the index up to date. While another process writes, it waits: for an index without documents as long
// as that takes, else for a moment.
func (c *Collection) update(ctx context.Context) error {
	view := c.o.Catalog.View()
	empty := view.Docs() == 0
	view.Close()
	need := NeedAnswer
	if empty {
		need = NeedFresh
	}
	life := Life{Moved: c.moved}
	err := life.Do(ctx, need, func() error {
		_, err := c.Refresh(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case empty, errors.Is(err, ingest.ErrMadeAnew), errors.Is(err, sheaf.ErrCorrupt):
		return err
	}
	return nil // Refresh noted it, and the answer has a warning
}

// moved reports whether another process changed the catalog since it was read.
func (c *Collection) moved() bool {
	generation := func() uint64 {
		view := c.o.Catalog.View()
		defer view.Close()
		return view.Generation()
	}
	before := generation()
	return c.o.Catalog.Reload() != nil || generation() != before
}
