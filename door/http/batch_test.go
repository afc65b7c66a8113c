package http_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	httpdoor "sheaf/door/http"
	"sheaf/store"
)

// watched is a store that looks at something before it writes.
type watched struct {
	store.Backend
	look func()
}

func (w *watched) Write(ctx context.Context, b store.Batch) error {
	if w.look != nil {
		w.look()
	}
	return w.Backend.Write(ctx, b)
}

// A process that ends in the middle of changes that are made together leaves none of them,
// or, once the catalog has them, all.
func TestBatchCrashes(t *testing.T) {
	for _, made := range []bool{false, true} {
		for name, changes := range map[string]string{
			"new documents": `{"id": "api:p.md", "text": "Pears."}, {"id": "api:q.md", "text": "Pears."}, {"id": "api:r.md", ` +
				`"text": "Pears."}`,
			"all kinds": `{"id": "api:a.md", "delete": true}, {"id": "api:b.md", "text": "Pears."}, {"id": "api:c.md", ` +
				`"text": "Pears.", "if_none_match": "*"}`,
		} {
			t.Run(fmt.Sprint(name, ", made ", made), func(t *testing.T) {
				var store *watched
				var fixture *collectiontest.Fixture
				s := start(t, notes, func(o *httpdoor.Options) {
					fixture = collectiontest.Open(t, notes, func(o *collection.Options) {
						store = &watched{Backend: o.Backend}
						o.Backend = store
					})
					o.Collections = []*collection.Collection{fixture.Collection}
				})
				s.fixture = fixture
				s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Apples."}, {"id": "api:b.md", `+
					`"text": "Apples."}]}`, &struct{}{})
				before := kept(t, s)
				var during map[string]string
				store.look = func() { during = kept(t, s); store.look = nil }
				s.get(t, "POST", "/v1/documents", `{"documents": [`+changes+`]}`, &struct{}{})
				after := kept(t, s)
				if !made { // the index is as it was before
					store.look = nil
					var list collection.DocumentList
					s.get(t, "GET", "/v1/documents?prefix=api:", "", &list)
					for _, d := range list.Documents {
						s.get(t, "DELETE", "/v1/documents/"+string(d.ID), "", &struct{}{})
					}
					s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Apples."}, {"id": "api:b.md", `+
						`"text": "Apples."}]}`, &struct{}{})
					fresh := slices.Sorted(maps.Keys(during))
					fresh = slices.DeleteFunc(fresh, func(name string) bool {
						_, old := before[name]
						return old || !strings.HasSuffix(name, ".json")
					})
					delete(during, fresh[0]) // which it had not come to
					after = before
				}
				for name, content := range during {
					if err := os.WriteFile(filepath.Join(fixture.Options.Documents, name), []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				working(t, fixture.Collection)
				var state error
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
					entries, err := os.ReadDir(fixture.Options.Documents)
					if err != nil {
						t.Fatal(err)
					}
					if state = fixture.Collection.Ready(t.Context()); state == nil && len(entries) == len(after) ||
						time.Now().After(deadline) {
						break
					}
				}
				if now := kept(t, s); state != nil || !maps.Equal(now, after) {
					t.Errorf("%v: kept are %v, want %v", state, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(after)))
				}
				var ids []string
				for _, content := range after {
					var d struct{ ID string }
					if err := json.Unmarshal([]byte(content), &d); err != nil {
						t.Fatal(errors.Join(err, errors.New(content)))
					}
					ids = append(ids, d.ID)
				}
				var list collection.DocumentList
				s.get(t, "GET", "/v1/documents?prefix=api:", "", &list)
				var got []string
				for _, d := range list.Documents {
					got = append(got, string(d.ID))
				}
				if slices.Sort(ids); !slices.Equal(got, ids) {
					t.Errorf("there are %v, want %v", got, ids)
				}
				if pears := len(found(t, s, "pears")) > 0; pears != made {
					t.Errorf("pears are found: %v", pears)
				}
			})
		}
	}
}

// A damaged note of which changes were made together stops neither the server nor the next
// changes; the status names it.
func TestBatchDamaged(t *testing.T) {
	s := start(t, notes, nil)
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Apples."}, {"id": "api:b.md", `+
		`"text": "Apples."}]}`, &struct{}{})
	file := filepath.Join(s.fixture.Options.Documents, "batch.begun")
	if err := os.WriteFile(file, []byte(`[{"id": "api:a`), 0o600); err != nil {
		t.Fatal(err)
	}
	working(t, s.fixture.Collection)
	var status collection.Status
	for s.get(t, "GET", "/v1/status", "", &status); s.fixture.Ready(t.Context()) != nil; s.get(t, "GET", "/v1/status", "",
		&status) {
		time.Sleep(5 * time.Millisecond)
	}
	s.get(t, "GET", "/v1/status", "", &status)
	if len(status.Skipped) != 1 || status.Skipped[0].Path != file {
		t.Errorf("%+v, want the damaged file named", status.Skipped)
	}
	s.get(t, "POST", "/v1/documents", `{"documents": [{"id": "api:a.md", "text": "Pears."}, {"id": "api:b.md", "text": `+
		`"Pears."}]}`, &struct{}{})
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) || len(found(t, s, "pears")) != 2 {
		t.Errorf("%v, %d found", err, len(found(t, s, "pears")))
	}
	var after collection.Status
	if s.get(t, "GET", "/v1/status", "", &after); len(after.Skipped) != 0 {
		t.Errorf("%+v when it is gone", after.Skipped)
	}
}
