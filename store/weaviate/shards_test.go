package weaviate_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

// TestShards checks that a class of three shards, made by hand, finds the same chunks as one shard. The store must
// return the number of shards. Scores by words may differ, because each shard counts words alone.
func TestShards(t *testing.T) {
	var chunks []store.Chunk
	for i := range 60 {
		text := "heron"
		if i%7 == 0 {
			text += " kite"
		}
		c := storetest.Chunk(fmt.Sprintf("t:%d.md", i), "body", text)
		c.Vectors = []store.Vectors{{Name: store.VectorBody,
			Passages: [][]float32{{float32(math.Cos(float64(i))), float32(math.Sin(float64(i)))}}}}
		chunks = append(chunks, c)
	}
	near := store.Request{Limit: 10, Vector: &store.VectorRequest{Field: store.VectorBody, Vector: []float32{1, 0}}}
	kites := storetest.Words(sheaf.Match{Text: "kite"})
	var words [2]map[sheaf.ID]float64
	var meaning [2]sheaf.Ranking
	for n, shards := range []int{1, 3} {
		o := options(t)
		o.Vectors = []store.VectorField{{Name: store.VectorBody, Dims: 2}}
		makeSharded(t, o, shards)
		b := stores().Open(t, o)
		defer b.Close()
		check.Equal(t, b.(store.Sharded).Shards(), shards, "shards of a class")
		must.Do(t, b.Write(t.Context(), store.Batch{Chunks: chunks}))
		found, err := b.Retrieve(t.Context(), kites)
		must.Do(t, err)
		words[n] = map[sheaf.ID]float64{}
		for _, h := range found {
			words[n][h.ID] = h.Score
		}
		meaning[n] = must.Get(b.Retrieve(t.Context(), near))
		stats, err := b.(store.Reporter).Stats(t.Context())
		check.That(t, err == nil && stats.Chunks == 60 && stats.Vectors == 60, "%d shards: %+v, %v", shards, stats, err)
		must.Do(t, b.Write(t.Context(), store.Batch{Replace: []sheaf.ID{"t:0.md", "t:1.md", "t:2.md", "t:3.md"}}))
		count, err := b.(store.Counter).Count(t.Context(), storetest.Words(sheaf.Match{Text: "heron"}))
		check.That(t, err == nil && count == 56, "%d shards: %d chunks after a deletion, %v", shards, count, err)
	}
	differ := 0
	for id, score := range words[0] {
		other, ok := words[1][id]
		check.That(t, ok, "three shards do not find %s", id)
		if math.Abs(other-score) > 1e-5*score {
			differ++
		}
	}
	check.That(t, len(words[0]) == 9 && len(words[1]) == 9 && differ != 0,
		"one shard finds %v, three find %v: %d scores differ", words[0], words[1], differ)
	for i := range meaning[0] {
		must.That(t, len(meaning[0]) == 10 && len(meaning[1]) == 10 && meaning[0][i].ID == meaning[1][i].ID,
			"by meaning one shard finds %v, three find %v", meaning[0], meaning[1])
	}
}

// makeSharded makes the classes of a store by hand, each with the given number of shards.
func makeSharded(t *testing.T, o weaviate.Options, shards int) {
	t.Helper()
	bodies := must.Get(o.Bodies())
	for _, body := range bodies {
		body["shardingConfig"] = map[string]any{"desiredCount": shards}
		data := must.Get(json.Marshal(body))
		ask(t, o, http.MethodPost, "/v1/schema", string(data))
	}
}
