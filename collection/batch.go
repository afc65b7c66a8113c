package collection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"sheaf"
	"sheaf/index/vfs"
)

// Changes that are made together have a file beside the documents, from before the first
// of them is written until all are made: where a process ends between, the next one knows
// by it which files belong together, and takes back those that the catalog does not name.
// Without it a part of them would be documents that were kept and not indexed.

// batchName is that file. There is one at most: who makes changes holds the turn to write.
const batchName = "batch.begun"

// beginBatch notes which files changes are about to write and to replace; of one change
// there is nothing to note. It must be the caller's turn to write.
func (c *Collection) beginBatch(names []versions) error {
	if len(names) < 2 {
		return nil
	}
	if _, err := c.undoBatch(); err != nil {
		return err
	}
	content, err := json.Marshal(names)
	if err != nil {
		return fmt.Errorf("write documents: %w", err)
	}
	if err := vfs.WriteFile(filepath.Join(c.o.Documents, batchName), content, 0); err != nil {
		return err
	}
	return c.syncDocuments()
}

// endBatch forgets what beginBatch noted, and makes the folder of documents durable.
func (c *Collection) endBatch() error {
	if err := c.removeFile(batchName, ""); err != nil {
		return err
	}
	c.given.forget(filepath.Join(c.o.Documents, batchName))
	return c.syncDocuments()
}

// undoBatch takes back changes that a process began and did not end, unless the catalog has
// them all, and reports whether there were any. It must be the caller's turn to write. A file
// that cannot be read is told of, and holds up nothing: the next one takes its place.
func (c *Collection) undoBatch() (bool, error) {
	path := filepath.Join(c.o.Documents, batchName)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var names []versions
	if err == nil {
		err = json.Unmarshal(content, &names)
	}
	if err != nil {
		err = fmt.Errorf("read which documents were written together: %w: %s: %w", sheaf.ErrCorrupt, path, err)
		c.notice(err)
		c.given.unread(path, err)
		return false, nil
	}
	return true, c.refused(names)
}

// recoverBatch does so where a process begins, and removes what the store has of it.
func (c *Collection) recoverBatch(ctx context.Context) error {
	give, err := c.take(ctx)
	if err != nil {
		return err
	}
	defer give()
	if undone, err := c.undoBatch(); err != nil || !undone {
		return err
	}
	return c.index(ctx, nil, nil)
}
