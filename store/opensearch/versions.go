package opensearch

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sheaf"
)

// multipliesScores reports whether the server multiplies word scores by k1+1. Elasticsearch multiplies them. OpenSearch
// before version 3 does too, no matter which version made the index.
func (s *Store) multipliesScores() bool {
	if s.o.Dialect == Elasticsearch {
		return true
	}
	version := s.server.version.Load()
	if version == 0 {
		version = s.made.version.Load() // the server is at least as new
	}
	return version > 0 && version < 300
}

// cosine converts a score of the server to the cosine similarity. If OpenSearch before 2.19 made the index, the script
// of the plug-in returns 1+cos, even on a newer server. Otherwise the score is (1+cos)/2.
func (s *Store) cosine(score float64) float64 {
	version := s.made.version.Load()
	if s.o.Dialect == OpenSearch && !s.o.HNSW && version > 0 && version < 219 {
		return score - 1
	}
	return 2*score - 1
}

// askSettings reads the number of shards, and the version of the server that made the index.
func (s *Store) askSettings(ctx context.Context) error {
	const made, shards = "index.version.created", "index.number_of_shards"
	var found map[string]struct{ Settings map[string]string }
	err := s.client.Call(ctx, "GET", fmt.Sprintf("/%s/_settings/%s,%s?flat_settings=true", s.index(), made, shards), nil,
		&found)
	if errors.Is(err, sheaf.ErrInvalid) {
		s.made.shards.Store(unknownShards) // without the right to ask, the index counts as new
		return nil
	}
	for _, index := range found {
		if n, err := strconv.Atoi(index.Settings[made]); err == nil && s.o.Dialect == OpenSearch {
			s.made.version.Store(int64(n^1<<27) / 10_000) // this bit separates OpenSearch's versions from Elasticsearch's
		}
		if n, err := strconv.Atoi(index.Settings[shards]); err == nil {
			s.made.shards.Store(int64(n))
		}
	}
	return err
}

// unknownShards means that the server did not say how many shards the index has.
const unknownShards = -1

// searching returns the path of a search request; what is its last part, such as "_search". Each shard counts words
// separately. If the index has several shards, the path asks the server to add up their counts first.
func (s *Store) searching(what string) string {
	path := "/" + s.index() + "/" + what
	if s.severalShards() {
		path += "?search_type=dfs_query_then_fetch"
	}
	return path
}

// severalShards reports whether the index may have more than one shard.
func (s *Store) severalShards() bool {
	n := s.made.shards.Load()
	return n > 1 || n == unknownShards
}

// Shards implements [store.Sharded].
func (s *Store) Shards() int { return int(max(s.made.shards.Load(), 0)) }
