package http

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/semaphore"

	"sheaf/collection"
)

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

// No text has more values than its bound, and one of plain values has just so many.
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
	if read < 1000 {
		t.Errorf("%d texts were JSON: too few to tell", read)
	}
	for text, want := range map[string]int64{`[1,2,{"a,b":"\\"}]`: 6, `","`: 1, `"\",[`: 1} {
		if got := collection.MaxValues([]byte(text)); got != want {
			t.Errorf("%s: at most %d values, want %d", text, got, want)
		}
	}
}

// A body that is parsed to many times its length is refused, or waits for others.
func TestParsedAtOnce(t *testing.T) {
	l := Limits{Bodies: 1 << 20, Patience: 200 * time.Millisecond}
	l.defaults(false)
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
		if err := parse(n); !errors.As(err, &p) || p.Status != want {
			t.Errorf("%d lists: %v, want status %d", n, err, want)
		}
	}
	status(20_000, http.StatusRequestEntityTooLarge)
	status(4_000, http.StatusBadRequest) // ten facets are the most
	status(4_000, http.StatusBadRequest) // the share was given back
	if !a.values.TryAcquire(l.Bodies) {
		t.Fatal("a share was not given back")
	}
	status(4_000, http.StatusServiceUnavailable)
	status(20, http.StatusBadRequest) // small ones wait for nobody
}
