package serve_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"sheaf/serve"
	"sheaf/serve/access"
	"sheaf/serve/servetest"
)

// TestBeside: who does not look for changed files shows what another process indexed, also
// one that began when nothing was, and never a result without what is known of it.
func TestBeside(t *testing.T) {
	writer := servetest.Unindexed(t, map[string]string{"first.md": "# First\n\nA harbor.\n"}, nil)
	beside := writer.Beside(t)
	if a := find(t, reader(t, beside, access.Unrestricted()), serve.SearchRequest{Text: "harbor"}); len(a.Results) != 0 {
		t.Fatalf("%+v before anything is indexed", a.Results)
	}
	writer.Index(t)
	if a := find(t, reader(t, beside, access.Unrestricted()), serve.SearchRequest{Text: "harbor"}); len(a.Results) != 1 {
		t.Fatalf("%+v, want what was indexed", a.Results)
	}
	indexed, done := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		done.Go(func() {
			for last := false; !last; {
				select {
				case <-indexed:
					last = true
				default:
				}
				r, err := beside.For(access.Unrestricted())
				if err != nil {
					t.Error(err)
					return
				}
				a, err := r.Search(context.Background(), serve.SearchRequest{Text: "harbor"})
				switch {
				case err != nil:
					t.Error(err)
				case len(a.Results) == 0:
					t.Error("nothing found of what was indexed before")
				}
				for _, found := range a.Results {
					if found.Path == "" || found.Title == "" {
						t.Errorf("%+v: nothing is known of it", found)
					}
				}
				r.Close()
			}
		})
	}
	for n := range 20 {
		writer.Write(t, fmt.Sprintf("more%d.md", n), fmt.Sprintf("# More %d\n\nAnother harbor.\n", n))
		writer.Index(t)
		// Who looks while another search does shows what that one had.
		for found, until := 0, time.Now().Add(10*time.Second); found != n+2; {
			found = len(find(t, reader(t, beside, access.Unrestricted()), serve.SearchRequest{Text: "harbor", Limit: 50, Window: 50}).Results)
			if time.Now().After(until) {
				t.Fatalf("%d results, want %d", found, n+2)
			}
		}
	}
	close(indexed)
	done.Wait()
	if _, err := beside.Collection.Write(t.Context(), access.Unrestricted(), []serve.Change{{ID: "api:given.md", Put: &serve.DocumentInput{Text: "# Given\n\nA harbor.\n"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := reader(t, writer, access.Unrestricted()).Get(t.Context(), "api:given.md", serve.GetOptions{}); err != nil {
		t.Errorf("what the other was given: %v", err)
	}
}
