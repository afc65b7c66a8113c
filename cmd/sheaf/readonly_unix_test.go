//go:build unix

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sheaf/collection/intake"
)

// TestServeReadOnly: a server answers from an index on media that cannot be written, also when
// documents wait there that were accepted elsewhere.
func TestServeReadOnly(t *testing.T) {
	if !canMount() {
		t.Skip("nothing can be mounted")
	}
	folder, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(filepath.Join(folder, "a.md"), []byte("# A\n\napples\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("made", func(t *testing.T) {
		address := serving(t, folder, index)
		waitFor(t, address+"/v1/search?query=apples", func(_ int, body string) bool { return strings.Contains(body, "a.md") })
		for _, id := range []string{"b", "c"} {
			req, err := http.NewRequest(http.MethodPut, address+"/v1/documents/api:"+id+".md",
				strings.NewReader(`{"text": "Bananas."}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			if err != nil || res.StatusCode != http.StatusCreated {
				t.Fatal(res, err)
			}
			res.Body.Close()
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
		t.Run("serve", func(t *testing.T) { // which fails when the server ends by itself
			address := serving(t, folder, index)
			waitFor(t, address+"/readyz", func(status int, _ string) bool { return status == 200 })
			waitFor(t, address+"/v1/search?query=apples", func(_ int, body string) bool {
				return strings.Contains(body, "a.md")
			})
		})
	}
	t.Run("nothing waits", reads)
	// A crash left a document that the index does not have.
	err := intake.Open(index).Update(func(tx *intake.Tx) error {
		changed := strings.Replace(string(tx.Document("api:b.md")), "Bananas", "Cherries", 1)
		return tx.Put("api:b.md", []byte(changed))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a document waits", reads)
}
