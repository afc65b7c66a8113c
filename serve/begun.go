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
	"sheaf/vfs"
)

// A task that is begun: beside its file lies what its changes will have done, from just
// before they are made until its end is kept. Where a process ends between, the next one
// knows by it that they were made, and does not hold their own conditions against them.

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

// begun is what a task did whose changes were all made before; nil when they were not, or
// that is not known.
// It must be the caller's turn to write.
func (c *Collection) begun(id string, changes []Change) ([]Stored, error) {
	content, err := os.ReadFile(c.begunName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var results []Stored
	if err == nil {
		err = json.Unmarshal(content, &results)
	}
	if err != nil || len(results) != len(changes) {
		c.notice(fmt.Errorf("whether the task %s was made is not known, since %s cannot be read: %w", id, c.begunName(id), cmp.Or(err, sheaf.ErrCorrupt)))
		return nil, nil
	}
	view := c.o.Catalog.View()
	defer view.Close()
	for i := range changes {
		rec, err := view.Record(changes[i].ID)
		switch {
		case err != nil && !errors.Is(err, sheaf.ErrNotFound):
			return nil, err
		case changes[i].Put == nil:
			if err == nil || c.given.fileLeft(changes[i].ID) != "" {
				return nil, nil
			}
			continue
		case err != nil:
			return nil, nil
		}
		_, g, err := encodeGiven(changes[i].ID, changes[i].Put)
		if err != nil || g.Hash != rec.File.Hash {
			return nil, err
		}
	}
	return results, c.describe(changes, results)
}

// endBegun forgets that a task is begun, whose end is kept.
func (c *Collection) endBegun(id string) error {
	if err := os.Remove(c.begunName(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget task: %w", err)
	}
	return nil
}

// writeTask makes the changes of a task, unless that was done before.
func (c *Collection) writeTask(ctx context.Context, id string, changes []Change) ([]Stored, error) {
	give, err := c.take(ctx)
	if err != nil {
		return nil, err
	}
	defer give()
	if results, err := c.begun(id, changes); results != nil || err != nil {
		return results, err
	}
	return c.carryOut(ctx, changes, func(results []Stored) error { return c.keepBegun(id, results) })
}
