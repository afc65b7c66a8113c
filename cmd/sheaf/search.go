package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/fold"
	"sheaf/internal/suggest"
	"sheaf/internal/wording"
	"sheaf/store"
	"sheaf/text/query"
)

func (a *app) searchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:     "search QUERY...",
		Aliases: []string{"s"},
		GroupID: groupFind,
		Short:   "Find the passages that answer a query",
		Long: `Finds passages in the current folder, or in --in FOLDER. The folder is indexed
when it is searched for the first time, and what changed since is brought up to
date before every answer; --no-refresh leaves the index as it is.

Query language:
  undo commit           passages with these words, more of them is better
  "undo a commit"       these words one after another, in any case
  +oauth -draft         with this word, without that one
  git OR tag:vcs        one or the other
  -(a OR b), (a -b) OR c  brackets hold together behind + or - and beside OR;
                        elsewhere they change nothing: a (b -c) is a b -c
  conf*  colour~        words that begin like this, words that are spelt alike
  title:git heading:git in the title, in a heading above
  tag:howto, #howto     with this tag or one below it
  path:guides/ ext:md   in this folder, with this extension
  path:git.md           in files of this name, in any folder; path:/git.md at the top
  status:done rating:>3 with this property; status:do* begins so, status:* has any
  [status:done]         the same, as Obsidian writes it; [status:done OR in review]
  prop.title:x          with the property, where the name has another meaning
  task:open due:<2024-06  in sections with an open task, due before June
  after:2024-05         dated from then on; before:7d is older than a week
  on:today date:>=2024  of this day; date compares, as properties do
Whatever cannot be read this way is searched as plain words, and a note says so.
To begin a query with a dash, put -- before it.`,
		Example: `  sheaf search how do I undo a commit
  sheaf search --in ~/notes 'tag:recipe "olive oil" -tomato'
  sheaf search --sort=-date --facets tags,folder +invoice
  sheaf search --json -n 5 deploy | jq -r '.results[].path'`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return a.search(cmd, strings.Join(args, " "), o) },
	}
	a.addSearchFlags(cmd.Flags(), &o)
	cmd.Flags().StringVar(&o.sort, "sort", "", "order everything that matches by date, path, depth or a property; -date "+
		"puts large values first")
	cmd.Flags().StringSliceVar(&o.facets, "facets", nil, "count everything that matches by tags, folder, ext, tree or "+
		"properties")
	addIndexFlags(cmd.Flags())
	completeWords(cmd, "sort", "date", "path", "depth")
	completeWords(cmd, "facets", "tags", "folder", "ext", "tree")
	return cmd
}

func (a *app) addSearchFlags(f *pflag.FlagSet, o *searchOptions) {
	addRankingFlags(f, &o.set)
	f.StringArrayVar(&o.Terms, "term", nil, "a further word that scores like those of the query")
	addNarrowFlags(f, o)
	f.BoolVar(&o.Explain, "explain", false, "say where each score comes from")
	f.Bool("no-refresh", false, "do not look for changed files first")
	f.BoolVar(&a.json, "json", false, "print one JSON object (see doc/json.md)")
	f.BoolVar(&a.jsonl, "jsonl", false, "print one JSON object for each result")
}

// addRankingFlags adds the flags that choose the profile, its parameters and the number of results.
func addRankingFlags(f *pflag.FlagSet, set *[]string) {
	f.IntP("limit", "n", 0, "number of results")
	f.StringP("profile", "p", "", "ranking profile (see: sheaf profile list)")
	f.StringArrayVar(set, "set", nil, "set a parameter of the profile, as in --set meaning=0.3")
}

// addIndexFlags adds the flags for indexing a folder.
func addIndexFlags(f *pflag.FlagSet) {
	f.Int("workers", 0, "files indexed at once; 0 for the number of processors")
	addWalkFlags(f)
}

// addWalkFlags adds the flags that select the files of a folder to index.
func addWalkFlags(f *pflag.FlagSet) {
	f.StringSlice("include", nil, "patterns, as in .gitignore, of files to index beside "+ingest.Endings()+"; "+
		"as a setting they hold for every command")
	f.StringSlice("exclude", nil, "patterns, as in .gitignore, of files to leave out; as a setting, or in a "+
		".sheafignore, they hold for every command")
	f.String("max-file-size", "", "leave out larger files")
	f.Bool("follow-symlinks", false, "follow symbolic links, also out of the folder")
	f.String("comments", "", "comments in Markdown: search, hide, or auto: hide when the index has keys")
}

func (a *app) search(cmd *cobra.Command, text string, o searchOptions) error {
	s, err := a.openOrScan(cmd, openOptions{Refresh: true, Make: true}, o.set)
	if err != nil {
		return err
	}
	defer s.Close()
	if strings.TrimSpace(text) == "" && o.sort == "" {
		o.notes = append(o.notes, "the query is empty, so there is nothing to look for")
	}
	if s.scanner == nil { // a scanner knows only the files that it read
		o.notes = append(o.notes, o.unknownColumns(s.View)...)
	}
	return s.show(cmd, o, func(r *collection.Reader, q collection.SearchRequest) (*collection.Answer, error) {
		q.Text = text
		return r.Search(cmd.Context(), q)
	})
}

// countDocuments returns how many documents of the index are in the command's folder. For the root folder of the index,
// it also counts documents of added folders.
func (s *session) countDocuments() int {
	if s.scanner != nil {
		return s.files
	}
	if s.Folder == s.Where.Root {
		return s.View.Docs()
	}
	n := 0
	for id := range s.View.Files() {
		if _, ok := location.Under(s.Folder, s.file(id.Tree(), id.Path())); ok {
			n++
		}
	}
	return n
}

// show asks a question and prints the answer in the requested format. Without results, it returns errNothing.
func (s *session) show(cmd *cobra.Command, o searchOptions, ask askFunc) error {
	out, err := (*searchJSON)(nil), error(nil)
	for m, first := (collection.Mending{}), true; ; first = false {
		out, err = s.answer(&o, ask)
		if err == nil && first && s.RemadeBeside(len(out.Results) == 0) {
			err = ingest.ErrRebuilt
		}
		if err == nil {
			break
		}
		if err = s.Mend(cmd.Context(), err, &m); err != nil {
			return s.Advise(err)
		}
	}
	if !s.json {
		s.notices(out.Warnings...)
		if len(o.set) > 0 || o.sort != "" || cmd.Flags().Changed("profile") {
			s.notices(out.Notes...) // notes say which stages of the chosen profile did not run
		} else {
			s.notices(append(out.readNotes, out.missNotes...)...)
		}
		if out.Answerable != nil && !*out.Answerable && len(out.Results) > 0 {
			unlike := "likely to answer this"
			if o.alike {
				unlike = "much like it"
			}
			s.notice("nothing here is %s", unlike)
		}
	}
	out.Warnings = s.allWarnings(out.Warnings...)
	if err := s.printSearch(out); err != nil || len(out.Results) > 0 {
		return err
	}
	switch {
	case s.json || s.jsonl:
	case s.countDocuments() == 0:
		s.notice("no documents in %s: %s files are indexed, and those that the setting include names; what was "+
			"left out: sheaf status --all --in %s", s.Folder, ingest.Endings(), wording.ShellQuoted(s.Folder))
	default:
		s.notice("nothing found in %s: %s searched", s.Folder,
			wording.Plural(s.countDocuments(), "document was", "documents were"))
	}
	return errNothing
}

// columns maps the column names that people type to the column names in the index.
var columns = map[string]string{
	"tag": sheaf.ColumnTag, "tags": sheaf.ColumnTag, "folder": sheaf.ColumnFolder, "folders": sheaf.ColumnFolder,
	"date": sheaf.ColumnDate, "path": sheaf.ColumnPath, "tree": sheaf.ColumnTree, "depth": sheaf.ColumnDepth,
	"ext": query.ColumnExtension, "extension": query.ColumnExtension,
}

// columnOf returns the column for a name that a person typed. A name that is not in columns is the name of a property.
func columnOf(name string) string {
	if c, ok := columns[strings.ToLower(name)]; ok {
		return c
	}
	return ingest.PropertyColumn(name)
}

// order returns the column for --sort, or "" without --sort. In both, a leading dash means descending order.
func (o *searchOptions) order() (string, error) {
	name, descending := strings.CutPrefix(o.sort, "-")
	switch {
	case o.sort == "":
		return "", nil
	case name == "", name == "random", strings.HasPrefix(name, "random:"):
		return "", sheaf.Invalidf("--sort %s: want date, path, depth or a property, as in --sort date or --sort=-date",
			o.sort)
	case descending:
		return "-" + columnOf(name), nil
	}
	return columnOf(name), nil
}

// unknownColumns returns a note for each requested column that no document has.
func (o *searchOptions) unknownColumns(view *catalog.View) (notes []string) {
	asked := slices.Clone(o.facets)
	if o.sort != "" {
		asked = append(asked, strings.TrimPrefix(o.sort, "-"))
	}
	if len(asked) == 0 {
		return nil
	}
	properties, err := view.Properties()
	if err != nil {
		return nil // the answer reports this error
	}
	known := slices.Sorted(maps.Keys(columns))
	for _, p := range properties {
		known = append(known, p.Name)
	}
	for _, name := range asked {
		name = strings.TrimSpace(name)
		if slices.ContainsFunc(known, func(k string) bool { return fold.Text(k) == fold.Text(name) }) {
			continue
		}
		note := fmt.Sprintf("no document has the property %q", name)
		if near := suggest.Nearest(name, known); near != "" {
			note += fmt.Sprintf(": did you mean %q?", near)
		} else if o.sort != "" && name == strings.TrimPrefix(o.sort, "-") {
			note += ": --sort takes date, path, depth or a property; --sort=-date puts new ones first"
		}
		notes = append(notes, note)
	}
	return notes
}

// facetJSON counts the values of one column.
type facetJSON struct {
	Column   string           `json:"column"`   // the name of the column
	Distinct int              `json:"distinct"` // how many different values the matching chunks have
	Values   []facetValueJSON `json:"values"`   // the 100 most frequent values
}

// facetValueJSON is a value of a column with its number of chunks.
type facetValueJSON struct {
	Value  sheaf.Value `json:"value"`  // the value
	Chunks int         `json:"chunks"` // how many matching chunks have the value
}

func facetsJSON(facets []store.Facet) []facetJSON {
	var out []facetJSON
	for _, f := range facets {
		one := facetJSON{Column: f.Column, Distinct: f.Distinct, Values: []facetValueJSON{}}
		for _, v := range f.Values {
			one.Values = append(one.Values, facetValueJSON(v))
		}
		out = append(out, one)
	}
	return out
}

// printFacets writes facets for people. Each frequent value gets one line.
func (a *app) printFacets(facets []facetJSON) {
	const most = 10
	for _, f := range facets {
		fmt.Fprintf(a.stdout, "\n%s\n", a.out.Paint(terminal.Dim, wording.Clean(f.Column)))
		for _, v := range f.Values[:min(len(f.Values), most)] {
			name := wording.Clean(v.Value.String())
			if name == "" {
				name = `""`
			}
			fmt.Fprintf(a.stdout, "%7d  %s\n", v.Chunks, name)
		}
		if more := f.Distinct - min(len(f.Values), most); more > 0 {
			fmt.Fprintf(a.stdout, "         and %s\n", wording.Plural(more, "other", "others"))
		}
	}
}
