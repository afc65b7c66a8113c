// Package onyxtest reads recorded results of Onyx's filters, for tests that must find the same documents.
package onyxtest

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/worked"
	"sheaf/search/onyx"
)

// Word is the text of every document, to search for.
const Word = "word"

// Filtered has documents, the filters of a search, and the current time.
type Filtered struct {
	Now       time.Time
	Documents []onyx.Document
	Filters   onyx.Filters
}

// Window returns a range of seconds since 1970; nil is an open end.
func Window(start, end *int64) (out onyx.Window) {
	for at, second := range map[*time.Time]*int64{&out.Start: start, &out.End: end} {
		if second != nil {
			*at = time.Unix(*second, 0)
		}
	}
	return out
}

type window [2]*int64

func (w window) times() onyx.Window { return Window(w[0], w[1]) }

type fileCase struct {
	Now  int64
	Docs []struct {
		ID                        sheaf.ID
		Public, Hidden            bool
		ACL                       []string
		Tenant, Source            string
		Sets, Tags                []string
		Projects, Personas, Nodes []int
		Created, Updated          *int64
	}
	Filters filters
}

type filters struct {
	ACL           *[]string
	Hidden        bool `json:"include_hidden"`
	Tenant        *string
	Sources, Tags []string
	Sets          []string
	ForcedSets    []string `json:"forced_sets"`
	Persona       *int
	Project       *int
	Nodes         []int
	Documents     []sheaf.ID `json:"doc_ids"`
	Created       window     `json:"created_range"`
	Updated       window     `json:"updated_range"`
}

// UnmarshalJSON returns an error for a filter with an unknown name, because the test would miss this filter.
func (f *filters) UnmarshalJSON(text []byte) error {
	type plain filters
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(f))
}

func (in *fileCase) filtered() Filtered {
	f := in.Filters
	out := Filtered{Now: time.Unix(in.Now, 0),
		Filters: onyx.Filters{AnyTenant: f.Tenant == nil, AnyAccess: f.ACL == nil, Hidden: f.Hidden, Sources: f.Sources,
			Tags: f.Tags, Scope: onyx.Scope{Sets: f.Sets, Nodes: f.Nodes},
			ForcedSets: f.ForcedSets, Created: f.Created.times(), Updated: f.Updated.times()}}
	if f.Tenant != nil {
		out.Filters.Tenant = *f.Tenant
	}
	if f.ACL != nil {
		out.Filters.Access = *f.ACL
	}
	if f.Persona != nil {
		out.Filters.Personas = []int{*f.Persona}
	}
	if f.Project != nil {
		out.Filters.Projects = []int{*f.Project}
	}
	for _, id := range f.Documents {
		out.Filters.Documents = append(out.Filters.Documents, "t:"+id)
	}
	for _, d := range in.Docs {
		doc := onyx.Document{ID: "t:" + d.ID, Chunks: []onyx.Chunk{{Text: Word}},
			Metadata: onyx.Metadata{Tenant: d.Tenant, Public: d.Public, Access: d.ACL, Hidden: d.Hidden,
				Source: d.Source, Sets: d.Sets, Tags: d.Tags, Projects: d.Projects, Personas: d.Personas, Nodes: d.Nodes}}
		w := Window(d.Created, d.Updated)
		doc.Created, doc.Updated = w.Start, w.End
		out.Documents = append(out.Documents, doc)
	}
	return out
}

// EachFilter runs a test for each case of a file. The parameter want of test has the IDs of the documents that Onyx
// finds, sorted. An ID is "t:" plus the name in the case.
func EachFilter(t *testing.T, file string, test func(t *testing.T, c Filtered, want []sheaf.ID)) {
	worked.Each(t, file, func(t *testing.T, in fileCase, want []sheaf.ID) {
		named := []sheaf.ID{}
		for _, id := range want {
			named = append(named, "t:"+id)
		}
		test(t, in.filtered(), named)
	})
}
