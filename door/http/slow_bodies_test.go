package http_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection/access"
	httpdoor "sheaf/door/http"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestSlowBodies checks that clients which send bodies slowly or never do not block other clients.
func TestSlowBodies(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) {
		o.Limits = httpdoor.Limits{Body: 32 << 10, IngestBody: 32 << 10, Bodies: 64 << 10}
	})
	for _, head := range []string{"Transfer-Encoding: chunked\r\n", fmt.Sprintf("Content-Length: %d\r\n", 32<<10)} {
		for range 4 {
			conn := must.Get(net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")))
			defer conn.Close()
			fmt.Fprintf(conn, "PUT /v1/documents/api:a.md HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
				"application/json\r\nExpect: 100-continue\r\n%s\r\n", head)
			// the server reads the body now
			line, err := bufio.NewReader(conn).ReadString('\n')
			must.That(t, err == nil && strings.Contains(line, " 100 "), "%q: %q %v", head, line, err)
		}
		s.want(t, 200, "POST", "/v1/search", `{"query": "undo"}`)
	}
}

// TestSlowAndEndlessBodies checks that slow bodies hold no slot, and that the server stops endless bodies.
func TestSlowAndEndlessBodies(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) { o.Limits = httpdoor.Limits{Running: 1, Patience: time.Minute} })
	slow, done := io.Pipe()
	go func() {
		req, err := http.NewRequest("POST", s.URL+"/v1/search", slow)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		if res, err := s.Client().Do(req); err == nil {
			res.Body.Close()
		}
	}()
	must.Get(done.Write([]byte(`{"query": `)))
	s.want(t, 200, "GET", "/v1/search?query=undo", "")
	done.CloseWithError(io.ErrClosedPipe)
	req := must.Get(http.NewRequest("POST", s.URL+"/v1/search", io.LimitReader(endless{}, 8<<20)))
	req.Header.Set("Content-Type", "application/json")
	res, err := s.Client().Do(req)
	if err != nil {
		return // the server may close the connection
	}
	defer res.Body.Close()
	check.Equal(t, res.StatusCode, 413, "an endless body")
}

// TestBodiesOfOtherDoors checks that bodies for other doors use the shared limit, and release it.
func TestBodiesOfOtherDoors(t *testing.T) {
	s := start(t, notes, func(o *httpdoor.Options) { o.Limits = httpdoor.Limits{Bodies: 64 << 10} })
	has, free := make(chan struct{}), make(chan struct{})
	door := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			check.Is(t, err, sheaf.ErrUnavailable, "a slow body")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		has <- struct{}{}
		<-free
	})
	s.api.Mount("/door", "", func(access.Grant, httpdoor.Admit) http.Handler { return door })
	body, done := strings.Repeat("x", 48<<10), make(chan struct{})
	go func() {
		defer close(done)
		s.ask(t, "POST", "/door", body)
	}()
	<-has
	s.want(t, 503, "POST", "/door", body)
	close(free)
	<-done
	go func() { <-has }()
	s.want(t, 200, "POST", "/door", body)
}

type endless struct{}

// Read implements io.Reader.
func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '['
	}
	return len(b), nil
}
