package opensearch

import (
	"context"
	"encoding/json"

	"sheaf"
)

// described is what an index says about itself. It has few fields, because the index may belong to
// anybody.
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

// describe reads the mapping of the one index that a name stands for.
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

// index reads what our index says about itself; ours is false for an index of somebody else.
func (d *described) index() (m meta, ours bool) {
	raw := d.Mappings.Meta.Sheaf
	ours = raw != nil && json.Unmarshal(*raw, &m) == nil
	return m, ours
}

// ourIndex describes the index; it fails with sheaf.ErrInvalid when the index belongs to somebody
// else.
func (s *Store) ourIndex(ctx context.Context) (described, meta, error) {
	d, err := s.describe(ctx, s.index())
	if err != nil {
		return d, meta{}, err
	}
	m, ours := d.index()
	if !ours {
		err = s.fault(sheaf.ErrInvalid, "the index was not made by this program: name another")
	}
	return d, m, err
}

// ourDictionary fails with sheaf.ErrNotFound when there is no dictionary, and with sheaf.ErrInvalid
// when an index of somebody else has its name.
func (s *Store) ourDictionary(ctx context.Context) error {
	name := s.dictionaryName()
	d, err := s.describe(ctx, name)
	if err == nil && !d.isDictionary() {
		err = s.fault(sheaf.ErrInvalid, "the index %s was not made by this program as its dictionary: name another "+
			"index than %s", name, s.index())
	}
	return err
}

// isDictionary recognizes a dictionary. Dictionaries of an earlier version do not describe
// themselves; their mapping accepts only terms and returns nothing.
func (d *described) isDictionary() bool {
	m := &d.Mappings
	return m.Meta.Terms != nil ||
		m.Meta.Sheaf == nil && m.Dynamic == "strict" && m.Source.Enabled == false && len(m.Properties) == 1 &&
			m.Properties["t"].Type == "keyword"
}
