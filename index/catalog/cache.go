package catalog

import (
	"sheaf"
	"sheaf/internal/lru"
)

// caches hold recently used data of a View.
type caches struct {
	records   lru.Cache[sheaf.ID, *outlinedRecord]
	texts     lru.Cache[sheaf.ID, sourceText]
	links     lru.Cache[sheaf.ID, []sheaf.ID] // every query needs them; the size of an entry grows with its links
	backlinks lru.Cache[sheaf.ID, []sheaf.ID]
	names     lru.Cache[calledBy, *sameName]
	folders   lru.Cache[string, int] // sizes of folders, by tree, ":" and folder
}
