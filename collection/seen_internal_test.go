package collection

import (
	"errors"
	"fmt"
	"testing"

	"sheaf/index/vfs"
	"sheaf/ingest"
)

// TestSeen checks that an open, damaged index also notices when another process makes it again.
func TestSeen(t *testing.T) {
	c := &Collection{health: health{replaced: make(chan struct{}), damaged: make(chan struct{})}}
	c.seen(errors.New("another fault"))
	if isClosed(c.Damaged()) || isClosed(c.Replaced()) {
		t.Error("told of any fault")
	}
	damage := fmt.Errorf("read: %w", vfs.ErrCorrupt)
	c.seen(damage)
	c.seen(vfs.ErrCorrupt)
	if !isClosed(c.Damaged()) || isClosed(c.Replaced()) || c.Damage() != damage ||
		errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Errorf("%v, %v", c.damage, c.shut())
	}
	c.seen(ingest.ErrRebuilt)
	if !isClosed(c.Replaced()) || !errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Error("not told of another process")
	}
}
