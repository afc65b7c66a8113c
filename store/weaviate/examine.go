package weaviate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
	"sheaf/store"
)

// Examine checks a server and its class. It creates an empty class beside it and removes it again,
// which tests rights.
func Examine(ctx context.Context, o Options) []store.Finding {
	if err := o.prepare(); err != nil {
		return []store.Finding{{Check: "settings", Err: err}}
	}
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	s := &Store{o: o, client: newClient(o)}
	var about struct{ Version string }
	began := time.Now()
	if err := s.client.Call(ctx, "GET", "/v1/meta", nil, &about); err != nil {
		return []store.Finding{{Check: "connection", Err: other(err)}}
	}
	out := []store.Finding{
		{Check: "connection", Found: fmt.Sprintf("in %v", time.Since(began).Round(time.Millisecond))},
		{Check: "version", Found: "weaviate " + about.Version},
	}
	out = append(out, s.examineClock(ctx))
	making := store.Finding{Check: "rights", Found: "a class can be made"}
	probe := &Store{o: o, client: s.client}
	probe.o.Class = fmt.Sprintf("%s_probe_%d", o.Class, time.Now().UnixNano())
	if err := s.client.Probe(ctx, "/v1/schema/"+probe.o.Class, func() error { return probe.create(ctx) }); err != nil {
		making.Found, making.Err = "", err
	}
	out = append(out, making)
	class := store.Finding{Check: "class " + o.Class, Found: "not made yet"}
	switch err := s.verify(ctx); {
	case errors.Is(err, sheaf.ErrNotFound):
	case err != nil:
		class.Found, class.Err = "", err
	default:
		n, err := s.count(ctx, every(o.Class))
		class.Found, class.Err = fmt.Sprintf("%d chunks, analyzer, k1, b and models as configured", n), err
	}
	return append(out, class)
}

func (s *Store) examineClock(ctx context.Context) store.Finding {
	skew, err := s.client.Clock(ctx, "/v1/meta")
	out := store.Finding{Check: "clock", Found: fmt.Sprintf("differs by about %v", skew.Round(time.Second))}
	switch {
	case errors.Is(err, sheaf.ErrUnsupported):
		out.Found = "not told"
	case err != nil:
		out.Found, out.Err = "", err
	case skew > store.MaxSkew:
		out.Err = fmt.Errorf("weaviate: %w: the clocks differ by more than %v: set both from the network", sheaf.ErrInvalid,
			store.MaxSkew)
	}
	return out
}
