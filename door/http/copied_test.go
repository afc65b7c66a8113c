package http_test

import (
	"context"
	"os"
	"testing"

	"sheaf/collection"
	"sheaf/collection/collectiontest"
	"sheaf/collection/intake"
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

// copies has the file of given documents copied before each write to the store. What it returns
// puts the last copy back, as a process leaves the file that ends before a change does.
func copies(o *collection.Options) (crash func(t *testing.T)) {
	file := intake.Open(o.Intake).Path()
	var content []byte
	o.Backend = &watched{o.Backend, func() { content, _ = os.ReadFile(file) }}
	return func(t *testing.T) {
		t.Helper()
		if content == nil {
			return // nothing was written
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// copied is a server whose file of given documents can be put back.
func copied(t *testing.T, change func(*httpdoor.Options)) (s *server, crash func(*testing.T)) {
	t.Helper()
	fixture := collectiontest.Open(t, notes, func(o *collection.Options) { crash = copies(o) })
	return startOf(t, fixture, change), crash
}
