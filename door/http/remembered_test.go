package http

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
)

// nobodys is of documents that no other server takes.
func nobodys() (func(), error) { return func() {}, nil }

// remembering is what a server that begins, or begins again, remembers by a file.
func remembering(t *testing.T, file string, now func() time.Time) *remembered {
	t.Helper()
	r, err := openRemembered(file, nobodys, slog.New(slog.DiscardHandler), now)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestIdempotencyKeyUsedAgain: a key that was forgotten after a day is remembered with
// its new request, also after the server began again.
func TestIdempotencyKeyUsedAgain(t *testing.T) {
	file, now := filepath.Join(t.TempDir(), "answers.jsonl"), time.Unix(1_700_000_000, 0)
	open := func() *remembered { return remembering(t, file, func() time.Time { return now }) }
	begin := func(r *remembered, body string) (*memory, bool, error) {
		return r.begin(&call{caller: "ann", request: httptest.NewRequest("PUT", "/v1/documents/api:a.md", nil),
			body: []byte(body)}, "k1")
	}
	r := open()
	for _, body := range []string{"one", "two"} {
		m, old, err := begin(r, body)
		if err != nil || old {
			t.Fatalf("%s: %v %v", body, old, err)
		}
		r.finish(m, 200, nil, []byte(`"`+body+`"`))
		now = now.Add(rememberedAge + time.Second)
	}
	now = now.Add(-2 * time.Second)
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	r = open()
	defer r.close()
	if m, old, err := begin(r, "two"); err != nil || !old || string(m.Answer) != `"two"` {
		t.Errorf("the key's last request is not remembered: %v %v", old, err)
	}
	if _, _, err := begin(r, "one"); err == nil {
		t.Error("the key's request before is taken")
	}
	if len(r.oldest) != 1 || r.size != len(`"two"`) {
		t.Errorf("%d answers of %d bytes are remembered", len(r.oldest), r.size)
	}
}

// TestAnswersAfterOneThatWasNotWritten: an answer that could not be written, of which a part
// may be in the file, takes none of those after it along.
func TestAnswersAfterOneThatWasNotWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	open := func() *remembered { return remembering(t, file, time.Now) }
	answer := func(r *remembered, key string) bool {
		m, old, err := r.begin(&call{caller: "ann", request: httptest.NewRequest("PUT", "/v1/documents/api:a.md", nil)}, key)
		if err != nil {
			t.Fatal(err)
		}
		if !old {
			r.finish(m, 200, nil, []byte(`"done"`))
		}
		return old
	}
	r := open()
	answer(r, "before")
	if _, err := r.journal.file.WriteString(`{"key": "of which the rest found no room`); err != nil {
		t.Fatal(err)
	}
	if err := r.journal.file.Close(); err != nil { // so that the next cannot be written
		t.Fatal(err)
	}
	for _, key := range []string{"failed", "after"} {
		answer(r, key)
	}
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	r = open()
	defer r.close()
	for _, key := range []string{"before", "failed", "after"} {
		if !answer(r, key) {
			t.Errorf("%q is forgotten", key)
		}
	}
}

// TestAnswersAreTakenOver: of two servers with one file the second one does nothing under a key
// while the first keeps it, and then what a repeated request was answered by that one, as it keeps
// what it answers itself.
func TestAnswersAreTakenOver(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	open := func() *remembered { return remembering(t, file, time.Now) }
	answer := func(r *remembered, key string) (bool, error) {
		m, old, err := r.begin(&call{caller: "ann", request: httptest.NewRequest("PUT", "/v1/documents/api:a.md", nil)}, key)
		if err == nil && !old {
			r.finish(m, 200, nil, []byte(`"done"`))
		}
		return old, err
	}
	for i := range 3 {
		first, second := open(), open()
		before, after := fmt.Sprint("before ", i), fmt.Sprint("after ", i)
		if _, err := answer(first, before); err != nil {
			t.Fatal(err)
		}
		if _, err := answer(second, before); !errors.Is(err, collection.ErrTaken) {
			t.Errorf("while the first server runs: %v", err)
		}
		if err := first.close(); err != nil {
			t.Fatal(err)
		}
		if old, err := answer(second, before); !old || err != nil {
			t.Errorf("what the first server answered is done again, %v", err)
		}
		if old, err := answer(second, after); old || err != nil {
			t.Errorf("a new request: %v %v", old, err)
		}
		if err := second.close(); err != nil {
			t.Fatal(err)
		}
		third := open()
		for _, key := range []string{before, after} {
			if old, err := answer(third, key); !old || err != nil {
				t.Errorf("%s: a server later does it again, %v", key, err)
			}
		}
		if err := third.close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A server begins where there is no space to write: what it remembers is read, and written
// anew with the next answer.
func TestAnswersAreOnlyReadAtFirst(t *testing.T) {
	file := filepath.Join(t.TempDir(), "answers.jsonl")
	for _, key := range []string{"one", "two"} {
		before, _ := os.Stat(file)
		r, err := openRemembered(file, nobodys, slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		if after, _ := os.Stat(file); before != nil && !os.SameFile(before, after) {
			t.Error("the file was written when the server began")
		}
		m, old, err := r.begin(&call{caller: "ann", request: httptest.NewRequest("PUT", "/v1/documents/api:a.md", nil)}, key)
		if err != nil || old {
			t.Fatal(old, err)
		}
		r.finish(m, 200, nil, []byte(`"done"`))
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("%v, the file has not two lines: %s", err, text)
	}
}

// A second Close does nothing, and what is no collection is told to who makes the API.
func TestCloseTwice(t *testing.T) {
	r := remembering(t, filepath.Join(t.TempDir(), "answers.jsonl"), time.Now)
	for range 2 {
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := New(Options{Collections: []*collection.Collection{nil}}); !errors.Is(err, sheaf.ErrInvalid) {
		t.Errorf("no collection: %v", err)
	}
}
