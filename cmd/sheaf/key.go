package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/suggest"
	"sheaf/internal/wording"
	"sheaf/store"
)

func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Manage keys: who may use a server, and what they see",
		Long: `Keys let callers of sheaf serve in. A key sees the documents of one tenant, or of
none, that are public or that name somebody it is; documents that say nothing are
private. A document says so in its frontmatter:

  access: [group:staff, user:ann]   or public
  tenant: acme
  sets: [handbook]`,
	}
	cmd.AddCommand(a.keyAddCommand(), a.keyListCommand(), a.keyRevokeCommand())
	return cmd
}

// withKeys opens the index of the command's folder and its keys, and calls the function run.
func (a *app) withKeys(cmd *cobra.Command, o openOptions, run func(*session, *access.Keys) error) error {
	return a.withIndex(cmd, o, func(s *session) error {
		keys, err := s.keys()
		if err != nil {
			return err
		}
		return run(s, keys)
	})
}

func (s *session) keys() (*access.Keys, error) {
	return access.OpenKeys(s.Where.Keys())
}

// unwritten adds advice to err, an error of writing keys, if the process lacks rights or disk space. It never advises a
// repair of the index, which would not help.
func (s *session) unwritten(err error) error {
	if vfs.Forbidden(err) || vfs.NoSpace(err) {
		return s.Advise(err)
	}
	return err
}

func (a *app) keyAddCommand() *cobra.Command {
	var scopes []string
	var expires string
	var g access.Grant
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a key and show it, once",
		Example: `  sheaf key add laptop --tenant '*' --access '*'
  sheaf key add ann --access user:ann,group:staff --expires 90d
  sheaf key add feed --scope ingest --tenant acme
  sheaf key add site --set handbook --access '*' --filter 'path:public/'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			g.Name = args[0]
			if err := access.ValidName("name", g.Name); err != nil {
				return err
			}
			// A key from an unset variable would see more than its maker intends.
			for _, flag := range [][2]string{{"tenant", g.Tenant}, {"access", strings.Join(g.Access, "")},
				{"set", strings.Join(g.Sets, "")}, {"filter", g.Baked}, {"expires", expires}} {
				if name, value := flag[0], flag[1]; cmd.Flags().Changed(name) && strings.TrimSpace(value) == "" {
					return sheaf.Invalidf("--%s is empty: give it a value, or leave it out", name)
				}
			}
			for _, s := range scopes {
				g.Scopes = append(g.Scopes, access.Scope(s))
			}
			if expires != "" {
				in, err := parseAge(expires)
				if err != nil {
					return err
				}
				g.Expires = time.Now().Add(in).UTC().Truncate(time.Second)
			}
			return a.withKeys(cmd, openOptions{Make: true}, func(s *session, keys *access.Keys) error {
				return s.addKey(cmd.Context(), keys, g)
			})
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&scopes, "scope", []string{string(access.ScopeSearch)}, "what it may do: search, ingest, admin")
	f.StringVar(&g.Tenant, "tenant", "", "the tenant whose documents it sees; '*' for every tenant; none for documents "+
		"of no tenant")
	f.StringSliceVar(&g.Access, "access", nil, "the people and groups that it is; '*' sees private documents too; none "+
		"sees public ones only")
	f.StringSliceVar(&g.Sets, "set", nil, "the only document sets that it sees")
	f.StringVar(&g.Baked, "filter", "", "a filter in the query language that always holds, as in 'path:handbook/ "+
		"-tag:draft'")
	f.StringVar(&expires, "expires", "", "when it ends, from now: 12h, 30d, 1y")
	completeWords(cmd, "scope", string(access.ScopeSearch), string(access.ScopeIngest), string(access.ScopeAdmin))
	return a.withJSON(cmd)
}

// addKey adds a key for a grant, and shows the key.
func (s *session) addKey(ctx context.Context, keys *access.Keys, g access.Grant) error {
	if g.May(access.ScopeIngest) {
		if err := collection.MayWrite(g.Tenant, catalog.Settings{Trees: s.Trees()}); err != nil {
			if g.Tenant == "" {
				return sheaf.Invalidf("%w", err)
			}
			return sheaf.Invalidf("--tenant is %q: %w: take another name", g.Tenant, err)
		}
	}
	key, secret, err := keys.Add(g)
	if err != nil {
		return s.unwritten(err)
	}
	if s.View.Docs() > 0 && s.WouldHideComments() != ingest.HidesComments(s.View) {
		if err := s.Refresh(ctx); err != nil { // the key is not yet printed
			return fmt.Errorf("made the key %s, but cannot hide comments from it: %w", key.Name, s.Advise(err))
		}
	}
	if s.json {
		out := shownKey(&key)
		out.Key = secret
		return s.printJSON(out)
	}
	s.notice("the key is shown only this once")
	fmt.Fprintln(s.stdout, secret)
	s.noteUnmatched(ctx, g)
	if g.May(access.ScopeSearch) && !slices.Contains(g.Access, access.All) {
		s.notice("this key finds public documents and documents whose access list names it; to include those without an " +
			"access list: --access '*'")
	}
	return nil
}

// noteUnmatched prints a note for each name in the access list of g that no document has. It does the same for each
// part of the filter of g.
func (s *session) noteUnmatched(ctx context.Context, g access.Grant) {
	if s.View.Docs() == 0 {
		return // later documents may have them
	}
	if g.Baked != "" {
		answer, err := read(s, func(r *collection.Reader) (*collection.Answer, error) {
			return r.Search(ctx, collection.SearchRequest{Text: g.Baked, Limit: 1})
		})
		if err == nil && len(answer.Results) == 0 {
			s.notices(answer.Notes...)
		}
	}
	lists := store.Lists(s.Backend)
	if len(g.Access) == 0 || lists == nil {
		return
	}
	const most = 1000
	every := store.Request{Limit: 1, Text: &store.TextRequest{Query: sheaf.Bool{}, K1: store.DefaultK1, B: store.DefaultB,
		Fields: []store.FieldWeight{{Name: sheaf.FieldBody, Weight: 1}}}}
	there, err := lists.Facets(ctx, every, []string{sheaf.ColumnAccess}, most)
	if err != nil || len(there[0].Values) == most {
		return
	}
	var known []string
	for _, v := range there[0].Values {
		known = append(known, v.Value.String())
	}
	for _, name := range g.Access {
		if slices.Contains(known, name) || name == access.All {
			continue
		}
		near := suggest.Nearest(name, known)
		if i := slices.IndexFunc(known, func(k string) bool { return strings.HasSuffix(k, ":"+name) }); i >= 0 {
			near = known[i]
		}
		if note := fmt.Sprintf("no document names %q in its access list", name); near != "" {
			s.notice("%s: did you mean %q?", note, near)
		} else {
			s.notice("%s", note)
		}
	}
}

var age = regexp.MustCompile(`^([1-9][0-9]{0,4})([hdwy])$`)

// parseAge parses a number of hours, days, weeks or years, such as "12h" or "90d".
func parseAge(text string) (time.Duration, error) {
	m := age.FindStringSubmatch(text)
	if m == nil {
		return 0, sheaf.Invalidf("--expires is %q: must be a number of hours, days, weeks or years, such as 12h, 30d, 4w, 1y",
			text)
	}
	n, _ := strconv.Atoi(m[1]) // the pattern has at most five digits
	unit := map[string]time.Duration{"h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
		"y": 365 * 24 * time.Hour}[m[2]]
	if n > int(100*365*24*time.Hour/unit) {
		return 0, sheaf.Invalidf("--expires is %q: must be at most 100y", text)
	}
	return time.Duration(n) * unit, nil
}

// keyJSON is a key without its hash.
type keyJSON struct {
	Access  []string       `json:"access"`           // the person and the groups that the key acts for
	Active  bool           `json:"active"`           // whether the key is valid now
	Created time.Time      `json:"created"`          // when the key was made
	Expires time.Time      `json:"expires,omitzero"` // when the key becomes invalid
	Filter  string         `json:"filter"`           // the filter that limits every request with the key
	ID      string         `json:"id"`               // the ID of the key
	Key     string         `json:"key,omitempty"`    // the key itself, only in the answer of `sheaf key add`
	Name    string         `json:"name"`             // the name of the key
	Revoked time.Time      `json:"revoked,omitzero"` // when the key was revoked
	Schema  string         `json:"schema"`
	Scopes  []access.Scope `json:"scopes"` // what the key may do
	Sets    []string       `json:"sets"`   // the document sets that the key sees
	Tenant  string         `json:"tenant"` // the tenant whose documents the key sees
}

// keysJSON is the answer of `sheaf key list`.
type keysJSON struct {
	File   string    `json:"file"` // the path of keys.json; the file exists once a key was made
	Keys   []keyJSON `json:"keys"` // all keys, revoked keys included
	Schema string    `json:"schema"`
}

// shownKey converts a key for output, without its hash.
func shownKey(k *access.Key) keyJSON {
	return keyJSON{Schema: "sheaf.key/1", ID: k.ID, Name: k.Name, Scopes: k.Scopes, Tenant: k.Tenant,
		Access: orEmpty(k.Access), Sets: orEmpty(k.Sets), Filter: k.Baked, Created: k.Created,
		Active: k.Active(time.Now()), Expires: k.Expires, Revoked: k.Revoked}
}

func (a *app) keyListCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "list",
		Short: "List the keys, without their secrets",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withKeys(cmd, openOptions{Make: true}, func(s *session, keys *access.Keys) error {
				list, err := keys.List()
				if err != nil {
					return err
				}
				out := []keyJSON{}
				rows := [][]string{{"id", "name", "scopes", "tenant", "access", "sets", "filter", "state"}}
				for i := range list {
					out = append(out, shownKey(&list[i]))
					rows = append(rows, keyRow(&list[i]))
				}
				return a.print(keysJSON{Schema: "sheaf.keys/1", File: s.Where.Keys(), Keys: out},
					func() { a.printTable(rows) })
			})
		},
	})
}

// toTheMinute is the format of expiry times.
const toTheMinute = "2006-01-02 15:04"

func keyRow(k *access.Key) []string {
	state := "active"
	switch {
	case !k.Revoked.IsZero():
		state = "revoked " + k.Revoked.Local().Format(toTheMinute)
	case !k.Active(time.Now()):
		state = "expired " + k.Expires.Local().Format(toTheMinute)
	case !k.Expires.IsZero():
		state = "until " + k.Expires.Local().Format(toTheMinute)
	}
	scopes := make([]string, len(k.Scopes))
	for i, s := range k.Scopes {
		scopes[i] = string(s)
	}
	who := strings.Join(k.Access, ", ")
	if who == "" {
		who = "public"
	}
	row := []string{k.ID, k.Name, strings.Join(scopes, ", "), k.Tenant, who, strings.Join(k.Sets, ", "), k.Baked, state}
	for i := range row {
		row[i] = wording.Clean(row[i])
	}
	return row
}

// goodKeys completes the names of keys that can still be revoked. For a name that is not unique, it offers the ID.
func (a *app) goodKeys(cmd *cobra.Command, args []string) []string {
	var list []access.Named
	if len(args) == 0 {
		// AsIs makes and remakes nothing. A completion reports no errors.
		_ = a.withKeys(cmd, openOptions{AsIs: true}, func(_ *session, keys *access.Keys) (err error) {
			list, err = keys.Active()
			return err
		})
	}
	var names []string
	for i := range list {
		name := list[i].By
		if name != list[i].Name {
			name = cobra.CompletionWithDesc(name, wording.Clean(list[i].Name))
		}
		names = append(names, name)
	}
	return names
}

func (a *app) keyRevokeCommand() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key at once, by its ID or name",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return a.goodKeys(cmd, args), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withKeys(cmd, openOptions{Make: true}, func(s *session, keys *access.Keys) error {
				key, err := keys.Revoke(args[0])
				if err != nil {
					return s.unwritten(err)
				}
				return a.print(shownKey(&key), func() { a.notice("key %s (%s) revoked", key.Name, key.ID) })
			})
		},
	})
}
