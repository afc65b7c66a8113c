package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/address"
	"sheaf/collection/location"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/profile"
	"sheaf/search"
	"sheaf/search/scan"
)

// session is an open index, and the folder that a command works on.
type session struct {
	*app
	*collection.Index
	// scanner reads the folder's files if the profile needs no index; otherwise it is nil. With a scanner, Backend is
	// nil, and Catalog is empty until readAll is called.
	scanner  *scan.Scanner
	files    int              // files that the last query read
	expander *search.Expander // rewrites queries; nil if no chat model is set
	reranker model.Reranker   // reranks the first results; nil if no model is set
	started  time.Time
}

// newSession returns the session of a folder and its index. It does not open the index.
func (a *app) newSession(folder string, where location.Location) *session {
	c := a.config
	s := &session{app: a, started: time.Now()}
	s.Index = collection.NewIndex(collection.Site{Folder: folder, Where: where, Address: c.Store.URL, Flag: a.storeFlag,
		In: a.in, Named: a.index != ""}, a.making(), collection.Events{Notice: a.notice, Warn: a.warn,
		Quiet: a.json || a.jsonl, Confirm: a.confirm, Indexing: a.showIndexing, Checking: a.showChecking})
	s.Answering = collection.Options{
		ShowComments: c.Comments == config.CommentsSearch, ProfileDirs: []string{profileFolder()}, Profile: c.Profile,
		CacheBytes: cmp.Or(c.CacheSize, -1), // 0 would be the default
		Notice:     func(err error) { s.notice("%v", err) },
	}
	return s
}

func (a *app) making() collection.Making {
	c := a.config
	m := collection.Making{
		Language: c.Language, StopWords: c.StopWords, Chunk: a.newChunker, Walk: c.Walk.Options(), Workers: c.Workers,
		Engine: engineOptions(c), Update: c.Refresh,
		Embed: func(ctx context.Context, dims int, p collection.Patience) (model.Embedder, error) {
			return newEmbedder(ctx, c, dims, p)
		},
	}
	if c.Embedder.Remote() {
		m.Remote = c.Embedder.Model
	}
	if c.Comments != config.CommentsAuto {
		m.HideComments = func() bool { return c.Comments == config.CommentsHide }
	}
	return m
}

func (a *app) showChecking() (update func(done, total int64), done func()) {
	progress := terminal.NewProgress(a.err, "checking")
	return func(done, total int64) { progress.Update(int(done>>10), int(total>>10), done, "kB") }, progress.Done
}

// door returns the session's index as a collection for HTTP, MCP and the web page. Close it before the session.
func (s *session) door() (*collection.Collection, error) {
	_, _ = s.loadTuned(s.config.Profile) // warns of an unused tuned profile; requests report other faults
	return s.Collection()
}

// file returns the absolute path of a document's file, or "" if the document has no file.
func (s *session) file(tree, docPath string) string {
	root := s.View.Settings().Root(tree)
	if root == "" {
		return ""
	}
	return filepath.Join(root, filepath.FromSlash(docPath))
}

// relative returns the path of a document for people. It is relative to the searched folder for files in it, and
// absolute for files of added folders. Without a file it is "tree:path". The spelling is the same as in IDs.
func (s *session) relative(tree, docPath string) string {
	return sheaf.PathText(s.exactName(tree, docPath))
}

// exactName is like relative, but keeps the exact spelling of the file name.
func (s *session) exactName(tree, docPath string) string {
	full := s.file(tree, docPath)
	if full == "" { // the tree distinguishes it from a file with the same path
		return tree + ":" + docPath
	}
	if rel, ok := location.Under(s.Folder, full); ok {
		return rel
	}
	return filepath.ToSlash(full)
}

// resolve finds the target of an address in this index.
func (s *session) resolve(ctx context.Context, text string) (address.Target, error) {
	r := &address.Resolver{Documents: s.View, Trees: s.View.Settings().Trees, Folder: s.Folder, Read: s.View.Text,
		Paths: s.paths, Follow: s.View.Resolve}
	t, err := r.Resolve(text)
	var missing *address.NotFound
	if fault := s.View.Err(); fault != nil {
		return t, s.Advise(fmt.Errorf("read index: %w", fault))
	}
	if errors.As(err, &missing) {
		hint := missing.Hint
		if why := s.leftOut(ctx, text); why != "" {
			hint = why
		} else if missing.Unlike {
			hint += "; sheaf ls lists the documents"
		}
		err = withHint(err, "%s", hint)
	}
	return t, err
}

// behindName matches the end of an address that follows the file name: a heading or line numbers.
var behindName = regexp.MustCompile(`(#.*|(:\d+){1,2})$`)

// leftOut says why the index lacks the file that an address names. It returns "" if the index has the file, or if there
// is no such file. A file that a cloud drive took off this disk counts as a file.
func (s *session) leftOut(ctx context.Context, address string) string {
	full := behindName.ReplaceAllString(address, "")
	if !filepath.IsAbs(full) {
		full = filepath.Join(s.Folder, full)
	}
	info, missing := os.Lstat(full) // a file in the cloud is missing, but the list of skipped files has it
	if missing == nil && info.IsDir() {
		return ""
	}
	for _, t := range s.View.Settings().Trees {
		rel, ok := location.Under(t.Root, full)
		if _, known := s.View.Document(sheaf.DocumentID(t.Name, rel)); !ok || known {
			continue
		}
		list, _ := s.View.Skipped() // without the list, the hint names a command that shows its error
		if s.scanner == nil && missing == nil {
			if _, report, err := s.Pending(ctx); err == nil {
				if slices.Contains(report.Waiting, sheaf.DocumentID(t.Name, rel)) {
					return "that file is not indexed yet: sheaf index --in " + wording.ShellQuoted(s.Where.Root)
				}
				list = append(list, report.ByRule...)
			}
		}
		for _, k := range list {
			if k.Tree == t.Name && (k.Path == rel || strings.HasSuffix(k.Path, "/") && strings.HasPrefix(rel, k.Path)) {
				return "that file was left out: " + skipText(collection.Skip{Path: k.Path, Reason: k.Reason, Detail: k.Detail})
			}
		}
		if missing == nil {
			return "that file exists, but it is not a document: sheaf status --all says why"
		}
	}
	return ""
}

func (s *session) paths() []string {
	var paths []string
	for id := range s.View.Files() {
		if doc, ok := s.View.Document(id); ok {
			paths = append(paths, s.relative(doc.Tree, doc.Path))
		}
	}
	return paths
}

type searchOptions struct {
	collection.SearchRequest
	set   []string
	alike bool     // the command looks for similar passages
	notes []string // texts that the command adds to Answer.Notes
	// sort and facets are the values of the flags that only sheaf search has.
	sort   string
	facets []string
}

// addNarrowFlags adds the flags that narrow a query by time and by document sets.
func addNarrowFlags(f *pflag.FlagSet, o *searchOptions) {
	f.StringVar(&o.Created, "created", "", "documents created from START..END, as in 2024-05..2024-08; those without "+
		"a date pass")
	f.StringVar(&o.Updated, "updated", "", "documents updated from START..END; those without a date count as 90 days old")
	f.StringSliceVar(&o.Sets, "sets", nil, "documents of any of these sets")
}

func (s *session) request(o *searchOptions) (q collection.SearchRequest, err error) {
	q = o.SearchRequest
	if _, q.Parameters, err = s.profileOf(o.set); err != nil {
		return q, err
	}
	q.Limit, q.Window = s.config.Limit, s.config.Limit
	for _, name := range o.facets {
		if c := columnOf(strings.TrimSpace(name)); !slices.Contains(q.Facets, c) {
			q.Facets = append(q.Facets, c)
		}
	}
	q.Sort, err = o.order()
	return q, err
}

// read calls ask with a reader of the index. If the profile scans files, this reader searches the files, not an index.
func read[T any](s *session, ask func(r *collection.Reader) (T, error)) (answer T, err error) {
	c, err := s.Ask(s.scanner, s.expander)
	if err != nil {
		return answer, err
	}
	defer c.Close()
	r, err := c.For(access.Unrestricted())
	if err != nil {
		return answer, err
	}
	defer r.Close()
	answer, err = ask(r)
	if field := new(collection.FieldError); errors.As(err, &field) &&
		slices.Contains([]string{"created", "updated", "sets"}, field.Field) {
		err = fmt.Errorf("--%s: %w", field.Field, field.Err)
	}
	return answer, err
}

type askFunc func(r *collection.Reader, q collection.SearchRequest) (*collection.Answer, error)

// answer asks a question and converts the answer to the JSON of searchSchema.
func (s *session) answer(o *searchOptions, ask askFunc) (*searchJSON, error) {
	q, err := s.request(o)
	if err != nil {
		return nil, err
	}
	a, err := read(s, func(r *collection.Reader) (*collection.Answer, error) { return ask(r, q) })
	if err != nil {
		return nil, err
	}
	d := a.Details
	s.files = d.Files
	out := &searchJSON{Schema: searchSchema, Query: a.Query, Profile: a.Profile, Total: d.Found, Degraded: a.Degraded,
		Answerable: a.Answerable, Warnings: a.Warnings, Notes: slices.Insert(a.Notes, len(d.Read), o.notes...),
		readNotes: append(d.Read, o.notes...), missNotes: d.Unmet, Results: []resultJSON{}, Facets: facetsJSON(d.Facets)}
	gone := 0
	for i := range a.Results {
		if errors.Is(a.Results[i].Unread, fs.ErrNotExist) {
			gone++
			continue
		}
		r := s.result(&a.Results[i])
		r.Rank = len(out.Results) + 1
		out.Results = append(out.Results, r)
	}
	if gone > 0 {
		out.Warnings = append(out.Warnings, wording.Plural(gone, "result was", "results were")+" left out: the file is gone")
	}
	out.TookMS = millis(time.Since(s.started).Seconds())
	return out, nil
}

func (s *session) result(r *collection.Result) resultJSON {
	out := resultJSON{ID: r.ID, Doc: r.Doc, Path: s.relative(r.Doc.Tree(), r.Path), Title: r.Title,
		Breadcrumb: r.Breadcrumb, Span: span(r.Span), Line: r.Line, Block: r.Block, Score: r.Score,
		Level: r.Level, Snippet: r.Snippet, Matches: []span{}, Tags: r.Tags,
		Explanation: r.Explanation, Signals: r.Signals, hierarchy: r.Hierarchy, file: r.File}
	if r.Confidence != nil {
		out.Confidence = new(math.Round(*r.Confidence*1000) / 1000) // more decimals mean nothing
	}
	for _, c := range r.Constituents {
		out.Constituents = append(out.Constituents, constituentJSON{c.ID, c.Title, span(c.Span), c.Score})
	}
	for _, m := range r.Matches {
		out.Matches = append(out.Matches, span(m))
	}
	if r.Unread != nil {
		s.warn("%s: no snippet: %v", out.Path, r.Unread)
	}
	return out
}

// usualLimit returns the limit that a setting gives, or else the limit of the profile, or else the default.
func usualLimit(c *config.Config, p *profile.Profile, set map[string]string) int {
	if n := p.DefaultLimit(set); n > 0 && c.Origin("limit").Source == config.SourceDefault {
		return n
	}
	return c.Limit
}

// profileOf returns the profile in force, and the parameters in set. It sets s.config.Limit to the usual limit.
func (s *session) profileOf(set []string) (*profile.Profile, map[string]string, error) {
	p, err := s.loadTuned(s.config.Profile)
	if err != nil {
		return nil, nil, err
	}
	parameters, err := parseSet(set, p)
	s.config.Limit = usualLimit(s.config, p, parameters)
	return p, parameters, err
}

// plan returns the plan of the profile in force. If the plan cannot give as many results as a setting asks, it fails.
func (s *session) plan(set []string) (*profile.Plan, error) {
	p, parameters, err := s.profileOf(set)
	if err != nil {
		return nil, err
	}
	plan, err := p.Plan(s.config.Limit, parameters)
	if err == nil && s.config.Origin("limit").Source != config.SourceDefault {
		err = plan.CheckLimit(s.config.Limit)
	}
	return plan, err
}

// loadTuned reads a profile. If sheaf tune changed the profile for this index, it reads the changed profile.
func (s *session) loadTuned(name string) (*profile.Profile, error) {
	if _, err := os.Stat(profile.TunedFile(s.Where.Dir, name)); s.Where.Dir == "" || err != nil {
		return loadProfile(name)
	}
	p, fault, err := profile.LoadTuned(s.Where.Dir, name, profile.In(profileFolder()))
	if fault != nil {
		s.warn("what sheaf tune found is not used: %v; remove it with sheaf tune --undo", fault)
	}
	return p, err
}
