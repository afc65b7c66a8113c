// Package vespa keeps chunks in Vespa: the document API writes them one by one, the
// search API finds them by YQL. Its main type is [Store]; [Options.Application] is
// the application package that a Vespa installation runs for it.
//
// The schema holds the analyzer's own terms, so that words match as in the embedded
// engine, and every column as words (package storekit). What a person wrote never
// stands in a query: it travels in parameters that the YQL names. What differs is
// Vespa's: its idf counts all chunks of a content node, also those without the
// field, and average lengths are running ones. It has BM25 for whole fields of
// plain words: requests for phrases, prefixes, fuzzy words, BM25F, statistics over
// candidates, and for other k1 and b than the application has, are
// sheaf.ErrUnsupported; so are ranges between texts.
//
// Vespa has no transactions: while a batch is written, readers may see a part of
// it, and both the old and the new chunks of a document.
package vespa

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/text/analysis"
)

// Options say where a store is and what it is made with.
type Options struct {
	// URL is the address of the container: scheme, host and port.
	URL string
	// Schema is the name of the schema of chunks: lower-case letters, digits and
	// underscores, a letter first. One of that name with "_about" behind it says
	// what it was made with.
	Schema string
	// Config is the address of the configuration server. With it, Open deploys
	// the application when the server runs none; "" leaves that to whoever
	// deploys what sheaf export vespa-app wrote.
	Config string
	// Token is a bearer token; "" is none.
	Token string
	// Client speaks HTTP, with the certificates that it trusts and shows; nil
	// is one that trusts what the system does and shows none.
	Client *http.Client
	// Analyzer makes terms of texts. A store can only be opened with the
	// analyzer it was made with.
	Analyzer *analysis.Analyzer
	// Vectors are the vector fields with the models that fill them. The
	// application has no others.
	Vectors []store.VectorField
	// K1 and B are BM25's parameters of the application; both 0 are the
	// defaults of package store.
	K1, B float64
	// HNSW searches vectors through the graph that the server keeps; else they
	// are all compared.
	HNSW bool
	// Ranking adds the rank profiles of a ranking in two phases to the
	// application; nil is none.
	Ranking *TwoPhases
	// Feeds is how many documents are written at a time at most; 0 is 32. The
	// server may bring it down to one.
	Feeds int
	// Timeout bounds every call that carries no earlier deadline; of a write, the time
	// between two answers of the server. 0 is 30 s.
	Timeout time.Duration
	// Existing refuses to make what is not there: sheaf.ErrNotFound.
	Existing bool
	// ReadOnly opens a schema that was filled before, and forbids writing.
	ReadOnly bool
	// ListOnly opens what exists, whatever analyzer and settings it was made with, to list what it holds. Searches by
	// words need the right analyzer. Writing is forbidden, as with ReadOnly.
	ListOnly bool
}

const (
	defaultFeeds = 32
	maxDims      = 65_536
	// namespace is that of the documents' IDs.
	namespace = "sheaf"
)

// Store is an open schema.
type Store struct {
	// written analyzes what is written.
	written *storekit.Writer
	o       Options
	client  *storekit.Client
	feeder  *storekit.Client
	calls   *storekit.Calls
}

var _ interface {
	store.Backend
	store.ColumnWriter
	store.Counter
	store.Explainer
	store.Reporter
} = (*Store)(nil)

// object is a JSON object that is sent.
type object = map[string]any

// Open checks the server and the schema. An application made with another analyzer,
// other parameters or dimensions, or without the schema, is sheaf.ErrInvalid or
// sheaf.ErrNotFound; one of a later version of this program is
// sheaf.ErrUnsupported; a server that does not answer sheaf.ErrUnavailable. The
// message says what to do.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := newStore(o)
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	if o.Config != "" && !o.ReadOnly {
		if err := s.deploy(ctx); err != nil {
			return nil, err
		}
	}
	err := s.verify(ctx)
	if errors.Is(err, errEmpty) && !o.ReadOnly && !o.Existing {
		if err := s.verifySchema(ctx); err != nil {
			return nil, err
		}
		return s, s.introduce(ctx)
	}
	if err == nil {
		err = s.verifySchema(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newStore has asked the server nothing yet; o is prepared.
func newStore(o Options) *Store {
	return &Store{o: o, written: storekit.NewWriter(o.Analyzer), client: newClient(&o, o.URL), feeder: newFeeder(&o),
		calls: storekit.NewCalls("vespa "+o.Schema, o.Client, o.Timeout, o.ReadOnly)}
}

// prepare fills in defaults and refuses what no server could take.
func (o *Options) prepare() error {
	o.ReadOnly = o.ReadOnly || o.ListOnly
	o.Timeout = cmp.Or(o.Timeout, storekit.DefaultTimeout)
	o.Client = cmp.Or(o.Client, storekit.DefaultClient())
	addresses := []string{strings.TrimRight(o.URL, "/")}
	o.URL = addresses[0]
	if o.Config = strings.TrimRight(o.Config, "/"); o.Config != "" {
		addresses = append(addresses, o.Config)
	}
	return o.validate(addresses...)
}

// validate fills in numbers, and checks what the application package is made of and addresses.
func (o *Options) validate(addresses ...string) error {
	o.K1, o.B = storekit.BM25(o.K1, o.B)
	o.Feeds = cmp.Or(o.Feeds, defaultFeeds)
	switch {
	case !storekit.PlainName(o.Schema, "_", 100):
		return sheaf.Invalidf("open vespa: schema %q: must be at most 100 lower-case letters, digits and underscores, a "+
			"letter first", o.Schema)
	case o.Feeds < 1 || o.Feeds > 1000:
		return sheaf.Invalidf("open vespa: %d documents at a time: must be within 1..1000", o.Feeds)
	}
	for i, v := range o.Vectors {
		if slices.ContainsFunc(o.Vectors[:i], func(w store.VectorField) bool { return w.Name == v.Name }) {
			return sheaf.Invalidf("open vespa: vector field %q is given twice", v.Name)
		}
	}
	return storekit.Options{Server: "vespa", Analyzer: o.Analyzer, Addresses: addresses, K1: o.K1, B: o.B,
		Vectors: o.Vectors, MaxDims: maxDims}.Check()
}

// fault is an error of this store.
func (s *Store) fault(category error, format string, args ...any) error {
	return fmt.Errorf("vespa %s: %w: %s", s.o.Schema, category, fmt.Sprintf(format, args...))
}

// Close implements [store.Backend].
func (s *Store) Close() error { return s.calls.Close() }

// version is that of the schema.
const version = 1

// meta is what a schema was filled with. It is a document of the schema beside it.
type meta struct {
	Version int `json:"sheaf"`
	storekit.Made
	Vectors []store.VectorField `json:"vectors"`
}

// need is how a schema must be filled.
func (s *Store) need() storekit.Made {
	return storekit.Made{Analyzer: s.o.Analyzer.Name(), K1: s.o.K1, B: s.o.B}
}

// errEmpty says that the schema is there and nothing was written to it.
var errEmpty = fmt.Errorf("nothing was written yet: %w", sheaf.ErrNotFound)

// about is the path of the document that holds the meta.
func (s *Store) about() string {
	return "/document/v1/" + namespace + "/" + s.o.Schema + "_about/docid/about"
}

// verify compares what the schema was filled with to the options.
func (s *Store) verify(ctx context.Context) error {
	var said struct {
		Fields struct{ About string }
	}
	err := s.client.Call(ctx, "GET", s.about(), nil, &said)
	var refused *refusal
	switch {
	case errors.As(err, &refused) && refused.status == http.StatusNotFound && refused.document:
		return errEmpty
	case errors.As(err, &refused) && (refused.status == http.StatusBadRequest || refused.status == http.StatusNotFound):
		return s.fault(sheaf.ErrNotFound, "the application there has no schema %s: write one with sheaf export vespa-app "+
			"DIR, and deploy it (vespa deploy DIR), or add the schemas to yours: %s", s.o.Schema, refused.reason)
	case err != nil:
		return err
	}
	var m meta
	if err := json.Unmarshal([]byte(said.Fields.About), &m); err != nil || m.Version == 0 {
		return s.fault(sheaf.ErrInvalid, "the schema was not filled by this program: name another")
	}
	return s.compare(m)
}

func (s *Store) compare(m meta) error {
	err := storekit.SameVersion(m.Version, version, "schema")
	if s.o.ListOnly {
		s.o.K1, s.o.B = m.K1, m.B
	} else if err == nil {
		err = m.Same(s.need(), "schema")
	}
	if err != nil {
		return fmt.Errorf("vespa %s: %w", s.o.Schema, err)
	}
	for _, want := range s.o.Vectors {
		i := slices.IndexFunc(m.Vectors, func(v store.VectorField) bool { return v.Name == want.Name })
		if i < 0 {
			return s.fault(sheaf.ErrInvalid, "the schema has no vector field %q: deploy another schema with it, and fill that",
				want.Name)
		}
		if err := m.Vectors[i].Same(want, "schema"); err != nil {
			return fmt.Errorf("vespa %s: %w", s.o.Schema, err)
		}
	}
	s.o.Vectors = m.Vectors
	return nil
}

// introduce writes down what the schema is filled with.
func (s *Store) introduce(ctx context.Context) error {
	about, err := json.Marshal(meta{version, s.need(), s.o.Vectors})
	if err != nil {
		panic(err) // it holds texts and numbers
	}
	return s.client.Call(ctx, "POST", s.about(), object{"fields": object{"about": string(about)}}, nil)
}

// verifySchema asks for each rank profile, whose names say what they are made for:
// a server that lacks one runs another application than the options want.
func (s *Store) verifySchema(ctx context.Context) error {
	profiles := []string{s.o.wordsProfile()}
	for _, v := range s.o.Vectors {
		profiles = append(profiles, nearProfile(v))
	}
	for _, name := range profiles {
		q := newQuery(s.o.Schema)
		q.where = "chunk contains " + q.param("none")
		q.body["hits"], q.body["ranking.profile"] = 0, name
		var refused *refusal
		if _, err := s.search(ctx, q); errors.As(err, &refused) && refused.status == http.StatusBadRequest {
			return s.fault(sheaf.ErrInvalid, "the application there has no rank profile %s: it was made for other k1, b or "+
				"dimensions; write it again with sheaf export vespa-app DIR and deploy it: %s", name, refused.reason)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Health asks the server for a sign of life and whether all of the content answers.
func (s *Store) Health(ctx context.Context) error {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	_, err = s.count(ctx, "true", newQuery(s.o.Schema))
	return err
}

// Stats implements [store.Reporter]; sizes and generations are not known.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return store.Stats{}, err
	}
	defer stop()
	q := newQuery(s.o.Schema)
	q.where, q.pipe = "true", "all(output(sum(passages)))"
	q.body["hits"], q.body["ranking.profile"] = 0, "unranked"
	found, err := s.search(ctx, q)
	if err != nil {
		return store.Stats{}, err
	}
	out := store.Stats{Chunks: found.Root.Fields.TotalCount}
	for _, group := range found.Root.Children {
		var sum struct {
			Passages float64 `json:"sum(passages)"`
		}
		if json.Unmarshal(group.Fields, &sum) == nil {
			out.Vectors += int(sum.Passages)
		}
	}
	return out, nil
}
