package access_test

import (
	"slices"
	"strings"
	"testing"

	"sheaf"
	"sheaf/collection/access"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

// columns are the columns of a chunk, by name.
type columns map[string][]string

// Values implements sheaf.Columns.
func (c columns) Values(name string) []sheaf.Value {
	var values []sheaf.Value
	for _, v := range c[name] {
		values = append(values, sheaf.TextValue(v))
	}
	return values
}

func TestGrantFilter(t *testing.T) {
	docs := map[string]columns{
		"inner":   {"tree": {"notes"}, "folder": {"", "public", "public/a"}},
		"other":   {"tree": {"more"}, "folder": {"", "public"}},
		"unknown": {},
		"public":  {"access": {"public"}},
		"ann":     {"access": {"user:ann"}, "set": {"finance"}},
		"acme":    {"access": {"public"}, "tenant": {"acme"}, "set": {"finance"}},
		"secret":  {"access": {"group:ops"}, "tenant": {"acme"}},
	}
	for name, test := range map[string]struct {
		grant access.Grant
		want  string
	}{
		"zero":          {access.Grant{}, "public"},
		"unrestricted":  {access.Unrestricted(), "acme ann inner other public secret unknown"},
		"ann":           {access.Grant{Access: []string{"user:ann"}}, "ann public"},
		"case counts":   {access.Grant{Access: []string{"USER:ANN"}}, "public"},
		"tenant":        {access.Grant{Tenant: "acme"}, "acme"},
		"ops of tenant": {access.Grant{Tenant: "acme", Access: []string{"group:ops"}}, "acme secret"},
		"no list":       {access.Grant{Access: []string{access.All}}, "ann inner other public unknown"},
		"set": {access.Grant{Tenant: access.All, Access: []string{access.All}, Sets: []string{"finance"}},
			"acme ann"},
		"tree":         {within("notes", ""), "inner"},
		"folder":       {within("notes", "public"), "inner"},
		"any tree":     {within("", "public"), "inner other"},
		"other folder": {within("notes", "publi"), ""},
		"bad filter":   {access.Grant{Tenant: access.All, Access: []string{access.All}, Baked: "just words"}, ""},
	} {
		var got []string
		for _, doc := range []string{"acme", "ann", "inner", "other", "public", "secret", "unknown"} {
			if f := test.grant.Filter(); f == nil || f.Match(docs[doc]) {
				got = append(got, doc)
			}
		}
		check.Equal(t, strings.Join(got, " "), test.want, "%s sees", name)
	}
}

// within returns a grant that sees one folder of a tree.
func within(tree, folder string) access.Grant {
	g := access.Unrestricted()
	g.Tree, g.Folder = tree, folder
	return g
}

func TestGrantValidate(t *testing.T) {
	ok := []access.Scope{access.ScopeSearch}
	for name, g := range map[string]access.Grant{
		"no scope":          {},
		"another scope":     {Scopes: []access.Scope{"root"}},
		"control":           {Scopes: ok, Tenant: "a\nb"},
		"long":              {Scopes: ok, Access: []string{strings.Repeat("a", 257)}},
		"empty entry":       {Scopes: ok, Sets: []string{""}},
		"invalid UTF-8":     {Scopes: ok, Sets: []string{"\xff"}},
		"white space":       {Scopes: ok, Access: []string{" ann"}},
		"words":             {Scopes: ok, Baked: "tag:a word"},
		"no such filter":    {Scopes: ok, Baked: "tagged"},
		"a writer's filter": {Scopes: []access.Scope{access.ScopeSearch, access.ScopeIngest}, Baked: "tag:a"},
	} {
		check.Is(t, g.Validate(), sheaf.ErrInvalid, "%s", name)
	}
	good := access.Grant{Scopes: ok, Tenant: "acme", Access: []string{"user:ann"}, Sets: []string{"s"},
		Baked: "tag:a -path:b/"}
	must.Do(t, good.Validate())
	for what, change := range map[string]func(*access.Grant){
		"filter":  func(g *access.Grant) { g.Baked = "tag:b" },
		"tenant":  func(g *access.Grant) { g.Tenant = "another" },
		"access":  func(g *access.Grant) { g.Access = append(slices.Clone(g.Access), "user:another") },
		"sets":    func(g *access.Grant) { g.Sets = append(slices.Clone(g.Sets), "another") },
		"tree":    func(g *access.Grant) { g.Tree = "another" },
		"folders": func(g *access.Grant) { g.Folder = "another" },
	} {
		other := good
		if change(&other); good.Fingerprint() == other.Fingerprint() || good.Fingerprint() == "" {
			t.Errorf("%s: fingerprints %q and %q", what, good.Fingerprint(), other.Fingerprint())
		}
	}
}

// TestFilterErrorShowsPropertyForm checks that the error for a wrong field shows the right form.
func TestFilterErrorShowsPropertyForm(t *testing.T) {
	for text, want := range map[string]string{
		"status:draft":  `"status:" is no field; a property is named prop.status:`,
		"-Status:draft": `"Status:" is no field; a property is named prop.Status:`,
		"tga:x":         `"tga:" is no field; a property is named prop.tga:; did you mean "tag:"?`,
		"tag:a OR":      "OR does not stand between",
	} {
		check.Fails(t, must.Err(access.Filter(text)), sheaf.ErrInvalid, want, "%s", text)
	}
}
