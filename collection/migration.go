package collection

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
)

// Earlier versions stored each given document and each task in a separate file. This file moves them to intake.db. It
// does not take over the results of idempotent requests, and which documents a killed process was writing together:
// such a request was not acknowledged, and repeating it is safe.

// These are the files and folders of earlier versions in an index folder, and the folder for moved files.
const (
	olderDocuments = "documents"
	olderTasks     = "tasks"
	olderAnswers   = "answers.jsonl"
	olderBatch     = "batch.begun"
	movedName      = "moved-1"
)

// fileKey returns the beginning of the names of a document's files.
func fileKey(id sheaf.ID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// olderName returns the name of the file of one version of a document.
func olderName(id sheaf.ID, hash catalog.Hash) string {
	return fileKey(id) + "-" + hex.EncodeToString(hash[:]) + ".json"
}

// olderFiles returns the files with this suffix in a folder of an index; nil if the folder is missing.
func olderFiles(index, folder, suffix string) ([]string, error) {
	names, err := vfs.Disk{}.List(filepath.Join(index, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	paths := []string{}
	for _, name := range names {
		if strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".") {
			paths = append(paths, filepath.Join(index, folder, name))
		}
	}
	return paths, err
}

// olderVersions returns the files of each document's versions by fileKey; nil if the folder is missing.
func olderVersions(index string) (map[string][]string, error) {
	paths, err := olderFiles(index, olderDocuments, ".json")
	if paths == nil {
		return nil, err
	}
	versions := map[string][]string{}
	for _, path := range paths {
		if key, _, ok := strings.Cut(filepath.Base(path), "-"); ok {
			versions[key] = append(versions[key], path)
		}
	}
	return versions, err
}

// olderTask is a task in its own file.
type olderTask struct {
	keptTask
	Work    []Change `json:"work,omitempty"`
	Results []Stored `json:"results"`
}

func readOlderTask(path string) (*olderTask, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read task: %w", err)
	}
	var k olderTask
	if err := json.Unmarshal(content, &k); err != nil {
		return nil, fmt.Errorf("read task: %w: %s: %w", sheaf.ErrCorrupt, path, err)
	}
	if k.ID+".json" != filepath.Base(path) {
		return nil, fmt.Errorf("read task: %w: %s: it belongs to task %q", sheaf.ErrCorrupt, path, k.ID)
	}
	return &k, nil
}

// UnreadableTasks lists the unreadable files of tasks of earlier versions, as [Reader.Status] shows them.
func UnreadableTasks(index string) (list []Skip, err error) {
	names, err := olderFiles(index, olderTasks, ".json")
	for _, name := range names {
		if _, err := readOlderTask(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, unreadable(name, err.Error()))
		}
	}
	return list, err
}

// takeOver moves the files of earlier versions to intake.db.
type takeOver struct {
	c    *Collection
	view *catalog.View
	done []string // files that intake.db now contains, and files that do not count
}

// takeOverOlder takes over the files of earlier versions, once per process. An unreadable file
// stays in place, and Status names it. The caller must have the right to write.
func (c *Collection) takeOverOlder() error {
	if c.given.owner.older.Load() {
		return nil
	}
	t := takeOver{c: c, view: c.o.Catalog.View()}
	defer t.view.Close()
	for _, step := range []func() error{t.documents, t.tasks, t.move} {
		if err := step(); err != nil {
			return fmt.Errorf("import the files of an earlier version: %w", err)
		}
	}
	c.given.owner.older.Store(true)
	return nil
}

// move moves the done files, and files that do not count.
func (t *takeOver) move() error {
	for _, name := range []string{olderAnswers, filepath.Join(olderDocuments, olderBatch)} {
		path := filepath.Join(t.c.o.Intake, name)
		if _, err := os.Stat(path); err == nil {
			t.done = append(t.done, path)
		}
	}
	if len(t.done) == 0 {
		return nil
	}
	reached("in move")
	for _, path := range t.done {
		from, err := filepath.Rel(t.c.o.Intake, path)
		to := filepath.Join(t.c.o.Intake, movedName, from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.Rename(path, to)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range []string{olderDocuments, olderTasks} {
		folder := filepath.Join(t.c.o.Intake, name)
		if err := vfs.Sweep(folder, 0); err != nil {
			return err
		}
		_ = os.Remove(folder) // fails if the folder still has files
	}
	return vfs.Disk{}.SyncDir(t.c.o.Intake)
}

// inTransactions calls take with every element of list, several per transaction.
func inTransactions[T any](t *takeOver, list []T, take func(*intake.Tx, T) error) error {
	for some := range slices.Chunk(list, 100) {
		err := t.c.given.file.Update(func(tx *intake.Tx) error {
			for _, e := range some {
				if err := take(tx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// documents takes over given documents.
func (t *takeOver) documents() error {
	versions, err := olderVersions(t.c.o.Intake)
	if err != nil {
		return err
	}
	return inTransactions(t, slices.Collect(maps.Values(versions)), func(tx *intake.Tx, files []string) error {
		id, content, err := t.version(files)
		if _, there := tx.Hash(id); err != nil || content == nil || there {
			return err
		}
		return tx.Set(id, content)
	})
}

// version returns the version of a document that counts: the catalog's, or else the newest readable one.
func (t *takeOver) version(files []string) (id sheaf.ID, content []byte, err error) {
	var newest time.Time
	certain := false
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return "", nil, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.c.unread(path, err)
			continue
		}
		var doc storedDocument
		if err := json.Unmarshal(text, &doc); err != nil || doc.Document == nil ||
			!strings.HasPrefix(filepath.Base(path), fileKey(doc.ID)+"-") {
			t.c.unread(path, fmt.Errorf("read document: %w: %s", sheaf.ErrCorrupt, path))
			continue
		}
		t.done = append(t.done, path)
		rec, err := t.view.Record(doc.ID)
		if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return "", nil, err
		}
		indexed := err == nil && rec.File.Hash == catalog.HashOf(text)
		if certain || !indexed && content != nil && info.ModTime().Before(newest) {
			continue
		}
		id, content, newest, certain = doc.ID, text, info.ModTime(), indexed
	}
	return id, content, nil
}

// tasks takes over tasks.
func (t *takeOver) tasks() error {
	files, err := olderFiles(t.c.o.Intake, olderTasks, ".json")
	if err != nil {
		return err
	}
	begun, err := olderFiles(t.c.o.Intake, olderTasks, ".begun")
	if err != nil {
		return err
	}
	t.done = append(t.done, begun...)
	return inTransactions(t, files, func(tx *intake.Tx, path string) error {
		k, err := readOlderTask(path)
		if err != nil {
			t.c.unread(path, err)
			return nil
		}
		t.done = append(t.done, path)
		if tx.Task(k.ID) != nil {
			return nil
		}
		if k.State != TaskWaiting {
			return putTask(tx, &k.keptTask, nil, k.Results)
		}
		return putTask(tx, &k.keptTask, k.Work, nil)
	})
}
