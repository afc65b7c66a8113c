package serve

import (
	"maps"
	"slices"

	"sheaf"
	"sheaf/ingest"
)

// leave notes that the store did not take a kept document.
func (g *given) leave(id sheaf.ID, why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left[id] = why.Error()
}

// leftOut are the kept documents that the store did not take, but for those that were
// changed since.
func (g *given) leftOut() (list []Skip) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(g.left)) {
		list = append(list, Skip{id.Tree(), id.Path(), ingest.ReasonRefused, g.left[id] + "; it is kept, and tried again when the server starts: put another version"})
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
