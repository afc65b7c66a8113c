package chunk_test

import (
	"fmt"
	"strings"
	"testing"

	"sheaf/text/chunk"
)

// TestMalformedTenant checks documents with any kind of tenant entry. They never count as
// documents without a tenant, which all users without a tenant can see.
func TestMalformedTenant(t *testing.T) {
	many := &strings.Builder{}
	for i := range 1100 {
		fmt.Fprintf(many, "p%d: x\n", i)
	}
	for front, want := range map[string]string{
		"tenant: acme":                              "acme",
		"tenant: {name: acme}":                      "",
		"tenant:\n  name: acme":                     "",
		"tenant: [[acme]]":                          "",
		"tenant: [acme, [globex]]":                  "acme",
		"team: &t [acme]\ntenant: *t":               "",
		"team: &t acme\ntenant: *t":                 "acme",
		"Tenant: *none":                             "",
		"? tenant\n: acme":                          "acme",
		"&k tenant: acme":                           "acme",
		"!!str tenant: acme":                        "acme",
		"tenant: acme\ntenant:":                     "",
		"<<: {tenant: acme}":                        "",
		"<<: [{a: b}, {Tenant: acme}]":              "",
		"b: &b {tenant: acme}\n<<: *b":              "",
		"b: &b\n  <<: {tenant: acme}\n<<: *b":       "",
		"b: &b {tenant: acme}\n<<: *b\ntenant: own": "own",
		many.String() + "tenant: acme":              "acme",
		many.String() + "tenant: {a: b}":            "",
	} {
		c, err := chunk.For("a.md", chunk.Options{})
		must(t, err)
		doc := c.Chunk("notes", "a.md", []byte("---\naccess: public\n"+front+"\n---\n# A\n"))
		said := false
		for _, p := range doc.Properties {
			if strings.EqualFold(p.Name, "tenant") {
				said = true
				if len(p.Values) != 1 || p.Values[0].Text != want {
					t.Errorf("%s: tenant %v, want %q", front[max(0, len(front)-40):], p.Values, want)
				}
			}
		}
		if !said {
			t.Errorf("%s: no tenant is said", front[max(0, len(front)-40):])
		}
		if want == "" && len(doc.Warnings) == 0 {
			t.Errorf("%s: no warning", front)
		}
	}
}

// TestStarInAccess checks that "*" in access, as keys write it, gives a warning: no user can
// see the document.
func TestStarInAccess(t *testing.T) {
	for front, want := range map[string]int{`access: ["*"]`: 1, `Access: '*'`: 1, "access: [user:ann, '*']": 1,
		"access: public": 0, "access: ['**']": 0, "tags: ['*']": 0} {
		c, err := chunk.For("a.md", chunk.Options{})
		must(t, err)
		if got := c.Chunk("notes", "a.md", []byte("---\n"+front+"\n---\n# A\n")).Warnings; len(got) != want ||
			want == 1 && !strings.Contains(got[0].Message, "write public") {
			t.Errorf("%s: warnings %v", front, got)
		}
	}
}
