package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/model/static/builtin"
	"sheaf/store"
	"sheaf/text/chunk"
)

// Option is an option of [Open].
type Option func(*openRequest)

// openRequest says how to open an index.
type openRequest struct {
	making  Making
	index   string
	model   model.Embedder
	words   bool         // search by words alone
	store   store.Opener // nil: the embedded engine
	want    IndexOptions
	options Options
	tell    func(text string)
}

// WithIndex stores the index in the folder dir, not in the user's data folder.
func WithIndex(dir string) Option { return func(o *openRequest) { o.index = dir } }

// WithModel uses this model, not the built-in one, to search by meaning. With nil, searches use words only. For an
// existing index, the caller must pass the model with which the index was made.
func WithModel(m model.Embedder) Option {
	return func(o *openRequest) { o.model, o.words = m, m == nil }
}

// WithProfile sets the ranking profile for requests that name no profile. dirs are folders with more profiles.
func WithProfile(name string, dirs ...string) Option {
	return func(o *openRequest) { o.options.Profile, o.options.ProfileDirs = name, dirs }
}

// WithStore stores the chunks in this store, not in the embedded engine. Each store has its own catalog.
func WithStore(s store.Opener) Option { return func(o *openRequest) { o.store = s } }

// WithWalk says which files of the folder are documents.
func WithWalk(walk ingest.WalkOptions) Option { return func(o *openRequest) { o.making.Walk = walk } }

// WithLanguage sets the language of a new index. Without it, Open detects the language. "" stems no words.
func WithLanguage(code string) Option {
	return func(o *openRequest) { o.making.Language = cmp.Or(code, "none") }
}

// WithoutUpdate makes Search answer without updating the index first. [Collection.Refresh] still updates the index.
func WithoutUpdate() Option { return func(o *openRequest) { o.making.Update = false } }

// WithoutRepair makes Open fail if the index is damaged or another version made it. Without this option, Open remakes
// such an index from the files.
func WithoutRepair() Option { return func(o *openRequest) { o.want.Keep = true } }

// WithNotices sets a function for messages about the index, for example that it was repaired.
func WithNotices(tell func(text string)) Option { return func(o *openRequest) { o.tell = tell } }

// Open opens the index of a folder, or makes an empty index. The command sheaf uses the same index, but the settings
// files of the command do not apply. [Collection.Search] updates the index before it answers. Close the collection when
// done. Open remakes the index from the files if it is damaged, of another version, or of a wrongly guessed language.
// If the index was made with another model, the error is sheaf.ErrInvalid.
func Open(folder string, options ...Option) (*Collection, error) {
	o := &openRequest{making: Making{Language: "auto", Update: true}, want: IndexOptions{Make: true, Updates: true}}
	for _, change := range options {
		change(o)
	}
	x, err := o.open(folder)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	out, err := x.Collection()
	if err != nil {
		x.Close()
		return nil, err
	}
	closing := *x // late searches still read the fields of x
	out.updates, out.closeIndex = o.making.Update, sync.OnceFunc(closing.Close)
	return out, nil
}

// open opens the index of a folder, with the model in the options.
func (o *openRequest) open(folder string) (*Index, error) {
	folder, err := RealFolder(folder)
	if err != nil {
		return nil, err
	}
	where := location.Finder{Index: o.index}.Own(folder)
	if record, err := location.ReadRecord(where.Dir); o.index != "" && err == nil && record.Root != folder {
		return nil, sheaf.Invalidf("%s is the index of %s", where.Dir, record.Root)
	}
	if o.model == nil && !o.words {
		if o.model, err = builtin.New(); err != nil {
			return nil, DamagedModel(err)
		}
	}
	if o.model != nil {
		o.making.Embed = func(context.Context, int, Patience) (model.Embedder, error) { return o.model, nil }
	}
	tell := func(format string, args ...any) {
		if o.tell != nil {
			o.tell(fmt.Sprintf(format, args...))
		}
	}
	x := NewIndex(Site{Folder: folder, Where: where, Named: o.index != ""}, o.making,
		Events{Notice: tell, Warn: tell, Quiet: true})
	x.Answering = o.options
	if err = x.Open(context.Background(), o.store, o.want); err == nil {
		err = o.sameModel(x.View, folder)
	}
	if err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// sameModel returns an error if the index was made with another model.
func (o *openRequest) sameModel(view *catalog.View, folder string) error {
	name := ""
	if o.model != nil {
		name = o.model.Model()
	}
	if made := view.Settings().Embedder; view.Docs() > 0 && made != name {
		return Hint(sheaf.Invalidf("it was made with the model %q, not %q", made, name),
			"open it with that model, or make it again: sheaf index --rebuild --in %s", wording.ShellQuoted(folder))
	}
	return nil
}

// modelTokens returns the tokenizer of the built-in model called name, or nil if name is another model.
func modelTokens(name string) chunk.Tokens {
	if e, err := builtin.New(); err == nil && e.Tokens() == name {
		return e.Pieces
	}
	return nil
}

// VectorFields returns the vectors that a model makes for each chunk. Without a model, it returns nil.
func VectorFields(m model.Embedder) []store.VectorField {
	if m == nil {
		return nil
	}
	return []store.VectorField{
		{Name: store.VectorBody, Model: m.Model(), Dims: m.Dims()},
		{Name: store.VectorTitle, Model: m.Model(), Dims: m.Dims()},
	}
}

// Search answers a query for a caller who sees everything. If the collection comes from [Open], Search updates the
// collection first. If this update fails, the answer comes from the last indexing run and has a warning. The function
// change may set more fields of the request.
func (c *Collection) Search(ctx context.Context, text string, change ...func(*SearchRequest)) (*Answer, error) {
	if c.updates {
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

// update updates the index. While another process writes, update waits at most NeedAnswer, or NeedFresh if the index is
// empty.
func (c *Collection) update(ctx context.Context) error {
	view := c.o.Catalog.View()
	empty := view.Docs() == 0
	view.Close()
	need := NeedAnswer
	if empty {
		need = NeedFresh
	}
	stores := Stores{Catalog: c.o.Catalog}
	err := stores.whenFree(ctx, need, nil, func() error {
		_, err := c.Refresh(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case empty, errors.Is(err, ingest.ErrRebuilt), errors.Is(err, sheaf.ErrCorrupt):
		return err
	}
	return nil // Refresh recorded the error, so the answer has a warning
}
