package collection

import (
	"errors"
	"fmt"
	"testing"

	"sheaf/index/vfs"
	"sheaf/ingest"
)

// TestDamagedIndexNoticesRemake checks that an open, damaged index also notices when another process remakes it.
func TestDamagedIndexNoticesRemake(t *testing.T) {
	c := &Collection{}
	c.watchHealth()
	c.seen(errors.New("another fault"))
	if c.damaged.Err() != nil || c.replaced.Err() != nil {
		t.Error("a fault that is no damage counts as damage")
	}
	damage := fmt.Errorf("read: %w", vfs.ErrCorrupt)
	c.seen(damage)
	c.seen(vfs.ErrCorrupt)
	if c.damaged.Err() == nil || c.replaced.Err() != nil || c.Damage() != damage ||
		errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Errorf("%v, %v", c.Damage(), c.shut())
	}
	c.seen(ingest.ErrRebuilt)
	if c.replaced.Err() == nil || !errors.Is(c.shut(), ingest.ErrRebuilt) {
		t.Error("the fault of another process is not reported")
	}
}
