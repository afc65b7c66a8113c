package collection

import (
	"bytes"
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

// Earlier versions stored each given document, each task and the results of idempotent requests in separate files. This
// file moves them to intake.db. It repeats changes that an earlier version began and did not end before it was killed.

// These are the files and folders of earlier versions in the folder of an index. They are moved to movedName.
const (
	olderDocuments = "documents"
	olderTasks     = "tasks"
	olderAnswers   = "answers.jsonl"
	olderBatch     = "batch.begun"
	movedName      = "moved-1"
)

// fileKey returns the text with which the names of all files of a document begin: one file for each version.
func fileKey(id sheaf.ID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

// olderName returns the file name of one version of a document.
func olderName(id sheaf.ID, hash catalog.Hash) string {
	return fileKey(id) + "-" + hex.EncodeToString(hash[:]) + ".json"
}

// olderFiles returns the files with a suffix in a folder of an index. If the folder is missing, it returns nil.
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

// olderVersions maps each document's fileKey to the files of its versions. If the folder is missing, the map is nil.
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

// olderTask is a task as an earlier version stored it, in its own file.
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

// UnreadableTasks lists the task files of earlier versions that cannot be read, as skipped files with the reasons.
func UnreadableTasks(index string) (list []Skip, err error) {
	names, err := olderFiles(index, olderTasks, ".json")
	for _, name := range names {
		if _, err := readOlderTask(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, unreadable(name, err.Error()))
		}
	}
	return list, err
}

// takeOver copies the content of an earlier version's files to intake.db.
type takeOver struct {
	c    *Collection
	view *catalog.View
	// voidFiles has the names of document files whose content must not be used. After an unfinished change, each
	// document has one such file, with its old or its new version: see batch.
	voidFiles map[string]bool
	// movable lists files to move away. Either intake.db has their content now, or they must not be used.
	movable []string
}

// takeOverOlder moves the content of an earlier version's files to intake.db, once per process. An unreadable file
// stays where it is, and Status names the file. The caller must have the right to write.
func (c *Collection) takeOverOlder() error {
	if c.given.owner.older.Load() {
		return nil
	}
	t := takeOver{c: c, view: c.o.Catalog.View(), voidFiles: map[string]bool{}}
	defer t.view.Close()
	for _, step := range []func() error{t.batch, t.documents, t.tasks, t.copyAnswers, t.move} {
		if err := step(); err != nil {
			return fmt.Errorf("import the files of an earlier version: %w", err)
		}
	}
	c.given.owner.older.Store(true)
	return nil
}

// move moves the files in movable away. The batch file comes last, because the next run needs it after a crash. Only
// this file says which document files must not be used.
func (t *takeOver) move() error {
	if len(t.movable) == 0 {
		return nil
	}
	crashPoint("in move")
	for _, path := range slices.Backward(t.movable) {
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

// inTransactions calls the function take for every element of list, in transactions of up to 100 elements.
func inTransactions[T any](file *intake.Intake, list []T, take func(*intake.Tx, T) error) error {
	for some := range slices.Chunk(list, 100) {
		err := file.Update(func(tx *intake.Tx) error {
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

func (t *takeOver) documents() error {
	versions, err := olderVersions(t.c.o.Intake)
	if err != nil {
		return err
	}
	files := slices.Collect(maps.Values(versions))
	return inTransactions(t.c.given.file, files, func(tx *intake.Tx, files []string) error {
		id, content, err := t.version(files)
		if _, there := tx.Hash(id); err != nil || content == nil || there {
			return err
		}
		return tx.Set(id, content)
	})
}

// version chooses one of the files of a document and returns its content. It prefers the version that the catalog
// lists, then the newest version. It ignores the files in voidFiles. If no file is left, content is nil.
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
		t.movable = append(t.movable, path)
		rec, err := t.view.Record(doc.ID)
		if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return "", nil, err
		}
		indexed := err == nil && rec.File.Hash == catalog.HashOf(text)
		if t.voidFiles[filepath.Base(path)] || certain || !indexed && content != nil && info.ModTime().Before(newest) {
			continue
		}
		id, content, newest, certain = doc.ID, text, info.ModTime(), indexed
	}
	return id, content, nil
}

// batch reads what an earlier version of the program recorded about an unfinished change of several documents. For each
// document it adds one file to voidFiles. If the catalog has the new version of the document, batch adds the file of
// the old version. Otherwise it adds the file of the new version, because the change was never acknowledged.
func (t *takeOver) batch() error {
	path := filepath.Join(t.c.o.Intake, olderDocuments, olderBatch)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var names []struct {
		ID         sheaf.ID
		Old, Fresh string
	}
	if err == nil {
		err = json.Unmarshal(content, &names)
	}
	if err != nil {
		t.c.unread(path, fmt.Errorf("read a group of documents: %w: %s: %w", sheaf.ErrCorrupt, path, err))
		return nil
	}
	for _, n := range names {
		rec, err := t.view.Record(n.ID)
		switch {
		case err != nil && !errors.Is(err, sheaf.ErrNotFound):
			return err
		case err == nil && olderName(n.ID, rec.File.Hash) == n.Fresh, err != nil && n.Fresh == "":
			t.voidFiles[n.Old] = n.Old != n.Fresh
		default:
			t.voidFiles[n.Fresh] = n.Old != n.Fresh
		}
	}
	t.movable = append(t.movable, path)
	return nil
}

func (t *takeOver) tasks() error {
	files, err := olderFiles(t.c.o.Intake, olderTasks, ".json")
	if err != nil {
		return err
	}
	begun, err := olderFiles(t.c.o.Intake, olderTasks, ".begun")
	if err != nil {
		return err
	}
	t.movable = append(t.movable, begun...)
	return inTransactions(t.c.given.file, files, func(tx *intake.Tx, path string) error {
		k, err := readOlderTask(path)
		if err != nil {
			t.c.unread(path, err)
			return nil
		}
		t.movable = append(t.movable, path)
		switch {
		case tx.HasTask(k.ID, intake.Head):
			return nil
		case k.State == TaskWaiting:
			return k.putPart(tx, intake.Work, k.Work)
		}
		return k.putPart(tx, intake.Results, orEmpty(k.Results))
	})
}

// olderAnswer is a line in the file in which earlier versions stored the results of requests.
type olderAnswer struct {
	Key     string
	Request string
	At      time.Time
	Answer  *struct {
		Stored
		Results []Stored
		Task    *Task
	}
}

// copyAnswers copies the results of requests with a [Key] to intake.db. It skips lines that it cannot parse, such as a
// line that a crash cut off.
func (t *takeOver) copyAnswers() error {
	path := filepath.Join(t.c.o.Intake, olderAnswers)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.movable = append(t.movable, path)
	return inTransactions(t.c.given.file, slices.Collect(bytes.Lines(content)), func(tx *intake.Tx, line []byte) error {
		var in olderAnswer
		if json.Unmarshal(line, &in) != nil || in.Answer == nil {
			return nil
		}
		name, err := hex.DecodeString(in.Key)
		if err != nil || len(name) != sha256.Size {
			return nil
		}
		r := keyRecord{Request: in.Request, At: in.At, Done: true, Results: in.Answer.Results, Task: in.Answer.Task}
		if in.Answer.ID != "" {
			r.Results = []Stored{in.Answer.Stored}
		}
		return putKey(tx, name, &r, t.c.o.Now())
	})
}
