package collection

import (
	"bufio"
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

// Earlier versions kept each given document, each task and the answers of requests with a key in
// files of their own. This file reads those, and can go when nobody has them any more.

// The files and folders of earlier versions, in the folder of an index, and the folder that they
// are moved to.
const (
	olderDocuments = "documents"
	olderTasks     = "tasks"
	olderAnswers   = "answers.jsonl"
	olderBatch     = "batch.begun"
	movedName      = "moved-1"
)

// fileKey begins the names of a document's files.
func fileKey(id sheaf.ID) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func olderName(id sheaf.ID, hash catalog.Hash) string {
	return fileKey(id) + "-" + hex.EncodeToString(hash[:]) + ".json"
}

func olderDocument(folder string, id sheaf.ID, hash catalog.Hash) string {
	return filepath.Join(folder, olderDocuments, olderName(id, hash))
}

// olderKeys are the beginnings of the names of all files of documents; nil when there is no folder.
func olderKeys(folder string) (map[string]bool, error) {
	names, err := vfs.Disk{}.List(filepath.Join(folder, olderDocuments))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	keys := map[string]bool{}
	for _, name := range names {
		if key, _, ok := strings.Cut(name, "-"); ok {
			keys[key] = true
		}
	}
	return keys, err
}

// olderTask is a task in a file of its own.
type olderTask struct {
	keptTask
	Work    []keptChange `json:"work,omitempty"`
	Results []Stored     `json:"results"`
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
		return nil, fmt.Errorf("read task: %w: %s: it is that of the task %q", sheaf.ErrCorrupt, path, k.ID)
	}
	return &k, nil
}

// UnreadableTasks are the files of tasks of earlier versions in the folder of an index that cannot
// be read, as [Reader.Status] has them.
func UnreadableTasks(folder string) (list []Skip, err error) {
	names, err := olderFiles(filepath.Join(folder, olderTasks), ".json")
	for _, name := range names {
		if _, err := readOlderTask(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, unreadable(name, err.Error()))
		}
	}
	return list, err
}

// olderFiles are the paths of files of a folder that end so.
func olderFiles(folder, suffix string) (paths []string, err error) {
	names, err := vfs.Disk{}.List(folder)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, name := range names {
		if strings.HasSuffix(name, suffix) && !strings.HasPrefix(name, ".") {
			paths = append(paths, filepath.Join(folder, name))
		}
	}
	return paths, err
}

// takeOver is one taking over of older files.
type takeOver struct {
	c    *Collection
	view *catalog.View
	// done are files that the new file has, or that count no more.
	done []string
}

// takeOverOlder takes the files of earlier versions into the new file, once in a process, and
// moves them away. A file that cannot be read stays where it is, and is named by Status. It must
// be the caller's turn to write.
func (c *Collection) takeOverOlder() error {
	if c.given.owner.older.Load() {
		return nil
	}
	t := takeOver{c: c, view: c.o.Catalog.View()}
	defer t.view.Close()
	for _, take := range []func() error{t.documents, t.tasks, t.answers} {
		if err := take(); err != nil {
			return fmt.Errorf("take over what an earlier version of sheaf kept: %w", err)
		}
	}
	c.given.owner.older.Store(true)
	return nil
}

// move moves the files that are done.
func (t *takeOver) move() error {
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
	folder := filepath.Dir(t.done[0])
	t.done = nil
	if folder == filepath.Clean(t.c.o.Intake) {
		return vfs.Disk{}.SyncDir(folder)
	}
	if err := errors.Join(vfs.Sweep(folder, 0), vfs.Disk{}.SyncDir(folder)); err != nil {
		return err
	}
	_ = os.Remove(folder) // unless it has more files
	return nil
}

func (t *takeOver) unread(path string, err error) {
	t.c.notice(err)
	t.c.given.unread(path, err)
}

// takeOverBytes is how many bytes are taken over in one transaction.
const takeOverBytes = 16 << 20

// documents takes over given documents. Of two versions that of the catalog counts, or else the
// newer one.
func (t *takeOver) documents() error {
	folder := filepath.Join(t.c.o.Intake, olderDocuments)
	files, err := olderFiles(folder, ".json")
	if err != nil {
		return err
	}
	void, err := t.batch(filepath.Join(folder, olderBatch))
	if err != nil {
		return err
	}
	byKey := map[string][]string{}
	for _, path := range files {
		if key, _, ok := strings.Cut(filepath.Base(path), "-"); ok {
			byKey[key] = append(byKey[key], path)
		}
	}
	for rest := slices.Collect(maps.Values(byKey)); len(rest) > 0; {
		if rest, err = t.someDocuments(rest, void); err != nil {
			return err
		}
	}
	return t.move()
}

// someDocuments takes over some documents, each of which has files, and returns the others.
func (t *takeOver) someDocuments(files [][]string, void map[string]bool) (rest [][]string, err error) {
	docs := map[sheaf.ID][]byte{}
	size := 0
	for len(files) > 0 && size < takeOverBytes {
		id, content, err := t.version(files[0], void)
		if err != nil {
			return nil, err
		}
		if files = files[1:]; content != nil {
			docs[id] = content
			size += len(content)
		}
	}
	err = t.c.given.file.Update(func(tx *intake.Tx) error {
		for id, content := range docs {
			if _, there := tx.Hash(id); there {
				continue
			}
			if err := tx.Set(id, content); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return files, t.move()
}

// version reads the version that counts of a document, nil for none; the others are done.
func (t *takeOver) version(files []string, void map[string]bool) (id sheaf.ID, content []byte, err error) {
	var newest time.Time
	certain := false
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return "", nil, err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.unread(path, err)
			continue
		}
		var doc storedDocument
		if err := json.Unmarshal(text, &doc); err != nil || doc.Document == nil ||
			!strings.HasPrefix(filepath.Base(path), fileKey(doc.ID)+"-") {
			t.unread(path, fmt.Errorf("read document: %w: %s", sheaf.ErrCorrupt, path))
			continue
		}
		t.done = append(t.done, path)
		rec, err := t.view.Record(doc.ID)
		if err != nil && !errors.Is(err, sheaf.ErrNotFound) {
			return "", nil, err
		}
		indexed := err == nil && rec.File.Hash == catalog.HashOf(text)
		if void[filepath.Base(path)] || certain || !indexed && content != nil && info.ModTime().Before(newest) {
			continue
		}
		id, content, newest, certain = doc.ID, text, info.ModTime(), indexed
	}
	return id, content, nil
}

// batch are the names of the files that a change of several documents left that a process began
// and did not end: those of versions that were never acknowledged, or that were replaced.
func (t *takeOver) batch(path string) (void map[string]bool, err error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []struct {
		ID         sheaf.ID
		Old, Fresh string
	}
	if err == nil {
		err = json.Unmarshal(content, &names)
	}
	if err != nil {
		t.unread(path, fmt.Errorf("read which documents were written together: %w: %s: %w", sheaf.ErrCorrupt, path, err))
		return nil, nil
	}
	void = map[string]bool{}
	for _, n := range names {
		rec, err := t.view.Record(n.ID)
		switch {
		case err != nil && !errors.Is(err, sheaf.ErrNotFound):
			return nil, err
		case err == nil && olderName(n.ID, rec.File.Hash) == n.Fresh, err != nil && n.Fresh == "":
			void[n.Old] = n.Old != n.Fresh
		default:
			void[n.Fresh] = n.Old != n.Fresh
		}
	}
	t.done = append(t.done, path)
	return void, nil
}

// olderBegun is what changes will have done, as it was kept from before they were made.
type olderBegun struct {
	Changes []struct {
		Stored
		Hash string `json:"hash"`
	} `json:"changes"`
	Task *Task `json:"task"`
}

// made are the results when all changes are made; nil when one is not.
func (b *olderBegun) made(c *Collection, view *catalog.View) []Stored {
	var results []Stored
	for _, ch := range b.Changes {
		rec, err := view.Record(ch.ID)
		if ch.Deleted != errors.Is(err, sheaf.ErrNotFound) ||
			!ch.Deleted && (err != nil || hex.EncodeToString(rec.File.Hash[:]) != ch.Hash) {
			return nil
		}
		results = append(results, ch.Stored)
	}
	if c.describe(results) != nil {
		return nil
	}
	return results
}

// tasks takes over tasks. One whose changes are made, and whose end was not kept, is done.
func (t *takeOver) tasks() error {
	folder := filepath.Join(t.c.o.Intake, olderTasks)
	files, err := olderFiles(folder, ".json")
	if err != nil {
		return err
	}
	for _, path := range files {
		k, err := readOlderTask(path)
		if err != nil {
			t.unread(path, err)
			continue
		}
		begunPath := strings.TrimSuffix(path, ".json") + ".begun"
		var begun olderBegun
		if content, err := os.ReadFile(begunPath); err == nil {
			t.done = append(t.done, begunPath)
			if json.Unmarshal(content, &begun) == nil && k.State == TaskWaiting {
				if results := begun.made(t.c, t.view); results != nil {
					k.State, k.Ended, k.Results, k.Work = TaskDone, t.c.o.Now().UTC(), results, nil
				}
			}
		}
		t.done = append(t.done, path)
		if err := t.task(k); err != nil {
			return err
		}
	}
	return t.move()
}

func (t *takeOver) task(k *olderTask) error {
	k.keptTask.Results = []Stored{}
	head, err := json.Marshal(&k.keptTask)
	if err != nil {
		return err
	}
	work, result := []byte(nil), []byte(nil)
	if k.State == TaskWaiting {
		work, err = json.Marshal(k.Work)
	} else {
		result, err = json.Marshal(k.Results)
	}
	if err != nil {
		return err
	}
	return t.c.given.file.Update(func(tx *intake.Tx) error {
		if tx.Task(k.ID) != nil {
			return nil
		}
		return tx.PutTask(k.ID, head, work, result)
	})
}

// answers takes over the results of requests with a key. What a crash cut off was never answered.
func (t *takeOver) answers() error {
	path := filepath.Join(t.c.o.Intake, olderAnswers)
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines := bufio.NewReader(bytes.NewReader(content))
	byKey := map[string]*keyRecord{}
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break // the end, or a line that was cut off
		}
		if key, r := t.answer(line); r != nil {
			byKey[key] = r
		}
	}
	err = t.c.given.file.Update(func(tx *intake.Tx) error {
		for key, r := range byKey {
			name, err := hex.DecodeString(key)
			if err != nil || len(name) != sha256.Size || tx.Key(name, t.c.o.Now()) != nil {
				continue
			}
			if err := putKey(tx, name, r, t.c.o.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	t.done = append(t.done, path)
	return t.move()
}

// answer reads a line; nil of one that says nothing that was done.
func (t *takeOver) answer(line []byte) (key string, r *keyRecord) {
	var in struct {
		Key     string
		Request string
		At      time.Time
		Answer  *struct {
			Stored
			Results []Stored
			Task    *Task
		}
		Begun *olderBegun
	}
	if json.Unmarshal(line, &in) != nil || in.Answer == nil && in.Begun == nil {
		return "", nil
	}
	r = &keyRecord{Request: in.Request, At: in.At, Done: true}
	switch {
	case in.Answer != nil && in.Answer.ID != "":
		r.Results = []Stored{in.Answer.Stored}
	case in.Answer != nil:
		r.Results, r.Task = in.Answer.Results, in.Answer.Task
	case in.Begun.Task != nil:
		r.Task = in.Begun.Task
	default:
		if r.Results = in.Begun.made(t.c, t.view); r.Results == nil {
			return "", nil
		}
	}
	return in.Key, r
}
