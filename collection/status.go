package collection

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sheaf/ingest"
	"sheaf/store"
)

// Summary is a short description of a collection.
type Summary struct {
	Name       string `json:"name" doc:"The collection's name."`
	Documents  int    `json:"documents" doc:"How many documents the caller may see."`
	Chunks     int    `json:"chunks" doc:"How many chunks the caller may see."`
	Language   string `json:"language" doc:"The language of the documents; empty for none."`
	Model      string `json:"model" doc:"The model that made the vectors; empty for none."`
	Generation uint64 `json:"generation" doc:"The generation of the index; it grows with every change."`
}

// Status describes the content and the state of a collection.
type Status struct {
	Summary
	Trees       []Tree           `json:"trees" doc:"The folders of the collection."`
	SourceBytes int64            `json:"source_bytes" doc:"The size of all documents."`
	Bytes       map[string]int64 `json:"bytes" doc:"The size of the index on disk, by part."`
	Vectors     int              `json:"vectors" doc:"How many passages have vectors."`
	Dims        int              `json:"dims" doc:"The dimensions of a vector."`
	Chunker     string           `json:"chunker" doc:"How documents are cut."`
	Analyzer    string           `json:"analyzer" doc:"How words become terms."`
	Pending     []Pending        `json:"pending" doc:"Documents that are not fully indexed yet."`
	Skipped     []Skip           `json:"skipped" doc:"Files that were not indexed, and why."`
	Warnings    []string         `json:"warnings" doc:"Why files are missing: first indexing, or an unreadable folder."`
	Indexing    *Indexing        `json:"indexing,omitempty" doc:"The progress of the indexing run, while there is one."`
	Watch       *Watching        `json:"watch,omitempty" doc:"The last search for changed files."`
	Tasks       TaskCounts       `json:"tasks" doc:"Accepted work."`
	Recall      *Recall          `json:"recall,omitempty" doc:"How many nearest passages searches find, if measured."`
}

// Tree is a folder of documents.
type Tree struct {
	Name string `json:"name" doc:"The name; identifiers begin with it."`
	Root string `json:"root" doc:"The folder; empty for given documents."`
}

// Pending is a document that is not completely indexed yet.
type Pending struct {
	ID     string `json:"id" doc:"The document."`
	Reason string `json:"reason" doc:"What still has to be done."`
}

// Skip is a file that was not indexed.
type Skip struct {
	Tree   string `json:"tree,omitempty" doc:"The tree of the file."`
	Path   string `json:"path" doc:"The path in that tree."`
	Reason string `json:"reason" doc:"Why the file was not indexed."`
	Detail string `json:"detail,omitempty" doc:"Details of the reason."`
}

// Indexing is the progress of a run.
type Indexing struct {
	Files    int     `json:"files" doc:"How many files were read and cut."`
	AllFiles int     `json:"all_files" doc:"How many files there are to index."`
	Bytes    int64   `json:"bytes" doc:"The size of the files that were read."`
	AllBytes int64   `json:"all_bytes" doc:"The size of all files to index."`
	Left     float64 `json:"left_ms,omitempty" doc:"The remaining time in milliseconds; absent when unknown."`
}

// Watching is the result of the last search for changed files.
type Watching struct {
	At      time.Time `json:"at" doc:"When Sheaf last looked for changed files."`
	Changed time.Time `json:"changed,omitzero" doc:"When Sheaf last found a change."`
	Took    float64   `json:"took_ms" doc:"How long looking for changes took, in milliseconds."`
	Rate    float64   `json:"bytes_per_second,omitempty" doc:"How fast files were indexed, when any were."`
	Error   string    `json:"error,omitempty" doc:"Why looking for changes failed."`
	Embed   string    `json:"embed_error,omitempty" doc:"Why vectors are missing."`
	Gone    []string  `json:"gone,omitempty" doc:"Missing or unmounted folders; their indexed documents stay."`
	Unseen  string    `json:"unseen,omitempty" doc:"Why the system misses changes; Sheaf checks every few seconds."`
}

// TaskCounts has the number of tasks in each state.
type TaskCounts struct {
	Waiting int `json:"waiting" doc:"Accepted, not done yet."`
	Failed  int `json:"failed" doc:"Given up; the task says why."`
}

// Summary describes the part of the collection that the caller may see.
func (r *Reader) Summary(ctx context.Context) (*Summary, error) {
	settings := r.view.Settings()
	s := &Summary{Name: r.c.o.Name, Language: settings.Language, Model: settings.Embedder, Generation: r.Generation()}
	if r.guard.filter == nil {
		s.Documents, s.Chunks = r.view.Docs(), r.view.Chunks()
		return s, r.Err()
	}
	for id := range r.view.Files() {
		if r.guard.visible(id) {
			s.Documents++
		}
	}
	s.Chunks = r.guard.Chunks(ctx)
	return s, r.Err()
}

// Status returns the content and the state of the collection. A restricted caller gets only the summary.
func (r *Reader) Status(ctx context.Context) (*Status, error) {
	summary, err := r.Summary(ctx)
	if err != nil {
		return nil, err
	}
	s := &Status{Summary: *summary, Trees: []Tree{}, Bytes: map[string]int64{}, Pending: []Pending{}, Skipped: []Skip{},
		Warnings: orEmpty(r.outdatedWarning())}
	if r.guard.filter != nil {
		return s, nil
	}
	if n := ingest.Outdated(r.view); n > 0 && !ingest.Newer(r.view) {
		s.Warnings = append(s.Warnings, fmt.Sprintf("an older version of sheaf read %d of %d documents: searches use "+
			"what that version read until sheaf reads them again", n, r.view.Docs()))
	}
	if moved := r.c.Moved(); moved != nil && maySeeDetails(&r.grant) {
		s.Warnings = append(s.Warnings, moved.Error())
	} else if moved != nil {
		s.Warnings = append(s.Warnings, "the name of the store leads to another index now: sheaf still uses the "+
			"earlier index")
	}
	settings := r.view.Settings()
	for _, t := range settings.Trees {
		s.Trees = append(s.Trees, Tree(t))
	}
	s.SourceBytes, s.Dims, s.Chunker, s.Analyzer = r.view.SourceBytes(), settings.Dims, settings.Chunker,
		r.c.o.Analyzer.Name()
	s.Bytes["catalog"] = r.view.DiskBytes()
	if reporter, ok := r.guard.store.(store.Reporter); ok {
		stats, err := reporter.Stats(ctx)
		if err != nil {
			return nil, fromRemote(store.Gone(err))
		}
		s.Vectors = stats.Vectors
		maps.Copy(s.Bytes, stats.Parts)
	}
	skipped, err := r.view.Skipped()
	if err != nil {
		return nil, err
	}
	for _, k := range skipped {
		s.Skipped = append(s.Skipped, Skip{k.Tree, k.Path, k.Reason, k.Detail})
	}
	s.Skipped = append(s.Skipped, r.c.given.refusals()...)
	for id, reason := range r.view.Pending() {
		if reason == ingest.ReasonBegun || reason == ingest.ReasonReread {
			continue // new, changed, missing and outdated files are part of the next run
		}
		s.Pending = append(s.Pending, Pending{string(id), reason})
	}
	slices.SortFunc(s.Pending, func(a, b Pending) int { return strings.Compare(a.ID, b.ID) })
	err = r.c.eachTask(func(k *keptTask) {
		switch k.State {
		case TaskWaiting:
			s.Tasks.Waiting++
		case TaskFailed:
			s.Tasks.Failed++
		}
	})
	if err != nil {
		s.Skipped = append(s.Skipped, unreadable(r.c.given.file.Path(), err.Error()))
	}
	s.Recall = r.c.recall.lastRecall()
	if p := r.c.indexing.Load(); p != nil {
		s.Indexing = &Indexing{Files: p.Files, AllFiles: p.AllFiles, Bytes: p.Bytes, AllBytes: p.AllBytes,
			Left: float64(p.Remaining.Microseconds()) / 1000}
	}
	if w := r.c.watching.Load(); w != nil {
		s.Watch = new(w.Watching)
		for _, text := range []*string{&s.Watch.Error, &s.Watch.Embed, &s.Watch.Unseen} {
			if *text != "" && !maySeeDetails(&r.grant) {
				*text = "a key with the scope admin sees why"
			}
		}
	}
	return s, r.Err()
}
