package storekit

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"sheaf"
	"sheaf/store"
)

// Hash returns a hash of a text in hexadecimal, for servers that forbid, fold or trim some characters.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Hashes returns the Hash of every ID.
func Hashes(ids []sheaf.ID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Hash(string(id))
	}
	return out
}

// LastOfEqual returns the chunks of a batch, by ID. If several chunks have the same ID, it returns the last of them.
func LastOfEqual(batch *store.Batch) map[sheaf.ID]*store.Chunk {
	out := make(map[sheaf.ID]*store.Chunk, len(batch.Chunks))
	for i := range batch.Chunks {
		out[batch.Chunks[i].ID] = &batch.Chunks[i]
	}
	return out
}

// Rejected has the documents that the server refused in a write, with the reasons.
type Rejected map[sheaf.ID]error

// Err returns a [store.PartialError], or nil if no document was rejected.
func (r Rejected) Err() error {
	if len(r) == 0 {
		return nil
	}
	return &store.PartialError{Rejected: r}
}

// Accepted returns the documents that were not rejected.
func (r Rejected) Accepted(docs []sheaf.ID) []sheaf.ID {
	return slices.DeleteFunc(slices.Clone(docs), func(id sheaf.ID) bool { return r[id] != nil })
}

// One returns the only element of list. If err is not nil, it returns err.
func One[T any](list []T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return list[0], nil
}
