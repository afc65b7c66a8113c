package storekit

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// Hosts is a transport to a server with several addresses. Callers send requests to the first element of Hosts. Each
// such request goes to the host that answered last or, if this host does not answer, to the next. Requests to other
// addresses stay unchanged. Hosts is safe for concurrent use.
type Hosts struct {
	Transport *http.Transport
	// Hosts are names or addresses with ports, at least one.
	Hosts []string

	last atomic.Int64 // index of the host that answered last
}

// RoundTrip implements http.RoundTripper. It may send a request to several hosts, one after the other.
func (h *Hosts) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host != h.Hosts[0] {
		return h.Transport.RoundTrip(req)
	}
	if req.Body != nil {
		defer req.Body.Close()
	}
	first := int(h.last.Load())
	var last error
	for n := range h.Hosts {
		i := (first + n) % len(h.Hosts)
		one := req.Clone(req.Context())
		one.URL.Host, one.Host = h.Hosts[i], ""
		if req.GetBody != nil {
			var err error
			if one.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
		resp, err := h.Transport.RoundTrip(one)
		switch {
		case err == nil && (n == len(h.Hosts)-1 || !proxyAway(resp.StatusCode)):
			h.last.Store(int64(i))
			return resp, nil
		case err == nil:
			_ = resp.Body.Close()
			continue
		case req.Context().Err() != nil:
			return nil, err
		}
		last = err
	}
	return nil, fmt.Errorf("none of %s answers: %w", strings.Join(h.Hosts, ", "), last)
}

// proxyAway reports whether a proxy sends this status when it cannot reach its server.
func proxyAway(status int) bool {
	return slices.Contains([]int{http.StatusBadGateway, http.StatusGatewayTimeout}, status)
}

// CloseIdleConnections closes idle connections. http.Client.CloseIdleConnections calls it.
func (h *Hosts) CloseIdleConnections() { h.Transport.CloseIdleConnections() }
