// Package vespa keeps chunks in Vespa. The document API writes them, the search API finds them by YQL. Its main type is
// [Store]; [Options.Application] returns the application package that a Vespa server must run for the store.
//
// The schema has the analyzer's own terms, so that words match as in the embedded engine. It has every column as words
// (package storekit). The user's text is never part of a query: the YQL names parameters that contain it. The
// differences come from Vespa. Its idf counts all chunks of a content node, even those without the field, and average
// lengths are running averages. It has BM25 only for whole fields of plain words. So these requests fail with
// sheaf.ErrUnsupported: phrases, prefixes, fuzzy words, BM25F, statistics over candidates, and ranges between texts.
// Requests with another k1 or b than the application's fail in the same way.
//
// Vespa has no transactions. During a write, readers may see parts of the batch, and old and new chunks together.
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

	"sheaf"
	"sheaf/internal/pattern"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Options say where the store is, and how to make and use it.
type Options struct {
	storekit.Options
	// Schema is the name of the schema of chunks. It consists of lower-case letters, digits and underscores, and begins
	// with a letter. A second schema, with "_about" at the end of its name, has the record of the store's settings.
	Schema string
	// Config is the address of the configuration server. If Config is set and the server runs no application, Open
	// deploys Sheaf's application. If Config is "", an administrator must deploy the result of sheaf export vespa-app.
	Config string
	// Token is a bearer token; "" means none.
	Token string
	// HNSW makes vector searches use the server's graph. Without HNSW they compare all vectors.
	HNSW bool
	// Ranking adds the rank profiles of a ranking in two phases to the application; nil adds none.
	Ranking *TwoPhases
	// Feeds is the largest number of parallel writes; 0 means 32.
	Feeds int
}

const (
	defaultFeeds = 32
	maxDims      = 65_536
	// namespace is the namespace of the documents' IDs.
	namespace = "sheaf"
)

// Store keeps chunks as documents of one schema.
type Store struct {
	o      Options
	client *storekit.Client
	feeder *storekit.Client
	calls  *storekit.Calls
}

var _ interface {
	store.Backend
	store.ColumnWriter
	store.Counter
	store.Explainer
	store.Reporter
} = (*Store)(nil)

// object is a JSON object in a request.
type object = map[string]any

// Open checks the server and the schema. It fails with sheaf.ErrNotFound if the application lacks the schema, and with
// sheaf.ErrInvalid if the schema has other settings. It fails with sheaf.ErrUnsupported if a later version of this
// program made the store. It fails with sheaf.ErrUnavailable if the server does not answer. The message gives advice.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := newStore(o)
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	if o.Config != "" && o.Access.Writes() {
		if err := s.deploy(ctx); err != nil {
			return nil, err
		}
	}
	err := s.verify(ctx)
	if errors.Is(err, errEmpty) && o.Access == store.Make {
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

// newStore returns a Store without asking the server. The caller has called o.prepare.
func newStore(o Options) *Store {
	return &Store{o: o, client: newClient(o), feeder: newFeeder(o),
		calls: storekit.NewCalls("vespa "+o.Schema, o.Client, o.Timeout, !o.Access.Writes())}
}

// prepare sets defaults, and returns an error for options that no server accepts.
func (o *Options) prepare() error {
	if o.Config = strings.TrimRight(o.Config, "/"); o.Config != "" {
		config := storekit.Options{URL: o.Config, Analyzer: o.Analyzer}
		if err := config.Prepare("vespa", maxDims); err != nil {
			return err
		}
	}
	if err := o.validate(); err != nil {
		return err
	}
	return o.Prepare("vespa", maxDims)
}

// schemaName matches the names of schemas that a store may have.
var schemaName = pattern.Lazy(`^[a-z][a-z0-9_]{0,99}$`)

// validate sets a default for Feeds, and checks the options of the application package.
func (o *Options) validate() error {
	o.Feeds = cmp.Or(o.Feeds, defaultFeeds)
	switch {
	case !schemaName().MatchString(o.Schema):
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
	return o.PrepareMade("vespa", maxDims)
}

// fault returns an error of this category that names the store.
func (s *Store) fault(category error, format string, args ...any) error {
	return fmt.Errorf("vespa %s: %w: %s", s.o.Schema, category, fmt.Sprintf(format, args...))
}

// Close implements [store.Backend].
func (s *Store) Close() error { return s.calls.Close() }

// version is the version of the schema that this program makes.
const version = 1

// meta is the record of a store's settings, a document of the second schema.
type meta struct {
	Version int `json:"sheaf"`
	storekit.Made
	Vectors []store.VectorField `json:"vectors"`
}

// errEmpty means that the schema exists but has no record of settings yet.
var errEmpty = fmt.Errorf("nothing was written yet: %w", sheaf.ErrNotFound)

// aboutPath returns the path of the document with the record of the settings.
func (s *Store) aboutPath() string {
	return "/document/v1/" + namespace + "/" + s.o.Schema + "_about/docid/about"
}

// verify reads the record of the settings, and fails if it does not fit the options.
func (s *Store) verify(ctx context.Context) error {
	var said struct {
		Fields struct{ About string }
	}
	err := s.client.Call(ctx, "GET", s.aboutPath(), nil, &said)
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
		return s.fault(sheaf.ErrInvalid, "sheaf did not fill the schema: name another")
	}
	return s.compare(m)
}

func (s *Store) compare(m meta) error {
	if err := s.o.Opens(m.Made, m.Version, version, "schema"); err != nil {
		return fmt.Errorf("vespa %s: %w", s.o.Schema, err)
	}
	s.o.K1, s.o.B = m.K1, m.B
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

// introduce writes the record of the settings into a new store.
func (s *Store) introduce(ctx context.Context) error {
	about, err := json.Marshal(meta{version, s.o.Made(), s.o.Vectors})
	if err != nil {
		panic(err) // meta contains texts and numbers
	}
	return s.client.Call(ctx, "POST", s.aboutPath(), object{"fields": object{"about": string(about)}}, nil)
}

// verifySchema asks the server for each rank profile. The profiles' names contain the parameters, so a missing
// profile means an application with other parameters.
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

// Stats implements [store.Reporter]. It does not know sizes and generations.
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
