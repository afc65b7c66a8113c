package weaviate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// Examine checks a server and the class of a store. It tests rights with a second, empty class, which it removes.
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
		return []store.Finding{{Check: "connection", Err: askServer(err)}}
	}
	out := []store.Finding{
		storekit.Connected(began), {Check: "version", Found: "weaviate " + about.Version}, s.examineClock(ctx),
	}
	probe := &Store{o: o, client: s.client}
	probe.o.Class = fmt.Sprintf("%s_probe_%d", o.Class, time.Now().UnixNano())
	err := s.client.Probe(ctx, "/v1/schema/"+probe.o.Class, func() error { return probe.create(ctx) })
	out = append(out, storekit.Finding("rights", "a class can be made", err))
	check := "class " + o.Class
	switch err := s.verify(ctx); {
	case errors.Is(err, sheaf.ErrNotFound):
		return append(out, storekit.Finding(check, "not made yet", nil))
	case err != nil:
		return append(out, storekit.Finding(check, "", err))
	}
	n, err := s.count(ctx, o.Class, everything)
	return append(out, storekit.Chunks(check, n, err))
}

func (s *Store) examineClock(ctx context.Context) store.Finding {
	skew, err := s.client.Clock(ctx, "/v1/meta")
	out := store.Finding{Check: "clock", Found: fmt.Sprintf("differs by about %v", skew.Round(time.Second))}
	switch {
	case errors.Is(err, sheaf.ErrUnsupported):
		out.Found = storekit.NotTold
	case err != nil:
		out.Found, out.Err = "", err
	case skew > store.MaxSkew:
		out.Err = fmt.Errorf("weaviate: %w: the clocks differ by more than %v: set both from the network", sheaf.ErrInvalid,
			store.MaxSkew)
	}
	return out
}
