package collection

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
)

// What changes will have done is kept from just before they are made until their end is kept:
// beside the file of a task, and by who asks for [Once]. Where a process ends between, the next
// one knows by it that they were made, and does not hold their own conditions against them.

// begunName is the file that says so of a task.
func (c *Collection) begunName(id string) string { return filepath.Join(c.o.Tasks, id+".begun") }

// keepBegun keeps what the changes of a task will have done.
func (c *Collection) keepBegun(id string, b Begun) error {
	content, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("keep task: %w", err)
	}
	if err := vfs.WriteFile(c.begunName(id), content, 0); err != nil {
		return err
	}
	return vfs.Disk{}.SyncDir(c.o.Tasks)
}

// begun is what the changes of a task will have done; nothing when none was begun, or that is
// not known.
func (c *Collection) begun(id string) (b Begun) {
	content, err := os.ReadFile(c.begunName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Begun{}
	}
	if err == nil {
		err = json.Unmarshal(content, &b)
	}
	if err != nil || len(b.Changes) == 0 {
		c.notice(fmt.Errorf("whether the task %s was made is not known, since %s cannot be read: %w", id, c.begunName(id),
			cmp.Or(err, sheaf.ErrCorrupt)))
		return Begun{}
	}
	return b
}

// left are those of changes that were begun that are not made, such as what a store without
// transactions did not take. It must be the caller's turn to write.
func (c *Collection) left(b Begun) (left []int, err error) {
	view := c.o.Catalog.View()
	defer view.Close()
	for i := range b.Changes {
		made, err := c.made(view, &b.Changes[i])
		if err != nil {
			return nil, err
		}
		if !made {
			left = append(left, i)
		}
	}
	return left, nil
}

// made reports whether a document is what a change will have made of it.
func (c *Collection) made(view *catalog.View, ch *BegunChange) (bool, error) {
	rec, err := view.Record(ch.ID)
	switch {
	case err != nil && !errors.Is(err, sheaf.ErrNotFound):
		return false, err
	case ch.Deleted:
		return err != nil && c.given.fileLeft(ch.ID) == "", nil
	}
	return err == nil && hex.EncodeToString(rec.File.Hash[:]) == ch.Hash, nil
}

// endBegun forgets that a task is begun, whose end is kept.
func (c *Collection) endBegun(id string) error {
	if err := os.Remove(c.begunName(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget task: %w", err)
	}
	return nil
}

// writeTask makes the changes of a task, but for those that were made before.
func (c *Collection) writeTask(ctx context.Context, id string, changes []Change) ([]Stored, error) {
	give, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	return c.carryOutOnce(ctx, changes, c.begun(id), func(b Begun) error { return c.keepBegun(id, b) })
}

// carryOutOnce is carryOut without those changes that were made before, as before says: what
// was kept of them when they were begun.
func (c *Collection) carryOutOnce(ctx context.Context, changes []Change, before Begun,
	begins func(Begun) error) ([]Stored, error) {
	left, err := c.left(before)
	if err != nil {
		return nil, err
	}
	if len(before.Changes) != len(changes) || len(left) == len(changes) {
		return c.carryOut(ctx, changes, begins)
	}
	if err := c.carryOutLeft(ctx, changes, left); err != nil {
		return nil, err
	}
	results := before.results()
	return results, c.describe(results)
}

// carryOutLeft makes the changes that are left. What is wrong with them is told as it would be
// of all changes.
func (c *Collection) carryOutLeft(ctx context.Context, changes []Change, left []int) error {
	if len(left) == 0 {
		return nil
	}
	rest := make([]Change, len(left))
	for i, at := range left {
		rest[i] = changes[at]
	}
	_, err := c.carryOut(ctx, rest, nil)
	var rejected *RejectedError
	if errors.As(err, &rejected) {
		rejected.Made += len(changes) - len(left)
		for id, i := range rejected.Changes {
			rejected.Changes[id] = left[i]
		}
	}
	var at *FieldError
	if errors.As(err, &at) {
		at.Change = left[at.Change]
	}
	return err
}
