package http_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
)

// TestConcurrentAnswers checks that concurrent requests get the same bytes as a request alone, with
// the cache and without.
func TestConcurrentAnswers(t *testing.T) {
	var bodies []string
	for _, profile := range []string{"sheaf", "rrf", "bench", "tree"} {
		for _, query := range append([]string{"nowhere to be found xyzzy", `"lose nothing" -crash`},
			collectiontest.Asked...) {
			for _, limit := range []int{2, 20} {
				bodies = append(bodies, fmt.Sprintf(`{"query": %q, "profile": %q, "limit": %d, "window": %d}`, query, profile,
					limit, limit))
			}
		}
	}
	alone := start(t, collectiontest.Documentation(t), nil)
	want := map[string]string{}
	for _, body := range bodies {
		res, answer := alone.ask(t, "POST", "/v1/search", body)
		if res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", body, res.StatusCode, answer)
		}
		want[body] = string(answer)
	}
	for _, remember := range []int64{-1, 0} {
		o := alone.fixture.Options
		o.CacheBytes = remember
		c, err := collection.New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		s := startOf(t, &collectiontest.Fixture{Collection: c}, nil)
		var wg sync.WaitGroup
		for seed := range uint64(6) {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 0))
				for range 60 {
					body := bodies[rng.IntN(len(bodies))]
					if _, answer := s.ask(t, "POST", "/v1/search", body); string(answer) != want[body] {
						t.Errorf("remembering %d, %s is answered\n%s, alone\n%s", remember, body, answer, want[body])
						return
					}
				}
			})
		}
		wg.Wait()
	}
}
