package opensearch_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

// TestShards checks that an index of three shards with a replica ranks like an index of one shard:
// for single requests, for requests together, and when the server joins branches.
func TestShards(t *testing.T) { each(t, testShards) }

func testShards(t *testing.T, s *storetest.Stores[opensearch.Options]) {
	var chunks []store.Chunk
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("heron kite crane ibis stork egret spoonbill bittern")
	for i := range 60 {
		var text []string
		for n, word := range words { // later words are rarer
			if random.IntN(n+1) == 0 {
				text = append(text, slices.Repeat([]string{word}, 1+random.IntN(3))...)
			}
		}
		doc := sheaf.ID(fmt.Sprintf("t:%d.md", i))
		chunks = append(chunks, store.Chunk{ID: doc, Doc: doc,
			Fields: []store.Field{{Name: sheaf.FieldBody, Text: strings.Join(text, " ")}},
			Vectors: []store.Vectors{{Name: store.VectorBody,
				Passages: [][]float32{{float32(math.Cos(float64(i))), float32(math.Sin(float64(i)))}}}}})
	}
	var reqs []store.Request
	for _, word := range words {
		reqs = append(reqs, store.Request{Limit: 20,
			Text: &store.TextRequest{Query: sheaf.Match{Text: word + " heron"}, K1: store.DefaultK1, B: store.DefaultB,
				Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}})
	}
	var alone, together [2][]sheaf.Ranking
	for i, shards := range []int{1, 3} {
		o := s.New(t)
		o.Shards, o.Replicas = shards, 1
		b := s.Open(t, o)
		defer b.Close()
		if err := b.Write(t.Context(), store.Batch{Chunks: chunks}); err != nil {
			t.Fatal(err)
		}
		again := o
		again.Shards, again.Replicas = 0, 0
		b = s.Open(t, again) // opens without the option, so the store asks the server
		defer b.Close()
		if n := b.(store.Sharded).Shards(); n != shards {
			t.Errorf("the index has %d shards, the store says %d", shards, n)
		}
		for _, req := range reqs {
			alone[i] = append(alone[i], must(b.Retrieve(t.Context(), req)))
		}
		together[i] = must(b.(store.Batcher).RetrieveAll(t.Context(), reqs))
	}
	same := func(what string, got, want sheaf.Ranking) {
		t.Helper()
		if len(got) != len(want) || len(want) == 0 {
			t.Errorf("%s: %d hits, want %d", what, len(got), len(want))
			return
		}
		for i := range want {
			if got[i].ID != want[i].ID || math.Abs(got[i].Score-want[i].Score) > 1e-5*want[i].Score {
				t.Errorf("%s: hit %d is %s %v, with one shard %s %v", what, i, got[i].ID, got[i].Score, want[i].ID, want[i].Score)
				return
			}
		}
	}
	for i := range reqs {
		same("alone", alone[1][i], alone[0][i])
		same("together", together[1][i], alone[0][i])
		same("one shard, together", together[0][i], alone[0][i])
	}
}

// TestShardsAndReplicasOfNewIndex checks the shards and replicas of a new index: as the options say, or else three
// shards and one replica in a cluster of several nodes.
func TestShardsAndReplicasOfNewIndex(t *testing.T) {
	for _, c := range []struct{ nodes, shards, replicas, wantShards, wantReplicas int }{
		{1, 0, 0, 1, 0}, {3, 0, 0, 3, 1}, {3, 5, 0, 5, 1}, {3, 0, 2, 3, 2}, {3, 1, opensearch.NoReplicas, 1, 0},
		{1, 2, 1, 2, 1}, {0, 0, 0, 1, 0},
	} {
		var shards, replicas int
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/_cluster/health" && c.nodes == 0:
				http.Error(w, `{"error":{"type":"security_exception","reason":"no permissions"}}`, http.StatusForbidden)
			case r.URL.Path == "/_cluster/health":
				fmt.Fprintf(w, `{"number_of_data_nodes":%d}`, c.nodes)
			case r.Method == "PUT" && r.URL.Path == "/birds":
				var body struct {
					Settings struct {
						Index struct {
							Shards   int `json:"number_of_shards"`
							Replicas int `json:"number_of_replicas"`
						}
					}
				}
				data, _ := io.ReadAll(r.Body)
				if err := json.Unmarshal(data, &body); err != nil {
					t.Error(err)
				}
				shards, replicas = body.Settings.Index.Shards, body.Settings.Index.Replicas
				fmt.Fprint(w, `{"acknowledged":true}`)
			case r.Method == "PUT":
				fmt.Fprint(w, `{"acknowledged":true}`)
			case strings.HasPrefix(r.URL.Path, "/birds"):
				http.Error(w, `{"error":{"type":"index_not_found_exception","reason":"no such index"}}`, http.StatusNotFound)
			default:
				fmt.Fprint(w, `{}`)
			}
		}))
		_, err := opensearch.Open(t.Context(),
			opensearch.Options{Options: storekit.Options{URL: server.URL, Analyzer: storetest.Analyzer(t, "en")},
				Dialect: opensearch.Elasticsearch, Index: "birds", Shards: c.shards, Replicas: c.replicas})
		server.Close()
		if shards != c.wantShards || replicas != c.wantReplicas {
			t.Errorf("%+v: %d shards and %d replicas (%v)", c, shards, replicas, err)
		}
	}
}
