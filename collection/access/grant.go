// Package access decides which documents a caller may see, and what the caller may do. A [Grant] says both.
// [Grant.Filter] returns the filter of visible documents. Package collection adds this filter to every request, so a
// store never counts hidden documents as results. [Keys] are the secrets that identify callers of a server.
//
// Three columns of a document say who may see it. sheaf.ColumnTenant is its tenant. sheaf.ColumnAccess has the people
// and groups, or sheaf.AccessPublic for everyone in the tenant. sheaf.ColumnSet has its document sets. A document
// without values in sheaf.ColumnAccess is private: only a grant with [All] in Grant.Access sees it.
package access

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sheaf"
	"sheaf/store"
	"sheaf/text/query"
)

// All removes a restriction of a [Grant]. With All in Grant.Tenant, the grant sees all tenants. With All in
// Grant.Access, the grant also sees private documents.
const All = "*"

// Scope is a right that a grant gives.
type Scope string

// These are the scopes. Admin includes the other two.
const (
	ScopeSearch Scope = "search" // read the documents that the grant lets through
	ScopeIngest Scope = "ingest" // add, replace and delete documents of the grant's tenant
	ScopeAdmin  Scope = "admin"  // everything, including the server's state
)

// Scopes lists all scopes, the weakest first.
var Scopes = []Scope{ScopeSearch, ScopeIngest, ScopeAdmin}

// Grant says what one caller may see and do. The zero Grant sees public documents without a tenant, and has no scope.
type Grant struct {
	// Name identifies the grant for people. It decides no access.
	Name string `json:"name,omitempty"`
	// Caller identifies the caller: a cursor works only for the caller who got it. The file of keys does not store Caller.
	Caller string  `json:"-"`
	Scopes []Scope `json:"scopes"` // what the caller may do
	// Tenant is the tenant whose documents are visible. With "", only documents without a tenant are visible; with
	// All ("*"), the documents of every tenant.
	Tenant string `json:"tenant,omitempty"`
	// Access lists the person and the groups of the caller. If the list is empty, only public documents are visible. If
	// the list contains All ("*"), private documents are visible too.
	Access []string `json:"access,omitempty"`
	// Sets are the visible document sets. If the list is empty, all documents are visible, in a set or not.
	Sets []string `json:"sets,omitempty"`
	// Baked is a filter in the query language that every search of this caller applies, such as "path:handbook/
	// -tag:draft". If it is "", there is no filter.
	Baked string `json:"filter,omitempty"`
	// Tree is the only visible tree. Folder is the only visible folder in each visible tree. A field that is "" sets no
	// limit. The grant of a key sets neither field.
	Tree   string `json:"-"`
	Folder string `json:"-"`
	// Expires is the time when the grant ends; zero means never.
	Expires time.Time `json:"expires,omitzero"`
}

// Unrestricted returns a grant that sees and may do everything. It is for a person on their own machine.
func Unrestricted() Grant {
	return Grant{Name: "local", Scopes: []Scope{ScopeAdmin}, Tenant: All, Access: []string{All}}
}

// May reports whether the grant has the scope s, or the scope admin.
func (g *Grant) May(s Scope) bool {
	return slices.Contains(g.Scopes, s) || slices.Contains(g.Scopes, ScopeAdmin)
}

// SeesAll reports whether the caller sees every document.
func (g *Grant) SeesAll() bool {
	return g.Tenant == All && slices.Contains(g.Access, All) && len(g.Sets) == 0 && g.Baked == "" && g.Tree == "" &&
		g.Folder == ""
}

// Ended reports whether the grant has expired at the time now.
func (g *Grant) Ended(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// maxEntries is the largest length of each list in a grant.
const maxEntries = 65_536

// Validate returns sheaf.ErrInvalid if a field is invalid, such as an unknown scope. A grant needs at least one scope,
// and a grant with a filter may only search.
func (g *Grant) Validate() error {
	if len(g.Scopes) == 0 {
		return sheaf.Invalidf("scopes: at least one of search, ingest, admin is wanted")
	}
	for _, s := range g.Scopes {
		if !slices.Contains(Scopes, s) {
			return sheaf.Invalidf("scopes: %q: must be search, ingest or admin", s)
		}
	}
	if g.Tenant != "" {
		if err := ValidName("tenant", g.Tenant); err != nil {
			return err
		}
	}
	for _, l := range []struct {
		name string
		list []string
	}{{"access", g.Access}, {"sets", g.Sets}} {
		if len(l.list) > maxEntries {
			return sheaf.Invalidf("%s: %d entries: must be at most %d", l.name, len(l.list), maxEntries)
		}
		for _, entry := range l.list {
			if err := ValidName(l.name, entry); err != nil {
				return err
			}
		}
	}
	if g.Baked != "" && g.May(ScopeIngest) {
		return sheaf.Invalidf("filter: a key with a filter may only search: remove its other scopes")
	}
	_, err := Filter(g.Baked)
	return err
}

// ValidName returns sheaf.ErrInvalid if name cannot be the name of a tenant, person, group or set. A name has 1..256
// bytes of printable UTF-8, and no white space at its beginning or end. field is the name of the field, for the error.
func ValidName(field, name string) error {
	switch {
	case name == "" || len(name) > 256:
		return sheaf.Invalidf("%s: %q has %d bytes: must have 1..256", field, name[:min(len(name), 40)], len(name))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return sheaf.Invalidf("%s: %q: must be text without control characters", field, name)
	case strings.TrimSpace(name) != name:
		return sheaf.Invalidf("%s: %q: must not begin or end with white space", field, name)
	}
	return nil
}

// Filter parses a filter in the query language. It returns nil for "", and an error if text contains words to search.
func Filter(text string) (sheaf.Filter, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	q := query.Parse(text, query.Options{})
	if len(q.Notes) > 0 {
		wrong, made, _ := strings.Cut(q.Notes[0], "; ") // the second part says what a search would do instead
		if name, ok := strings.CutSuffix(wrong, `:" is no field or property here`); ok {
			wrong = name + `:" is no field; a property is named prop.` + name[1:] + ":"
			if _, near, ok := strings.Cut(made, "; "); ok {
				wrong += "; " + near
			}
		}
		return nil, sheaf.Invalidf("filter %q: %s", text, wrong)
	}
	if q.Filter == nil {
		return nil, sheaf.Invalidf("filter %q: it is not a filter: use filters such as tag:howto, path:guides/, ext:md, "+
			"after:2024-05, before:2025 or prop.status:done", text)
	}
	if words, ok := q.Words.(sheaf.Bool); !ok || len(words.Must)+len(words.Should)+len(words.MustNot) > 0 {
		return nil, sheaf.Invalidf("filter %q: it holds words: use filters only", text)
	}
	return q.Filter, nil
}

// Viewer returns the caller in the form that stores use.
func (g *Grant) Viewer() store.Viewer {
	return store.Viewer{Tenant: g.Tenant, AnyTenant: g.Tenant == All, Access: g.Access,
		AnyAccess: slices.Contains(g.Access, All)}
}

// Filter returns the filter that visible chunks pass, or nil if all are visible. If Baked is invalid, no chunk passes.
func (g *Grant) Filter() sheaf.Filter {
	var parts sheaf.And
	switch g.Tenant {
	case All:
	case "":
		parts = append(parts, sheaf.Not{Filter: sheaf.Exists{Column: sheaf.ColumnTenant}})
	default:
		parts = append(parts, sheaf.TextIn(sheaf.ColumnTenant, g.Tenant))
	}
	if !slices.Contains(g.Access, All) {
		parts = append(parts, sheaf.TextIn(sheaf.ColumnAccess, append([]string{sheaf.AccessPublic}, g.Access...)...))
	}
	if len(g.Sets) > 0 {
		parts = append(parts, sheaf.TextIn(sheaf.ColumnSet, g.Sets...))
	}
	if g.Tree != "" {
		parts = append(parts, sheaf.TextIn(sheaf.ColumnTree, g.Tree))
	}
	if g.Folder != "" {
		parts = append(parts, sheaf.TextIn(sheaf.ColumnFolder, g.Folder))
	}
	if g.Baked != "" {
		baked, err := Filter(g.Baked)
		if err != nil || baked == nil {
			return sheaf.Or{}
		}
		parts = append(parts, baked)
	}
	if len(parts) == 0 {
		return nil
	}
	return parts
}

// Fingerprint returns a text that names what the grant sees. Two grants with equal texts see the same documents.
func (g *Grant) Fingerprint() string {
	if g.SeesAll() {
		return ""
	}
	sorted := func(list []string) []string {
		list = slices.Clone(list)
		slices.Sort(list)
		return slices.Compact(list)
	}
	text, err := json.Marshal([]any{g.Tenant, sorted(g.Access), sorted(g.Sets), g.Baked, g.Tree, g.Folder})
	if err != nil {
		panic(fmt.Sprintf("a grant of texts is no JSON: %v", err))
	}
	return string(text)
}
