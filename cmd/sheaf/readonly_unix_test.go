//go:build unix

package main

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"sheaf/collection/intake"
	"sheaf/internal/must"
)

// TestServeReadOnly checks that a server answers from an index on read-only media, even if accepted
// documents wait there for indexing.
func TestServeReadOnly(t *testing.T) {
	if !canMount() {
		t.Skip("nothing can be mounted")
	}
	n := newNotes(t)
	index := n.index
	t.Run("make index", func(t *testing.T) {
		address := n.serve(t)
		found(t, address, "apples", "a.md")
		for _, id := range []string{"b", "c"} {
			change(t, http.MethodPut, address+"/v1/documents/api:"+id+".md", `{"text": "Bananas."}`)
		}
	})
	reads := func(t *testing.T) {
		if out, err := exec.Command("mount", "--bind", index, index).CombinedOutput(); err != nil {
			t.Skipf("mount: %s", out)
		}
		defer func() {
			if out, err := exec.Command("umount", "-l", index).CombinedOutput(); err != nil {
				t.Errorf("umount: %s", out)
			}
		}()
		if out, err := exec.Command("mount", "-o", "remount,ro,bind", index).CombinedOutput(); err != nil {
			t.Skipf("mount: %s", out)
		}
		t.Run("serve", func(t *testing.T) { // fails if the server ends by itself
			address := n.serve(t)
			ready(t, address)
			found(t, address, "apples", "a.md")
		})
	}
	t.Run("no pending document", reads)
	// Imitate a crash that left an accepted document out of the index.
	must.Do(t, intake.Open(index).Update(func(tx *intake.Tx) error {
		changed := strings.Replace(string(tx.Document("api:b.md")), "Bananas", "Cherries", 1)
		return tx.Put("api:b.md", []byte(changed))
	}))
	t.Run("pending document", reads)
}
