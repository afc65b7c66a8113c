package http

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/sync/semaphore"
)

// Bodies take together what came of them, and no more than they may have; small ones nothing.
func TestReadAtOnce(t *testing.T) {
	l := Limits{Bodies: 64 << 10}
	l.defaults(false)
	a := &API{o: Options{Limits: l}, bodies: semaphore.NewWeighted(l.Bodies)}
	r := searchRoutes()[1]
	read := func(body io.Reader) (func(), error) {
		c := &call{api: a, request: httptest.NewRequest("POST", "/v1/search", body)}
		c.request.Header.Set("Content-Type", "application/json")
		return a.readBody(c, r)
	}
	of := func(n int) io.Reader { return strings.NewReader(strings.Repeat(" ", n)) }
	free, err := read(of(60 << 10))
	if err != nil {
		t.Fatal(err)
	}
	slow, send := io.Pipe() // another one, of which a part came
	done := make(chan error)
	go func() {
		_, err := read(slow)
		_ = slow.Close()
		done <- err
	}()
	_, _ = send.Write(make([]byte, smallBody))
	for n, status := range map[int]int{30 << 10: http.StatusServiceUnavailable, smallBody: http.StatusOK} {
		free, err := read(of(n))
		var p *Problem
		switch {
		case err == nil && status == http.StatusOK:
			free()
		case !errors.As(err, &p) || p.Status != status:
			t.Errorf("%d bytes: %v, want %d", n, err, status)
		}
	}
	_, _ = send.Write(make([]byte, 30<<10))
	var p *Problem
	if err := <-done; !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable {
		t.Errorf("one that is sent slowly takes more than there is: %v", err)
	}
	free()
	if free, err = read(of(60 << 10)); err != nil {
		t.Fatal(err)
	}
	free()
	if _, err := read(io.MultiReader(of(60<<10), &broken{})); !errors.As(err, &p) || p.Status != http.StatusBadRequest {
		t.Errorf("one that ends too early: %v", err)
	}
	if !a.bodies.TryAcquire(l.Bodies) {
		t.Error("a share was not given back")
	}
}

// broken is a connection that ends.
type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
