package vespa

import (
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// path returns the path of a chunk in the document API.
func (s *Store) path(chunk sheaf.ID) string { return s.pathOf(storekit.Hash(string(chunk))) }

func (s *Store) pathOf(key string) string {
	return "/document/v1/" + namespace + "/" + s.o.Schema + "/docid/" + key
}

// document returns the JSON of the document for a chunk. token identifies the write.
func (s *Store) document(c *store.Chunk, token string) object {
	fields := object{"id": url.PathEscape(string(c.ID)), "document_id": url.PathEscape(string(c.Doc)),
		"chunk": storekit.Hash(string(c.ID)), "doc": storekit.Hash(string(c.Doc)), "write": token}
	for _, f := range c.Fields {
		if text := storekit.Analyze(s.o.Analyzer, f.Text).Text(termWord); text != "" {
			fields[wordField(f.Name)] = text
		}
	}
	names, passages := []string{}, 0
	for _, v := range c.Vectors {
		blocks := map[string][]float32{}
		for n, p := range v.Passages {
			blocks[strconv.Itoa(n)] = p
		}
		fields[vectorField(v.Name)] = object{"blocks": blocks}
		names, passages = append(names, vectorWord(v.Name)), passages+len(v.Passages)
	}
	fields["vectors"], fields["passages"] = names, passages
	for name, value := range columnFields(c) {
		if value != nil {
			fields[name] = value
		}
	}
	return object{"fields": fields}
}

func vectorWord(name string) string { return hex.EncodeToString([]byte(name)) }

// columnFields returns the document's fields for the columns of a chunk. Empty fields are nil.
func columnFields(c *store.Chunk) object {
	numbers := []object{}
	for _, col := range c.Columns {
		for _, v := range col.Values {
			if !v.IsZero() && v.Kind != sheaf.KindText {
				numbers = append(numbers, object{"column": storekit.ColumnWord(col.Name) + storekit.KindWord(v.Kind),
					"value": storekit.SortableNumber(v.Number)})
			}
		}
	}
	out := object{"columns": storekit.ColumnWords(c), "numbers": numbers}
	for _, a := range attributes {
		out[a.Field] = a.value(c)
	}
	return out
}

// update returns the JSON of an update that assigns the columns of a chunk and changes nothing else.
func update(c *store.Chunk) object {
	fields := object{}
	for name, value := range columnFields(c) {
		fields[name] = object{"assign": value}
	}
	return object{"fields": fields}
}

// A term that cannot be sent unchanged becomes a word with a prefix: hexMark or hashMark. No other word begins with
// them.
const (
	hexMark  = "zz" // before the term's bytes in hexadecimal
	hashMark = "zy" // before the hash of a term above maxTerm
	// maxTerm is the longest term in bytes that is stored unchanged. The server's limit is 1000.
	maxTerm = 400
)

// termWord encodes a term uniquely in letters and digits, which the server neither splits nor changes.
func termWord(term string) string {
	plain := !strings.HasPrefix(term, hexMark) && !strings.HasPrefix(term, hashMark)
	for i := 0; plain && i < len(term); i++ {
		plain = term[i] >= 'a' && term[i] <= 'z' || term[i] >= '0' && term[i] <= '9'
	}
	switch {
	case len(term) > maxTerm:
		return hashMark + storekit.Hash(term)
	case plain:
		return term
	}
	return hexMark + hex.EncodeToString([]byte(term))
}

// check returns an error for a batch that the schema cannot store.
func (s *Store) check(batch *store.Batch) error {
	if err := batch.Validate(); err != nil {
		return err
	}
	dims := store.DimsOf(s.o.Vectors)
	for i := range batch.Chunks {
		c := &batch.Chunks[i]
		for _, f := range c.Fields {
			if !slices.Contains(sheaf.Fields[:], f.Name) {
				return sheaf.Invalidf("write %s: the schema %s has no field %q: must be one of %s", c.ID, s.o.Schema, f.Name,
					strings.Join(sheaf.Fields[:], ", "))
			}
		}
		for _, v := range c.Vectors {
			if dims[v.Name] == 0 {
				return sheaf.Invalidf("write %s: the schema %s has no vector field %q: it has %q; deploy an application with it",
					c.ID, s.o.Schema, v.Name, slices.Sorted(maps.Keys(dims)))
			}
		}
	}
	return batch.ValidateDims(dims, maxDims)
}
