package main

import (
	"cmp"
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
	"sheaf/index/engine/bm25"
	"sheaf/model"
	"sheaf/model/openai"
	"sheaf/model/static"
	"sheaf/model/static/builtin"
	"sheaf/search"
	"sheaf/store/embedded"
	"sheaf/text/chunk"
)

// configuredStore returns the server that the setting store names. It returns nil if the setting is empty or names the
// engine of this program. If the address lacks a place, [storeurl.Parse] makes it from name.
func (a *app) configuredStore(name string) (*storeurl.Target, error) {
	o := a.config.Store
	if o.URL == "" || o.URL == collection.EngineStore {
		return nil, nil
	}
	key, err := secret("store_", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	t, err := storeurl.Parse(o.URL, name, storeurl.Secrets{Key: key, CAFile: o.CAFile, CertFile: o.CertFile,
		CertKeyFile: o.CertKeyFile})
	switch {
	case a.storeFlag != "" && err != nil:
		return nil, fmt.Errorf("%s: %w", a.storeFlag, err)
	case a.storeFlag != "":
	case err != nil:
		return nil, setIn(a.config, "store", err)
	case t.Named && a.config.Origin("store").Source == config.SourceUser:
		return nil, setIn(a.config, "store", errOnePlace(t))
	}
	if want := a.config.BM25; err == nil && want != config.BM25Exact && want != countsAs(t.Kind) {
		err = fmt.Errorf("%w: bm25: %s does not count as %s: leave out the setting bm25", sheaf.ErrUnsupported, t, want)
	}
	return t, err
}

// countsAs returns the value of the setting bm25 with which the engine counts words like a store of this kind.
func countsAs(kind string) string {
	switch kind {
	case "opensearch", "elasticsearch":
		return config.BM25Lucene
	case "weaviate":
		return config.BM25Weaviate
	}
	return config.BM25Exact
}

// gatherMemory limits the chunks in memory, in bytes. At this size, the engine writes the collected chunks to the disk.
const gatherMemory = 48 << 20

func engineOptions(c *config.Config) embedded.Options {
	o := embedded.Options{MemoryBytes: c.IndexMemory, GatherBytes: min(gatherMemory, c.IndexMemory),
		MergeRate: c.MergeRate, AllChunks: c.BM25 == config.BM25Weaviate}
	if c.BM25 == config.BM25Lucene {
		o.Lengths = bm25.LengthsLucene
	}
	if c.MergeRate == 0 {
		o.MergeRate = embedded.NoMerges
	}
	return o
}

const (
	// connectTimeout is the longest time for a connection to a model server. It is enough for a distant server.
	connectTimeout = time.Second
	// queryTimeout is the longest time that a query waits for a model server. In this time, a server can load a model and
	// embed one short text.
	queryTimeout = 5 * time.Second
	// hastyBatch is the largest number of passages in one request of a client with the patience collection.Hasty. The
	// server embeds so few passages in about the time of one query.
	hastyBatch = 16
	// serverRest is the time for which queries do not ask the model server after a failure.
	serverRest = 30 * time.Second
)

// options returns the options for a client of a model server. p says how long to wait and how often to repeat requests.
func options(p collection.Patience) openai.Options {
	o := openai.Options{}
	if p >= collection.Mixed {
		o.QueryTimeout, o.Rest = queryTimeout, serverRest
	}
	if p == collection.Hasty {
		o.Attempts, o.Batch, o.ConnectTimeout, o.Timeout = 1, hastyBatch, connectTimeout, queryTimeout
	}
	return o
}

// newEmbedder returns the model in the settings, or nil if they name none. dims is the number of dimensions; if dims is
// 0, newEmbedder asks the server. p says how often to repeat failed requests.
func newEmbedder(ctx context.Context, c *config.Config, dims int, p collection.Patience) (model.Embedder, error) {
	o := c.Embedder
	switch {
	case o.Use == config.EmbedderNone:
		return nil, nil
	case !o.Remote():
		return newBuiltIn()
	case strings.TrimSpace(o.Model) == "":
		return nil, withHint(setIn(c, "embedder.url",
			sheaf.Invalidf("embedder.url is %s, and embedder.model is not set", o.URL)), "name the model: sheaf config set "+
			"embedder.model NAME")
	}
	key, err := secret("embedder.", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	to := options(p)
	to.URL, to.Model, to.Dims, to.Key = o.URL, o.Model, cmp.Or(o.Dims, dims), key
	to.QueryPrefix, to.PassagePrefix = o.QueryPrefix, o.PassagePrefix
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
		return nil, collection.DamagedModel(err)
	}
	return e, nil
}

// newExpander returns the chat model in the settings, or nil if they name none.
func newExpander(o config.Endpoint) (*search.Expander, error) {
	if o.URL == "" {
		return nil, nil
	}
	key, err := secret("chat.", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	chat, err := openai.NewChat(openai.Server{URL: o.URL, Model: o.Model, Key: key})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sheaf.ErrInvalid, err)
	}
	return &search.Expander{Chat: chat.Complete, Model: chat.Model()}, nil
}

// newReranker returns the reranking model in the settings, or nil if they name none.
func newReranker(o config.Reranker) (model.Reranker, error) {
	if o.URL == "" {
		return nil, nil
	}
	key, err := secret("reranker.", o.KeyEnv, o.KeyFile)
	if err != nil {
		return nil, err
	}
	r, err := openai.NewReranker(openai.Server{URL: o.URL, Model: o.Model, Key: key, Attempts: 2}, openai.Shape(o.Shape))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sheaf.ErrInvalid, err)
	}
	return r, nil
}

// secret reads a key from the environment variable env or from file. Without both, it returns "". settings is the
// prefix of the names of both settings, for errors: "store_" for store_key_env.
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
		return "", fmt.Errorf("%skey_file: %w", settings, collection.FileFault("file", err))
	}
	text := strings.TrimSpace(string(key))
	return text, oneLine(text, settings+"key_file: "+file)
}

// oneLine refuses a key with control characters, which an HTTP header cannot have. from is the key's source.
func oneLine(key, from string) error {
	if strings.ContainsFunc(key, unicode.IsControl) {
		return sheaf.Invalidf("%s: the key has several lines or control characters: it must be one line", from)
	}
	return nil
}

// configuredChunker returns the options for cutting documents, from the settings. The built-in model measures windows
// in its tokens. With an endpoint's model or none, windows are measured in words.
func configuredChunker(c *config.Config) (chunk.Options, error) {
	o := c.Chunk
	if c.Embedder.Use == config.EmbedderNone || c.Embedder.Remote() {
		return o, nil
	}
	e, err := newBuiltIn()
	if err != nil {
		return o, err
	}
	o.Window.Tokens, o.Window.TokensName = e.Pieces, e.Tokens()
	return o, nil
}

// newChunker works like configuredChunker. With a model on a server, it prints a note: windows are measured in words.
func (a *app) newChunker() (chunk.Options, error) {
	if a.config.Chunk.Chunker == "window" && a.config.Embedder.Remote() {
		a.notice("windows are measured in words: the endpoint does not tell the tokens of %s", a.config.Embedder.Model)
	}
	return configuredChunker(a.config)
}
