package collection

import (
	"maps"
	"slices"

	"sheaf"
	"sheaf/ingest"
)

// leave notes that the store did not take a given document.
func (t *trouble) leave(id sheaf.ID, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left[id] = why.Error()
}

// isLeft reports whether the store did not take a given document.
func (t *trouble) isLeft(id sheaf.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left[id] != ""
}

// leftOut are the kept documents that the store did not take, but for those that were
// changed since, and the files of documents and tasks that cannot be read.
func (t *trouble) leftOut() (list []Skip) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(t.left)) {
		list = append(list, Skip{id.Tree(), id.Path(), ingest.ReasonRefused, t.left[id] + "; it is kept, and tried " +
			"again when the server starts: put another version, or delete it"})
	}
	for _, file := range slices.Sorted(maps.Keys(t.unreadable)) {
		list = append(list, unreadable(file, t.unreadable[file]))
	}
	return list
}

func unreadable(file, why string) Skip {
	return Skip{"", file, ingest.ReasonUnreadable, why + "; it is kept, and read again when the server starts: make it " +
		"readable, or remove it"}
}

// unread notes that a file of a document or a task cannot be read.
func (t *trouble) unread(file string, why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unreadable[file] = why.Error()
}

// readAgain forgets which files could not be read: they are about to be read again.
func (t *trouble) readAgain() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.unreadable)
}

// changed notes that changes are made.
func (t *trouble) changed(changes []Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range changes {
		delete(t.left, changes[i].ID)
	}
}
