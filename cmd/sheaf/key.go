package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/location"
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
		if err := s.Refresh(ctx); err != nil { // hide comments before the user gets the key
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

// noteUnmatched prints a note for each name in the access list of g that no document has. It also searches with the
// filter of g, and prints the notes of this search if it finds nothing.
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
		note := fmt.Sprintf("no document names %q in its access list", name)
		if near != "" {
			note += fmt.Sprintf(": did you mean %q?", near)
		}
		s.notice("%s", note)
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

func (a *app) aclCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "acl",
		Short: "Check that callers see only what they may",
	}
	cmd.AddCommand(a.aclAuditCommand())
	return cmd
}

func (a *app) aclAuditCommand() *cobra.Command {
	var checks, sample int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Ask random questions as random callers and look for leaks",
		Long: `Makes random callers, asks random questions of words of hidden documents through
every way there is (search and its pages, facets and counts, explanations, similar
passages, links, errors ...), and looks in all that comes back for what the caller
may not see: first in the index as it is, then in a copy of some of its documents
with random access lists. The index is not changed.`,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if checks < 1 || checks > 10_000_000 {
				return sheaf.Invalidf("--checks is %d: must be within 1..10000000", checks)
			}
			if sample < 1 || sample > 10_000 {
				return sheaf.Invalidf("--sample is %d: must be within 1..10000", sample)
			}
			if !cmd.Flags().Changed("seed") {
				seed = rand.Uint64()
			}
			return nil
		},
		RunE: a.onIndex(openOptions{}, func(cmd *cobra.Command, s *session, _ []string) error {
			return s.auditAccess(cmd.Context(), collection.AuditOptions{Checks: max(1, checks/2), Seed: seed}, sample)
		}),
	}
	f := cmd.Flags()
	f.IntVar(&checks, "checks", 10_000, "how many checks to make")
	f.IntVar(&sample, "sample", 200, "how many documents get random access lists")
	f.Uint64Var(&seed, "seed", 0, "repeat the checks of an earlier audit")
	return a.withJSON(cmd)
}

func (s *session) auditAccess(ctx context.Context, o collection.AuditOptions, sample int) error {
	own, err := s.door()
	if err != nil {
		return err
	}
	defer func() { _ = own.Close() }() // a failed close loses no data
	dir, err := os.MkdirTemp("", "sheaf-audit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := s.randomLists(ctx, dir, o.Seed, sample)
	if err != nil {
		return err
	}
	defer copied.Close()
	other, err := copied.door()
	if err != nil {
		return err
	}
	defer func() { _ = other.Close() }()
	progress := terminal.NewProgress(s.err, "auditing")
	defer progress.Done()
	o.Progress = func(n, _ int) { progress.Update(n, o.Checks, 0, "checks") }
	var audits []*collection.Audit
	for _, c := range []*collection.Collection{own, other} {
		audit, err := c.Audit(ctx, o)
		if err != nil {
			return err
		}
		audits = append(audits, audit)
	}
	progress.Done()
	return s.printAudits(audits)
}

// auditJSON is the answer of `sheaf acl audit`.
type auditJSON struct {
	AsItIs      *collection.Audit `json:"as_it_is"`     // the audit with the access lists of the index
	RandomLists *collection.Audit `json:"random_lists"` // the audit of a copy in which the access lists are random
	Schema      string            `json:"schema"`
}

// printAudits prints the findings of each audit. It returns an error if an audit found leaks.
func (s *session) printAudits(audits []*collection.Audit) error {
	leaks := slices.Concat(audits[0].Leaks, audits[1].Leaks)
	report := auditJSON{Schema: "sheaf.acl-audit/1", AsItIs: audits[0], RandomLists: audits[1]}
	err := s.print(report, func() {
		for i, what := range []string{"the index as it is", "random access lists"} {
			out := audits[i]
			fmt.Fprintf(s.stdout, "%s: %s of %s, %s hidden on average, %s\n", what,
				wording.Plural(out.Checks, "check", "checks"),
				wording.Plural(out.Documents, "document", "documents"), wording.Count(out.Hidden/max(1, out.Checks)),
				wording.Plural(len(out.Leaks), "leak", "leaks"))
			if out.Incomplete > 0 {
				fmt.Fprintf(s.stdout, "  %s not complete: %s\n", wording.Plural(out.Incomplete, "check was", "checks were"),
					wording.Clean(out.Fault))
			} else if out.Fault != "" {
				fmt.Fprintf(s.stdout, "  it ended early: %s\n", wording.Clean(out.Fault))
			}
		}
		for _, l := range leaks {
			fmt.Fprintf(s.stdout, "  %s, query %q, caller %+v: %s: %s\n", l.Door, l.Query, l.Grant, wording.Clean(string(l.Doc)),
				wording.Clean(l.What))
		}
	})
	if err != nil || len(leaks) == 0 {
		return err
	}
	return withHint(fmt.Errorf("%s", wording.Plural(len(leaks), "leak was found", "leaks were found")),
		"repeat with --seed %d", audits[0].Seed)
}

// randomLists copies documents into a new index in dir, with random access lists. The caller closes the session.
func (s *session) randomLists(ctx context.Context, dir string, seed uint64, sample int) (copied *session, err error) {
	docs, err := s.sample(seed, sample)
	if err != nil {
		return nil, err
	}
	copied = s.newSession(dir, location.Location{Root: dir, Dir: filepath.Join(dir, ".index")})
	copied.Making.Language = cmp.Or(s.View.Settings().Language, "none")
	if err = copied.openModels(); err == nil {
		err = copied.Open(ctx, nil, openOptions{Make: true})
	}
	if err == nil {
		o := copied.IngestOptions()
		o.Trees = nil
		_, err = ingest.Change(ctx, o, docs, nil)
	}
	if err != nil {
		copied.Close()
	}
	return copied, err
}

// sample returns copies of at most n documents with random access lists. seed determines the lists.
func (s *session) sample(seed uint64, n int) ([]ingest.Given, error) {
	random := rand.New(rand.NewPCG(seed, 0x115750))
	var ids []sheaf.ID
	for id := range s.View.Files() {
		ids = append(ids, id)
	}
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	some := func(list ...string) []sheaf.Value {
		var values []sheaf.Value
		for _, text := range list {
			if random.IntN(len(list)) == 0 {
				values = append(values, sheaf.TextValue(text))
			}
		}
		return values
	}
	var docs []ingest.Given
	for _, id := range ids {
		if len(docs) == n {
			break
		}
		doc, ok := s.View.Document(id)
		text, err := ingest.Shown(s.View, id)
		if !ok || errors.Is(err, catalog.ErrStale) {
			continue
		}
		if err != nil {
			return nil, err
		}
		tenant := some("acme", "umbrella", "initech")
		docs = append(docs, ingest.Given{Tree: doc.Tree, Path: doc.Path, Title: doc.Title, Text: text,
			Properties: []sheaf.Property{
				{Name: ingest.PropertyTenant, Values: tenant[:min(1, len(tenant))]},
				{Name: ingest.PropertyAccess, List: true,
					Values: some(sheaf.AccessPublic, "user:ann", "user:bob", "group:staff", "group:board")},
				{Name: ingest.PropertySets, List: true, Values: some("finance", "handbook")},
			}})
	}
	return docs, s.View.Err()
}
