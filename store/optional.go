package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sheaf"
)

// Bulk is met by backends for which many batches under one commit are much
// cheaper than many writes.
type Bulk interface {
	Backend
	// Bulk begins a load. Other writes wait until it is committed or
	// aborted.
	Bulk(ctx context.Context) (BulkWriter, error)
}

// BulkWriter takes batches that become durable and visible together.
type BulkWriter interface {
	// Add takes a batch as Backend.Write does, without making it durable or
	// visible. Safe to call from several goroutines when no document is
	// named in two batches; one goroutine may add a document piece by piece,
	// naming it in Replace with the first. The memory of the vectors is the
	// caller's again when it returns.
	Add(ctx context.Context, batch Batch) error
	// Commit makes everything added since the last Commit durable and
	// visible, at once. More can be added after it.
	Commit(ctx context.Context) error
	// Close drops what was not committed and ends the load.
	Close() error
}

// Streamer is met by backends that can give back what was written to them.
type Streamer interface {
	// Stream gives every chunk to yield, some at a time, in an order that the
	// store keeps. cursor is "" or what yield was told with the last chunks
	// that arrived, to go on behind those. Chunks that are written meanwhile may
	// come or not. It ends with the first error of yield. A chunk that cannot be
	// given back as it was written is sheaf.ErrUnsupported and named.
	Stream(ctx context.Context, cursor string, yield func(chunks []Chunk, cursor string) error) error
}

// Inspector is met by backends whose server can lose, without a word, what finds by
// meaning the passages that it goes on keeping.
type Inspector interface {
	// Unreached counts passages of chunks that the store keeps and that no search by
	// meaning finds.
	Unreached(ctx context.Context, ids []sheaf.ID) (int, error)
	// Remove deletes chunks by their keys, also those that no filter of the server finds any more.
	// Written again, they are found.
	Remove(ctx context.Context, ids []sheaf.ID) error
}

// Explainer is met by backends that can say how a score came about.
type Explainer interface {
	// Explain returns, for each of ids, the parts of the score that
	// Retrieve(ctx, req) gives it, or nil when it would not be found. The
	// root's value equals that score and recombines to it.
	Explain(ctx context.Context, req Request, ids []sheaf.ID) ([]*sheaf.Explanation, error)
}

// Selective is met by backends that cannot honor every request.
type Selective interface {
	// Supports is nil when requests like req can be honored, else
	// sheaf.ErrUnsupported. It looks at how hits are scored and bounded, at
	// neither words nor vector, and asks no server.
	Supports(req Request) error
}

// Counter is met by backends that can count what matches.
type Counter interface {
	// Count is the number of chunks that req's words and filters match,
	// whatever its limit. Vector requests match every chunk with a vector
	// that the filters let through.
	Count(ctx context.Context, req Request) (int, error)
}

// Matcher is met by backends that can bound what a vector finds by words; those that stand
// in front of another say what that says.
type Matcher interface {
	// Matches reports whether a VectorRequest may have Matching.
	Matches() bool
}

// Matches reports whether a VectorRequest to b may have Matching.
func Matches(b Backend) bool {
	m, ok := b.(Matcher)
	return ok && m.Matches()
}

// ColumnWriter is met by backends that can change the columns of chunks and leave
// their words and vectors as they are, so that neither has to be sent again.
type ColumnWriter interface {
	// WriteColumns gives chunks other columns instead of all that they had; the
	// last of several changes of one chunk counts. Durable and visible when it
	// returns; after an error a part of the changes may be, and making them again
	// is safe. A chunk that is not there is sheaf.ErrNotFound and is not made.
	WriteColumns(ctx context.Context, changes []ColumnChange) error
}

// ColumnChange is what WriteColumns changes of one chunk.
type ColumnChange struct {
	Chunk sheaf.ID
	// Columns are all columns of the chunk from now on, sorted by name.
	Columns []Column
}

// Emptier is met by backends that others may search and that keep their settings when
// nothing is left in them.
type Emptier interface {
	// Empty removes every chunk. Durable and visible when it returns; after an
	// error a part of them may be left, and emptying again is safe.
	Empty(ctx context.Context) error
}

// Stats describes what a backend holds.
type Stats struct {
	Chunks  int              `json:"chunks"`
	Bytes   int64            `json:"bytes"`           // on disk, 0 when unknown
	Parts   map[string]int64 `json:"parts,omitempty"` // bytes by kind: postings, positions, vectors ...
	Vectors int              `json:"vectors"`         // passages, in all vector fields
	// Generation grows by at least one with every visible change.
	Generation uint64 `json:"generation"`
}

// Reporter is met by backends that can say what they hold.
type Reporter interface {
	Stats(ctx context.Context) (Stats, error)
}

// Versioned is met by backends that can tell quickly whether anything has changed.
type Versioned interface {
	// Version is another number once any request could be answered otherwise
	// than before. Requests that run while it changes may be answered of either
	// state.
	Version() (uint64, error)
}

// Pinner is met by backends that can hold still.
type Pinner interface {
	// Pin is the backend as it is now: whatever is written later, every request to
	// it is answered of this state, and none asks whether there is a newer one.
	// Closing it ends that, and leaves the backend open.
	Pin() (Backend, error)
}

// Checker is met by backends that can verify their files.
type Checker interface {
	// Check reads everything and returns one error for each fault found,
	// each wrapping sheaf.ErrCorrupt; nil when there is none. progress may
	// be nil.
	Check(ctx context.Context, progress func(done, total int64)) []error
}

// Recall is how much of what brute force finds a store finds in one vector field.
type Recall struct {
	Field    string  `json:"field" doc:"The vector field."`
	Dims     int     `json:"dims" doc:"Its dimensions."`
	Passages int     `json:"passages" doc:"How many vectors it has."`
	Queries  int     `json:"queries" doc:"How many queries were measured."`
	At10     float64 `json:"recall_at_10" doc:"The share of the nearest 10 that was found."`
	At100    float64 `json:"recall_at_100" doc:"The share of the nearest 100 that was found."`
	// Originals and what follows are there when the vectors could be had as they were
	// before the store rounded them.
	Originals int     `json:"originals,omitempty" doc:"The number of chunks of which the vectors were compared as the model makes them, in float32; absent when they were not."`
	Float10   float64 `json:"float32_recall_at_10,omitempty" doc:"The share of the nearest 10 by those that was found."`
	Float100  float64 `json:"float32_recall_at_100,omitempty" doc:"The share of the nearest 100 by those that was found."`
	// Exhaustive says that every vector is compared in any case.
	Exhaustive bool `json:"exhaustive" doc:"Whether every vector is compared in any case."`
	// The medians of what one search for 10 took.
	SearchMillis     float64 `json:"search_ms" doc:"The median time of a search for 10, in milliseconds."`
	BruteForceMillis float64 `json:"brute_force_ms" doc:"The median time of comparing all vectors, in milliseconds."`
}

// RecallMeter is met by backends that can measure their recall.
type RecallMeter interface {
	// Recall compares searches with brute force over what is stored, and over the
	// vectors as they were if o gives them, for each vector field by name.
	Recall(ctx context.Context, o RecallOptions) ([]Recall, error)
}

// RecallOptions say how recall is measured.
type RecallOptions struct {
	// Queries is how many are sampled for each field.
	Queries int
	// Originals, which may be nil, calls yield, perhaps from several goroutines,
	// with chunks whose vectors are as they were written to the store.
	Originals func(ctx context.Context, yield func(chunks []Chunk)) error
	// Progress, which may be nil, is told how much is done.
	Progress func(done, total int)
}

func partialMessage(rejected map[sheaf.ID]error) string {
	ids := make([]sheaf.ID, 0, len(rejected))
	for id := range rejected {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return "no documents were rejected"
	}
	return fmt.Sprintf("%d documents were rejected, %s among them: %v", len(ids), ids[0], rejected[ids[0]])
}

// Finding is one thing that was looked at when a store was examined.
type Finding struct {
	// Check says what was looked at, Found what it is.
	Check string
	Found string
	// Err is why the store cannot be used like this; nil when it can. Its
	// message says what to do.
	Err error
}

// MaxSkew is how far the clocks of two machines may differ before dates are worth
// a thought.
const MaxSkew = time.Minute

// Sharded is a backend that may keep its chunks in several parts. Each part may count words by
// itself.
type Sharded interface {
	// Shards is the number of parts, 0 when the server does not tell it.
	Shards() int
}

// Mover is met by backends whose name others can give to another store.
type Mover interface {
	// Moved says that the name stands for a store now that was made otherwise, and the backend keeps to
	// the one before; nil when it does not.
	Moved() error
}

// Switcher is met by backends that can be reached by a second name.
type Switcher interface {
	// Alias gives the store a second name, and takes it from whatever has it,
	// at once: who opens the name finds the one or the other, never nothing. A
	// name that is itself a store is sheaf.ErrInvalid.
	Alias(ctx context.Context, name string) error
}
