package collection

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sheaf"
	"sheaf/ingest"
)

// leftDocument is a kept document that the store did not take: its file, and why.
type leftDocument struct{ name, why string }

// leave notes that the store did not take a kept document.
func (g *given) leave(id sheaf.ID, name string, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left[id] = leftDocument{name, why.Error()}
}

// fileLeft is the file of a kept document that the store did not take, "" for none.
func (g *given) fileLeft(id sheaf.ID) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left[id].name
}

// leftOut are the kept documents that the store did not take, but for those that were
// changed since, and the files of documents and tasks that cannot be read.
func (g *given) leftOut() (list []Skip) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(g.left)) {
		list = append(list, Skip{id.Tree(), id.Path(), ingest.ReasonRefused, g.left[id].why + "; it is kept, and tried " +
			"again when the server starts: put another version, or delete it"})
	}
	for _, file := range slices.Sorted(maps.Keys(g.unreadable)) {
		list = append(list, unreadable(file, g.unreadable[file]))
	}
	return list
}

func unreadable(file, why string) Skip {
	return Skip{"", file, ingest.ReasonUnreadable, why + "; it is kept, and read again when the server starts: make it " +
		"readable, or remove it"}
}

// UnreadableTasks are the files of a folder of tasks that cannot be read, as [Reader.Status]
// has them.
func UnreadableTasks(folder string) (list []Skip, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		// else it was forgotten just now
		if _, err := readTask(folder, e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			list = append(list, unreadable(filepath.Join(folder, e.Name()), err.Error()))
		}
	}
	return list, nil
}

// unread notes that a file of a document or a task cannot be read.
func (g *given) unread(file string, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.unreadable[file] = why.Error()
}

// forget notes that a file that could not be read is gone.
func (g *given) forget(file string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.unreadable, file)
}

// readAgain forgets which files could not be read: they are about to be read again.
func (g *given) readAgain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.unreadable)
}

// changed notes that changes are made.
func (g *given) changed(changes []Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range changes {
		delete(g.left, changes[i].ID)
	}
}
