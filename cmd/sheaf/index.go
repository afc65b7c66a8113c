package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/internal/offheap"
	"sheaf/internal/wording"
	"sheaf/text/analysis"
	"sheaf/text/chunk"
)

func (a *app) indexCommand() *cobra.Command {
	var rebuild bool
	cmd := &cobra.Command{
		Use:   "index [FOLDER]",
		Short: "Bring the index of a folder up to date",
		Long: `Indexes new and changed files of a folder, and removes the documents of deleted
files. A search does the same first, so this is for the first run on a large folder,
and for --rebuild. --rebuild drops the index and makes it again from the files: after
a change of chunker, language or model, or after damage. Before it removes documents
that the files cannot bring back, such as those of another folder in the same store,
it names them and asks. Without a terminal it needs --yes.`,
		Args: a.folderArgument,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for tries := 1; ; tries++ {
				err := a.withIndex(cmd, openOptions{Asked: true, Make: true, Rebuild: rebuild}, func(s *session) error {
					return s.index(cmd.Context(), s.Trees())
				})
				if !collection.OpenAgain(&err, tries) {
					return err
				}
			}
		},
	}
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "make it again from the files")
	cmd.Flags().BoolVarP(&a.yes, "yes", "y", false, "remove what the files cannot bring back without asking")
	addIndexFlags(cmd.Flags())
	addMakeFlags(cmd.Flags())
	return a.withJSON(cmd)
}

// addMakeFlags adds the flags for making an index. Their values cannot change later without a rebuild.
func addMakeFlags(f *pflag.FlagSet) {
	f.String("chunker", "", "how to cut documents: tree, sections or window")
	f.String("language", "", "language of the words: auto, none, or a code such as en")
	f.Bool("stop-words", false, "leave out the most frequent words")
}

// indexJSON reports an indexing run.
type indexJSON struct {
	Schema   string            `json:"schema"`
	Root     string            `json:"root"`              // the indexed folder
	Index    string            `json:"index"`             // the folder of the index
	Trees    []collection.Tree `json:"trees"`             // the trees of documents
	TookMS   float64           `json:"took_ms"`           // the time of the run, in milliseconds
	Added    int               `json:"added"`             // how many documents are new
	Changed  int               `json:"changed"`           // how many documents changed
	Removed  int               `json:"removed"`           // how many documents went away
	Renamed  int               `json:"renamed"`           // how many documents only have another name
	Same     int               `json:"unchanged"`         // how many documents did not change
	Chunks   int               `json:"chunks"`            // how many chunks were written
	Bytes    int64             `json:"bytes"`             // the size of the files that were read
	Pending  int               `json:"pending"`           // how many documents have no vectors yet
	Language string            `json:"language"`          // the language code of the index, such as en
	Detected bool              `json:"language_detected"` // whether Sheaf detected the language
	Skipped  []collection.Skip `json:"skipped"`           // the files that were not indexed
	Warnings []warningJSON     `json:"warnings"`          // faults of documents that were indexed
}

// skipText returns a line for a skipped file: "path: reason (detail)".
func skipText(k collection.Skip) string {
	if k.Detail == "" {
		return k.Path + ": " + k.Reason
	}
	return k.Path + ": " + k.Reason + " (" + k.Detail + ")"
}

// warningJSON is a warning about a fault in a file, such as wrong frontmatter.
type warningJSON struct {
	Path    string `json:"path"`    // the path of the file
	Line    int    `json:"line"`    // the line, from 1; 0 for the whole file
	Message string `json:"message"` // what is wrong
}

func (w warningJSON) String() string {
	return fmt.Sprintf("%s:%d: %s", w.Path, max(w.Line, 1), w.Message)
}

func treesOf(trees []catalog.Tree) []collection.Tree {
	out := make([]collection.Tree, len(trees))
	for i, t := range trees {
		out[i] = collection.Tree(t)
	}
	return out
}

// skipsOf converts skipped files for output. It writes paths in the same form as the paths of documents.
func (s *session) skipsOf(skipped []catalog.Skip) []collection.Skip {
	out := make([]collection.Skip, len(skipped))
	for i, k := range skipped {
		path := cmp.Or(s.relative(k.Tree, k.Path), ".")
		if strings.HasSuffix(k.Path, "/") {
			path += "/" // marks a folder
		}
		out[i] = collection.Skip{Path: path, Reason: k.Reason, Detail: k.Detail}
	}
	return out
}

func (s *session) index(ctx context.Context, trees []catalog.Tree) error {
	s.notices(s.otherSettings()...)
	report, err := s.Run(ctx, trees)
	if err != nil {
		return err
	}
	settings := s.View.Settings()
	out := &indexJSON{
		Schema: "sheaf.index/1", Root: s.Where.Root, Index: s.Where.Dir, Trees: treesOf(settings.Trees),
		TookMS: millis(report.Took.Seconds()),
		Added:  report.Added, Changed: report.Changed, Removed: report.Removed, Renamed: report.Renamed,
		Same:   report.Unchanged,
		Chunks: report.Chunks, Bytes: report.Bytes, Pending: report.Pending, Language: settings.Language,
		Detected: settings.LanguageDetected,
		Skipped:  s.skipsOf(report.Skipped), Warnings: []warningJSON{},
	}
	for _, w := range report.Warnings {
		doc, _ := s.View.Document(w.Doc)
		out.Warnings = append(out.Warnings, warningJSON{Path: s.relative(doc.Tree, doc.Path), Line: w.Line,
			Message: w.Message})
	}
	if err := s.View.Err(); err != nil {
		return s.Advise(fmt.Errorf("read index: %w", err))
	}
	return s.print(out, func() { s.printIndexed(out, report) })
}

// otherSettings returns a note for each setting that differs from the value with which the index was made. A new value
// takes effect when the user rebuilds the index.
func (s *session) otherSettings() (list []string) {
	made := s.View.Settings()
	o, err := configuredChunker(s.config)
	if err != nil {
		return nil // the run reports this error
	}
	if want, err := chunk.New(o); err == nil && made.Chunker != "" && want.Name() != made.Chunker {
		list = append(list, fmt.Sprintf("the index was made with the chunker %s: to change it to %s: sheaf index --rebuild",
			made.Chunker, want.Name()))
	}
	want := s.config.Language
	if want == "none" {
		want = ""
	}
	if made.Analyzer != "" && want != "auto" && made.Language != want {
		list = append(list, fmt.Sprintf("the index was made for the language %q: to change it to %q: sheaf index --rebuild",
			cmp.Or(made.Language, "none"), cmp.Or(want, "none")))
	}
	if a, err := analysis.New(analysis.Options{Language: made.Language, StopWords: s.config.StopWords}); err == nil &&
		made.Analyzer != "" && made.Analyzer != a.Name() {
		made, want := "without", "have them in it"
		if s.config.StopWords {
			made, want = "with", "leave them out"
		}
		list = append(list, fmt.Sprintf("the index was made %s stop words: to %s: sheaf index --rebuild", made, want))
	}
	return list
}

func (s *session) printIndexed(out *indexJSON, report *ingest.Report) {
	did := counted("no documents", count{out.Added - out.Renamed, "added"}, count{out.Changed, "changed"},
		count{out.Renamed, "renamed"}, count{out.Removed - out.Renamed, "removed"}, count{out.Same, "unchanged"})
	rate := ""
	if seconds := report.Took.Seconds(); report.Bytes > 0 && seconds > 1 {
		rate = fmt.Sprintf(", %s/s", wording.Bytes(int64(float64(report.Bytes)/seconds)))
	}
	fmt.Fprintf(s.stdout, "%s: %s in %s (%s%s)\n", wording.Clean(s.Where.Root), did,
		collection.Roughly(report.Took), wording.Bytes(report.Bytes), rate)
	fmt.Fprintf(s.stdout, "%s, %s, language %s\n", wording.Plural(s.View.Docs(), "document", "documents"),
		wording.Plural(s.View.Chunks(), "chunk", "chunks"), collection.LanguageText(out.Language, out.Detected))
	if len(out.Skipped) > 0 {
		fmt.Fprintf(s.stdout, "left out: %s (see sheaf status --all)\n", skippedSummary(out.Skipped))
	}
	for i, w := range out.Warnings {
		if i == statusLines {
			s.notice("and %s more warnings", wording.Count(len(out.Warnings)-i))
			break
		}
		s.notice("%s", w)
	}
	if report.EmbedError != "" {
		s.notice("vectors are missing for %s: %s", wording.Plural(out.Pending, "document", "documents"), report.EmbedError)
	}
}

const (
	// indexMemory is the memory in bytes that indexing needs besides the size of the files.
	indexMemory = 90 << 20
	// fewBytes is the largest size of a run, in bytes, that does not limit the heap. A limit costs time.
	fewBytes = 4 << 20
)

// showIndexing shows the progress of an indexing run. During a large run it limits the heap, so that the process
// collects garbage more often when memory is short. The heap, with the engine's memory outside it, gets the size of the
// indexed text and indexMemory. Call done at the end.
func (a *app) showIndexing() (update func(ingest.Progress), done func()) {
	progress := terminal.NewProgress(a.err, "indexing")
	before, files := debug.SetMemoryLimit(-1), int64(0)
	update = func(p ingest.Progress) {
		if p.AllBytes > fewBytes {
			files = p.AllBytes
		}
		if files > 0 {
			allowed := files + indexMemory
			debug.SetMemoryLimit(min(before, max(allowed-offheap.Beside(), allowed/2)))
		}
		progress.Update(p.Files, p.AllFiles, p.Bytes, "files")
	}
	return update, func() {
		if files > 0 {
			debug.SetMemoryLimit(before)
		}
		progress.Done()
	}
}
