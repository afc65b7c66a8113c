package store

import (
	"context"
	"time"

	"sheaf"
)

// Bulk is implemented by stores in which one commit of many batches costs much less than many writes.
type Bulk interface {
	Backend
	// Bulk begins a load. Other writes wait until the load is closed.
	Bulk(ctx context.Context) (BulkWriter, error)
}

// BulkWriter collects batches that become durable and visible together.
type BulkWriter interface {
	// Add takes a batch as Backend.Write does, without making it durable or visible. Several goroutines may call Add if no
	// two of their batches name the same document. One goroutine may split a document over several batches. Then only the
	// first of these batches names the document in Replace. When Add returns, the caller may reuse the memory of the
	// vectors.
	Add(ctx context.Context, batch Batch) error
	// Commit makes everything added since the last Commit durable and visible at once. The caller may then add more.
	Commit(ctx context.Context) error
	// Close drops uncommitted batches and ends the load.
	Close() error
}

// Streamer is implemented by stores that can return the written chunks.
type Streamer interface {
	// Stream passes every chunk to yield, several at a time, in an order that stays the same. cursor is "" for the first
	// chunk. After a stop, pass the last cursor that yield got: Stream continues after the chunks of that call of yield.
	// Chunks that are written meanwhile may be missing. If yield fails, Stream stops and returns the error. If a chunk
	// cannot be returned unchanged, Stream fails with sheaf.ErrUnsupported and names the chunk.
	Stream(ctx context.Context, cursor string, yield func(chunks []Chunk, cursor string) error) error
}

// Inspector is implemented by stores whose server may silently lose a stored passage from its vector index. Vector
// search then does not find the passage.
type Inspector interface {
	// Unreached returns how many stored passages of the chunks with these IDs vector search does not find.
	Unreached(ctx context.Context, ids []sheaf.ID) (int, error)
	// Remove deletes chunks by their keys, even chunks that no server filter finds. If the caller writes the chunks again,
	// searches find them.
	Remove(ctx context.Context, ids []sheaf.ID) error
}

// Explainer is implemented by stores that can explain a score.
type Explainer interface {
	// Explain returns, for each ID, an explanation of the score that Retrieve gives the chunk. It returns nil for a chunk
	// that Retrieve does not find. The value of an explanation is the score, and its parts show how the store computes the
	// score.
	Explain(ctx context.Context, req Request, ids []sheaf.ID) ([]*sheaf.Explanation, error)
}

// Selective is implemented by stores that cannot answer every request.
type Selective interface {
	// Supports returns nil if the store can answer requests like req, else sheaf.ErrUnsupported. It does not look at the
	// words or the vector, and asks no server.
	Supports(req Request) error
}

// Counter is implemented by stores that can count matching chunks.
type Counter interface {
	// Count returns the number of chunks that match req's words and filters, ignoring its limit. A
	// vector request matches every chunk that has a vector and passes the filters.
	Count(ctx context.Context, req Request) (int, error)
}

// Matcher is implemented by stores that can restrict a vector search to chunks that match words. A store that wraps
// another store answers for the wrapped store.
type Matcher interface {
	// Matches reports whether the store b can limit a search by vector to chunks that match words: see
	// VectorRequest.Matching.
	Matches() bool
}

// Matches reports whether the store b accepts a VectorRequest with Matching set.
func Matches(b Backend) bool {
	m, ok := b.(Matcher)
	return ok && m.Matches()
}

// ColumnWriter is implemented by stores that can change the columns of chunks without rewriting their words and
// vectors.
type ColumnWriter interface {
	// WriteColumns replaces all columns of chunks. If a chunk is changed twice, the last change counts. When it
	// returns, the changes are durable and visible. After an error, some of the changes may be visible, and it is safe
	// to repeat the call. For a missing chunk, it fails with sheaf.ErrNotFound and does not create the chunk.
	WriteColumns(ctx context.Context, changes []ColumnChange) error
}

// ColumnChange has the new columns of one chunk, for WriteColumns.
type ColumnChange struct {
	Chunk sheaf.ID
	// Columns replace all columns of the chunk. The caller sorts them by name.
	Columns []Column
}

// Emptier is implemented by stores that can remove all their chunks and keep their settings.
type Emptier interface {
	// Empty removes every chunk. When Empty returns, the removal is durable and visible. After an error, some chunks
	// may be left, and it is safe to repeat the call.
	Empty(ctx context.Context) error
}

// Stats has numbers about the content of a store.
type Stats struct {
	Chunks  int              `json:"chunks"`
	Bytes   int64            `json:"bytes"`           // on disk, 0 when unknown
	Parts   map[string]int64 `json:"parts,omitempty"` // bytes by kind: postings, positions, vectors ...
	Vectors int              `json:"vectors"`         // passages, in all vector fields
	// Generation is a number that grows with every visible change.
	Generation uint64 `json:"generation"`
}

// Reporter is implemented by stores that can describe their content.
type Reporter interface {
	Stats(ctx context.Context) (Stats, error)
}

// Versioned is implemented by stores that can quickly tell whether their content has changed.
type Versioned interface {
	// Version returns a number that changes whenever an answer may change. A request that runs during a change may be
	// answered from the state before or after the change.
	Version() (uint64, error)
}

// Pinner is implemented by stores that can offer a snapshot.
type Pinner interface {
	// Pin returns a snapshot of the store, whose answers later writes do not change. Closing the snapshot does not
	// close the store.
	Pin() (Backend, error)
}

// Checker is implemented by stores that can verify their files.
type Checker interface {
	// Check reads all files and returns an error for each fault, which wraps sheaf.ErrCorrupt. progress may be nil.
	Check(ctx context.Context, progress func(done, total int64)) []error
}

// Recall says which share of the truly nearest chunks a search finds in one vector field.
type Recall struct {
	Field    string  `json:"field" doc:"The vector field."`
	Dims     int     `json:"dims" doc:"Its dimensions."`
	Passages int     `json:"passages" doc:"How many vectors it has."`
	Queries  int     `json:"queries" doc:"How many queries were measured."`
	At10     float64 `json:"recall_at_10" doc:"The share of the nearest 10 that was found."`
	At100    float64 `json:"recall_at_100" doc:"The share of the nearest 100 that was found."`
	// Originals, Float10 and Float100 are set if RecallOptions.Originals gives the vectors before rounding.
	Originals int     `json:"originals,omitempty" doc:"Chunks compared with their original float32 vectors."`
	Float10   float64 `json:"float32_recall_at_10,omitempty" doc:"The share of the nearest 10 by those that was found."`
	Float100  float64 `json:"float32_recall_at_100,omitempty" doc:"The share of the nearest 100 by those that was found."`
	// Exhaustive means that the store compares every vector.
	Exhaustive bool `json:"exhaustive" doc:"Whether every vector is compared in any case."`
	// SearchMillis and BruteForceMillis are the median times of a search for 10 hits and of comparing all vectors.
	SearchMillis     float64 `json:"search_ms" doc:"The median time of a search for 10, in milliseconds."`
	BruteForceMillis float64 `json:"brute_force_ms" doc:"The median time of comparing all vectors, in milliseconds."`
}

// RecallMeter is implemented by stores that can measure their recall.
type RecallMeter interface {
	// Recall compares searches with brute force over the stored vectors, and over the original vectors if o gives them. It
	// returns one result for each vector field, sorted by name.
	Recall(ctx context.Context, o RecallOptions) ([]Recall, error)
}

// RecallOptions say how to measure recall.
type RecallOptions struct {
	// Queries is the number of sample queries for each field.
	Queries int
	// Originals, if not nil, passes chunks with their original vectors to yield, perhaps from several goroutines.
	Originals func(ctx context.Context, yield func(chunks []Chunk)) error
	// Progress receives how much of the work is done. Progress may be nil.
	Progress func(done, total int)
}

// Finding is the result of one check by a store's function Examine.
type Finding struct {
	// Check names the check. Found describes the result.
	Check string
	Found string
	// Err is nil if the check found no fault. Else it says what is wrong and what to do.
	Err error
}

// MaxSkew is the largest accepted difference between the clocks of two machines. A larger difference makes dates wrong.
const MaxSkew = time.Minute

// Sharded is implemented by stores that may split their chunks into shards, each with its own word statistics.
type Sharded interface {
	// Shards returns the number of shards, or 0 if the server does not say.
	Shards() int
}

// Mover is implemented by stores that are opened by a name, such as an alias, which may move later.
type Mover interface {
	// Moved returns an error if the name now leads to a store with other settings, otherwise nil. The open store continues
	// to use the place to which the name led before.
	Moved() error
}

// Switcher is implemented by stores that can have a second name, for example an alias.
type Switcher interface {
	// Alias gives the store a second name. If another store has the name, Alias moves the name in one step, so it always
	// leads to a store. If the name is the real name of a store, not an alias, Alias fails with sheaf.ErrInvalid.
	Alias(ctx context.Context, name string) error
}
