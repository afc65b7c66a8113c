package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"sheaf"
	"sheaf/cmd/sheaf/internal/config"
	"sheaf/cmd/sheaf/internal/terminal"
	"sheaf/collection"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/offheap"
	"sheaf/internal/wording"
	"sheaf/model"
	"sheaf/model/remember"
	"sheaf/store"
)

// whenFree waits while another process writes to the index, and then tries.
func (s *session) whenFree(ctx context.Context, try func() error) error {
	return s.retried(ctx, collection.NeedFresh, try)
}

// retried tries until no other process writes to the index, as long as need says.
func (s *session) retried(ctx context.Context, need collection.Need, try func() error) error {
	life := collection.Life{Moved: s.moved, Notice: s.notice}
	return life.Do(ctx, need, try)
}

// moved reports whether another process has changed what is known of the documents since it
// was read.
func (s *session) moved() bool {
	if s.catalog == nil {
		return false
	}
	generation := func() uint64 {
		view := s.catalog.View()
		defer view.Close()
		return view.Generation()
	}
	before := generation()
	return s.catalog.Reload() != nil || generation() != before // what was tried tells
}

// remadeBeside reports whether another process makes the index anew, and began after it was
// brought up to date here: then the engine may have been empty already. Where nothing was found
// it may be over by now, too.
func (s *session) remadeBeside(nothing bool) bool {
	if s.catalog == nil || s.asIs || !s.config.Refresh || s.remaking() || !s.moved() {
		return false
	}
	now := s.catalog.View()
	defer now.Close()
	return nothing || now.Settings().Extra[remakingKey] != ""
}

// refresh brings the index up to date before an answer. When it cannot be
// written, or another process does so and is not done soon, the answer comes from
// what is committed, with a note, unless the command needs it whole.
func (s *session) refresh(ctx context.Context) error {
	first := s.first()
	fresh := first || s.remaking()
	must := fresh || s.whole
	if first {
		if err := s.refuseStrangers(ctx, s.trees()); err != nil {
			return err
		}
	}
	need := collection.NeedAnswer
	if must {
		need = collection.NeedFresh
	}
	report, err := s.ingestWhenFree(ctx, need, s.ingestOptions())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ingest.ErrMadeAnew):
		return err
	case errors.Is(err, sheaf.ErrUnavailable) && !must:
		if err := s.reload(); err != nil {
			return err
		}
		if s.remaking() { // by that process: what was indexed last is gone
			return s.refresh(ctx)
		}
		s.warn("%v; results come from the last indexing run", err)
	case errors.Is(err, store.ErrForbidden) && !must:
		s.warn("%v; results come from the last indexing run", err)
	case (vfs.Forbidden(err) || vfs.NoSpace(err)) && !must:
		s.warn("the index cannot be written (%v); results come from the last indexing run%s", err, s.byAnotherVersion())
	default:
		return fmt.Errorf("index %s: %w", s.where.Root, err)
	}
	if report != nil {
		s.tell(report, fresh)
	}
	if err := s.reload(); err != nil || !first {
		return err
	}
	return s.noteStrays(ctx)
}

// reload takes the newest snapshot.
func (s *session) reload() error {
	if err := s.catalog.Reload(); err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	s.view.Close()
	s.view = s.catalog.View()
	return nil
}

// trees are the folders of the index; those that are gone keep what is indexed
// of them and are left alone.
func (s *session) trees() []catalog.Tree {
	if trees := s.placed(s.view.Settings().Trees); len(trees) > 0 {
		return trees
	}
	return []catalog.Tree{{Name: catalog.TreeName(s.where.Root), Root: s.where.Root}}
}

// placed are recorded trees, the first of which, that the index is of, may have been moved.
func (s *session) placed(recorded []catalog.Tree) []catalog.Tree {
	trees := slices.Clone(recorded)
	if len(trees) > 0 {
		trees[0].Root = s.where.Root
	}
	return trees
}

// add covers more folders from the next run on.
func (s *session) add(folders []string) ([]catalog.Tree, error) {
	trees := s.trees()
	for _, folder := range folders {
		var names []string
		for _, t := range trees {
			switch rel, ok := location.Under(t.Root, folder); {
			case ok && rel == "":
				return nil, sheaf.Invalidf("%s is indexed already: name a folder beside it", folder)
			case ok:
				return nil, sheaf.Invalidf("%s is indexed already: it is %q in %s", folder, rel, t.Root)
			}
			if _, ok := location.Under(folder, t.Root); ok {
				return nil, sheaf.Invalidf("%s holds %s, which is indexed already: index it by itself with sheaf init %s", folder,
					t.Root, wording.ShellQuoted(folder))
			}
			names = append(names, t.Name)
		}
		trees = append(trees, catalog.Tree{Name: catalog.TreeName(folder, names...), Root: folder})
	}
	return trees, nil
}

func (a *app) walkOptions() ingest.WalkOptions {
	c := a.config
	return ingest.WalkOptions{Include: c.Include, Exclude: c.Exclude, MaxFileBytes: c.MaxFileSize,
		FollowLinks: c.FollowSymlinks}
}

func (s *session) ingestOptions() ingest.Options {
	c := s.config
	return ingest.Options{
		Catalog: s.catalog, Backend: s.backend, Trees: s.trees(), Known: append([]catalog.Tree{}, s.view.Settings().Trees...),
		Embedder: s.rememberingEmbedder(), Workers: c.Workers,
		Walk:  s.walkOptions(),
		Chunk: s.cutting, Analyzer: s.analyzer, HideComments: s.hidesComments,
		Kept: collection.Kept(filepath.Join(s.where.Dir, location.DocumentsName)),
		Settings: func(settings *catalog.Settings) {
			settings.Analyzer = s.analyzer.Name()
			settings.Chunker = s.chunker
			s.recordLanguage(settings)
			if s.embedder != nil {
				settings.Embedder, settings.Dims = s.embedder.Model(), s.embedder.Dims()
			}
		},
	}
}

// hidesComments reports whether comments are no text as the settings and the keys are now.
// Keys that cannot be read may be somebody's.
func (s *session) hidesComments() bool {
	if s.config.Comments != config.CommentsAuto {
		return s.config.Comments == config.CommentsHide
	}
	keys, err := s.keys()
	if err != nil {
		return true
	}
	some, err := keys.Any()
	return some || err != nil
}

// rememberingEmbedder is the model with a memory beside the index, so that a
// passage is embedded once, whatever file it moves to; nil without a model. The
// built-in model is faster than any memory.
func (s *session) rememberingEmbedder() model.Embedder {
	if s.embedder == nil {
		return nil
	}
	if builtIn(s.embedder) {
		return s.embedder
	}
	if s.memory == nil {
		dir := s.where.Dir
		if s.target != nil {
			dir = filepath.Dir(filepath.Dir(dir)) // one memory for all stores
		}
		s.memory = remember.New(s.embedder, filepath.Join(dir, location.EmbeddingsName))
	}
	return s.memory
}

const (
	// indexMemory is how much memory indexing takes, beyond the size of what
	// is indexed, on the collector's heap and beside it, before garbage is collected
	// more eagerly.
	indexMemory = 90 << 20
	// fewBytes of files take so little memory that collecting garbage early
	// only takes time, for which a person waits.
	fewBytes = 4 << 20
)

// saveMemory makes the process do with less while files of so many bytes are
// indexed, because an index is made beside whatever else a person has open: half the
// garbage at a little more time. adjust, to be called now and then, leaves the collector
// what the engine does not take beside its heap, half at least; restore ends it all.
func saveMemory(files int64) (adjust, restore func()) {
	percent, limit := debug.SetGCPercent(50), debug.SetMemoryLimit(-1)
	allowed := files + indexMemory
	adjust = func() { debug.SetMemoryLimit(min(limit, max(allowed-offheap.Beside(), allowed/2))) }
	adjust()
	return adjust, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// ingest runs with a progress line. That no folder is there is an error here: an
// unmounted disk must not empty the index.
func (s *session) ingest(ctx context.Context, o ingest.Options) (*ingest.Report, error) {
	if err := someFolder(o.Trees); err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(s.err, "indexing")
	defer progress.Done()
	var adjust, restore func()
	held := s.view.Docs()
	outdated := held > 0 && !s.remaking() && ingest.ReadBefore(s.view) // later it is known
	o.Progress = func(p ingest.Progress) {
		if outdated && p.Phase == ingest.PhaseIndex {
			s.notice("%s: they are read again", readOtherwise)
			outdated = false
		}
		if s.elsewhere != "" && held > 0 && p.AllFiles > 0 && !s.json && !s.jsonl {
			s.notice("going on: %s holds %s (%s) already; %s new or changed", s.storeName(),
				wording.Plural(held, "document", "documents"),
				wording.Plural(s.view.Chunks(), "chunk", "chunks"), wording.Plural(p.AllFiles, "file is", "files are"))
			held = 0
		}
		if restore == nil && p.AllBytes > fewBytes {
			adjust, restore = saveMemory(p.AllBytes)
		} else if restore != nil {
			adjust()
		}
		progress.Update(p.Files, p.AllFiles, p.Bytes, "files")
	}
	defer func() {
		if restore != nil {
			restore()
		}
	}()
	o.Walked, s.walk = s.walk, nil
	making := s.remaking() // else the mark is that of a process that began meanwhile
	report, err := ingest.Run(ctx, o)
	s.noteGone(report)
	s.noteUnread(report, o.Trees)
	if err == nil && making {
		err = s.finish(ctx)
	}
	return report, err
}

// ingestWhenFree is ingest that waits for another process that indexes, and then
// does what that one left. When one began to make the index anew meanwhile, which may be
// empty by now, the error is ingest.ErrMadeAnew.
func (s *session) ingestWhenFree(
	ctx context.Context, need collection.Need, o ingest.Options,
) (report *ingest.Report, err error) {
	err = s.retried(ctx, need, func() error {
		if err := s.catalog.Reload(); err != nil {
			return err
		}
		report, err = s.ingest(ctx, o)
		return err
	})
	if err != nil {
		return report, err
	}
	if err = s.reload(); err == nil && s.remaking() {
		err = ingest.ErrMadeAnew
	}
	return report, err
}

// someFolder is an error when none of the folders is there, or one cannot be read.
func someFolder(trees []catalog.Tree) error {
	var gone error
	there := false
	for _, t := range trees {
		switch err := foldersExist([]catalog.Tree{t}); {
		case errors.Is(err, sheaf.ErrNotFound):
			gone = errors.Join(gone, err)
		case err != nil:
			return err
		case t.Root != "":
			there = true
		}
	}
	if there {
		return nil
	}
	return gone
}

// ran tells how a run of a door that watches went, and whether the index is to be opened
// again because of it.
func (s *session) ran(ctx context.Context, report *ingest.Report, err error) {
	s.noteFolders(report)
	if err == nil && report.Changes() && s.languageGrows(ctx) {
		select {
		case s.grows <- struct{}{}:
		default: // that is known
		}
	}
	if err != nil && !errors.Is(err, ingest.ErrMadeAnew) {
		s.notice("%v", err)
	}
}

// noteFolders tells what a run of those who watch found to be the matter with the folders.
func (s *session) noteFolders(report *ingest.Report) {
	s.noteGone(report)
	s.noteUnread(report, s.view.Settings().Trees)
	s.noteUnseen(report)
	s.noteMoved()
}

// noteGone tells of folders that are not there, of each once until it is back.
func (s *session) noteGone(report *ingest.Report) {
	if report == nil {
		return
	}
	for _, root := range report.Gone {
		if !slices.Contains(s.gone, root) {
			s.warn("the folder %s is missing, or its disk is not mounted; keeping its indexed documents until it is back", root)
		}
	}
	s.gone = report.Gone
}

// noteUnread tells of folders of which nothing was looked at: what was indexed of them is old, and
// where that is nothing there seem to be no documents.
func (s *session) noteUnread(report *ingest.Report, trees []catalog.Tree) {
	for _, k := range report.Unread() {
		s.warn("cannot read folder %s (%s); keeping its indexed documents",
			cmp.Or(catalog.Settings{Trees: trees}.Root(k.Tree), s.where.Root), k.Detail)
	}
}

// noteUnseen says, once until it is over, that the system does not report all changes to a watch.
func (s *session) noteUnseen(report *ingest.Report) {
	if report == nil {
		return
	}
	if report.Unseen != "" && s.unseen == "" {
		s.notice("the system reports changes in some folders only (%s); the others are checked every few seconds",
			report.Unseen)
	}
	s.unseen = report.Unseen
}

// noteMoved tells, once, that the link by which the folder was named leads to another one now.
// That one has an index of its own, with keys and given documents of its own, so nothing
// else is done about it.
func (s *session) noteMoved() {
	if s.in == "" {
		return
	}
	if now, err := realFolder(s.in); err == nil && now != s.folder {
		s.warn("%s now leads to %s; still watching %s. To watch the new folder, restart", s.in, now, s.folder)
	}
}

func foldersExist(trees []catalog.Tree) error {
	for _, t := range trees {
		if t.Root == "" {
			continue
		}
		_, err := inTime(t.Root, func(dir string) (fs.FileInfo, error) { return nil, listable(dir) })
		switch {
		case errors.Is(err, fs.ErrPermission):
			return withHint(fmt.Errorf("%w: the folder %s cannot be read: %w", sheaf.ErrUnavailable, t.Root, fs.ErrPermission),
				"make it readable for you, or name another with --in")
		case err != nil:
			return fileFault("folder", err)
		}
	}
	return nil
}

// listable is nil when what a folder holds can be listed.
func listable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_, err = f.Readdirnames(1)
	if err = errors.Join(err, f.Close()); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// tell says, on the error stream, what a refresh did where that matters: the
// first time, and when it took long.
func (s *session) tell(report *ingest.Report, fresh bool) {
	if report.EmbedError != "" {
		s.warn("vectors are missing for %s: %s", wording.Plural(report.Pending, "document", "documents"), report.EmbedError)
	}
	if n := report.Warned; n > 0 {
		s.warn("%s; to list them: sheaf status --all",
			wording.Plural(n, "file that was indexed has warnings", "files that were indexed have warnings"))
	}
	if s.json || s.jsonl || !fresh && report.Took < time.Second || !report.Changes() {
		return
	}
	text := fmt.Sprintf("indexed %s (%s) in %s", wording.Plural(report.Added+report.Changed, "file", "files"),
		wording.Bytes(report.Bytes), roughly(report.Took))
	if fresh {
		text += ", language " + languageText(s.language, s.detected)
	}
	if n := len(report.Skipped); n > 0 {
		text += fmt.Sprintf("; %s left out, see sheaf status --all", wording.Plural(n, "file was", "files were"))
	}
	s.notice("%s", text)
}

// roughly writes a time with about two digits.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// pending is what the next refresh would do; the report also lists what rules
// leave out.
func (s *session) pending(ctx context.Context) (pendingJSON, *ingest.Report, error) {
	o := s.ingestOptions()
	o.Walk.ListIgnored = true
	report, err := ingest.Scan(ctx, o)
	if err != nil {
		return pendingJSON{}, nil, err
	}
	s.noteGone(report)
	out := pendingJSON{New: report.Added, Changed: report.Changed, Removed: report.Removed,
		Documents: []pendingDocumentJSON{}}
	for id, reason := range s.view.Pending() {
		if reason == ingest.ReasonBegun || reason == ingest.ReasonReread {
			continue // it is new, changed or gone, and counted so, as one that is to be read again
		}
		out.Documents = append(out.Documents, pendingDocumentJSON{Path: s.relative(id.Tree(), id.Path()), Reason: reason})
	}
	slices.SortFunc(out.Documents, func(a, b pendingDocumentJSON) int { return strings.Compare(a.Path, b.Path) })
	return out, report, nil
}
