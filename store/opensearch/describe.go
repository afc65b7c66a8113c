package opensearch

import (
	"context"
	"encoding/json"

	"sheaf"
)

// described is the part of a mapping that identifies an index. It has few fields, because the index
// may be foreign.
type described struct {
	Mappings struct {
		Meta struct {
			Sheaf *json.RawMessage
			Terms *json.RawMessage `json:"sheaf_terms"`
		} `json:"_meta"`
		Dynamic    any
		Source     struct{ Enabled any } `json:"_source"`
		Properties map[string]struct {
			Type       any
			Properties struct {
				P struct {
					Options any `json:"index_options"`
				}
			}
		}
	}
}

// describe reads the mapping of the one index with this name.
func (s *Store) describe(ctx context.Context, name string) (described, error) {
	var found map[string]described
	if err := s.client.Call(ctx, "GET", "/"+name+"/_mapping", nil, &found); err != nil {
		return described{}, err
	}
	if len(found) != 1 {
		return described{}, s.several(name, len(found))
	}
	var out described
	for _, out = range found { // the index may have another name
	}
	return out, nil
}

// index returns the record of a store's index; ours is false for a foreign index.
func (d *described) index() (m meta, ours bool) {
	raw := d.Mappings.Meta.Sheaf
	ours = raw != nil && json.Unmarshal(*raw, &m) == nil
	return m, ours
}

// ourIndex describes the index. It fails with sheaf.ErrInvalid for a foreign index.
func (s *Store) ourIndex(ctx context.Context) (described, meta, error) {
	d, err := s.describe(ctx, s.index())
	if err != nil {
		return d, meta{}, err
	}
	m, ours := d.index()
	if !ours {
		err = s.fault(sheaf.ErrInvalid, "sheaf did not make the index: name another")
	}
	return d, m, err
}

// ourDictionary fails with sheaf.ErrNotFound without a dictionary, and with sheaf.ErrInvalid when a
// foreign index has its name.
func (s *Store) ourDictionary(ctx context.Context) error {
	name := s.dictionaryName()
	d, err := s.describe(ctx, name)
	if err == nil && !d.isDictionary() {
		err = s.fault(sheaf.ErrInvalid, "the index %s was not made by this program as its dictionary: name another "+
			"index than %s", name, s.index())
	}
	return err
}

// isDictionary recognizes a dictionary. Dictionaries of an earlier version have no record, but a
// mapping that accepts only terms and returns nothing.
func (d *described) isDictionary() bool {
	m := &d.Mappings
	return m.Meta.Terms != nil ||
		m.Meta.Sheaf == nil && m.Dynamic == "strict" && m.Source.Enabled == false && len(m.Properties) == 1 &&
			m.Properties["t"].Type == "keyword"
}
