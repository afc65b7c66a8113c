// Package weaviate keeps chunks in Weaviate, over REST and GraphQL. Its main type is [Store].
//
// A class has the chunks with the analyzer's own terms, so that words match as in the embedded engine. Each vector
// field has a class of passages, which are compared exactly. The differences come from Weaviate. Its idf counts all
// chunks, even those without the field, and scores are float32. It knows only plain words. So these requests fail with
// sheaf.ErrUnsupported: phrases, prefixes, fuzzy words, BM25F, statistics over candidates, and another k1 or b. This
// package computes scores of fields from whole lists of hits, because the server drops some of the best hits.
//
// Weaviate has no transactions. During a write, readers may see parts of the batch, and old and new chunks together.
package weaviate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Options say where the store is, and how to make and use it.
type Options struct {
	storekit.Options
	// Class is the name of the class of chunks; it begins with a capital.
	Class string
	// Key is an API key or token; "" means none.
	Key string
}

const (
	maxDims = 65_535
	// MaxLimit is the server's default for the largest number of hits (QUERY_MAXIMUM_RESULTS).
	MaxLimit = 10_000
)

// Store keeps chunks as objects of one class, and their passages in further classes.
type Store struct {
	o       Options
	client  *storekit.Client
	calls   *storekit.Calls
	vectors storekit.Vectors

	mu     sync.Mutex
	texts  map[string]bool // properties with terms
	shards int             // of the class; each shard counts words by itself
}

var _ interface {
	store.Backend
	store.Streamer
	store.Counter
	store.Selective
	store.Reporter
	store.Sharded
} = (*Store)(nil)

type object = map[string]any

// Open checks the server and its classes. If there are no classes and Options.Access allows it, Open creates them.
// Open fails with sheaf.ErrInvalid if the class is foreign, or has another analyzer, other parameters or other
// dimensions. It fails with sheaf.ErrUnsupported if a later version of this program made the class. It fails with
// sheaf.ErrUnavailable if the server does not answer. The message gives advice.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := &Store{o: o, client: newClient(o),
		calls: storekit.NewCalls("weaviate "+o.Class, o.Client, o.Timeout, !o.Access.Writes())}
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	err := s.verify(ctx)
	if errors.Is(err, sheaf.ErrNotFound) && o.Access == store.Make {
		if err := s.create(ctx); err != nil {
			return nil, err
		}
		if err = s.verify(ctx); errors.Is(err, sheaf.ErrNotFound) {
			err = s.fault(sheaf.ErrUnavailable, "the server created the class, but does not find it (is that Weaviate, "+
				"and do its nodes agree?)")
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// prepare sets defaults, and returns an error for options that no server accepts.
func (o *Options) prepare() error {
	if !className().MatchString(o.Class) {
		return sheaf.Invalidf("open weaviate: class %q: must be at most 100 letters, digits and underscores, a capital first",
			o.Class)
	}
	return o.Prepare("weaviate", maxDims)
}

// className matches the names of classes that a store may have.
var className = pattern.Lazy(`^[A-Z][A-Za-z0-9_]{0,99}$`)

func (s *Store) fault(category error, format string, args ...any) error {
	return fmt.Errorf("weaviate %s: %w: %s", s.o.Class, category, fmt.Sprintf(format, args...))
}

// Close implements [store.Backend].
func (s *Store) Close() error { return s.calls.Close() }

// version is the version of the classes that this program makes.
const version = 1

// meta is the record of a class's settings. The description of the class contains it.
type meta struct {
	Version int `json:"sheaf"`
	storekit.Made
}

func (s *Store) chunkClass() object {
	about, err := json.Marshal(meta{version, s.o.Made()})
	if err != nil {
		panic(err) // meta contains texts and numbers
	}
	properties := append(facts(), property(keptProperty, "text", "field", false))
	for _, f := range sheaf.Fields {
		properties = append(properties, property(textProperty(f), "text", "whitespace", true))
	}
	return object{
		"class": s.o.Class, "description": string(about), "vectorizer": "none",
		"vectorIndexType": "hnsw", "vectorIndexConfig": object{"skip": true},
		"invertedIndexConfig": object{"bm25": object{"k1": s.o.K1, "b": s.o.B}, "stopwords": object{"preset": "none"}},
		"properties":          properties,
	}
}

// facts returns the properties that both chunks and passages have. The IDs and column values are in hexadecimal,
// which sorts like the bytes. So the server cannot trim or fold them, or read wildcards in them.
func facts() []object {
	return []object{
		property("cid", "text", "field", false), property("chunk", "text", "field", true),
		property("doc", "text", "field", true),
		property("write", "text", "field", true), property("c", "text[]", "field", true),
	}
}

func property(name, kind, tokenization string, indexed bool) object {
	return object{"name": name, "dataType": []string{kind}, "tokenization": tokenization, "indexFilterable": indexed,
		"indexSearchable": indexed && tokenization == "whitespace"}
}

// textProperty returns the name of the property for a text field.
func textProperty(field string) string {
	if field != "" && !strings.ContainsFunc(field, func(r rune) bool { return !(r >= 'a' && r <= 'z') }) {
		return "t_" + field
	}
	return "t_0" + hex.EncodeToString([]byte(field))
}

// passageClass returns the name of the class for a vector field.
func (s *Store) passageClass(field string) string {
	if field != "" && len(field) < 40 && !strings.ContainsFunc(field, func(r rune) bool {
		return !(r >= 'a' && r <= 'z')
	}) {
		return s.o.Class + "_V_" + field
	}
	sum := sha256.Sum256([]byte(field))
	return s.o.Class + "_V_0" + hex.EncodeToString(sum[:8])
}

func (s *Store) create(ctx context.Context) error {
	return s.client.Call(ctx, "POST", "/v1/schema", s.chunkClass(), nil)
}

type class struct {
	Class       string
	Description string
	Properties  []struct{ Name string }
	Sharding    struct {
		Count int `json:"actualCount"`
	} `json:"shardingConfig"`
}

// askServer adds a question to err: whether the server is Weaviate. It does so only for errors that a server of another
// kind may cause.
func askServer(err error) error {
	switch {
	case errors.Is(err, sheaf.ErrNotFound): // also the answer for a missing class
		return fmt.Errorf("%w: %v (is that Weaviate?)", sheaf.ErrInvalid, err)
	case errors.Is(err, sheaf.ErrInvalid) && strings.Contains(err.Error(), "status 400"):
		return fmt.Errorf("%w (is that Weaviate?)", err)
	}
	return err
}

// verify reads the existing classes, and fails if they do not fit the options.
func (s *Store) verify(ctx context.Context) error {
	var all struct{ Classes []class }
	if err := s.client.Call(ctx, "GET", "/v1/schema", nil, &all); err != nil {
		return askServer(err)
	}
	if all.Classes == nil {
		return s.fault(sheaf.ErrUnavailable, "the server names no classes: the answer is not from such a server")
	}
	found, shards := false, 0
	texts, vectors := map[string]bool{}, []store.VectorField{}
	for _, c := range all.Classes {
		switch {
		case c.Class == s.o.Class:
			found, shards = true, c.Sharding.Count
			for _, p := range c.Properties {
				texts[p.Name] = strings.HasPrefix(p.Name, "t_")
			}
			if err := s.compare(c.Description); err != nil {
				return err
			}
		default:
			if v, ok := s.vectorFieldOf(c); ok {
				vectors = append(vectors, v)
			}
		}
	}
	if !found {
		return s.fault(sheaf.ErrNotFound, "there is no such class")
	}
	s.vectors.Set(vectors)
	for _, want := range s.o.Vectors {
		if err := s.vectors.Get(want.Name).Same(want, "class"); err != nil {
			return fmt.Errorf("weaviate %s: %w", s.o.Class, err)
		}
	}
	s.mu.Lock()
	s.texts, s.shards = texts, shards
	s.mu.Unlock()
	return nil
}

// vectorFieldOf returns the vector field whose passages the class c has. ok is false if c is no such class of this
// store.
func (s *Store) vectorFieldOf(c class) (v store.VectorField, ok bool) {
	ok = json.Unmarshal([]byte(c.Description), &v) == nil && s.passageClass(v.Name) == c.Class
	return v, ok
}

// Shards implements [store.Sharded].
func (s *Store) Shards() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shards
}

// readAbout reads the settings from the description of a class. ours is false if this program did not make the class.
func readAbout(description string) (m meta, ours bool) {
	err := json.Unmarshal([]byte(description), &m)
	return m, err == nil && m.Version != 0
}

func (s *Store) notOurs() error {
	return s.fault(sheaf.ErrInvalid, "sheaf did not make the class: name another")
}

func (s *Store) compare(description string) error {
	m, ours := readAbout(description)
	if !ours {
		return s.notOurs()
	}
	if err := s.o.Opens(m.Made, m.Version, version, "class"); err != nil {
		return fmt.Errorf("weaviate %s: %w", s.o.Class, err)
	}
	return nil
}

// Bodies returns the bodies of the requests that create the classes, in order. An administrator can send the
// requests; Open accepts the classes as a store.
func (o Options) Bodies() ([]map[string]any, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := &Store{o: o}
	out := []map[string]any{s.chunkClass()}
	for _, v := range o.Vectors {
		out = append(out, s.vectorClass(v))
	}
	return out, nil
}

func (s *Store) vectorClass(v store.VectorField) object {
	about, err := json.Marshal(v)
	if err != nil {
		panic(err) // it contains texts and a number
	}
	return object{
		"class": s.passageClass(v.Name), "description": string(about), "vectorizer": "none",
		"vectorIndexType": "flat", "vectorIndexConfig": object{"distance": "cosine"},
		"properties": append(facts(), object{"name": "n", "dataType": []string{"int"}, "indexFilterable": true}),
	}
}

func (s *Store) addVectors(ctx context.Context, v store.VectorField) error {
	if err := s.client.Call(ctx, "POST", "/v1/schema", s.vectorClass(v), nil); err != nil {
		return err
	}
	s.vectors.Add(v)
	return nil
}

// Stats implements [store.Reporter]. It does not know sizes and generations.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return store.Stats{}, err
	}
	defer stop()
	var out store.Stats
	if out.Chunks, err = s.count(ctx, s.o.Class, everything); err != nil {
		return out, err
	}
	for _, v := range s.vectors.All() {
		n, err := s.count(ctx, s.passageClass(v.Name), everything)
		if err != nil {
			return out, err
		}
		out.Vectors += n
	}
	return out, nil
}

// Drop removes the classes of a store. A missing class is not an error. If one of the classes is foreign, Drop fails
// with sheaf.ErrInvalid and removes nothing.
func Drop(ctx context.Context, o Options) error {
	s := &Store{o: o, client: newClient(o)}
	defer s.client.HTTP.CloseIdleConnections()
	var all struct{ Classes []class }
	if err := s.client.Call(ctx, "GET", "/v1/schema", nil, &all); err != nil {
		return err
	}
	var names []string
	for _, c := range all.Classes {
		if c.Class == o.Class {
			if _, ours := readAbout(c.Description); !ours {
				return s.notOurs()
			}
			names = append(names, c.Class)
		} else if _, ok := s.vectorFieldOf(c); ok {
			names = append(names, c.Class)
		}
	}
	for _, name := range names {
		if err := s.client.Call(ctx, "DELETE", "/v1/schema/"+name, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
