package elastic

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sheaf"
)

// multiplied reports whether the server multiplies scores of words by k1+1, as
// Elasticsearch does, and OpenSearch before version 3 whatever made the index.
func (s *Store) multiplied() bool {
	if s.o.Dialect == Elasticsearch {
		return true
	}
	version := s.serverIs.Load()
	if version == 0 {
		version = s.indexIs.Load() // the server is at least as new
	}
	return version > 0 && version < 300
}

// cosine is the similarity that a score of the server's stands for. The script of the
// plug-in says 1+cos for an index that OpenSearch before 2.19 made, also when a newer one
// has it now; every other comparison (1+cos)/2.
func (s *Store) cosine(score float64) float64 {
	version := s.indexIs.Load()
	if s.o.Dialect == OpenSearch && !s.o.HNSW && version > 0 && version < 219 {
		return score - 1
	}
	return 2*score - 1
}

// askMade asks which version of OpenSearch made the index.
func (s *Store) askMade(ctx context.Context) error {
	const setting = "index.version.created"
	var found map[string]struct{ Settings map[string]string }
	err := s.client.Call(ctx, "GET", fmt.Sprintf("/%s/_settings/%s?flat_settings=true", s.o.Index, setting), nil, &found)
	if errors.Is(err, sheaf.ErrInvalid) {
		return nil // without the right to ask, it is taken for a new one
	}
	for _, index := range found {
		if n, err := strconv.Atoi(index.Settings[setting]); err == nil {
			s.indexIs.Store(int64(n^1<<27) / 10_000) // that bit tells OpenSearch's versions from Elasticsearch's
		}
	}
	return err
}
