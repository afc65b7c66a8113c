package serve

import (
	"maps"
	"slices"

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
// changed since.
func (g *given) leftOut() (list []Skip) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(g.left)) {
		list = append(list, Skip{id.Tree(), id.Path(), ingest.ReasonRefused, g.left[id].why + "; it is kept, and tried again when the server starts: put another version, or delete it"})
	}
	return list
}

// changed notes that changes are made.
func (g *given) changed(changes []Change) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range changes {
		delete(g.left, changes[i].ID)
	}
}
