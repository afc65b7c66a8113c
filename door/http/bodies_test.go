package http

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/vfs"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestReceivedBytesCountAgainstBodies checks that bodies count with their received bytes against Bodies, and small
// bodies not.
func TestReceivedBytesCountAgainstBodies(t *testing.T) {
	l := Limits{Bodies: 64 << 10}
	must.Do(t, l.complete(false))
	a := &API{o: Options{Limits: l}, bodies: semaphore.NewWeighted(l.Bodies)}
	r := searchRoutes()[1]
	read := func(body io.Reader) (func(), error) {
		c := &call{api: a, request: httptest.NewRequest("POST", "/v1/search", body)}
		c.request.Header.Set("Content-Type", "application/json")
		return a.readBody(c, r)
	}
	of := func(n int) io.Reader { return strings.NewReader(strings.Repeat(" ", n)) }
	free := must.Get(read(of(60 << 10)))
	slow, send := io.Pipe() // another body, only partly received
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
	free = must.Get(read(of(60 << 10)))
	free()
	_, err := read(io.MultiReader(of(60<<10), &broken{}))
	check.That(t, errors.As(err, &p) && p.Status == http.StatusBadRequest, "one that ends too early: %v", err)
	check.That(t, a.bodies.TryAcquire(l.Bodies), "a share was not given back")
}

// broken is a connection that fails.
type broken struct{}

func (*broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// valuesOf counts the values and names of parsed JSON.
func valuesOf(in any) int64 {
	n := int64(1)
	switch in := in.(type) {
	case []any:
		for _, v := range in {
			n += valuesOf(v)
		}
	case *object:
		for _, v := range in.values {
			n += 1 + valuesOf(v)
		}
	}
	return n
}

// TestMaxValues checks that MaxValues is never too low, and exact for plain values.
func TestMaxValues(t *testing.T) {
	const parts = "[]{},:\"\\01 a"
	random := rand.New(rand.NewPCG(1, 2))
	read := 0
	for range 300_000 {
		var b bytes.Buffer
		for range 1 + random.IntN(9) {
			b.WriteByte(parts[random.IntN(len(parts))])
		}
		var list faults
		in, ok := parseJSON(b.Bytes(), &list)
		if !ok {
			continue
		}
		read++
		if got, least := collection.MaxValues(b.Bytes()), valuesOf(in); got < least {
			t.Fatalf("%s: at most %d values, and it has %d", b.Bytes(), got, least)
		}
	}
	check.That(t, read >= 1000, "%d texts were JSON: too few to tell", read)
	for text, want := range map[string]int64{`[1,2,{"a,b":"\\"}]`: 6, `","`: 1, `"\",[`: 1} {
		got := collection.MaxValues([]byte(text))
		check.That(t, got == want, "%s: at most %d values, want %d", text, got, want)
	}
}

// TestBodyWithTooManyValues checks that a body with too many values is refused, and that others share the memory.
func TestBodyWithTooManyValues(t *testing.T) {
	l := Limits{Bodies: 1 << 20, Patience: 200 * time.Millisecond}
	must.Do(t, l.complete(false))
	a := &API{o: Options{Limits: l}, values: semaphore.NewWeighted(l.Bodies)}
	r := searchRoutes()[1]
	parse := func(n int) error {
		body := `{"query": "x", "facets": [` + strings.TrimSuffix(strings.Repeat("[],", n), ",") + `]}`
		c := &call{api: a, request: httptest.NewRequest("POST", "/v1/search", nil), body: []byte(body)}
		v, wrong, err := r.bindParameters(c.request, nil)
		if err == nil {
			_, err = a.parse(c, r, v, wrong)
		}
		return err
	}
	status := func(n, want int) {
		t.Helper()
		var p *Problem
		err := parse(n)
		check.That(t, errors.As(err, &p) && p.Status == want, "%d lists: %v, want status %d", n, err, want)
	}
	status(20_000, http.StatusRequestEntityTooLarge)
	status(4_000, http.StatusBadRequest) // at most ten facets are allowed
	status(4_000, http.StatusBadRequest) // the share was given back
	must.That(t, a.values.TryAcquire(l.Bodies), "a share was not given back")
	status(4_000, http.StatusServiceUnavailable)
	status(20, http.StatusBadRequest) // a small body does not wait
}

// TestLockedProblem checks that only the log names the process and the path of a locked index.
func TestLockedProblem(t *testing.T) {
	locked := &fs.PathError{Op: "lock", Path: "/home/ann/index/LOCK", Err: fmt.Errorf("%w by process 7", vfs.ErrLocked)}
	err := fmt.Errorf("lock catalog: %w", sheaf.WithCategory(sheaf.ErrUnavailable, locked))
	p := problemOf(err, nil)
	check.That(t, p.Status == 503 && !strings.Contains(p.Detail, "ann") && p.cause == err, "%+v", p)
}

// TestDamagedProblem checks that a damaged index asks for a retry, and that only the log has the path.
func TestDamagedProblem(t *testing.T) {
	err := fmt.Errorf("branch words on the index: /home/ann/index/1.seg: %w", vfs.ErrCorrupt)
	p := problemOf(err, nil)
	check.That(t, p.Status == 503 && !strings.Contains(p.Detail, "ann") && p.cause == err, "%+v", p)
}
