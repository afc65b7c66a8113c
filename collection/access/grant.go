// Package access answers the question "who may see what, and do what?". A
// [Grant] says which documents one caller may see; its Filter is the whole
// meaning of that, and package collection adds it to every request before a store
// cuts anything. [Keys] are the secrets by which callers of a server are known.
//
// A document says who may see it by three columns: sheaf.ColumnTenant, the
// tenant that it belongs to; sheaf.ColumnAccess, the people and groups that may
// see it, or sheaf.AccessPublic for everybody of the tenant; sheaf.ColumnSet,
// the document sets that it is in. A document that says nothing is private:
// only a grant without restriction, which is asked for by name, sees it.
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

// All is the name by which no restriction is asked for, in a grant's Tenant
// and Access.
const All = "*"

// Scope is something that a caller may do.
type Scope string

// The scopes. Admin includes the other two.
const (
	ScopeSearch Scope = "search" // read what the grant lets through
	ScopeIngest Scope = "ingest" // add, replace and delete documents of the grant's tenant
	ScopeAdmin  Scope = "admin"  // everything, the server's state included
)

// Scopes are all scopes, the least first.
var Scopes = []Scope{ScopeSearch, ScopeIngest, ScopeAdmin}

// Grant is what one caller may see and do. The zero Grant sees public documents
// that belong to no tenant, and may do nothing.
type Grant struct {
	// Name tells people whose grant it is; it decides nothing.
	Name string `json:"name,omitempty"`
	// Caller tells apart callers who see the same: cursors are of one of them. It is
	// none of what is kept of a key.
	Caller string  `json:"-"`
	Scopes []Scope `json:"scopes"`
	// Tenant is the only tenant whose documents are seen; "" are the documents
	// of no tenant, All those of every one.
	Tenant string `json:"tenant,omitempty"`
	// Access are the people and groups that the caller is; empty sees public
	// documents only, All sees private ones too.
	Access []string `json:"access,omitempty"`
	// Sets are the only document sets that are seen; empty is every document,
	// in a set or not.
	Sets []string `json:"sets,omitempty"`
	// Baked is a filter in the query language that always holds, as in
	// "path:handbook/ -tag:draft"; "" for none.
	Baked string `json:"filter,omitempty"`
	// Tree is the only tree whose documents are seen, "" for all, and Folder the only
	// folder, of every tree that is seen. A key has neither.
	Tree   string `json:"-"`
	Folder string `json:"-"`
	// Expires is when the grant ends; the zero time is never.
	Expires time.Time `json:"expires,omitzero"`
}

// Unrestricted is the grant that sees and does everything: that of a person on
// their own machine.
func Unrestricted() Grant {
	return Grant{Name: "local", Scopes: []Scope{ScopeAdmin}, Tenant: All, Access: []string{All}}
}

// May reports whether the grant has a scope.
func (g *Grant) May(s Scope) bool {
	return slices.Contains(g.Scopes, s) || slices.Contains(g.Scopes, ScopeAdmin)
}

// SeesAll reports whether nothing is kept from the caller.
func (g *Grant) SeesAll() bool {
	return g.Tenant == All && slices.Contains(g.Access, All) && len(g.Sets) == 0 && g.Baked == "" && g.Tree == "" &&
		g.Folder == ""
}

// Ended reports whether the grant has expired.
func (g *Grant) Ended(now time.Time) bool { return !g.Expires.IsZero() && !now.Before(g.Expires) }

// maxEntries bounds the lists of a grant.
const maxEntries = 65_536

// Validate returns an error that wraps sheaf.ErrInvalid when a field of the
// grant is none that a document could match.
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
		return sheaf.Invalidf("filter: a grant with a filter may search only: whether a document will pass it is not " +
			"known before it is written")
	}
	_, err := Filter(g.Baked)
	return err
}

// ValidName returns an error that wraps sheaf.ErrInvalid unless name can be that
// of a tenant, a person, a group or a set: 1..256 bytes of UTF-8 that show, no
// white space at its ends.
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

// Filter reads text in the query language that holds nothing but filters; nil
// for "".
func Filter(text string) (sheaf.Filter, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	q := query.Parse(text, query.Options{})
	if len(q.Notes) > 0 {
		wrong, made, _ := strings.Cut(q.Notes[0], "; ") // what a search made of it instead
		if name, ok := strings.CutSuffix(wrong, `:" is no field or property here`); ok {
			wrong = name + `:" is no field; a property is named prop.` + name[1:] + ":"
			if _, near, ok := strings.Cut(made, "; "); ok {
				wrong += "; " + near
			}
		}
		return nil, sheaf.Invalidf("filter %q: %s", text, wrong)
	}
	if q.Filter == nil {
		return nil, sheaf.Invalidf("filter %q: it is no filter: use filters such as tag:howto, path:guides/, ext:md, "+
			"after:2024-05, before:2025 or prop.status:done", text)
	}
	if words, ok := q.Words.(sheaf.Bool); !ok || len(words.Must)+len(words.Should)+len(words.MustNot) > 0 {
		return nil, sheaf.Invalidf("filter %q: it holds words beside filters", text)
	}
	return q.Filter, nil
}

// Viewer is the caller as a store knows one.
func (g *Grant) Viewer() store.Viewer {
	return store.Viewer{Tenant: g.Tenant, AnyTenant: g.Tenant == All, Access: g.Access,
		AnyAccess: slices.Contains(g.Access, All)}
}

// Filter is which chunks the grant lets through; nil for all. A baked-in filter
// that cannot be read lets nothing through.
func (g *Grant) Filter() sheaf.Filter {
	var parts sheaf.And
	switch g.Tenant {
	case All:
	case "":
		parts = append(parts, sheaf.Not{Filter: sheaf.Exists{Column: sheaf.ColumnTenant}})
	default:
		parts = append(parts, in(sheaf.ColumnTenant, []string{g.Tenant}))
	}
	if !slices.Contains(g.Access, All) {
		parts = append(parts, in(sheaf.ColumnAccess, append([]string{sheaf.AccessPublic}, g.Access...)))
	}
	if len(g.Sets) > 0 {
		parts = append(parts, in(sheaf.ColumnSet, g.Sets))
	}
	if g.Tree != "" {
		parts = append(parts, in(sheaf.ColumnTree, []string{g.Tree}))
	}
	if g.Folder != "" {
		parts = append(parts, in(sheaf.ColumnFolder, []string{g.Folder}))
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

func in(column string, texts []string) sheaf.Filter {
	values := make([]sheaf.Value, len(texts))
	for i, t := range texts {
		values[i] = sheaf.TextValue(t)
	}
	return sheaf.In{Column: column, Values: values}
}

// Fingerprint is equal for grants that see the same, and for no others.
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
