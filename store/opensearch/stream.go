package opensearch

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// streamBatch is the number of chunks that Stream reads at a time.
const streamBatch = 200

// Stream implements [store.Streamer], in order of ID. If the name or a value of a column is longer than 8,000 bytes, it
// fails with sheaf.ErrUnsupported.
func (s *Store) Stream(ctx context.Context, cursor string,
	yield func(chunks []store.Chunk, cursor string) error) error {
	for {
		query := object{"size": streamBatch, "query": everything, "track_total_hits": false}
		if cursor != "" {
			query["search_after"] = []string{cursor}
		}
		chunks, err := s.chunks(ctx, query)
		if err != nil || len(chunks) == 0 {
			return err
		}
		cursor = escape(string(chunks[len(chunks)-1].ID))
		if err := yield(chunks, cursor); err != nil {
			return err
		}
	}
}

func (s *Store) chunks(ctx context.Context, query object) ([]store.Chunk, error) {
	ctx, stop, err := s.calls.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	found, err := s.page(ctx, query)
	if err != nil {
		return nil, err
	}
	chunks := make([]store.Chunk, len(found))
	for i, h := range found {
		if chunks[i], err = s.chunk(h.Source); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}

// page returns the hits of a query in order of ID.
func (s *Store) page(ctx context.Context, query object) ([]hit, error) {
	query["sort"] = []any{object{"id": "asc"}}
	var found answer
	if err := s.client.Call(ctx, "POST", "/"+s.index()+"/_search", query, &found); err != nil {
		return nil, err
	}
	return found.Hits.Hits, s.whole(&found)
}

func (s *Store) chunk(source json.RawMessage) (store.Chunk, error) {
	var raw struct {
		ID, Doc string
		C       []string
		Text    map[string]string
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(source, &raw); err != nil || raw.ID == "" || json.Unmarshal(source, &all) != nil {
		return store.Chunk{}, s.fault(sheaf.ErrUnavailable, "a document that is not a chunk: %.200q", source)
	}
	out := store.Chunk{ID: sheaf.ID(unescape(raw.ID)), Doc: sheaf.ID(unescape(raw.Doc))}
	for _, name := range slices.Sorted(maps.Keys(raw.Text)) {
		out.Fields = append(out.Fields, store.Field{Name: unescape(name), Text: unescape(raw.Text[name])})
	}
	columns := map[string][]sheaf.Value{}
	for _, word := range raw.C {
		name, v, ok := readWord(word)
		switch {
		case !ok && name != "":
			return out, s.fault(sheaf.ErrUnsupported, "chunk %s: the value of column %q is longer than %d bytes, and is not "+
				"kept as a whole", out.ID, name, maxWord)
		case !ok:
			return out, s.fault(sheaf.ErrUnsupported, "chunk %s: the name of a column is longer than %d bytes, or has "+
				"control characters, and is not kept as a whole", out.ID, maxWord)
		}
		columns[name] = append(columns[name], v)
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		out.Columns = append(out.Columns, store.Column{Name: name, Values: columns[name]})
	}
	for _, field := range s.vectors.All() {
		var passages []struct{ P []float32 }
		if data, ok := all[vectorPath(field.Name)]; !ok {
			continue
		} else if err := json.Unmarshal(data, &passages); err != nil || len(passages) == 0 {
			return out, s.fault(sheaf.ErrUnavailable, "chunk %s: the index has no valid vectors for it: %.200q", out.ID, data)
		}
		v := store.Vectors{Name: field.Name}
		for _, p := range passages {
			if len(p.P) == 0 {
				return out, s.fault(sheaf.ErrUnsupported, "chunk %s: the index does not give its vectors back: make it with "+
					"index.%s false, and fill it again", out.ID, VectorsInSource)
			}
			v.Passages = append(v.Passages, p.P)
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

// readWord converts a word back to a column and a value. ok is false if the word does not contain the complete value.
func readWord(word string) (column string, v sheaf.Value, ok bool) {
	name, value, found := strings.Cut(word, separator)
	if !found || value == "" || strings.HasPrefix(name, "\x01") {
		return "", v, false
	}
	if value[0] == 't' {
		text := unescape(value[1:])
		return unescape(name), sheaf.TextValue(text), len(text) <= maxWord
	}
	v, ok = storekit.ReadNumber(value)
	return unescape(name), v, ok
}
