package vespa

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Examine checks a server and its schema. It tests rights with a temporary document beside the store's record.
func Examine(ctx context.Context, o Options) []store.Finding {
	if err := o.prepare(); err != nil {
		return []store.Finding{{Check: "settings", Err: err}}
	}
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	s := newStore(o)
	began := time.Now()
	schema := store.Finding{Check: "schema " + o.Schema}
	err := s.verify(ctx)
	var refused *refusal
	if err != nil && !errors.As(err, &refused) && errors.Is(err, sheaf.ErrUnavailable) ||
		errors.As(err, &refused) && (refused.status == http.StatusUnauthorized || refused.status == http.StatusForbidden ||
			refused.status >= 500) {
		return []store.Finding{{Check: "connection", Err: err}}
	}
	out := []store.Finding{storekit.Connected(began)}
	out = append(out, s.version(ctx)...)
	switch {
	case errors.Is(err, errEmpty):
		schema.Found = "deployed, nothing written yet"
	case err != nil:
		schema.Err = err
		return append(out, schema)
	default:
		stats, err := s.Stats(ctx)
		schema.Found, schema.Err = fmt.Sprintf("%d chunks, %d vectors, analyzer, k1, b and models as configured",
			stats.Chunks, stats.Vectors), err
	}
	profiles := storekit.Finding("rank profiles", "as configured", s.verifySchema(ctx))
	probe := fmt.Sprintf("%s_probe_%d", s.aboutPath(), time.Now().UnixNano())
	err = s.client.Probe(ctx, probe, func() error {
		return s.client.Call(ctx, "POST", probe, object{"fields": object{"about": ""}}, nil)
	})
	return append(out, schema, profiles, storekit.Finding("rights", "documents can be written", err))
}

// version returns a finding with the container's version. If the container does not say, it returns none.
func (s *Store) version(ctx context.Context) []store.Finding {
	var about struct {
		Application struct {
			Vespa struct{ Version string }
		}
	}
	if err := s.client.Call(ctx, "GET", "/ApplicationStatus", nil, &about); err != nil ||
		about.Application.Vespa.Version == "" {
		return nil
	}
	return []store.Finding{{Check: "version", Found: "vespa " + about.Application.Vespa.Version}}
}
