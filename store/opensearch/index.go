package opensearch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// version is the version of the index's mapping.
const version = 1

// meta is the record of an index's settings. It is stored in the mapping of the index.
type meta struct {
	Version int `json:"version"`
	storekit.Made
	Vectors []store.VectorField `json:"vectors,omitempty"`
}

// meta returns the record for an index with these options and vector fields.
func (o *Options) meta(vectors []store.VectorField) meta {
	return meta{version, o.Made(), vectors}
}

// prepare checks the server and the index. If the index is missing and the options allow it, it creates the index.
func (s *Store) prepare(ctx context.Context) error {
	if err := s.checkServer(ctx); err != nil {
		return err
	}
	err := s.complete(ctx)
	if errors.Is(err, sheaf.ErrNotFound) && s.o.Access == store.Make {
		if err := s.create(ctx); err != nil {
			return err
		}
		err = s.complete(ctx)
	}
	return err
}

// complete checks that the index and its dictionary exist and fit the options.
func (s *Store) complete(ctx context.Context) error {
	if err := s.verify(ctx); err != nil {
		return err
	}
	err := s.ourDictionary(ctx)
	switch {
	case errors.Is(err, sheaf.ErrNotFound):
		return s.fault(sheaf.ErrNotFound, "the index exists, but its dictionary %s-terms does not", s.index())
	case errors.Is(err, store.ErrForbidden):
		return nil // without the right to ask, completing words or a write fails later
	}
	return err
}

// askClauses reads the server's limit of clauses in a query. An administrator of OpenSearch may set the limit at run
// time. The answer then has this limit in its part transient or persistent. These parts win over the part defaults.
func (s *Store) askClauses(ctx context.Context) error {
	var settings struct{ Transient, Persistent, Defaults map[string]any }
	err := s.client.Call(ctx, "GET",
		"/_cluster/settings?include_defaults=true&flat_settings=true&filter_path="+
			"*.indices.query.bool.max_clause_count,*.indices*", nil, &settings)
	if err != nil && !errors.Is(err, sheaf.ErrInvalid) {
		return err // without the right to ask, the default limit applies
	}
	for _, set := range []map[string]any{settings.Defaults, settings.Persistent, settings.Transient} {
		if text, ok := set["indices.query.bool.max_clause_count"].(string); ok {
			if n, err := strconv.Atoi(text); err == nil && n > 0 {
				s.server.clauses.Store(int64(n))
			}
		}
	}
	return nil
}

// checkServer returns an error if the server lacks a feature that the store needs.
func (s *Store) checkServer(ctx context.Context) error {
	if err := s.askClauses(ctx); errors.Is(err, sheaf.ErrNotFound) {
		return s.askDialect(err)
	} else if err != nil {
		return err
	}
	if s.o.Dialect == Elasticsearch {
		// The path "/" needs a right that users often lack, and some servers do not have the path.
		var nodes struct {
			Nodes map[string]struct{ Version string }
		}
		err := s.client.Call(ctx, "GET", "/_nodes/_local/http?filter_path=nodes.*.version", nil, &nodes)
		for _, n := range nodes.Nodes {
			return s.recent(n.Version)
		}
		if errors.Is(err, sheaf.ErrInvalid) || errors.Is(err, sheaf.ErrNotFound) {
			return nil // the user lacks the right; creating the mapping will show it
		}
		return err
	}
	var plugins []struct{ Component, Version string }
	if err := s.client.Call(ctx, "GET", "/_cat/plugins?format=json", nil, &plugins); err != nil {
		return nil // the user lacks the right; creating the mapping will show it
	}
	for _, p := range plugins {
		if p.Component == "opensearch-knn" {
			return s.recent(p.Version) // a plug-in's version begins with the server's
		}
	}
	var nodes struct {
		Nodes map[string]struct {
			Version string
			Flavor  string `json:"build_flavor"` // OpenSearch does not have it
		}
	}
	if err := s.client.Call(ctx, "GET", "/_nodes/_local/http?filter_path=nodes.*.version,nodes.*.build_flavor", nil,
		&nodes); err == nil {
		for _, n := range nodes.Nodes {
			if n.Flavor != "" {
				return s.fault(sheaf.ErrInvalid, "the server is Elasticsearch %s: begin the address with elasticsearch:// "+
					"(elasticsearch+https:// for TLS)", n.Version)
			}
		}
	}
	return s.fault(sheaf.ErrUnsupported, "the server has no plug-in opensearch-knn: run bin/opensearch-plugin install "+
		"org.opensearch.plugin:opensearch-knn:VERSION.0 on each node (VERSION: the version of the server), and restart "+
		"the nodes")
}

// askDialect adds a question to err: whether the server is of the configured dialect.
func (s *Store) askDialect(err error) error { return fmt.Errorf("%w (is that %s?)", err, s.o.Dialect) }

// recent returns an error if the server's version is too old for the store.
func (s *Store) recent(version string) error {
	least := map[Dialect][2]int{OpenSearch: {2, 13}, Elasticsearch: {8, 15}}[s.o.Dialect]
	var major, minor int
	n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor)
	if n == 2 {
		s.server.version.Store(int64(100*major + minor))
	}
	if n == 2 && s.o.Dialect == Elasticsearch && major < 5 { // new in OpenSearch 2, old in Elasticsearch
		return s.fault(sheaf.ErrUnsupported, "the server has version %s: is that OpenSearch? then the address begins with "+
			"opensearch://; else upgrade it to %d.%d or newer", version, least[0], least[1])
	}
	if n == 2 && (major < least[0] || major == least[0] && minor < least[1]) {
		return s.fault(sheaf.ErrUnsupported, "the server has version %s: upgrade it to %d.%d or newer", version, least[0],
			least[1])
	}
	return nil
}

// create creates the index and its dictionary. If a foreign index has the dictionary's name, it creates nothing. If two
// processes call create at the same time, both succeed.
func (s *Store) create(ctx context.Context) error {
	if err := s.ourDictionary(ctx); err != nil && !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	if err := s.chooseParts(ctx); err != nil {
		return err
	}
	m := s.o.meta(s.o.Vectors)
	made := func(err error) error {
		if err != nil && strings.Contains(err.Error(), "resource_already_exists") {
			return nil
		}
		return err
	}
	if err := made(s.make(ctx, s.index(), m)); err != nil {
		return err
	}
	return made(s.client.Call(ctx, "PUT", "/"+s.dictionaryName(), s.dictionary(), nil))
}

// These are the default numbers of shards and replicas of a new index, if the cluster has several data nodes.
const (
	usualShards   = 3
	usualReplicas = 1
)

// chooseParts sets the numbers of shards and replicas of a new index, if the options do not.
func (s *Store) chooseParts(ctx context.Context) error {
	if s.o.Shards > 0 && s.o.Replicas != 0 {
		return nil
	}
	var health struct {
		Nodes int `json:"number_of_data_nodes"`
	}
	err := s.client.Call(ctx, "GET", "/_cluster/health?filter_path=number_of_data_nodes", nil, &health)
	if errors.Is(err, sheaf.ErrInvalid) {
		return nil // without the right to ask, the settings of one node apply
	}
	if err != nil || health.Nodes < 2 {
		return err
	}
	if s.o.Shards == 0 {
		s.o.Shards = usualShards
	}
	if s.o.Replicas == 0 {
		s.o.Replicas = usualReplicas
	}
	return nil
}

// VectorsInSource is a setting of an index in Elasticsearch 9.2 and newer. If the setting is missing, the server
// returns rounded vectors, and only on request. Older versions refuse the setting and do not need it.
const VectorsInSource = "mapping.exclude_source_vectors"

// make creates an index with the store's mapping.
func (s *Store) make(ctx context.Context, name string, m meta) error {
	body := s.mapping(m)
	err := s.client.Call(ctx, "PUT", "/"+name, body, nil)
	if err != nil && strings.Contains(err.Error(), "unknown setting [index."+VectorsInSource+"]") {
		delete(body["settings"].(object)["index"].(object), VectorsInSource)
		err = s.client.Call(ctx, "PUT", "/"+name, body, nil)
	}
	return err
}

// Bodies returns the bodies of the requests that create the index and its dictionary, by name. An administrator can
// send the requests; Open accepts the two indices as a store. Elasticsearch before 9.2 refuses the setting
// VectorsInSource: remove it from the body.
func (o Options) Bodies() (map[string]any, error) {
	if err := o.prepare(); err != nil {
		return nil, err
	}
	s := &Store{o: o}
	return map[string]any{
		o.Index:            s.mapping(o.meta(o.Vectors)),
		o.Index + "-terms": s.dictionary(),
	}, nil
}

// dictionary returns the body that creates the dictionary: an index of terms. Its _meta has the key "sheaf_terms". The
// _meta of an index of chunks has the key "sheaf". So no store opens a dictionary as an index of chunks.
func (s *Store) dictionary() object {
	return object{
		"settings": object{"index": object{"number_of_shards": 1, "number_of_replicas": max(s.o.Replicas, 0),
			"refresh_interval": "-1", "max_result_window": maxTerms}},
		"mappings": object{"dynamic": "strict", "_meta": object{"sheaf_terms": object{"version": version}},
			"_source": object{"enabled": false}, "properties": object{"t": object{"type": "keyword"}}},
	}
}

// mapping returns the body that creates the index: its settings and its mapping.
func (s *Store) mapping(m meta) object {
	settings := object{
		"number_of_shards": max(s.o.Shards, 1), "number_of_replicas": max(s.o.Replicas, 0),
		"refresh_interval":  "-1", // a write refreshes at its end, so the whole batch appears at once
		"max_result_window": store.MaxLimit, "max_terms_count": 1_000_000, "max_inner_result_window": 100,
		"mapping.nested_objects.limit": 1_000_000, // a text of 2 MB has more passages than the default, 10,000
		"similarity": object{"bm25": object{"type": "BM25", "k1": m.K1, "b": m.B,
			"discount_overlaps": false}},
		"analysis": object{
			"tokenizer": object{"places": object{"type": "char_group", "tokenize_on_chars": []string{betweenPlaces},
				"max_token_length": 1_000_000}},
			"filter": object{
				"terms": object{"type": "pattern_capture", "preserve_original": false,
					"patterns": []string{"([^" + betweenTerms + "]+)"}},
				"gaps": object{"type": "stop", "stopwords": []string{betweenTerms}},
			},
			"analyzer": object{"terms": object{"type": "custom", "tokenizer": "places", "filter": []string{"terms", "gaps"}}},
		},
	}
	properties := object{
		"id": object{"type": "keyword"}, "doc": object{"type": "keyword", "eager_global_ordinals": false},
		"c": object{"type": "keyword"},
		"t": object{"type": "object", "dynamic": true}, "f": object{"type": "object", "dynamic": true},
		"text": object{"type": "object", "enabled": false},
	}
	for _, v := range m.Vectors {
		properties[vectorPath(v.Name)] = s.vectorMapping(v.Dims)
	}
	if s.o.Dialect == OpenSearch {
		settings["knn"] = true
	} else {
		settings[VectorsInSource] = false
	}
	text := func(positions string) object {
		return object{"type": "text", "analyzer": "terms", "similarity": "bm25", "index_options": positions}
	}
	return object{
		"settings": object{"index": settings},
		"mappings": object{
			"dynamic": "strict", "_meta": object{"sheaf": m},
			// The store can compute terms again from the texts.
			"_source": object{"excludes": []string{"t", "f"}},
			"dynamic_templates": []object{
				{"terms": object{"path_match": "t.*", "mapping": text("positions")}},
				{"forms": object{"path_match": "f.*", "mapping": text("freqs")}},
			},
			"properties": properties,
		},
	}
}

func vectorPath(field string) string { return "v_" + plainField(field) }

// vectorMapping returns the mapping of a list of passages. Lucene stores each passage as a document.
func (s *Store) vectorMapping(dims int) object {
	p := object{"type": "dense_vector", "dims": dims, "index": true, "similarity": "cosine",
		"index_options": object{"type": "flat"}}
	if s.o.HNSW {
		p["index_options"] = object{"type": "hnsw", "m": 16, "ef_construction": 100}
	}
	if s.o.Dialect == OpenSearch {
		// The engine must be named: the default engine needs a native library.
		p = object{"type": "knn_vector", "dimension": dims,
			"method": object{"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil",
				"parameters": object{"m": 16, "ef_construction": 100}}}
	}
	return object{"type": "nested", "properties": object{"p": p}}
}

// verify reads the settings of the existing index, and fails if they do not fit the options.
func (s *Store) verify(ctx context.Context) error {
	index, m, err := s.ourIndex(ctx)
	if err != nil {
		return err
	}
	if err := s.compare(m); err != nil {
		return err
	}
	if err := s.askSettings(ctx); err != nil {
		return err
	}
	s.vectors.Set(m.Vectors)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range m.Vectors {
		options, _ := index.Mappings.Properties[vectorPath(v.Name)].Properties.P.Options.(object)
		s.flat[v.Name] = options["type"] == "flat"
	}
	return nil
}

func (s *Store) compare(m meta) error {
	err := s.o.Opens(m.Made, m.Version, version, "index")
	for _, have := range m.Vectors {
		for _, want := range s.o.Vectors {
			if err == nil && s.o.Access != store.ListOnly {
				err = have.Same(want, "index")
			}
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", s.o.Dialect, s.index(), err)
	}
	return nil
}

// addVectors adds the mapping of a vector field to the index.
func (s *Store) addVectors(ctx context.Context, v store.VectorField) error {
	m := s.o.meta(append(s.vectors.All(), v))
	err := s.client.Call(ctx, "PUT", "/"+s.index()+"/_mapping",
		object{"_meta": object{"sheaf": m}, "properties": object{vectorPath(v.Name): s.vectorMapping(v.Dims)}}, nil)
	if err != nil {
		return fmt.Errorf("add vector field %q of %d dimensions: %w", v.Name, v.Dims, err)
	}
	s.vectors.Add(v)
	s.mu.Lock()
	s.flat[v.Name] = s.o.Dialect == Elasticsearch && !s.o.HNSW
	s.mu.Unlock()
	return nil
}

// Drop removes an index and its dictionary. A missing index is not an error. If the index or its dictionary is foreign,
// Drop fails with sheaf.ErrInvalid and removes nothing.
func Drop(ctx context.Context, o Options) error {
	s := &Store{o: o, client: newClient(o)}
	defer s.client.HTTP.CloseIdleConnections()
	if _, _, err := s.ourIndex(ctx); err != nil && !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	if err := s.ourDictionary(ctx); err != nil && !errors.Is(err, sheaf.ErrNotFound) {
		return err
	}
	for _, name := range []string{o.Index, o.Index + "-terms"} {
		if err := s.client.Call(ctx, "DELETE", "/"+name, nil, nil); err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return err
		}
	}
	return nil
}
