package collection

import (
	"context"
	"sync"
	"time"

	"sheaf/search"
	"sheaf/store"
)

// scans remembers what was found in files, as legs does what branches retrieved: for whoever
// explains a query and then changes a number, and may see everything. Who may see a part is
// told by each file as it is.
type scans struct {
	by   search.Scanner
	legs *legs
}

// scanPatience is how long after it was last asked for what was found in files is remembered.
// Files may have changed without the index, which has no part in it.
const scanPatience = 2 * time.Second

// knownScan is what was found in files.
type knownScan struct {
	mu    sync.Mutex
	found *search.Scanned
	used  time.Time
}

// Scan implements search.Scanner.
func (s scans) Scan(ctx context.Context, req search.ScanRequest) (*search.Scanned, error) {
	key := keyOf("scan", store.ViewerOf(ctx), req)
	known, _ := s.legs.cache.get(s.legs.at, key).(*knownScan)
	if known != nil {
		if found := known.get(); found != nil {
			return found, nil
		}
	}
	found, err := s.by.Scan(ctx, req)
	if err != nil {
		return nil, err
	}
	if known == nil {
		s.legs.cache.put(s.legs.at, key, &knownScan{found: found, used: time.Now()}, found.Bytes)
		return found, nil
	}
	s.legs.cache.grow(key, known, known.set(found))
	return found, nil
}

// get is what was found, if that was asked for lately; nil else. It took no time now.
func (k *knownScan) get() *search.Scanned {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if now.Sub(k.used) > scanPatience {
		return nil
	}
	k.used = now
	found := *k.found
	found.Took = nil
	return &found
}

// set puts what was found now in the place of what was; it takes so many bytes more.
func (k *knownScan) set(found *search.Scanned) (more int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	more = found.Bytes - k.found.Bytes
	k.found, k.used = found, time.Now()
	return more
}
