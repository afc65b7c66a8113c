package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
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
	"sheaf/search"
	"sheaf/store"
	"sheaf/text/query"
)

func (a *app) searchCommand() *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:     "search QUERY...",
		Aliases: []string{"s"},
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

func addIndexFlags(f *pflag.FlagSet) {
	f.Int("workers", 0, "files indexed at once; 0 for the number of processors")
	addWalkFlags(f)
}

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
	if err := s.readNamed(cmd.Context(), text, o.set); err != nil {
		return err
	}
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

// countDocuments counts the documents in the command's folder. The root folder of the index includes added folders.
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

// show gets an answer and prints it in the requested format. If another process remade the index meanwhile, show asks
// again. Without results, it returns errNothing.
func (s *session) show(cmd *cobra.Command, o searchOptions, ask askFunc) error {
	out, first := (*searchJSON)(nil), true
	err := s.Retry(cmd.Context(), func() (err error) {
		out, err = s.answer(&o, ask)
		if err == nil && first && s.RemadeBeside(len(out.Results) == 0) {
			err = ingest.ErrRebuilt
		}
		first = false
		return err
	})
	if err != nil {
		return s.Advise(err)
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

// order returns the column in --sort, or "" if there is no --sort. A dash before the column means descending order.
func (o *searchOptions) order() (string, error) {
	name := strings.TrimPrefix(o.sort, "-")
	switch {
	case o.sort == "":
		return "", nil
	case name == "", name == "random", strings.HasPrefix(name, "random:"):
		return "", sheaf.Invalidf("--sort %s: want date, path, depth or a property, as in --sort date or --sort=-date",
			o.sort)
	}
	return strings.TrimSuffix(o.sort, name) + columnOf(name), nil
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

// searchJSON is the answer of `sheaf search`, `sheaf similar` and `sheaf context`.
type searchJSON struct {
	Schema     string       `json:"schema"`
	Query      string       `json:"query"`                // the query; for similar and context the address or file
	Profile    string       `json:"profile"`              // the name of the ranking profile
	TookMS     float64      `json:"took_ms"`              // the time to the answer, refresh included, in milliseconds
	Total      int          `json:"total"`                // how many chunks the branches found; more may match
	Degraded   bool         `json:"degraded"`             // whether a branch failed and the others answered
	Answerable *bool        `json:"answerable,omitempty"` // whether a result likely answers; absent when unknown
	Warnings   []string     `json:"warnings"`             // why the answer may be wrong
	Notes      []string     `json:"notes"`                // how the query was read; filter values that no document has
	readNotes  []string     // notes that say how the query was read
	missNotes  []string     // notes that say why no result was found
	Results    []resultJSON `json:"results"`          // the results, best first
	Facets     []facetJSON  `json:"facets,omitempty"` // the counts of values, with --facets
}

// resultJSON is a result, also one line of `sheaf search --jsonl`.
type resultJSON struct {
	Rank       int      `json:"rank"`            // the rank, from 1
	ID         sheaf.ID `json:"id"`              // the ID of the chunk
	Doc        sheaf.ID `json:"doc"`             // the ID of the document
	Path       string   `json:"path"`            // the path in the searched folder
	Title      string   `json:"title"`           // the title of the chunk
	Breadcrumb string   `json:"breadcrumb"`      // the titles from the document down, joined by ›
	Span       span     `json:"span"`            // the range of the chunk in the file
	Line       int      `json:"line"`            // the line of the first match, or of the snippet
	Block      sheaf.ID `json:"block,omitempty"` // the named block (^name) of this line
	// Score orders the results. It does not say how good an answer is.
	Score        float64            `json:"score"`
	Confidence   *float64           `json:"confidence,omitempty"`       // the probability, 0 to 1, that it is right
	Level        search.Level       `json:"confidence_level,omitempty"` // high, medium, low or none
	Snippet      string             `json:"snippet"`                    // one line of the text, without Markdown
	Matches      []span             `json:"matches"`                    // the matches in the snippet, in order
	Tags         []string           `json:"tags"`                       // the tags of the chunk and its document
	Explanation  *sheaf.Explanation `json:"explanation,omitempty"`      // the parts of the score, with --explain
	Constituents []constituentJSON  `json:"constituents,omitempty"`     // the passages that it represents, best first
	// Signals explains the score. Only profiles that scan files set it.
	Signals *search.Signals `json:"signals,omitempty"`

	// hierarchy is the heading path of the result. Only output to people uses hierarchy and file.
	hierarchy []string
	file      string // the absolute path of the file
}

// constituentJSON is a passage that a result represents.
type constituentJSON struct {
	ID    sheaf.ID `json:"id"`    // the ID of the chunk
	Title string   `json:"title"` // the title of the chunk
	Span  span     `json:"span"`  // the range of the chunk in the file
	Score float64  `json:"score"` // the score of the chunk
}

// searchSchema names the schema of searchJSON. A release that removes a member, or changes what a member means,
// increases the number in the name.
const searchSchema = "sheaf.search/1"

// millis converts seconds to milliseconds with three decimals.
func millis(seconds float64) float64 { return math.Round(seconds*1e6) / 1e3 }

func (a *app) printSearch(answer *searchJSON) error {
	switch {
	case a.json:
		return a.printJSON(answer)
	case a.jsonl:
		for i := range answer.Results {
			if err := a.printLine(&answer.Results[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range answer.Results {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		a.printResult(&answer.Results[i])
	}
	a.printFacets(answer.Facets)
	return nil
}

// printResult prints a result for people. The lines are: rank, heading path and score; the file; the snippet.
func (a *app) printResult(r *resultJSON) {
	const indent = "    "
	score := formatScore(r.Score)
	if r.Level == search.High { // a lower level beside a good result only confuses people
		score += " " + string(r.Level)
	}
	room := a.out.Width - len(indent) - len(score) - 2
	if !a.out.Terminal {
		room = 1 << 20
	}
	heading, width := a.headingPath(r.hierarchy, room)
	gap := "  "
	if a.out.Terminal {
		gap = strings.Repeat(" ", max(2, a.out.Width-len(indent)-width-len(score)))
	}
	fmt.Fprintf(a.stdout, "%s %s%s%s\n", a.out.Paint(terminal.Number, fmt.Sprintf("%3d", r.Rank)), heading, gap,
		a.out.Paint(terminal.Dim, score))

	place := wording.Clean(r.Path) + ":" + strconv.Itoa(r.Line)
	if _, block, ok := strings.Cut(string(r.Block), "#^"); ok {
		place += " ^" + block
	}
	address := terminal.FileAddress(a.config.LinkURL, r.file, r.Line)
	fmt.Fprintln(a.stdout, indent+a.out.Link(address, a.out.Paint(terminal.Path, place)))
	for _, line := range a.snippetLines(r, len(indent)) {
		fmt.Fprintln(a.stdout, indent+line)
	}
	if line := standsFor(r.Constituents); line != "" {
		fmt.Fprintln(a.stdout, indent+a.out.Paint(terminal.Dim, line))
	}
	if r.Explanation != nil {
		a.printExplanation(*r.Explanation, len(indent))
	}
}

// standsFor names the best passages that a result represents. It returns "" if the result represents only itself.
func standsFor(list []constituentJSON) string {
	const most = 3
	var titles []string
	for _, c := range list[:min(most, len(list))] {
		titles = append(titles, wording.Clean(c.Title))
	}
	switch more := len(list) - len(titles); {
	case len(titles) == 0:
		return ""
	case more > 0:
		return fmt.Sprintf("stands for %s and %d more", strings.Join(titles, ", "), more)
	}
	return "stands for " + strings.Join(titles, ", ")
}

// headingPath joins titles with ›, the last title in bold. If text would be wider than maxWidth columns, headingPath
// removes titles on the left, but not the last title. width is the number of columns of text.
func (a *app) headingPath(hierarchy []string, maxWidth int) (text string, width int) {
	const separator = " › "
	titles := make([]string, len(hierarchy))
	for i, t := range hierarchy {
		titles[i] = strings.TrimSpace(wording.Clean(t))
		width += uniseg.StringWidth(titles[i]) + len([]rune(separator))
	}
	width -= len([]rune(separator))
	cut := false
	for width > maxWidth && len(titles) > 1 {
		drop := uniseg.StringWidth(titles[0]) + len([]rune(separator))
		if !cut {
			drop -= 2
		}
		width, titles, cut = width-drop, titles[1:], true
	}
	if len(titles) == 0 {
		return "", 0
	}
	last := len(titles) - 1
	titles[last] = a.out.Paint(terminal.Title, titles[last])
	text = strings.Join(titles, separator)
	if cut {
		text = "… " + text
	}
	return text, width
}

// snippetLines returns a snippet in lines. Words that match are in color, or between ** without colors.
func (a *app) snippetLines(r *resultJSON, indent int) []string {
	if r.Snippet == "" {
		return nil
	}
	width := 1 << 20
	if a.out.Terminal {
		width = max(a.out.Width-indent, 20)
	}
	var lines []string
	var line strings.Builder
	used, at, next := 0, 0, 0
	for at < len(r.Snippet) {
		end, marked := len(r.Snippet), false
		if next < len(r.Matches) {
			if m := r.Matches[next]; at >= m.Start {
				end, marked = m.End, true
				next++
			} else {
				end = m.Start
			}
		}
		text := wording.Clean(r.Snippet[at:end])
		split := []string{text}
		if !marked || uniseg.StringWidth(text) > width {
			split = pieces(text)
		}
		for _, piece := range split {
			w := uniseg.StringWidth(piece)
			if used > 0 && used+w > width {
				lines = append(lines, strings.TrimRight(line.String(), " "))
				line.Reset()
				used = 0
				if piece = strings.TrimLeft(piece, " "); piece == "" {
					continue
				}
			}
			if marked && a.out.Color {
				piece = a.out.Paint(terminal.Match, piece)
			} else if marked {
				piece = "**" + piece + "**"
			}
			line.WriteString(piece)
			used += w
		}
		at = end
	}
	return append(lines, line.String())
}

// pieces splits text at the places where a line may break. A space belongs to the piece before it.
func pieces(text string) (out []string) {
	for state := -1; len(text) > 0; {
		var piece string
		piece, text, _, state = uniseg.FirstLineSegmentInString(text, state)
		out = append(out, piece)
	}
	return out
}

// formatScore writes a score with three decimals. Small scores get more decimals.
func formatScore(score float64) string {
	if score != 0 && math.Abs(score) < 0.01 {
		return strconv.FormatFloat(score, 'g', 3, 64)
	}
	return strconv.FormatFloat(score, 'f', 3, 64)
}
