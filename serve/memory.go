package serve

import (
	"sync"

	"sheaf"
	"sheaf/catalog"
)

// chunkMemory remembers chunks as the catalog described them, for one generation
// of it: every search asks for hundreds, and reading one unpacks others beside
// it. It is shared by all callers; whether one may see a chunk is not its
// business.
type chunkMemory struct {
	mu         sync.RWMutex
	generation uint64
	chunks     map[sheaf.ID]sheaf.Chunk
}

// maxChunks is how many chunks are remembered: about 30 MB of them.
const maxChunks = 32 << 10

// chunk is the chunk called id in view; false when there is none.
func (m *chunkMemory) chunk(view *catalog.View, id sheaf.ID) (sheaf.Chunk, bool) {
	generation := view.Generation()
	m.mu.RLock()
	c, ok := m.chunks[id]
	current := m.generation == generation
	m.mu.RUnlock()
	if ok && current {
		return c, true
	}
	c, ok = view.Chunk(id)
	if !ok {
		return c, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.generation > generation:
		return c, true // an older view's chunk is not kept
	case m.generation != generation, len(m.chunks) >= maxChunks:
		m.generation, m.chunks = generation, map[sheaf.ID]sheaf.Chunk{}
	}
	m.chunks[id] = c
	return c, true
}
