package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/model/static/builtin"
	"sheaf/store"
)

func (a *app) statusCommand() *cobra.Command {
	var all, recall bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say what is indexed, what waits, what was left out and why",
		RunE: a.onIndex(openOptions{}, func(cmd *cobra.Command, s *session, _ []string) error {
			out, err := s.status(cmd)
			if err == nil && recall {
				progress := terminal.NewProgress(s.err, "measuring")
				out.Recall, err = s.Recall(cmd.Context(), func(done, total int) {
					progress.Update(done, total, int64(done), "steps")
				})
				progress.Done()
			}
			if err != nil {
				return err
			}
			return a.print(out, func() { s.printStatus(out, all, recall) })
		}),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "say everything: every file that waits, is left out or is ignored, "+
		"and the parts of the index")
	cmd.Flags().BoolVar(&recall, "recall", false, "measure how many of the nearest vectors searches find, against "+
		"comparing all of them")
	return a.withJSON(cmd)
}

// statusJSON is the answer of `sheaf status`.
type statusJSON struct {
	Schema           string            `json:"schema"`
	Root             string            `json:"root"`                      // the indexed folder
	Index            string            `json:"index"`                     // the folder of the index
	Store            string            `json:"store"`                     // the name of the store that has the chunks
	Trees            []collection.Tree `json:"trees"`                     // the trees of documents
	Documents        int               `json:"documents"`                 // how many documents the index has
	Chunks           int               `json:"chunks"`                    // how many chunks the index has
	SourceBytes      int64             `json:"source_bytes"`              // the size of all texts, in bytes
	Bytes            int64             `json:"bytes"`                     // the size of the index on disk, in bytes
	Parts            map[string]int64  `json:"parts"`                     // the bytes on disk of each kind of files
	Vectors          int               `json:"vectors"`                   // how many vectors the index has
	Chunker          string            `json:"chunker"`                   // the name of the chunker, with its options
	CommentsHidden   bool              `json:"comments_hidden,omitempty"` // whether texts leave out comments in the files
	Analyzer         string            `json:"analyzer"`                  // the name of the analyzer, with its version
	Language         string            `json:"language"`                  // the language code of the index, such as en
	LanguageDetected bool              `json:"language_detected"`         // whether Sheaf detected the language
	Model            string            `json:"model"`                     // the embedding model; "" without a model
	ModelLanguages   []string          `json:"model_languages"`           // the languages of the built-in model, as codes
	Dims             int               `json:"dims"`                      // how many dimensions the vectors have
	Pending          pendingJSON       `json:"pending"`                   // what the next run has to do
	Skipped          []collection.Skip `json:"skipped"`                   // the files that were not indexed, and why
	Ignored          []collection.Skip `json:"ignored"`                   // the files and folders that rules exclude
	IgnoredTotal     int               `json:"ignored_total"`             // how many files and folders rules exclude
	Warnings         []warningJSON     `json:"warnings"`                  // faults of documents that were indexed
	Tuned            []tunedJSON       `json:"tuned"`                     // the profiles that are tuned to this index
	Notes            []string          `json:"notes"`                     // hints about the index
	Recall           []store.Recall    `json:"recall,omitempty"`          // the recall of each vector field, with --recall
}

// pendingJSON counts the files that are new, changed or removed since the index last read the folder.
type pendingJSON struct {
	New       int                   `json:"new"`       // how many files are new
	Changed   int                   `json:"changed"`   // how many files changed
	Removed   int                   `json:"removed"`   // how many files went away
	Documents []pendingDocumentJSON `json:"documents"` // the incomplete documents, for example documents without vectors
}

// pendingDocumentJSON is a document that is not completely indexed, with the reason.
type pendingDocumentJSON struct {
	Path   string `json:"path"`   // the path of the document
	Reason string `json:"reason"` // what still has to be done
}

// String returns the counts above 0 as text, or "nothing" if all are 0.
func (p pendingJSON) String() string {
	return counted("nothing", count{p.New, "new"}, count{p.Changed, "changed"}, count{p.Removed, "gone"},
		count{len(p.Documents), "without vectors"})
}

func (s *session) status(cmd *cobra.Command) (*statusJSON, error) {
	settings := s.View.Settings()
	out := &statusJSON{
		Schema: "sheaf.status/1", Root: s.Where.Root, Index: s.Where.Dir, Store: s.StoreName(),
		Trees:     treesOf(settings.Trees),
		Documents: s.View.Docs(), Chunks: s.View.Chunks(), SourceBytes: s.View.SourceBytes(),
		Parts:   map[string]int64{"catalog": s.View.DiskBytes()},
		Chunker: settings.Chunker, CommentsHidden: ingest.HidesComments(s.View), Analyzer: settings.Analyzer,
		Language: settings.Language, LanguageDetected: settings.LanguageDetected,
		Model: settings.Embedder, Dims: settings.Dims, Notes: []string{}, ModelLanguages: []string{},
	}
	out.ModelLanguages = append(out.ModelLanguages, builtin.LanguagesOf(out.Model)...)
	out.Tuned = s.tunedProfiles()
	skipped, err := s.View.Skipped()
	if err != nil {
		return nil, err
	}
	out.Skipped = s.skipsOf(skipped)
	tasks, err := collection.UnreadableTasks(s.Where.Dir)
	if err != nil {
		return nil, err
	}
	for _, t := range tasks {
		out.Skipped = append(out.Skipped, collection.Skip{Path: t.Path, Reason: t.Reason, Detail: t.Detail})
	}
	if out.Warnings, err = s.warnings(); err != nil {
		return nil, err
	}
	found := s.View.Chunks()
	if r, ok := s.Backend.(store.Reporter); ok {
		stats, err := r.Stats(cmd.Context())
		if err != nil {
			return nil, err
		}
		out.Vectors, found = stats.Vectors, stats.Chunks
		maps.Copy(out.Parts, stats.Parts)
	}
	out.Bytes = location.Bytes(s.Where.Dir)
	if outdated := s.OutdatedText(); outdated != "" {
		out.Notes = append(out.Notes, outdated)
	}
	out.Ignored, out.Pending.Documents = []collection.Skip{}, []pendingDocumentJSON{}
	waiting, report, err := s.Pending(cmd.Context())
	if err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("what waits is not known: %v", err))
		return out, nil
	}
	if stopped := s.StoppedRun(found, report.Waiting); stopped != "" {
		out.Notes = append(out.Notes, stopped)
	}
	out.Pending.New, out.Pending.Changed, out.Pending.Removed = report.Added, report.Changed, report.Removed
	for id, reason := range waiting {
		out.Pending.Documents = append(out.Pending.Documents,
			pendingDocumentJSON{Path: s.relative(id.Tree(), id.Path()), Reason: reason})
	}
	slices.SortFunc(out.Pending.Documents, func(a, b pendingDocumentJSON) int { return strings.Compare(a.Path, b.Path) })
	out.Ignored, out.IgnoredTotal = s.skipsOf(report.ByRule), report.AllByRule
	return out, nil
}

// warnings returns the warnings from parsing the documents, sorted by document and line.
func (s *session) warnings() ([]warningJSON, error) {
	out := []warningJSON{}
	warned, err := s.View.Warned()
	for _, id := range warned {
		r, err := s.View.Record(id)
		if err != nil {
			return nil, err
		}
		for _, w := range r.Document.Warnings {
			out = append(out, warningJSON{Path: s.relative(r.Document.Tree, r.Document.Path), Line: w.Line, Message: w.Message})
		}
	}
	return out, err
}

// statusLines is the largest number of files or warnings that a command lists. If there are more, it counts the others.
const statusLines = 10

// printStatus prints the state of the index in at most ten lines, or all of it. recall adds a table.
func (s *session) printStatus(out *statusJSON, all, recall bool) {
	rows := [][]string{}
	for i, t := range out.Trees {
		kind, name := "folder", wording.Clean(t.Root)
		if t.Root == "" {
			kind, name = "given", wording.Clean(t.Name)+": (documents that came without files)"
		}
		more := wording.Count(len(out.Trees)-1) + " more"
		if !all && i == 1 && len(out.Trees) > 2 {
			rows = append(rows, []string{"", "and " + more})
			break
		}
		if !all && i == 0 && len(out.Trees) > 1 && len(out.Warnings) > 0 { // save a line for the warnings
			rows = append(rows, []string{kind, name + " and " + more})
			break
		}
		rows = append(rows, []string{kind, name})
	}
	rows = append(rows, []string{"documents", fmt.Sprintf("%s, %s, %s", wording.Count(out.Documents),
		wording.Plural(out.Chunks, "chunk", "chunks"), wording.Bytes(out.SourceBytes))},
		[]string{"store", wording.Clean(out.Store)})
	if all {
		rows = append(rows,
			[]string{"index", wording.Clean(out.Index)},
			[]string{"on disk", wording.Bytes(out.Bytes) + parts(out.Parts)},
			[]string{"chunker", out.Chunker})
	}
	ignored := "nothing"
	if out.IgnoredTotal > 0 {
		ignored = wording.Plural(out.IgnoredTotal, "file or folder", "files and folders")
	}
	if out.Analyzer != "" { // otherwise the first run was interrupted
		rows = append(rows,
			[]string{"language", collection.LanguageText(out.Language, out.LanguageDetected)},
			[]string{"model", modelText(out)})
	}
	rows = append(rows,
		[]string{"waiting", out.Pending.String()},
		[]string{"left out", skippedSummary(out.Skipped)},
		[]string{"ignored", ignored})
	if all && out.CommentsHidden {
		rows = append(rows, []string{"comments", "hidden"})
	}
	if all {
		for _, t := range out.Tuned {
			rows = append(rows, []string{"tuned", wording.Clean(t.Profile + ": " + t.About)})
		}
	} else if len(out.Warnings) > 0 {
		rows = append(rows, []string{"warnings", wording.Count(len(out.Warnings)) +
			" in files that are indexed"})
	}
	if recall {
		rows = append(rows, recallRows(out.Recall)...)
	}
	s.printTable(rows)
	s.notices(out.Notes...)
	if all {
		s.printStatusLists(out)
		return
	}
	fmt.Fprintln(s.stdout, s.out.Paint(terminal.Dim, "sheaf status --all names the files, and says more of the index"))
}

func modelText(out *statusJSON) string {
	if out.Model == "" {
		return "none: only words are searched"
	}
	text := fmt.Sprintf("%s, %d dimensions, %s", out.Model, out.Dims, wording.Plural(out.Vectors, "vector", "vectors"))
	if n := len(out.ModelLanguages); n > 0 {
		text += fmt.Sprintf(", knows %s", wording.Plural(n, "language", "languages"))
	}
	return text
}

// printStatusLists lists four kinds of files: pending files, skipped files, ignored files and files with warnings.
func (s *session) printStatusLists(out *statusJSON) {
	list := func(heading string, lines []string) {
		if len(lines) == 0 {
			return
		}
		fmt.Fprintf(s.stdout, "\n%s\n", heading)
		for _, line := range lines {
			fmt.Fprintln(s.stdout, "  "+wording.Clean(line))
		}
	}
	var pending, unmodeled, skipped, types, ignored, warnings []string
	for _, p := range out.Pending.Documents {
		if p.Reason == ingest.ReasonVectors && s.Embedder == nil {
			unmodeled = append(unmodeled, p.Path)
			continue
		}
		pending = append(pending, p.Path+": "+p.Reason)
	}
	for _, k := range out.Skipped {
		if k.Reason == ingest.ReasonUnsupported { // thousands of these must not hide fixable files
			types = append(types, skipText(k))
		} else {
			skipped = append(skipped, skipText(k))
		}
	}
	for _, k := range out.Ignored {
		ignored = append(ignored, skipText(k))
	}
	if n := out.IgnoredTotal - len(out.Ignored); n > 0 {
		ignored = append(ignored, "and "+wording.Count(n)+" more")
	}
	for _, w := range out.Warnings {
		warnings = append(warnings, w.String())
	}
	list("Waiting for the next search:", pending)
	list("Without vectors until a model is configured:", unmodeled)
	list("Left out:", append(skipped, types...))
	list("Ignored:", ignored)
	list("Indexed, but:", warnings)
}

// parts formats the size of each part of the index, the largest first.
func parts(sizes map[string]int64) string {
	var texts []string
	for _, name := range largestFirst(sizes) {
		if sizes[name] > 0 {
			texts = append(texts, name+" "+wording.Bytes(sizes[name]))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, ", ") + ")"
}

func skippedSummary(skipped []collection.Skip) string {
	if len(skipped) == 0 {
		return "nothing"
	}
	counts := map[string]int{}
	for _, s := range skipped {
		counts[s.Reason]++
	}
	reasons := largestFirst(counts)
	for i, reason := range reasons {
		reasons[i] = wording.Count(counts[reason]) + " " + reason
	}
	return wording.Plural(len(skipped), "file", "files") + ": " + strings.Join(reasons, ", ")
}

func recallRows(list []store.Recall) [][]string {
	rows := [][]string{}
	if len(list) == 0 {
		rows = append(rows, []string{"recall", "no vectors"})
	}
	for _, r := range list {
		text := fmt.Sprintf("%.4f at 10, %.4f at 100, of %s with %d dimensions; %.2f ms, comparing all of them takes %.2f ms",
			r.At10, r.At100, wording.Plural(r.Passages, "vector", "vectors"), r.Dims, r.SearchMillis, r.BruteForceMillis)
		if r.Exhaustive {
			text = fmt.Sprintf("all: the %s are all compared, in %.2f ms", wording.Plural(r.Passages, "vector", "vectors"),
				r.SearchMillis)
		}
		if r.Originals > 0 {
			text += fmt.Sprintf("; %.4f and %.4f of what float32 finds in %s", r.Float10, r.Float100,
				wording.Plural(r.Originals, "chunk", "chunks"))
		}
		rows = append(rows, []string{"recall, " + wording.Clean(r.Field), text})
	}
	return rows
}
