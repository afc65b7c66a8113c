// Package opensearch keeps chunks in OpenSearch or Elasticsearch, over plain HTTP. Its main type is [Store].
//
// The store sends the terms that Sheaf's analyzer made. The server only splits them at separators, so the same chunks
// match as in the embedded engine. Scores differ a little, because Lucene computes them:
//   - Lucene rounds lengths above 39 terms to four significant bits.
//   - Scores are float32.
//   - Replaced chunks count in statistics until Lucene merges segments.
//   - Forms (unstemmed words) have their own fields. If a prefix or a fuzzy word matches a form, the length of such a
//     field counts.
//
// Lucene computes neither Sheaf's BM25F nor the statistics of [store.StatisticsCandidates]. k1 and b are settings of
// the index. Requests that need another k1 or b, BM25F or these statistics fail with sheaf.ErrUnsupported.
//
// OpenSearch before 3 and Elasticsearch multiply scores of words by k1+1; the store divides them again.
//
// A write is bulk requests and then one refresh. Nothing of a write is visible before the refresh, unless the server
// runs out of memory or has several shards.
package opensearch

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Dialect says whether the server is OpenSearch or Elasticsearch.
type Dialect uint8

// These are the dialects.
const (
	// OpenSearch means OpenSearch 2.13 or newer, with the plug-in opensearch-knn.
	OpenSearch Dialect = iota
	// Elasticsearch means Elasticsearch 8.15 or newer.
	Elasticsearch
)

// String returns the name of the kind of server, for messages.
func (d Dialect) String() string {
	if d == Elasticsearch {
		return "elasticsearch"
	}
	return "opensearch"
}

// Options say where the store is, and how to make and use it.
type Options struct {
	storekit.Options
	Dialect Dialect
	// Index is the name or an alias of the index. The name of the second index, the dictionary, has "-terms" added.
	Index string
	// User and Password, APIKey, or Bearer are the credentials; all may be empty.
	User, Password string
	APIKey         string
	Bearer         string
	// HNSW makes vector searches use the server's graph. Without HNSW they compare all vectors.
	HNSW bool
	// Shards is the number of primary shards of a new index, and Replicas the number of copies of each shard. With 0
	// the store chooses: 3 shards and 1 replica on several data nodes, else 1 shard and no replica. NoReplicas means no
	// replica. With several shards, a search needs one more exchange between nodes, to add up word counts.
	Shards, Replicas int
}

// NoReplicas is the value of Options.Replicas for an index without replicas.
const NoReplicas = -1

// usualClauses is the server's default limit of clauses in a query.
const usualClauses = 1024

// Store keeps chunks in an index on the server.
type Store struct {
	o      Options
	client *storekit.Client

	calls *storekit.Calls

	vectors storekit.Vectors

	mu    sync.Mutex
	terms knownTerms
	alias nameLookups
	flat  map[string]bool // vector fields that Elasticsearch compares one by one

	place  atomic.Pointer[place] // nil until the index is found
	server struct {
		version atomic.Int64 // 100*major + minor; 0 when unknown
		clauses atomic.Int64 // the most clauses that a query may have
	}
	made struct {
		version atomic.Int64 // of the server that made the index
		shards  atomic.Int64 // how many shards the index has, or unknownShards
	}
}

var _ interface {
	store.Backend
	store.Streamer
	store.Switcher
	store.Counter
	store.Batcher
	store.Selective
	store.Reporter
	store.Sharded
	store.Mover
} = (*Store)(nil)

// knownTerms caches terms that are in the dictionary.
type knownTerms struct {
	words map[string]bool
	// indices are the names of the indices that had the terms when the store cached them. If the store's name means other
	// indices now, the store clears the cache.
	indices string
}

// nameLookups records the look-ups of the store's name, which may move to another index.
type nameLookups struct {
	fault    error     // why the store does not follow the name to its present index
	lastTime time.Time // time of the last look-up of the name
}

// object is a JSON object in a request.
type object = map[string]any

// Open checks the server and its index. If there is no index and Options.Access allows it, Open creates the index. Open
// fails with sheaf.ErrInvalid if the index is foreign: this program did not make it. Another analyzer, other parameters
// or other dimensions of the index cause the same error. It fails with sheaf.ErrUnsupported if a later version made the
// index, or if the server lacks a needed feature. It fails with sheaf.ErrUnavailable if the server does not answer. The
// message gives advice.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := newStore(o)
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s, s.pin(ctx)
}

func newStore(o Options) *Store {
	s := &Store{o: o, client: newClient(o), flat: map[string]bool{}}
	s.calls = storekit.NewCalls(o.Dialect.String()+" "+o.Index, s.client.HTTP, o.Timeout, !o.Access.Writes())
	s.terms.words = map[string]bool{}
	s.server.clauses.Store(usualClauses)
	return s
}

// indexName matches the names of indices that a store may have.
var indexName = pattern.Lazy(`^[a-z][a-z0-9_-]{0,199}$`)

// prepare sets defaults, and returns an error for options that no server accepts.
func (o *Options) prepare() error {
	name := o.Dialect.String()
	if !indexName().MatchString(o.Index) {
		return sheaf.Invalidf(
			"open %s: index %q: must be at most 200 lower-case letters, digits, '-' and '_', a letter first", name, o.Index)
	}
	return o.Prepare(name, o.Dialect.maxDims())
}

// maxDims returns the largest number of dimensions that the server accepts in a vector field.
func (d Dialect) maxDims() int {
	if d == Elasticsearch {
		return 4096
	}
	return 16_000
}

// fault returns an error of this category that names the store.
func (s *Store) fault(category error, format string, args ...any) error {
	return fmt.Errorf("%s %s: %w: %s", s.o.Dialect, s.index(), category, fmt.Sprintf(format, args...))
}

// Close implements [store.Backend].
func (s *Store) Close() error { return s.calls.Close() }

// Stats implements [store.Reporter]. Generation counts operations of the index.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return store.Stats{}, err
	}
	defer stop()
	s.follow(ctx)
	var found struct {
		All struct {
			Primaries struct {
				Store struct {
					Size int64 `json:"size_in_bytes"`
				}
				Docs     struct{ Count int }
				Indexing struct {
					Index, Delete int64 `json:"-"`
					IndexTotal    int64 `json:"index_total"`
					DeleteTotal   int64 `json:"delete_total"`
				}
			}
		} `json:"_all"`
	}
	if err := s.client.Call(ctx, "GET", "/"+s.index()+"/_stats/store,docs,indexing", nil, &found); err != nil {
		return store.Stats{}, err
	}
	p := found.All.Primaries
	n, err := s.count(ctx, object{"match_all": object{}})
	// Lucene counts every passage as a separate document.
	return store.Stats{Chunks: n, Bytes: p.Store.Size, Vectors: max(p.Docs.Count-n, 0),
		Generation: uint64(p.Indexing.IndexTotal + p.Indexing.DeleteTotal)}, err
}

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // requests only contain values that JSON can encode
	}
	return out
}
