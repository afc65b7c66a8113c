package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"sheaf"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/internal/wording"
	"sheaf/search"
)

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

// printSearch writes the answer in the requested format.
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
		printExplanation(a.stdout, a.out, *r.Explanation, len(indent))
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

// headingPath joins titles with ›, the last title in bold. If text would take more than room columns, headingPath
// removes titles on the left, but not the last title. width is the number of columns of text.
func (a *app) headingPath(hierarchy []string, room int) (text string, width int) {
	const separator = " › "
	titles := make([]string, len(hierarchy))
	for i, t := range hierarchy {
		titles[i] = strings.TrimSpace(wording.Clean(t))
		width += uniseg.StringWidth(titles[i]) + len([]rune(separator))
	}
	width -= len([]rune(separator))
	cut := false
	for width > room && len(titles) > 1 {
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

// snippetLines returns the lines of a snippet, wrapped on a terminal. Words that match are in color, or between **
// without colors.
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
			line.WriteString(a.mark(piece, marked))
			used += w
		}
		at = end
	}
	return append(lines, line.String())
}

func (a *app) mark(text string, marked bool) string {
	switch {
	case !marked:
		return text
	case a.out.Color:
		return a.out.Paint(terminal.Match, text)
	}
	return "**" + text + "**"
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
