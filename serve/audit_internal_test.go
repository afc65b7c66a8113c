package serve

import (
	"testing"

	"sheaf/serve/access"
)

// TestAuditTellsNamesApart: the name of a visible document that begins, or ends, as that of a hidden one does is no
// leak, and hides none that stands beside it.
func TestAuditTellsNamesApart(t *testing.T) {
	public := []string{"public"}
	docs := []audited{{id: "api:doc1"}, {id: "api:doc10", access: public}, {id: "api:doc1&2", access: public}, {id: "of-api:doc1", access: public}}
	for _, c := range []struct {
		ids  []string
		leak bool
	}{
		{[]string{"api:doc10", "api:doc1&2#part", "of-api:doc1"}, false},
		{[]string{"api:doc1", "api:doc10"}, true},
		{[]string{"api:doc10", "api:doc1"}, true},
		{[]string{"of-api:doc1", "api:doc10", "api:doc1#part"}, true},
	} {
		a := &trial{auditor: &auditor{docs: docs, out: &Audit{}}, grant: access.Grant{}, hidden: []int{0}}
		if err := a.answer("search", c.ids); err != nil {
			t.Fatal(err)
		}
		if leak := len(a.out.Leaks) > 0; leak != c.leak {
			t.Errorf("%v: a leak: %v, want %v", c.ids, leak, c.leak)
		}
	}
}
