package opensearch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storetest"
)

// TestShards checks that an index of three shards with a replica ranks like one shard. It sends single requests,
// requests together, and joined branches.
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
		must.Do(t, b.Write(t.Context(), store.Batch{Chunks: chunks}))
		again := o
		again.Shards, again.Replicas = 0, 0
		b = s.Open(t, again) // opens without the option, so the store asks the server
		defer b.Close()
		check.Equal(t, b.(store.Sharded).Shards(), shards, "shards")
		for _, req := range reqs {
			alone[i] = append(alone[i], must.Get(b.Retrieve(t.Context(), req)))
		}
		together[i] = must.Get(b.(store.Batcher).RetrieveAll(t.Context(), reqs))
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
