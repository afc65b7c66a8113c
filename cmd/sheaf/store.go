package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/storeurl"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/engine/bm25"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/model/openai"
	"sheaf/model/static"
	"sheaf/model/static/builtin"
	"sheaf/search"
	"sheaf/store"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// engineStore names the engine wherever the address of a store is asked for.
const engineStore = "embedded"

// configuredStore is the server that the settings name; nil is the engine.
func (a *app) configuredStore(name string) (*storeurl.Target, error) {
	o := a.config.Store
	if o.URL == "" || o.URL == engineStore {
		return nil, nil
	}
	key, err := secret("store_", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	t, err := storeurl.Parse(o.URL, name, storeurl.Secrets{Key: key, CAFile: o.CAFile, CertFile: o.CertFile,
		CertKeyFile: o.CertKeyFile})
	switch {
	case a.elsewhere != "" && err != nil:
		return nil, fmt.Errorf("%s: %w", a.elsewhere, err)
	case a.elsewhere != "":
	case err != nil:
		return nil, setIn(a.config, "store", err)
	case t.Named && a.config.Origin("store").Source == config.SourceUser:
		return nil, setIn(a.config, "store", errOnePlace(t))
	}
	if want := a.config.BM25; err == nil && want != config.BM25Exact && want != countsAs(t.Kind) {
		err = fmt.Errorf("%w: bm25: %s does not count as %s: leave that to the engine", sheaf.ErrUnsupported, t, want)
	}
	return t, err
}

// countsAs is the value of bm25 that has the engine count as a kind of store does.
func countsAs(kind string) string {
	switch kind {
	case "opensearch", "elasticsearch":
		return config.BM25Lucene
	case "weaviate":
		return config.BM25Weaviate
	}
	return config.BM25Exact
}

// rebuildCommand empties the store of a and fills it again. It asks before it removes what the files
// cannot bring back.
func (a *app) rebuildCommand() string {
	if a.elsewhere == "" {
		return "sheaf index --rebuild"
	}
	return "SHEAF_STORE=" + wording.ShellQuoted(a.config.Store.URL) + " sheaf index --rebuild"
}

// repairCommand repairs the store of the session.
func (s *session) repairCommand() string {
	command := "sheaf check --repair --in " + wording.ShellQuoted(s.where.Root)
	if s.app.elsewhere == "" {
		return command
	}
	return "SHEAF_STORE=" + wording.ShellQuoted(s.app.config.Store.URL) + " " + command
}

// openBackend opens the server of the session, or the engine beside its catalog.
func (s *session) openBackend(ctx context.Context) (store.Backend, error) {
	if s.target == nil {
		st, err := openEngine(s.app.config, location.EngineDir(s.where.Dir), s.analyzer, s.embedder, s.rests,
			s.view.Docs() == 0 || s.view.Settings().Analyzer == "")
		if err == nil && !s.remaking() {
			err = s.engineLost(ctx, st)
		}
		if err != nil && st != nil {
			return nil, errors.Join(err, st.Close())
		}
		return st, err
	}
	if err := s.emptyServer(ctx); err != nil {
		return nil, collection.StoreError{Err: err}
	}
	access, filled := storeurl.Make, s.view.Chunks() > 0 && !s.remaking()
	if filled { // what is gone is not made again, under a name that may stand for another
		access = storeurl.Existing
	}
	if s.asIs {
		access = storeurl.ReadOnly
	}
	st, err := s.target.Open(ctx, s.analyzer, collection.VectorFields(s.embedder), access)
	switch {
	case !errors.Is(err, sheaf.ErrNotFound):
	case filled:
		err = s.serverLost(err)
	case s.asIs:
		err = withHint(err, "fill it: sheaf index --in %s", wording.ShellQuoted(s.where.Root))
	}
	if errors.Is(err, store.ErrMadeOtherwise) {
		if s.first() {
			err = withHint(err, "nothing here was written to it, so it may be another folder's: %s", s.otherPlace())
		} else {
			err = withHint(err, "fill it again from the files: %s", s.app.rebuildCommand())
		}
	}
	if err != nil {
		return nil, collection.StoreError{Err: err}
	}
	if r, ok := st.(store.Reporter); ok && filled {
		stats, err := r.Stats(ctx)
		if err == nil && stats.Chunks == 0 {
			err = sheaf.ErrNotFound
		}
		if errors.Is(err, sheaf.ErrNotFound) {
			err = s.serverLost(err)
		}
		if err != nil {
			return nil, collection.StoreError{Err: errors.Join(err, st.Close())}
		}
	}
	return st, nil
}

// serverLost is the error of a server that holds nothing of what was written to it.
func (s *session) serverLost(err error) error {
	return withHint(fmt.Errorf("%s does not hold the %d chunks that were written to it: %w", s.target, s.view.Chunks(),
		err), "fill it again: %s", s.app.rebuildCommand())
}

// emptyServer removes what the server holds, when that was asked for and is not done
// yet: what an earlier version, or other settings, filled it with, or what somebody removed
// a part of, goes settings and all, else only the chunks do.
func (s *session) emptyServer(ctx context.Context) error {
	if s.view.Settings().Extra[remakingKey] != remakingServer {
		return nil
	}
	if s.asIs {
		return errRemaking
	}
	return s.whenFree(ctx, func() error {
		return s.empty(ctx, remakingServer, func() error {
			st, err := s.target.Open(ctx, s.analyzer, collection.VectorFields(s.embedder), storeurl.Make)
			if err == nil {
				if emptier, ok := st.(store.Emptier); ok {
					err = emptier.Empty(ctx)
				} else {
					err = fmt.Errorf("%w: %s cannot be emptied", sheaf.ErrUnsupported, s.target)
				}
				if errors.Is(err, store.ErrForbidden) {
					s.notice("%v: documents are written in place instead", err)
					err = nil
				}
				err = errors.Join(err, st.Close())
			}
			if !errors.Is(err, store.ErrMadeOtherwise) && !errors.Is(err, sheaf.ErrNotFound) {
				return err
			}
			if dropped := s.target.Drop(ctx); dropped != nil { // which may leave it, for what others have there
				return dropped
			}
			s.notice("%v: it is emptied and filled again", err)
			return nil
		})
	})
}

// engineLost is an error when the engine holds nothing of what the catalog knows:
// an engine whose manifest is gone looks like a new one.
func (s *session) engineLost(ctx context.Context, st store.Backend) error {
	r, ok := st.(store.Reporter)
	if !ok || s.view.Chunks() == 0 {
		return nil
	}
	stats, err := r.Stats(ctx)
	if err != nil || stats.Chunks > 0 {
		return err
	}
	// Another process may have removed the last document meanwhile.
	if err := s.reload(); err != nil || s.view.Chunks() == 0 || s.remaking() {
		return err
	}
	return fmt.Errorf("%w: the engine in %s holds nothing of %s that the catalog knows", sheaf.ErrCorrupt,
		location.EngineDir(s.where.Dir),
		wording.Plural(s.view.Chunks(), "chunk", "chunks"))
}

// gatherMemory is what the engine may gather of a commit before it writes a part of it,
// so that indexing takes little memory beside whatever else a person has open.
const gatherMemory = 48 << 20

// counting is how words are scored with the setting bm25.
func counting(c *config.Config) (lengths bm25.Lengths, allChunks bool) {
	if c.BM25 == config.BM25Lucene {
		lengths = bm25.LengthsLucene
	}
	return lengths, c.BM25 == config.BM25Weaviate
}

// restAfter is after how long without a write commands that go on put the engine in order:
// longer than who writes a note waits between two saves of it.
const restAfter = 2 * time.Second

// openEngine opens the engine in dir, to be put in order after rest without a write. empty says that nothing is indexed yet, or nothing again:
// then what an interrupted run left there, made otherwise, is no loss.
func openEngine(c *config.Config, dir string, a *analysis.Analyzer, e model.Embedder, rest time.Duration,
	empty bool) (store.Backend, error) {
	o := embedded.Options{Dir: dir, Analyzer: a, Vectors: collection.VectorFields(e), MemoryBytes: c.IndexMemory,
		GatherBytes: min(gatherMemory, c.IndexMemory), MergeRate: c.MergeRate, Rest: rest}
	o.Lengths, o.AllChunks = counting(c)
	if c.MergeRate == 0 {
		o.MergeRate = embedded.NoMerges
	}
	st, err := embedded.Open(o)
	if err != nil {
		if empty && errors.Is(err, sheaf.ErrInvalid) {
			return nil, fmt.Errorf("%w: %w", sheaf.ErrUnsupported, err)
		}
		return nil, err
	}
	return st, nil
}

// patience is how long is waited for a server that makes vectors.
type patience uint8

const (
	// patient work is done by a machine: passages and queries are tried again
	// until the server has nothing more to say.
	patient patience = iota
	// mixed work goes on beside a person's: passages are tried as above, queries
	// as below.
	mixed
	// hasty work is waited for by a person, who has the answer of the words at
	// once: everything is tried once.
	hasty
)

const (
	// connectTimeout is enough for a handshake with the other end of the world.
	connectTimeout = time.Second
	// queryTimeout is enough for one short text by a model that must be loaded first.
	queryTimeout = 5 * time.Second
	// hastyBatch is so few passages that a server that works needs no longer for
	// them than for a query.
	hastyBatch = 16
	// serverRest is for how long queries do without a server that was away.
	serverRest = 30 * time.Second
)

// options are those of a server that is waited for so.
func (p patience) options() openai.Options {
	o := openai.Options{}
	if p >= mixed {
		o.QueryTimeout, o.Rest = queryTimeout, serverRest
	}
	if p == hasty {
		o.Attempts, o.Batch, o.ConnectTimeout, o.Timeout = 1, hastyBatch, connectTimeout, queryTimeout
	}
	return o
}

// newEmbedder is the model that the settings name; nil for none. dims is the
// number of dimensions when it is known already, 0 when the server is to be
// asked.
func newEmbedder(ctx context.Context, c *config.Config, dims int, p patience) (model.Embedder, error) {
	o := c.Embedder
	switch {
	case o.Use == config.EmbedderNone:
		return nil, nil
	case !o.Remote():
		return newBuiltIn()
	case o.Model == "":
		return nil, withHint(setIn(c, "embedder.url",
			sheaf.Invalidf("embedder.url is %s, and embedder.model is not set", o.URL)), "name the model: sheaf config set "+
			"embedder.model NAME")
	}
	key, err := secret("embedder.", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	if o.Dims != 0 {
		dims = o.Dims
	}
	to := p.options()
	to.URL, to.Model, to.Dims, to.Key, to.QueryPrefix, to.PassagePrefix = o.URL, o.Model, dims, key, o.QueryPrefix,
		o.PassagePrefix
	e, err := openai.New(ctx, to)
	switch {
	case errors.Is(err, openai.ErrConfig):
		return nil, fmt.Errorf("%w: %w", sheaf.ErrInvalid, err)
	case errors.Is(err, openai.ErrUnavailable):
		return nil, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	case err != nil:
		return nil, err
	}
	return e, nil
}

func newBuiltIn() (*static.Embedder, error) {
	e, err := builtin.New()
	if err != nil {
		return nil, damagedModel(err)
	}
	return e, nil
}

func damagedModel(err error) error {
	return fmt.Errorf("the built-in model: %w: %w", sheaf.ErrCorrupt, err)
}

// newExpander is the chat model that the settings name; nil for none.
func newExpander(o config.Chat) (*search.Expander, error) {
	if o.URL == "" {
		return nil, nil
	}
	key, err := secret("chat.", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	chat, err := openai.NewChat(openai.ChatOptions{URL: o.URL, Model: o.Model, Key: key})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sheaf.ErrInvalid, err)
	}
	return &search.Expander{Chat: chat.Complete, Model: chat.Model()}, nil
}

// newReranker is the reranking model that the settings name; nil for none.
func newReranker(o config.Reranker) (model.Reranker, error) {
	if o.URL == "" {
		return nil, nil
	}
	key, err := secret("reranker.", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	r, err := openai.NewReranker(openai.RerankOptions{URL: o.URL, Model: o.Model, Shape: openai.Shape(o.Shape), Key: key,
		Attempts: 2})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sheaf.ErrInvalid, err)
	}
	return r, nil
}

// secret reads a key from where the settings that begin so say; it stands in none
// of them itself.
func secret(settings, env, file string) (string, error) {
	if env != "" {
		key := os.Getenv(env)
		if key == "" {
			return "", sheaf.Invalidf("%skey_env: the variable %s is not set", settings, env)
		}
		return key, oneLine(key, settings+"key_env: "+env)
	}
	if file == "" {
		return "", nil
	}
	key, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%skey_file: %w", settings, fileFault("file", err))
	}
	text := strings.TrimSpace(string(key))
	return text, oneLine(text, settings+"key_file: "+file)
}

// oneLine refuses a key that no server would be told as it is.
func oneLine(key, from string) error {
	if strings.ContainsFunc(key, unicode.IsControl) {
		return sheaf.Invalidf("%s: the key has several lines or control characters: it must be one line", from)
	}
	return nil
}
