package collection

import (
	"testing"

	"sheaf/collection/access"
	"sheaf/profile"
)

// TestAuditComparesWholeNames checks a visible name that begins or ends like a hidden name. It is no
// leak, and it does not mask a hidden name beside it.
func TestAuditComparesWholeNames(t *testing.T) {
	public := []string{"public"}
	docs := []audited{{id: "api:doc1"}, {id: "api:doc10", access: public}, {id: "api:doc1&2", access: public},
		{id: "of-api:doc1", access: public}}
	for _, c := range []struct {
		ids  []string
		leak bool
	}{
		{[]string{"api:doc10", "api:doc1&2#part", "of-api:doc1"}, false},
		{[]string{"api:doc1", "api:doc10"}, true},
		{[]string{"api:doc10", "api:doc1"}, true},
		{[]string{"of-api:doc1", "api:doc10", "api:doc1#part"}, true},
	} {
		a := &trial{auditor: &auditor{learned: learned{docs: docs}, out: &Audit{}}, grant: access.Grant{}, hidden: []int{0}}
		if err := a.answer("search", c.ids); err != nil {
			t.Fatal(err)
		}
		if leak := len(a.out.Leaks) > 0; leak != c.leak {
			t.Errorf("%v: a leak: %v, want %v", c.ids, leak, c.leak)
		}
	}
}

// TestAuditFindsFolders checks that a folder's path is a leak for callers that may not see everything.
func TestAuditFindsFolders(t *testing.T) {
	for _, grant := range []access.Grant{{}, access.Unrestricted()} {
		a := &trial{auditor: &auditor{learned: learned{roots: []string{"/home/ann/notes"}}, out: &Audit{}}, grant: grant}
		if err := a.answer("get", map[string]string{"warning": "/home/ann/notes/a.md is gone"}); err != nil {
			t.Fatal(err)
		}
		if leak := len(a.out.Leaks) > 0; leak == grant.SeesAll() {
			t.Errorf("%+v: a leak: %v", grant, leak)
		}
	}
}

// TestAuditRunsEveryStage checks that the audit knows the settings that each stage needs. It judges no
// stage that cannot be made.
func TestAuditRunsEveryStage(t *testing.T) {
	for _, name := range Stages() {
		if name == StageFuse || name == "aggregate" {
			continue
		}
		if _, err := profile.NewStage(name, stageSettings[name], 10); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
