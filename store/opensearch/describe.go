package opensearch

import (
	"context"
	"encoding/json"

	"sheaf"
)

// mappingParts has the parts of an index's mapping that show whether this program made the index. A foreign index may
// have any mapping.
type mappingParts struct {
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

// describe reads the mapping of the index with this name. It returns an error if the name leads to several indices.
func (s *Store) describe(ctx context.Context, name string) (mappingParts, error) {
	var found map[string]mappingParts
	if err := s.client.Call(ctx, "GET", "/"+name+"/_mapping", nil, &found); err != nil {
		return mappingParts{}, err
	}
	if len(found) != 1 {
		return mappingParts{}, s.several(name, len(found))
	}
	var out mappingParts
	for _, out = range found { // the index may have another name
	}
	return out, nil
}

// index returns the settings that the mapping records. ours is false if this program did not make the index.
func (d *mappingParts) index() (m meta, ours bool) {
	raw := d.Mappings.Meta.Sheaf
	ours = raw != nil && json.Unmarshal(*raw, &m) == nil
	return m, ours
}

// ourIndex returns the mapping of the store's index and what this program recorded in it. It fails with
// sheaf.ErrInvalid if this program did not make the index.
func (s *Store) ourIndex(ctx context.Context) (mappingParts, meta, error) {
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

// ourDictionary checks the dictionary. It fails with sheaf.ErrNotFound if the dictionary is missing, and with
// sheaf.ErrInvalid if a foreign index has the dictionary's name.
func (s *Store) ourDictionary(ctx context.Context) error {
	name := s.dictionaryName()
	d, err := s.describe(ctx, name)
	if err == nil && !d.isDictionary() {
		err = s.fault(sheaf.ErrInvalid, "the index %s was not made by this program as its dictionary: name another "+
			"index than %s", name, s.index())
	}
	return err
}

// isDictionary reports whether an index is a dictionary. A dictionary of an earlier version has no record. isDictionary
// knows it by its mapping, which accepts only terms and stores no source.
func (d *mappingParts) isDictionary() bool {
	m := &d.Mappings
	return m.Meta.Terms != nil ||
		m.Meta.Sheaf == nil && m.Dynamic == "strict" && m.Source.Enabled == false && len(m.Properties) == 1 &&
			m.Properties["t"].Type == "keyword"
}
