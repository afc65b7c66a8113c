//go:build unix

package collection_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/internal/must"
)

// TestHangingAddedFolder checks that a command does not wait forever for an added folder
// on a hanging drive.
func TestHangingAddedFolder(t *testing.T) {
	hung := filepath.Join(t.TempDir(), "hung")
	if err := syscall.Mkfifo(hung, 0o600); err != nil { // opening the pipe waits for a writer
		t.Skipf("no named pipes: %v", err)
	}
	defer func(before time.Duration) { collection.AnswerTime = before }(collection.AnswerTime)
	collection.AnswerTime = time.Second // a healthy folder answers sooner
	trees := []catalog.Tree{{Name: "t", Root: t.TempDir()}, {Name: "hung", Root: hung}}
	if err := collection.SomeFolder(trees); !errors.Is(err,
		sheaf.ErrUnavailable) || !strings.Contains(err.Error(), hung) {
		t.Errorf("%v", err)
	}
	writer := must.Get(os.OpenFile(hung, os.O_RDWR, 0))
	time.Sleep(50 * time.Millisecond) // lets the waiting opener end
	must.Do(t, writer.Close())
}
