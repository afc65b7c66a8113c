package weaviate

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store"
)

// keptProperty is the property with the chunk as it was written, without vectors. Other properties have only terms.
const keptProperty = "kept"

// keptData is the JSON value of keptProperty. Its texts are bytes, because IDs and texts may be any bytes.
type keptData struct {
	Doc     []byte       `json:"d"`
	Fields  [][2][]byte  `json:"f,omitempty"`
	Columns []keptColumn `json:"c,omitempty"`
}

type keptColumn struct {
	Name   []byte      `json:"n"`
	Values []keptValue `json:"v"`
}

type keptValue struct {
	Kind   sheaf.Kind `json:"k"`
	Text   []byte     `json:"t,omitempty"`
	Number float64    `json:"x,omitempty"`
}

func encodeKept(c *store.Chunk) string {
	out := keptData{Doc: []byte(c.Doc)}
	for _, f := range c.Fields {
		out.Fields = append(out.Fields, [2][]byte{[]byte(f.Name), []byte(f.Text)})
	}
	for _, col := range c.Columns {
		k := keptColumn{Name: []byte(col.Name)}
		for _, v := range col.Values {
			k.Values = append(k.Values, keptValue{v.Kind, []byte(v.Text), v.Number})
		}
		out.Columns = append(out.Columns, k)
	}
	data, err := json.Marshal(out)
	if err != nil {
		panic(err) // bytes and finite numbers always encode
	}
	return string(data)
}

// streamBatch is the number of chunks that Stream reads at a time.
const streamBatch = 100

// Stream implements [store.Streamer], in the order of the server's own IDs.
func (s *Store) Stream(ctx context.Context, cursor string,
	yield func(chunks []store.Chunk, cursor string) error) error {
	for {
		chunks, next, err := s.chunks(ctx, cursor)
		if err != nil || len(chunks) == 0 {
			return err
		}
		if err := yield(chunks, next); err != nil {
			return err
		}
		cursor = next
	}
}

// storedData is the data of an answer that has chunks in the form in which they were written.
type storedData struct {
	Get map[string][]struct {
		CID        string `json:"cid"`
		Chunk      string
		Kept       string
		Additional struct{ ID string } `json:"_additional"`
	}
}

func (s *Store) chunks(ctx context.Context, cursor string) ([]store.Chunk, string, error) {
	query := fmt.Sprintf("{Get{%s(limit:%d after:%s){cid chunk %s _additional{id}}}}", s.o.Class, streamBatch,
		quote(cursor),
		keptProperty)
	answer, err := timed(ctx, s, func(ctx context.Context) (storedData, error) { return ask[storedData](ctx, s, query) })
	if err != nil {
		return nil, "", err
	}
	list, err := hits(s, answer.Get, s.o.Class)
	if err != nil {
		return nil, "", err
	}
	var chunks []store.Chunk
	at := map[string]int{}
	for _, o := range list {
		id, err := hex.DecodeString(o.CID)
		var k keptData
		switch {
		case err != nil || len(id) == 0:
			return nil, "", s.fault(sheaf.ErrUnavailable, "an object without an ID: the answer is not from such a server")
		case o.Kept == "":
			return nil, "", s.fault(sheaf.ErrUnsupported, "chunk %q was written without its texts: fill the class again", id)
		case json.Unmarshal([]byte(o.Kept), &k) != nil:
			return nil, "", s.fault(sheaf.ErrCorrupt, "chunk %q: what was kept of it cannot be read: %.100q", id, o.Kept)
		}
		at[o.Chunk] = len(chunks)
		chunks = append(chunks, k.chunk(sheaf.ID(id)))
		cursor = o.Additional.ID
	}
	for _, field := range s.vectors.All() {
		if err := s.passages(ctx, field.Name, at, chunks); err != nil {
			return nil, "", err
		}
	}
	return chunks, cursor, nil
}

func (k *keptData) chunk(id sheaf.ID) store.Chunk {
	c := store.Chunk{ID: id, Doc: sheaf.ID(k.Doc)}
	for _, f := range k.Fields {
		c.Fields = append(c.Fields, store.Field{Name: string(f[0]), Text: string(f[1])})
	}
	for _, col := range k.Columns {
		out := store.Column{Name: string(col.Name)}
		for _, v := range col.Values {
			out.Values = append(out.Values, sheaf.Value{Kind: v.Kind, Text: string(v.Text), Number: v.Number})
		}
		c.Columns = append(c.Columns, out)
	}
	return c
}

// passage is an object in the class of a vector field.
type passage struct {
	Chunk      string
	N          int
	Additional struct{ Vector []float32 } `json:"_additional"`
}

// passages adds the vectors of a field to chunks. indexes has the index of each chunk, by the hash of its ID.
func (s *Store) passages(ctx context.Context, field string, indexes map[string]int, chunks []store.Chunk) error {
	if len(indexes) == 0 {
		return nil
	}
	list, err := s.passagesOf(ctx, field, slices.Sorted(maps.Keys(indexes)))
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b passage) int { return cmp.Or(strings.Compare(a.Chunk, b.Chunk), a.N-b.N) })
	for _, o := range list {
		i, ok := indexes[o.Chunk]
		if !ok {
			return s.fault(sheaf.ErrUnavailable, "a vector of a chunk that was not asked for: the answer is not from "+
				"such a server")
		}
		c := &chunks[i]
		if n := len(c.Vectors); n == 0 || c.Vectors[n-1].Name != field {
			c.Vectors = append(c.Vectors, store.Vectors{Name: field})
		}
		last := &c.Vectors[len(c.Vectors)-1]
		last.Passages = append(last.Passages, o.Additional.Vector)
	}
	return nil
}

// timed calls f within the time limit of one store call. The limit is for all requests of f together.
func timed[T any](ctx context.Context, s *Store, f func(ctx context.Context) (T, error)) (T, error) {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		var none T
		return none, err
	}
	defer stop()
	return f(ctx)
}

// streamedNumbers is roughly the largest number of vector components in one answer.
const streamedNumbers = 1 << 20

// passagesOf returns the passages of chunks.
func (s *Store) passagesOf(ctx context.Context, field string, hashes []string) (out []passage, err error) {
	most := min(MaxLimit, 1+streamedNumbers/max(s.vectors.Get(field).Dims, 1))
	err = s.inParts(ctx, field, hashes, everything, most, func(class, where string, _ int) error {
		some, err := s.passageHits(ctx, class, fmt.Sprintf("limit:%d where:%s", most, where), "chunk n _additional{vector}")
		out = append(out, some...)
		return err
	})
	return out, err
}

// passageHits asks for properties of passages in a class, a text such as "chunk text". arguments is the text between
// the parentheses of the GraphQL query.
func (s *Store) passageHits(ctx context.Context, class, arguments, properties string) ([]passage, error) {
	query := fmt.Sprintf("{Get{%s(%s){%s}}}", class, arguments, properties)
	answer, err := timed(ctx, s, func(ctx context.Context) (struct{ Get map[string][]passage }, error) {
		return ask[struct{ Get map[string][]passage }](ctx, s, query)
	})
	if err != nil {
		return nil, err
	}
	return hits(s, answer.Get, class)
}

// inParts calls the function use for parts of at most limit passages. It takes the passages of chunks that meet the
// condition within. use gets their class, a GraphQL condition that selects the part, and their number. If the server
// counts more passages of a chunk than possible, inParts fails.
func (s *Store) inParts(ctx context.Context, field string, hashes []string, within condition, limit int,
	use func(class, where string, n int) error) error {
	class, where := s.passageClass(field), and(anyOf("chunk", hashes), within)
	if where.none() {
		return nil
	}
	n, err := timed(ctx, s, func(ctx context.Context) (int, error) { return s.count(ctx, class, where) })
	switch half := len(hashes) / 2; {
	case err != nil || n == 0:
		return err
	case n <= limit:
		return use(class, where.where, n)
	case half > 0:
		if err := s.inParts(ctx, field, hashes[:half], within, limit, use); err != nil {
			return err
		}
		return s.inParts(ctx, field, hashes[half:], within, limit, use)
	case !within.all():
		return s.fault(sheaf.ErrUnavailable, "%d passages in a range of %d: the answer is not from such a server", n, limit)
	}
	for from := 0; from < n && err == nil; from += limit {
		err = s.inParts(ctx, field, hashes, passagesIn(from, from+limit), limit, use)
	}
	return err
}
