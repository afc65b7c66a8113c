package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sheaf"
	"sheaf/catalog"
	"sheaf/vfs"
)

// What changes will have done is kept from just before they are made until their end is kept:
// beside the file of a task, and by who asks for [Once]. Where a process ends between, the next
// one knows by it that they were made, and does not hold their own conditions against them.

// begunName is the file that says so of a task.
func (c *Collection) begunName(id string) string { return filepath.Join(c.o.Tasks, id+".begun") }

// keepBegun keeps what the changes of a task will have done.
func (c *Collection) keepBegun(id string, results []Stored) error {
	content, err := json.Marshal(results)
	if err != nil {
		return fmt.Errorf("keep task: %w", err)
	}
	if err := vfs.WriteFile(c.begunName(id), content, 0); err != nil {
		return err
	}
	return vfs.Disk{}.SyncDir(c.o.Tasks)
}

// begun is what the changes of a task will have done; nil when none was begun, or that is not
// known.
func (c *Collection) begun(id string, changes []Change) []Stored {
	content, err := os.ReadFile(c.begunName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var results []Stored
	if err == nil {
		err = json.Unmarshal(content, &results)
	}
	if err != nil || len(results) != len(changes) {
		c.notice(fmt.Errorf("whether the task %s was made is not known, since %s cannot be read: %w", id, c.begunName(id), cmp.Or(err, sheaf.ErrCorrupt)))
		return nil
	}
	return results
}

// left are the changes that are not made: of some that were begun, those that a store without
// transactions did not take. It must be the caller's turn to write.
func (c *Collection) left(changes []Change) (left []int, err error) {
	view := c.o.Catalog.View()
	defer view.Close()
	for i := range changes {
		made, err := c.made(view, &changes[i])
		if err != nil {
			return nil, err
		}
		if !made {
			left = append(left, i)
		}
	}
	return left, nil
}

// made reports whether a document is as a change has it.
func (c *Collection) made(view *catalog.View, ch *Change) (bool, error) {
	rec, err := view.Record(ch.ID)
	switch {
	case err != nil && !errors.Is(err, sheaf.ErrNotFound):
		return false, err
	case ch.Put == nil:
		return err != nil && c.given.fileLeft(ch.ID) == "", nil
	case err != nil:
		return false, nil
	}
	_, g, err := encodeGiven(ch.ID, ch.Put)
	return err == nil && g.Hash == rec.File.Hash, err
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
	return c.carryOutOnce(ctx, changes, c.begun(id, changes), func(results []Stored) error { return c.keepBegun(id, results) })
}

// carryOutOnce is carryOut without those changes that were made before. before is what they
// will have done, as it was kept when they were begun; nil when they were not.
func (c *Collection) carryOutOnce(ctx context.Context, changes []Change, before []Stored, begins func([]Stored) error) ([]Stored, error) {
	if len(before) != len(changes) {
		return c.carryOut(ctx, changes, begins)
	}
	left, err := c.left(changes)
	if err != nil {
		return nil, err
	}
	if len(left) == len(changes) {
		return c.carryOut(ctx, changes, begins)
	}
	if err := c.carryOutLeft(ctx, changes, left); err != nil {
		return nil, err
	}
	return before, c.describe(changes, before)
}

// carryOutLeft makes the changes that are left. What the store does not take of them once more
// is told as it would be of all changes.
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
	return err
}
