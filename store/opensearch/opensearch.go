// Package opensearch keeps chunks in OpenSearch or Elasticsearch, over plain HTTP.
// Its main type is [Store].
//
// The index holds the analyzer's own terms, cut apart by an analyzer of the
// server that knows nothing but the separators, so that words match and count as
// in the embedded engine. What differs is Lucene's: lengths of more than 39 terms
// are rounded to four significant bits, scores are float32, chunks that were
// replaced count in statistics until they are merged away, and lengths for
// prefixes and fuzzy words that match a form are those of the forms. Lucene has
// no BM25F as ours is and cannot count statistics over candidates, and k1 and b
// belong to the index: requests for others are sheaf.ErrUnsupported.
//
// OpenSearch before 3 and Elasticsearch multiply scores of words by k1+1, which is taken back.
//
// A write is one bulk request and one refresh. Nothing of it shows before the
// refresh, unless the server runs out of memory for it or has several shards.
package opensearch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/text/analysis"
)

// Dialect is the kind of server.
type Dialect uint8

// The dialects.
const (
	// OpenSearch 2.13 or newer, with the plug-in opensearch-knn.
	OpenSearch Dialect = iota
	// Elasticsearch 8.15 or newer.
	Elasticsearch
)

// String is the name of the store in messages.
func (d Dialect) String() string {
	if d == Elasticsearch {
		return "elasticsearch"
	}
	return "opensearch"
}

// Options say where a store is and what it is made with.
type Options struct {
	Dialect Dialect
	// URL is the address of the server: scheme, host and port.
	URL string
	// Index is the name of the index, or of an alias of it. A second index of
	// that name with "-terms" behind it holds the dictionary.
	Index string
	// User and Password, or APIKey, or Bearer say who asks; all may be empty.
	User, Password string
	APIKey         string
	Bearer         string
	// Client speaks HTTP, with the certificates that it trusts; nil is one
	// that trusts what the system does.
	Client *http.Client
	// Analyzer makes terms of texts. A store can only be opened with the
	// analyzer it was made with.
	Analyzer *analysis.Analyzer
	// Vectors are the vector fields with the models that fill them; fields
	// that are not named here take the dimensions of their first vector.
	Vectors []store.VectorField
	// K1 and B are BM25's parameters for this index; both 0 are the defaults
	// of package store.
	K1, B float64
	// HNSW searches vectors through the graph that the server keeps; else
	// they are all compared.
	HNSW bool
	// Shards is the number of primary shards of a new index, and Replicas that of the copies of each; 0
	// chooses: 3 and 1 in a cluster of several data nodes, else 1 and none. NoReplicas makes none.
	// Several shards take one more exchange between the nodes for each search, which adds up how rare
	// words are.
	Shards, Replicas int
	// Timeout bounds every call that carries no earlier deadline; of a write, the time
	// between two answers of the server. 0 is 30 s.
	Timeout time.Duration
	// Existing refuses to make what is not there: sheaf.ErrNotFound.
	Existing bool
	// ReadOnly opens an index that exists, and forbids writing.
	ReadOnly bool
	// ListOnly opens what exists, whatever analyzer and settings it was made with, to list what it holds. Searches by
	// words need the right analyzer. Writing is forbidden, as with ReadOnly.
	ListOnly bool
}

// NoReplicas is for Options.Replicas.
const NoReplicas = -1

// usualClauses is how many clauses a query may have where nobody set it.
const usualClauses = 1024

// Store is an open index.
type Store struct {
	// written analyzes what is written.
	written *storekit.Writer
	o       Options
	client  *storekit.Client

	calls *storekit.Calls

	mu       sync.Mutex
	known    map[string]bool // terms that are in the dictionary
	behindUs string          // the index that the name stood for when they were learned
	moved    error           // why the index is not the one that the name stands for now
	asked    time.Time       // when the server was asked what the name stands for

	place   atomic.Pointer[place] // nil until the index is found
	vectors map[string]store.VectorField
	flat    map[string]bool // vector fields that Elasticsearch itself compares one by one
	clauses atomic.Int64    // the most that a query may have

	serverIs, indexIs atomic.Int64 // the versions of server and index, 100*major + minor; 0 where they are not known
	shards            atomic.Int64 // of the index, or unknownShards
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

// object is a JSON object that is sent.
type object = map[string]any

// Open checks the server and its index, and makes one when there is none. An
// index made with another analyzer, other parameters or dimensions, or by
// something else, is sheaf.ErrInvalid; one of a later version of this program,
// or a server without what is needed, sheaf.ErrUnsupported; a server that does
// not answer sheaf.ErrUnavailable. The message says what to do.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := &Store{o: o, written: storekit.NewWriter(o.Analyzer), client: newClient(o),
		calls: storekit.NewCalls(o.Dialect.String()+" "+o.Index, o.Client, o.Timeout, o.ReadOnly), known: map[string]bool{},
		vectors: map[string]store.VectorField{}, flat: map[string]bool{}}
	s.clauses.Store(usualClauses)
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	if err := s.prepare(ctx); err != nil {
		return nil, err
	}
	return s, s.pin(ctx)
}

// prepare fills in defaults and refuses what no server could take.
func (o *Options) prepare() error {
	o.ReadOnly = o.ReadOnly || o.ListOnly
	o.K1, o.B = storekit.BM25(o.K1, o.B)
	o.Timeout = cmp.Or(o.Timeout, storekit.DefaultTimeout)
	o.Client = cmp.Or(o.Client, storekit.DefaultClient())
	o.URL = strings.TrimRight(o.URL, "/")
	name := o.Dialect.String()
	if !storekit.PlainName(o.Index, "_-", 200) {
		return sheaf.Invalidf(
			"open %s: index %q: must be at most 200 lower-case letters, digits, '-' and '_', a letter first", name, o.Index)
	}
	return storekit.Options{Server: name, Analyzer: o.Analyzer, Addresses: []string{o.URL}, K1: o.K1, B: o.B,
		Vectors: o.Vectors, MaxDims: o.Dialect.maxDims()}.Check()
}

// maxDims is what a vector field of the server takes.
func (d Dialect) maxDims() int {
	if d == Elasticsearch {
		return 4096
	}
	return 16_000
}

// fault is an error of this store.
func (s *Store) fault(category error, format string, args ...any) error {
	return fmt.Errorf("%s %s: %w: %s", s.o.Dialect, s.index(), category, fmt.Sprintf(format, args...))
}

// Close implements [store.Backend].
func (s *Store) Close() error { return s.calls.Close() }

// Health asks the server for a sign of life and whether the index can be used.
func (s *Store) Health(ctx context.Context) error {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	var health struct{ Status string }
	if err := s.client.Call(ctx, "GET", "/_cluster/health/"+s.index(), nil, &health); err != nil {
		return err
	}
	if health.Status == "red" {
		return s.fault(sheaf.ErrUnavailable, "a shard of the index has no copy (health is red)")
	}
	return nil
}

// Stats implements [store.Reporter]. Generation counts operations of the
// index.
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
	// Every passage is a document of Lucene's beside those of the chunks.
	return store.Stats{Chunks: n, Bytes: p.Store.Size, Vectors: max(p.Docs.Count-n, 0),
		Generation: uint64(p.Indexing.IndexTotal + p.Indexing.DeleteTotal)}, err
}

func encode(v any) []byte {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // requests are made of what JSON has
	}
	return out
}
