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
	"sheaf/collection/access"
	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/ingest"
	"sheaf/internal/wording"
	"sheaf/store"
)

// moved loads the newest catalog, and reports whether another process changed it. An error counts as a change. If c is
// nil, moved returns false.
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
	return c.Reload() != nil || generation() != before // the caller's next attempt reports the error
}

// RemadeBeside reports whether a search may have missed documents because another process remakes the index. During a
// remake, the engine is empty for a while. The result is true if the catalog has changed since x opened it, and shows
// an unfinished remake. If the search found nothing, any change is enough, because the remake may have ended.
func (x *Index) RemadeBeside(foundNothing bool) bool {
	if x.Catalog == nil || x.want.AsIs || !x.Update || x.remaking() {
		return false
	}
	err := x.Catalog.Reload() // the caller's next attempt reports the error
	now := x.Catalog.View()
	defer now.Close()
	if err == nil && now.Generation() == x.View.Generation() {
		return false
	}
	return foundNothing || now.Settings().Extra[remakingKey] != ""
}

// Refresh updates the index before an answer. If the index is read-only, or another process writes for a long time, the
// update fails. The answer then comes from the last indexing run, with a warning. If the command needs an up-to-date
// index, Refresh returns the error instead.
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
	report, err := x.ingest(ctx, need, x.IngestOptions())
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ingest.ErrRebuilt):
		return err
	case (errors.Is(err, sheaf.ErrUnavailable) || errors.Is(err, store.ErrForbidden)) && !must:
		if err := x.reload(); err != nil {
			return err
		}
		if x.remaking() { // another process remakes it, so the last indexing run is gone
			return x.Refresh(ctx)
		}
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

func (x *Index) reload() error {
	if err := x.Catalog.Reload(); err != nil {
		return fmt.Errorf("open index: %w", err)
	}
	x.View.Close()
	x.View = x.Catalog.View()
	return nil
}

// Trees returns the folders of the index. It includes missing folders, because the index keeps their documents.
func (x *Index) Trees() []catalog.Tree {
	if trees := x.currentTrees(x.View.Settings().Trees); len(trees) > 0 {
		return trees
	}
	return []catalog.Tree{{Name: catalog.TreeName(x.Where.Root), Root: x.Where.Root}}
}

// currentTrees returns the recorded trees. It sets the path of the first tree to the folder of the index, which may
// have moved.
func (x *Index) currentTrees(recorded []catalog.Tree) []catalog.Tree {
	trees := slices.Clone(recorded)
	if len(trees) > 0 {
		trees[0].Root = x.Where.Root
	}
	return trees
}

// WithFolders returns the trees of the index together with more folders, for the next run.
func (x *Index) WithFolders(folders []string) ([]catalog.Tree, error) {
	trees := x.Trees()
	for _, folder := range folders {
		var names []string
		for _, t := range trees {
			switch rel, ok := location.Under(t.Root, folder); {
			case ok && rel == "":
				return nil, sheaf.Invalidf("%s is indexed already", folder)
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

// IngestOptions returns the options for a run over the folders of the index.
func (x *Index) IngestOptions() ingest.Options {
	return ingest.Options{
		Catalog: x.Catalog, Backend: x.Backend, Trees: x.Trees(), Known: append([]catalog.Tree{}, x.View.Settings().Trees...),
		Embedder: x.rememberingEmbedder(), Workers: x.Workers,
		Walk:  x.Making.Walk,
		Chunk: x.cutting, Analyzer: x.Analyzer, HideComments: x.WouldHideComments,
		Kept: givenDocuments(x.Where.Dir),
		Settings: func(settings *catalog.Settings) {
			settings.Analyzer = x.Analyzer.Name()
			settings.Chunker = x.chunker
			if x.settled {
				delete(settings.Extra, guessedKey)
			}
			if x.View.Settings().Analyzer == "" {
				settings.Language, settings.LanguageDetected = x.code, x.detected
				if x.detected && x.sampled <= littleText {
					settings.Extra[guessedKey] = "little"
				}
			}
			if x.Embedder != nil {
				settings.Embedder, settings.Dims = x.Embedder.Model(), x.Embedder.Dims()
			}
		},
	}
}

// ingest indexes the files that differ from the catalog, and shows progress. While another process indexes, ingest
// waits for at most maxWait. If no folder exists, it fails, so an unmounted disk never empties the index. If another
// process remakes the index meanwhile, the error is ingest.ErrRebuilt.
func (x *Index) ingest(ctx context.Context, maxWait time.Duration, o ingest.Options) (report *ingest.Report,
	err error) {
	if err := SomeFolder(o.Trees); err != nil {
		return nil, err
	}
	var show func(ingest.Progress)
	held := x.View.Docs()
	outdated := held > 0 && !x.remaking() && ingest.ReadBefore(x.View) // the run records this
	o.Progress = func(p ingest.Progress) {
		if outdated && p.Phase == ingest.PhaseIndex {
			x.Notice("%s: sheaf reads them again", readOtherwise)
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
	err = x.whenFree(ctx, maxWait, x.Notice, func() (err error) {
		if err = x.Catalog.Reload(); err != nil {
			return err
		}
		o.Walked, x.walk = x.walk, nil
		making := x.remaking() // another process may set the mark during the run
		var done func()
		show, done = x.Indexing()
		report, err = ingest.Run(ctx, o)
		done()
		x.noteGone(report)
		x.noteUnread(report, o.Trees)
		if err == nil && making {
			err = x.finish(ctx)
		}
		return err
	})
	if err == nil {
		err = x.reload()
	}
	if err == nil && x.remaking() {
		err = ingest.ErrRebuilt
	}
	return report, err
}

// SomeFolder returns an error if none of the folders exists, or if one of them cannot be read.
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

// Ran prints the notices of a run of a watching server. It sends on Grown if the index should have another language.
func (x *Index) Ran(ctx context.Context, report *ingest.Report, err error) {
	x.noteFolders(report)
	if err == nil && report.Changes() && x.languageGrows(ctx) {
		select {
		case x.grows <- struct{}{}:
		default: // a value is already waiting
		}
	}
	if err != nil && !errors.Is(err, ingest.ErrRebuilt) {
		x.Notice("%v", err)
	}
}

// noteFolders prints the problems with folders in the report of a watching program.
func (x *Index) noteFolders(report *ingest.Report) {
	x.noteGone(report)
	x.noteUnread(report, x.View.Settings().Trees)
	if report != nil {
		if report.Unseen != "" && x.printed.watchGap == "" { // once
			x.Notice("the system reports changes in some folders only (%s); the others are checked every few seconds",
				report.Unseen)
		}
		x.printed.watchGap = report.Unseen
	}
	if x.In == "" {
		return
	}
	// The folder was named by a link that now leads to another folder, which has its own index.
	if now, err := RealFolder(x.In); err == nil && now != x.Folder {
		x.Warn("%s now leads to %s; still watching %s. To watch the new folder, restart", x.In, now, x.Folder)
	}
}

// noteGone prints a warning for each missing folder, once. It warns again if the folder was there in the meantime.
func (x *Index) noteGone(report *ingest.Report) {
	if report == nil {
		return
	}
	for _, root := range report.Gone {
		if !slices.Contains(x.printed.missingFolders, root) {
			x.Warn("the folder %s is missing, or its disk is not mounted; keeping its indexed documents until it is back", root)
		}
	}
	x.printed.missingFolders = report.Gone
}

// noteUnread warns about folders that cannot be read. Their documents in the index may be out of date.
func (x *Index) noteUnread(report *ingest.Report, trees []catalog.Tree) {
	for _, k := range report.Unread() {
		x.Warn("cannot read folder %s (%s); keeping its indexed documents",
			cmp.Or(catalog.Settings{Trees: trees}.Root(k.Tree), x.Where.Root), k.Detail)
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

// tell prints the warnings of a refresh. If documents changed and x is not quiet, tell also prints what was indexed.
// After a short refresh, it prints this only if fresh is true. fresh says that the refresh filled an empty index.
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

// Roughly formats a duration with about two digits.
func Roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// Pending returns a preview of the next refresh. The map has the documents that wait to be indexed, with the reasons.
// The report also lists files that rules exclude.
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
		if reason != ingest.ReasonBegun && reason != ingest.ReasonReread { // new, changed and gone files are counted
			waiting[id] = reason
		}
	}
	return waiting, report, nil
}

// WouldHideComments reports whether the settings and keys exclude comments from the text now. An unreadable file of
// keys counts as keys.
func (x *Index) WouldHideComments() bool {
	if x.HideComments != nil {
		return x.HideComments()
	}
	keys, err := access.OpenKeys(x.Where.Keys())
	if err != nil {
		return true
	}
	some, err := keys.Any()
	return some || err != nil
}

// Run indexes the changes in the folders trees. It also indexes given documents that a killed server did not index.
func (x *Index) Run(ctx context.Context, trees []catalog.Tree) (*ingest.Report, error) {
	first := x.First()
	if first {
		if err := x.refuseStrangers(ctx, trees); err != nil {
			return nil, err
		}
	}
	ingest := func() (*ingest.Report, error) {
		o := x.IngestOptions()
		o.Trees = trees
		return x.ingest(ctx, NeedFresh, o)
	}
	report, err := ingest()
	if damage(err) {
		if err = x.Remake(ctx, err, true); err == nil {
			report, err = ingest()
		}
	}
	if err != nil {
		return nil, x.Advise(fmt.Errorf("index %s: %w", x.Where.Root, err))
	}
	if err := x.recoverGiven(ctx); err != nil {
		return nil, x.Advise(fmt.Errorf("index given documents: %w", err))
	}
	if err := x.reload(); err != nil || !first {
		return report, err
	}
	return report, x.noteStrays(ctx)
}

// recoverGiven indexes given documents that a killed server accepted but did not index.
func (x *Index) recoverGiven(ctx context.Context) error {
	if kept, err := wasGiven(x.Where.Dir); kept == nil {
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
	return x.whenFree(ctx, NeedFresh, x.Notice, func() error { return door.Recover(ctx) })
}

// LanguageText returns the name of a language for people, and says if it was detected.
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
