package collection

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/model"
	"sheaf/model/remember"
	"sheaf/model/static"
	"sheaf/model/static/builtin"
	"sheaf/model/static/english"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

// openChunker chooses how documents are cut into chunks. An existing index has recorded its chunker; for a new index,
// the settings decide.
func (x *Index) openChunker(context.Context) error {
	o, err := chunk.Options{}, error(nil)
	if made := x.View.Settings().Chunker; made != "" {
		if o, err = chunk.Parse(made, modelTokens); err != nil {
			return fmt.Errorf("open index: %w", err)
		}
	} else if x.Chunk != nil {
		if o, err = x.Chunk(); err != nil {
			return err
		}
	}
	c, err := chunk.New(o)
	if err != nil {
		return err
	}
	x.cutting, x.chunker = o, c.Name()
	return nil
}

// errAnalyzer means that this program lacks the analyzer with which the index was made.
var errAnalyzer = fmt.Errorf("%w: the index splits words by other rules", sheaf.ErrUnsupported)

// OpenAnalyzer sets x.Analyzer to the analyzer with which the index was made. For a new index, it calls NewAnalyzer.
func (x *Index) OpenAnalyzer(ctx context.Context) error {
	name := x.View.Settings().Analyzer
	if name == "" {
		return x.NewAnalyzer(ctx)
	}
	x.code, x.detected = x.View.Settings().Language, x.View.Settings().LanguageDetected
	a, err := analysis.Parse(name)
	if err != nil {
		return fmt.Errorf("open index: %w: %w", errAnalyzer, err)
	}
	x.Analyzer = a
	return nil
}

// NewAnalyzer sets x.Analyzer for a new index, by the language in Making. For "auto", it detects the language of the
// folder.
func (x *Index) NewAnalyzer(ctx context.Context) (err error) {
	x.code, x.detected = x.Making.Language, false
	switch x.code {
	case "auto":
		x.detected = true
		if x.code, err = x.detectLanguage(ctx); err != nil {
			return err
		}
	case "none":
		x.code = ""
	}
	a, err := analysis.New(analysis.Options{Language: x.code, StopWords: x.StopWords})
	if err != nil {
		return sheaf.Invalidf("language %q: %w", x.code, err)
	}
	x.Analyzer = a
	return nil
}

// OpenEmbedder opens the model. The index never contains vectors of two models. If the vectors of the index are not
// from the configured model, these rules apply:
//   - A built-in model replaces missing vectors, and vectors of an older built-in model. OpenEmbedder sets x.Outdated,
//     and the caller remakes the index, which takes seconds.
//   - For a remote model, and for a store on a server, remaking may take hours. OpenEmbedder only prints how to remake
//     the index, so that a person decides.
//   - With vectors of another remote model, OpenEmbedder returns an error for a remote model. For a built-in model,
//     searches use only words.
//   - If the model server does not answer during the first run, the index gets no vectors.
func (x *Index) OpenEmbedder(ctx context.Context) error {
	settings := x.View.Settings()
	made := settings.Embedder
	// A remake keeps documents without a source file, but not their vectors.
	empty := x.View.Docs() == 0 || made == "" && x.remaking()
	if made == "" && !empty && x.Remote != "" {
		x.Warn("the index has no vectors: to search by meaning with %s: sheaf index --rebuild", x.Remote)
		return nil
	}
	e, err := model.Embedder(nil), error(nil)
	if x.Embed != nil {
		e, err = x.Embed(ctx, settings.Dims, x.Waits)
	}
	if err == nil && empty && x.Waits == Hasty && x.Remote != "" {
		// The model answers. Repeat requests for passages, because the first run takes long in any case.
		e, err = x.Embed(ctx, e.Dims(), Mixed)
	}
	vectors := made != "" && !empty // of documents that stay
	switch {
	case errors.Is(err, sheaf.ErrUnavailable) && made == "":
		x.Warn("%v: words alone are searched", err)
	case err != nil:
		return err
	case vectors && (e == nil || builtIn(e) && !builtin.Made(made)):
		x.Warn("the index was made with the model %s, which is not configured now: words alone are searched; to use what "+
			"is configured: sheaf index --rebuild", made)
	case e == nil:
	case made == "" && !empty && x.Target != nil:
		x.Warn("the index has no vectors: to search by meaning with %s: sheaf index --rebuild", e.Model())
	case vectors && builtIn(e) && x.Target != nil && made != e.Model():
		x.Embedder, err = builtInOf(made)
		if x.Embedder == nil && err == nil {
			x.Warn("the index was made with the model %s, which is not in this program: words alone are searched; to use %s: "+
				"sheaf index --rebuild", made, e.Model())
		} else if err == nil {
			x.Notice("the index was made with the model %s, which is used; to use %s: sheaf index --rebuild", made, e.Model())
		}
		return err
	case builtIn(e) && !empty && made != e.Model():
		x.Outdated = fmt.Errorf("the index was made with %s, and the built-in model is now %s", describeModel(made),
			e.Model())
	case vectors && builtin.Made(made) && e.Model() != made:
		x.Notice("the index was made with the built-in model, which is used; to use %s: sheaf index --rebuild", e.Model())
		x.Embedder, err = builtInOf(made)
		return err
	case made != "" && e.Model() != made:
		return Hint(sheaf.Invalidf("the index was made with the model %s, and %s is configured", made, e.Model()),
			"configure that model again, or rebuild the index: sheaf index --rebuild")
	default:
		x.Embedder = e
	}
	return nil
}

func builtIn(e model.Embedder) bool {
	_, ok := e.(*static.Embedder)
	return ok
}

// builtInOf returns the built-in model called name, or nil if the program lacks this model. Earlier versions used the
// English table for all texts, so builtInOf also finds this table.
func builtInOf(name string) (model.Embedder, error) {
	for _, open := range []func() (*static.Embedder, error){builtin.New, english.New} {
		e, err := open()
		if err != nil {
			return nil, DamagedModel(err)
		}
		if e.Model() == name {
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

// LocalModel returns the built-in model if the index uses it, else nil.
func (x *Index) LocalModel() model.Embedder {
	if !builtIn(x.Embedder) {
		return nil
	}
	return x.Embedder
}

// QueryVector returns a function that embeds the texts of a query, also for an index that still lacks vectors. A server
// that is filling the index needs this function, and so do profiles that embed each candidate. Without a model,
// QueryVector returns nil.
func (x *Index) QueryVector() func(ctx context.Context, texts []string) ([][]float32, error) {
	if x.Embedder == nil {
		return nil
	}
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		return x.Embedder.Embed(ctx, model.Query, texts)
	}
}

// rememberingEmbedder returns the model with a cache of vectors, which is a file beside the index. So each passage is
// embedded once, even if it moves to another file. A built-in model is fast and gets no cache. Without a model,
// rememberingEmbedder returns nil.
func (x *Index) rememberingEmbedder() model.Embedder {
	if x.Embedder == nil || builtIn(x.Embedder) {
		return x.Embedder
	}
	if x.memory == nil {
		dir := x.Where.Dir
		if x.Target != nil {
			dir = filepath.Dir(filepath.Dir(dir)) // one cache for all stores
		}
		x.memory = remember.New(x.Embedder, filepath.Join(dir, location.EmbeddingsName))
	}
	return x.memory
}

// Patience says how often to repeat a failed request to a model server.
type Patience uint8

const (
	// Patient repeats requests for passages and queries until the server refuses them permanently.
	Patient Patience = iota
	// Mixed works like Patient for passages and like Hasty for queries.
	Mixed
	// Hasty tries each request once, because a person waits, and a search by words can answer instead.
	Hasty
)

// DamagedModel returns the error for a built-in model that cannot be read.
func DamagedModel(err error) error {
	return fmt.Errorf("the built-in model: %w: %w", sheaf.ErrCorrupt, err)
}
