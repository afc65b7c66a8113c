package collection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"sheaf"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/store"
)

// whenFree waits while another process writes to the index, and then tries.
func (x *Index) whenFree(ctx context.Context, try func() error) error {
	return x.retried(ctx, NeedFresh, try)
}

// retried tries until no other process writes to the index, as long as need says.
func (x *Index) retried(ctx context.Context, need Need, try func() error) error {
	life := Life{Moved: func() bool { return moved(x.Catalog) }, Notice: x.Notice}
	return life.Do(ctx, need, try)
}

// moved reports whether another process changed the catalog since it was read; nil is never changed.
func moved(c *catalog.Catalog) bool {
	if c == nil {
		return false
	}
	generation := func() uint64 {
		view := c.View()
		defer view.Close()
		return view.Generation()
	}
	before := generation()
	return c.Reload() != nil || generation() != before // the work that is tried again reports the error
}

// RemadeBeside reports whether another process makes the index again and began after this one updated it: then the
// engine may have been empty during the search. With nothing found that process may already be done.
func (x *Index) RemadeBeside(nothing bool) bool {
	if x.Catalog == nil || x.want.AsIs || !x.Update || x.remaking() {
		return false
	}
	err := x.Catalog.Reload() // the work that is tried again reports the error
	now := x.Catalog.View()
	defer now.Close()
	if err == nil && now.Generation() == x.View.Generation() {
		return false
	}
	return nothing || now.Settings().Extra[remakingKey] != ""
}

// Refresh brings the index up to date before an answer. When it cannot be
// written, or another process does so and is not done soon, the answer comes from
// what is committed, with a note, unless the command needs it whole.
func (x *Index) Refresh(ctx context.Context) error {
	first := x.First()
	fresh := first || x.remaking()
	must := fresh || x.want.Whole
	if first {
		if err := x.refuseStrangers(ctx, x.Trees()); err != nil {
			return err
		}
	}
	need := NeedAnswer
	if must {
		need = NeedFresh
	}
	report, err := x.ingestWhenFree(ctx, need, x.IngestOptions())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ingest.ErrRebuilt):
		return err
	case errors.Is(err, sheaf.ErrUnavailable) && !must:
		if err := x.reload(); err != nil {
			return err
		}
		if x.remaking() { // by that process: what was indexed last is gone
			return x.Refresh(ctx)
		}
		x.Warn("%v; results come from the last indexing run", err)
	case errors.Is(err, store.ErrForbidden) && !must:
		x.Warn("%v; results come from the last indexing run", err)
	case (vfs.Forbidden(err) || vfs.NoSpace(err)) && !must:
		x.Warn("the index cannot be written (%v); results come from the last indexing run%s", err, x.byAnotherVersion())
	default:
		return fmt.Errorf("index %s: %w", x.Where.Root, err)
	}
	if report != nil {
		x.tell(report, fresh)
	}
	if err := x.reload(); err != nil || !first {
		return err
	}
	return x.noteStrays(ctx)
}

// reload takes the newest snapshot.
func (x *Index) reload() error {
	if err := x.Catalog.Reload(); err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	x.View.Close()
	x.View = x.Catalog.View()
	return nil
}

// Trees are the folders of the index; those that are gone keep what is indexed
// of them and are left alone.
func (x *Index) Trees() []catalog.Tree {
	if trees := x.placed(x.View.Settings().Trees); len(trees) > 0 {
		return trees
	}
	return []catalog.Tree{{Name: catalog.TreeName(x.Where.Root), Root: x.Where.Root}}
}

// placed returns recorded trees. The folder of the first one, which the index is of, may have been moved.
func (x *Index) placed(recorded []catalog.Tree) []catalog.Tree {
	trees := slices.Clone(recorded)
	if len(trees) > 0 {
		trees[0].Root = x.Where.Root
	}
	return trees
}

// WithFolders covers more folders from the next run on.
func (x *Index) WithFolders(folders []string) ([]catalog.Tree, error) {
	trees := x.Trees()
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

// IngestOptions are those of a run over the folders of the index.
func (x *Index) IngestOptions() ingest.Options {
	return ingest.Options{
		Catalog: x.Catalog, Backend: x.Backend, Trees: x.Trees(), Known: append([]catalog.Tree{}, x.View.Settings().Trees...),
		Embedder: x.rememberingEmbedder(), Workers: x.Workers,
		Walk:  x.Making.Walk,
		Chunk: x.cutting, Analyzer: x.Analyzer, HideComments: x.WouldHideComments,
		Kept: Kept(x.Where.Dir),
		Settings: func(settings *catalog.Settings) {
			settings.Analyzer = x.Analyzer.Name()
			settings.Chunker = x.chunker
			x.recordLanguage(settings)
			if x.Embedder != nil {
				settings.Embedder, settings.Dims = x.Embedder.Model(), x.Embedder.Dims()
			}
		},
	}
}

// ingest runs with a progress line. That no folder is there is an error here: an
// unmounted disk must not empty the index.
func (x *Index) ingest(ctx context.Context, o ingest.Options) (*ingest.Report, error) {
	if err := SomeFolder(o.Trees); err != nil {
		return nil, err
	}
	show := func(ingest.Progress) {}
	if x.Indexing != nil {
		update, done := x.Indexing()
		show = update
		defer done()
	}
	held := x.View.Docs()
	outdated := held > 0 && !x.remaking() && ingest.ReadBefore(x.View) // later it is known
	o.Progress = func(p ingest.Progress) {
		if outdated && p.Phase == ingest.PhaseIndex {
			x.Notice("%s: they are read again", readOtherwise)
			outdated = false
		}
		if x.Flag != "" && held > 0 && p.AllFiles > 0 && !x.Quiet {
			x.Notice("going on: %s holds %s (%s) already; %s new or changed", x.StoreName(),
				wording.Plural(held, "document", "documents"),
				wording.Plural(x.View.Chunks(), "chunk", "chunks"), wording.Plural(p.AllFiles, "file is", "files are"))
			held = 0
		}
		show(p)
	}
	o.Walked, x.walk = x.walk, nil
	making := x.remaking() // read before the run: another process may set the mark during it
	report, err := ingest.Run(ctx, o)
	x.noteGone(report)
	x.noteUnread(report, o.Trees)
	if err == nil && making {
		err = x.finish(ctx)
	}
	return report, err
}

// ingestWhenFree waits for another process that indexes, and then does what is left. The error is ingest.ErrRebuilt
// when a process began to make the index again meanwhile, which may be empty by now.
func (x *Index) ingestWhenFree(
	ctx context.Context, need Need, o ingest.Options,
) (report *ingest.Report, err error) {
	err = x.retried(ctx, need, func() error {
		if err := x.Catalog.Reload(); err != nil {
			return err
		}
		report, err = x.ingest(ctx, o)
		return err
	})
	if err != nil {
		return report, err
	}
	if err = x.reload(); err == nil && x.remaking() {
		err = ingest.ErrRebuilt
	}
	return report, err
}

// SomeFolder is an error when none of the folders is there, or one cannot be read.
func SomeFolder(trees []catalog.Tree) error {
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

// Ran tells how a run of a door that watches went, and whether the index is to be opened
// again because of it.
func (x *Index) Ran(ctx context.Context, report *ingest.Report, err error) {
	x.NoteFolders(report)
	if err == nil && report.Changes() && x.LanguageGrows(ctx) {
		select {
		case x.grows <- struct{}{}:
		default: // that is known
		}
	}
	if err != nil && !errors.Is(err, ingest.ErrRebuilt) {
		x.Notice("%v", err)
	}
}

// NoteFolders tells what a run of those who watch found to be the matter with the folders.
func (x *Index) NoteFolders(report *ingest.Report) {
	x.noteGone(report)
	x.noteUnread(report, x.View.Settings().Trees)
	x.noteUnseen(report)
	x.noteMoved()
}

// noteGone tells of folders that are not there, of each once until it is back.
func (x *Index) noteGone(report *ingest.Report) {
	if report == nil {
		return
	}
	for _, root := range report.Gone {
		if !slices.Contains(x.said.gone, root) {
			x.Warn("the folder %s is missing, or its disk is not mounted; keeping its indexed documents until it is back", root)
		}
	}
	x.said.gone = report.Gone
}

// noteUnread warns of folders that could not be read: what is indexed of them is old.
func (x *Index) noteUnread(report *ingest.Report, trees []catalog.Tree) {
	for _, k := range report.Unread() {
		x.Warn("cannot read folder %s (%s); keeping its indexed documents",
			cmp.Or(catalog.Settings{Trees: trees}.Root(k.Tree), x.Where.Root), k.Detail)
	}
}

// noteUnseen says, once until it is over, that the system does not report all changes to a watch.
func (x *Index) noteUnseen(report *ingest.Report) {
	if report == nil {
		return
	}
	if report.Unseen != "" && x.said.unseen == "" {
		x.Notice("the system reports changes in some folders only (%s); the others are checked every few seconds",
			report.Unseen)
	}
	x.said.unseen = report.Unseen
}

// noteMoved tells, once, that the link by which the folder was named leads to another one now.
// That one has an index of its own, with keys and given documents of its own, so nothing
// else is done about it.
func (x *Index) noteMoved() {
	if x.In == "" {
		return
	}
	if now, err := RealFolder(x.In); err == nil && now != x.Folder {
		x.Warn("%s now leads to %s; still watching %s. To watch the new folder, restart", x.In, now, x.Folder)
	}
}

func foldersExist(trees []catalog.Tree) error {
	for _, t := range trees {
		if t.Root == "" {
			continue
		}
		_, err := InTime(t.Root, func(dir string) (fs.FileInfo, error) { return nil, listable(dir) })
		switch {
		case errors.Is(err, fs.ErrPermission):
			return Hint(fmt.Errorf("%w: the folder %s cannot be read: %w", sheaf.ErrUnavailable, t.Root, fs.ErrPermission),
				"make it readable for you, or name another with --in")
		case err != nil:
			return FileFault("folder", err)
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
func (x *Index) tell(report *ingest.Report, fresh bool) {
	if report.EmbedError != "" {
		x.Warn("vectors are missing for %s: %s", wording.Plural(report.Pending, "document", "documents"), report.EmbedError)
	}
	if n := report.Warned; n > 0 {
		x.Warn("%s; to list them: sheaf status --all",
			wording.Plural(n, "file that was indexed has warnings", "files that were indexed have warnings"))
	}
	if x.Quiet || !fresh && report.Took < time.Second || !report.Changes() {
		return
	}
	text := fmt.Sprintf("indexed %s (%s) in %s", wording.Plural(report.Added+report.Changed, "file", "files"),
		wording.Bytes(report.Bytes), Roughly(report.Took))
	if fresh {
		text += ", language " + LanguageText(x.code, x.detected)
	}
	if n := len(report.Skipped); n > 0 {
		text += fmt.Sprintf("; %s left out, see sheaf status --all", wording.Plural(n, "file was", "files were"))
	}
	x.Notice("%s", text)
}

// Roughly writes a time with about two digits.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Pending returns what the next refresh would do, and why documents wait; the report also lists what rules leave out.
func (x *Index) Pending(ctx context.Context) (map[sheaf.ID]string, *ingest.Report, error) {
	o := x.IngestOptions()
	o.Walk.ListIgnored = true
	report, err := ingest.Scan(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	x.noteGone(report)
	waiting := map[sheaf.ID]string{}
	for id, reason := range x.View.Pending() {
		if reason != ingest.ReasonBegun && reason != ingest.ReasonReread { // those are new, changed or gone, and counted so
			waiting[id] = reason
		}
	}
	return waiting, report, nil
}

// WouldHideComments reports whether comments are no text as the settings and the keys are now.
func (x *Index) WouldHideComments() bool {
	if x.HideComments != nil {
		return x.HideComments()
	}
	return anyKeys(x.Where.Dir)
}

// Run indexes what changed in trees, and documents that were given and that a killed server left half made.
func (x *Index) Run(ctx context.Context, trees []catalog.Tree) (*ingest.Report, error) {
	first := x.First()
	if first {
		if err := x.refuseStrangers(ctx, trees); err != nil {
			return nil, err
		}
	}
	var report *ingest.Report
	err := x.Mending().Do(ctx, NeedFresh, func() (err error) {
		o := x.IngestOptions()
		o.Trees = trees
		report, err = x.ingestWhenFree(ctx, NeedFresh, o)
		return err
	})
	if err != nil {
		return nil, x.Advise(fmt.Errorf("index %s: %w", x.Where.Root, err))
	}
	if err := x.recoverGiven(ctx); err != nil {
		return nil, x.Advise(fmt.Errorf("index documents that were given: %w", err))
	}
	if err := x.reload(); err != nil || !first {
		return report, err
	}
	return report, x.noteStrays(ctx)
}

// recoverGiven indexes documents that were given, and that a server which was killed has left
// half made.
func (x *Index) recoverGiven(ctx context.Context) error {
	if kept, err := KeptIn(x.Where.Dir); kept == nil {
		return err
	}
	if err := x.reload(); err != nil {
		return err
	}
	door, err := x.Collection()
	if err != nil {
		return err
	}
	defer func() { _ = door.Close() }()
	return x.whenFree(ctx, func() error { return door.Recover(ctx) })
}

// LanguageText names a language for people.
func LanguageText(language string, detected bool) string {
	switch {
	case language == "" && detected:
		return "unknown (words are not stemmed)"
	case language == "":
		return "none (words are not stemmed)"
	case detected:
		return language + " (detected)"
	}
	return language
}
