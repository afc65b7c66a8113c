package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf/index/catalog"
	"sheaf/text/chunk"
)

// WalkOptions say which files of a folder are documents.
type WalkOptions struct {
	// Include are gitignore patterns of further files that are documents;
	// without any, Markdown and plain text files (.md, .markdown, .mdx, .txt) are.
	Include []string
	// Exclude are gitignore patterns of files and folders that are left out.
	Exclude []string
	// MaxFileBytes is the size from which a file is skipped; 0 is
	// DefaultMaxFileBytes.
	MaxFileBytes int64
	// FollowLinks follows symbolic links, also out of the folder.
	FollowLinks bool
	// ListIgnored makes [Scan] list what rules leave out.
	ListIgnored bool
	// watch is told of each folder before it is listed, and of the files that links
	// lead to; their paths are without links.
	watch func(path string, isDir bool)
}

// DefaultMaxFileBytes is the size from which files are skipped.
const DefaultMaxFileBytes = 32 << 20

// Reasons for which a file is not indexed.
const (
	ReasonBinary      = "binary"
	ReasonTooLarge    = "too large"
	ReasonUnsupported = "unsupported type"
	ReasonUnreadable  = "cannot be read"
	ReasonLink        = "symbolic link"
	ReasonSpecial     = "not a regular file"
	ReasonChanging    = "kept changing"
	ReasonCloud       = "not on this disk"
	ReasonRefused     = "refused by the store"
	ReasonEmpty       = "empty" // of bytes, or of all but white space
	// Those of a file or folder that a rule leaves out, and of a folder that
	// is never entered.
	ReasonIgnored = "ignored"
	ReasonFolder  = "skipped folder"
)

// maxIgnored bounds how many files and folders that rules leave out are listed.
const maxIgnored = 100_000

// skippedFolders are never entered.
var skippedFolders = map[string]bool{".git": true, ".hg": true, ".svn": true, ".obsidian": true, ".trash": true,
	"node_modules": true, ".sheaf": true}

// indexRecord is the file that says what an index covers, in the index's own folder; it
// has no more than maxRecord bytes.
const (
	indexRecord = "collection.json"
	maxRecord   = 64 << 10
)

// ignoreNames are the ignore files, git's and ours, which count more.
var ignoreNames = [...]string{".gitignore", ".sheafignore"}

// found is a file that walking found.
type found struct {
	path    string // relative, slashes
	size    int64
	modTime int64
	// state is when anything about it changed last, also its time; 0 where the
	// system does not say.
	state int64
}

// walked is what walking found, each list sorted by path.
type walked struct {
	began   time.Time
	files   []found
	skipped []catalog.Skip
	// unread are the paths of which it is not known what is there: of folders they end
	// with a slash, and that of the top is "".
	unread []string
	// disks are the folders that lie on another device than the one above, empty those that
	// hold nothing and links that lead nowhere; both end with a slash.
	disks, empty []string
	ignored      int // files and folders that ignore files leave out
	// byRule are what rules leave out, and files that are no documents and
	// hidden, when they are to be listed: the first maxIgnored of allByRule.
	byRule    []catalog.Skip
	allByRule int
}

// walk lists the documents below root. What cannot be read is skipped, with the
// reason; only a root that cannot be read is an error.
func walk(ctx context.Context, root string, o WalkOptions) (*walked, error) {
	if o.MaxFileBytes <= 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("index folder: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("index folder: %s is not a folder", root)
	}
	w := &walker{root: root, o: o, include: parseIgnore("", "", strings.Join(o.Include, "\n")),
		exclude: parseIgnore("", "", strings.Join(o.Exclude, "\n"))}
	w.out.began = time.Now()
	w.more = sync.NewCond(&w.mu)
	ignores, from, unknown := outerIgnores(root)
	for _, name := range from {
		w.watchIgnore(name)
	}
	top := folder{ignores: ignores, unknown: unknown}
	if o.FollowLinks || o.watch != nil {
		top.real = realPath(root)
	}
	w.real = top.real
	if o.FollowLinks {
		w.entered = map[string]bool{top.real: true}
	}
	w.queue, w.open = []folder{top}, 1
	group, ctx := errgroup.WithContext(ctx)
	stop := context.AfterFunc(ctx, func() { w.mu.Lock(); w.more.Broadcast(); w.mu.Unlock() })
	defer stop()
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() error { return w.work(ctx) })
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(root); err != nil { // it went away meanwhile: what was not found is not gone
		return nil, fmt.Errorf("index folder: %w", err)
	}
	slices.Sort(w.out.disks)
	slices.SortFunc(w.out.files, func(a, b found) int { return strings.Compare(a.path, b.path) })
	sortSkips(w.out.skipped)
	sortSkips(w.out.byRule)
	return &w.out, nil
}

// sortSkips sorts by tree, path and reason.
func sortSkips(skipped []catalog.Skip) {
	slices.SortFunc(skipped, func(a, b catalog.Skip) int {
		return cmp.Or(strings.Compare(a.Tree, b.Tree), strings.Compare(a.Path, b.Path), strings.Compare(a.Reason, b.Reason))
	})
}

type folder struct {
	path    string // "" for the top, else ending with a slash
	real    string // without links; "" below the top unless FollowLinks is set
	ignores []ignoreFile
	device  uint64 // of the folder above; 0 for the top, or where that is not known
	unknown error  // why it is not known what the ignore files above the top leave out
}

type walker struct {
	root, real       string // real is without links, when it is asked for
	o                WalkOptions
	include, exclude ignoreFile

	mu      sync.Mutex
	more    *sync.Cond
	queue   []folder
	open    int      // folders queued or being read
	linked  []folder // that links lead to, to be entered when all else is read
	entered map[string]bool
	out     walked
}

// work reads folders until none is left.
func (w *walker) work(ctx context.Context) error {
	var out walked // what this worker found
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && w.open > 0 && ctx.Err() == nil {
			w.more.Wait()
		}
		if ctx.Err() != nil || w.open == 0 {
			w.gather(&out)
			w.mu.Unlock()
			return ctx.Err()
		}
		next := w.queue[len(w.queue)-1]
		w.queue = w.queue[:len(w.queue)-1]
		w.mu.Unlock()
		folders := w.read(next, &out)
		w.mu.Lock()
		w.queue = append(w.queue, folders...)
		if w.open += len(folders) - 1; w.open == 0 {
			w.follow(&out)
		}
		if w.open == 0 {
			w.more.Broadcast()
		}
		for range len(folders) - 1 { // this worker takes one itself
			w.more.Signal()
		}
		w.mu.Unlock()
	}
}

// follow queues the first folder, by path, that links lead to and that was not entered. Links
// wait for all that is reached without them, and for each other, so that it does not hang on
// which worker was first under which path a folder is indexed.
func (w *walker) follow(out *walked) {
	slices.SortFunc(w.linked, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	for len(w.linked) > 0 && w.open == 0 {
		next := w.linked[0]
		w.linked = w.linked[1:]
		if w.entered[next.real] {
			out.skipped = append(out.skipped, skipTwice(next.path))
			continue
		}
		w.entered[next.real] = true
		w.queue, w.open = append(w.queue, next), 1
	}
}

// skipTwice is what is said of a folder, whose path ends with a slash, that is reached twice.
func skipTwice(path string) catalog.Skip {
	return catalog.Skip{Path: strings.TrimSuffix(path, "/"), Reason: ReasonLink,
		Detail: "leads to a folder that is indexed under another path"}
}

// mayHold notes paths that could not be looked at, unless they are gone.
func (w *walked) mayHold(err error, paths ...string) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.unread = append(w.unread, paths...)
	}
}

// gather adds what one worker found to what all did.
func (w *walker) gather(out *walked) {
	w.out.files = append(w.out.files, out.files...)
	w.out.skipped = append(w.out.skipped, out.skipped...)
	w.out.unread = append(w.out.unread, out.unread...)
	w.out.disks = append(w.out.disks, out.disks...)
	w.out.empty = append(w.out.empty, out.empty...)
	w.out.ignored += out.ignored
	w.out.allByRule += out.allByRule
	w.out.byRule = append(w.out.byRule, out.byRule[:min(len(out.byRule), maxIgnored-len(w.out.byRule))]...)
}

// read lists one folder.
func (w *walker) read(dir folder, out *walked) (folders []folder) {
	full := filepath.Join(w.root, filepath.FromSlash(dir.path))
	skip := func(path, reason, detail string) {
		out.skipped = append(out.skipped, catalog.Skip{Path: path, Reason: reason, Detail: detail})
	}
	if w.o.watch != nil {
		w.o.watch(cmp.Or(dir.real, filepath.Join(w.real, filepath.FromSlash(dir.path))), true)
	}
	list, entries, err := openListing(full)
	defer list.close()
	if err != nil { // what could be listed may be what an ignore file leaves out that could not
		skip(cmp.Or(dir.path, "."), ReasonUnreadable, reasonOf(err))
		out.mayHold(err, dir.path)
		return nil
	}
	if dir.path != "" && isIndex(full, entries) {
		w.byRule(out, dir.path, ReasonFolder, nil, nil)
		return nil
	}
	device := list.device()
	if dir.device != 0 && device != 0 && device != dir.device {
		out.disks = append(out.disks, dir.path)
	}
	if len(entries) == 0 {
		out.empty = append(out.empty, dir.path)
	}
	dir.device = device
	if dir.unknown == nil {
		dir.ignores, dir.unknown = w.withIgnores(dir, full, entries)
	}
	if dir.unknown != nil { // nobody knows what is left out
		skip(cmp.Or(dir.path, "."), ReasonUnreadable, dir.unknown.Error())
		out.unread = append(out.unread, dir.path)
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		path := dir.path + name
		mode := e.Type()
		var info fs.FileInfo
		if mode&fs.ModeSymlink != 0 {
			if !w.o.FollowLinks {
				if f, r := w.ignoredBy(dir.ignores, path, name, false); r != nil {
					w.byRule(out, path, ReasonIgnored, f, r)
				} else if w.linkMatters(path, name) {
					skip(path, ReasonLink, "links are not followed unless asked")
				}
				continue
			}
			if w.o.watch != nil && w.document(path, name) {
				if _, r := w.ignoredBy(dir.ignores, path, name, false); r == nil {
					w.o.watch(realPath(filepath.Join(full, name)), false)
				}
			}
			if info, err = os.Stat(filepath.Join(full, name)); err != nil {
				skip(path, ReasonUnreadable, reasonOf(err))
				out.mayHold(err, path, path+"/")
				if _, r := w.ignoredBy(dir.ignores, path, name, true); r == nil {
					out.empty = append(out.empty, path+"/")
				}
				continue
			}
			mode = info.Mode().Type()
		}
		if mode.IsDir() {
			if skippedFolders[name] {
				w.byRule(out, path+"/", ReasonFolder, nil, nil)
				continue
			}
			if f, r := w.ignoredBy(dir.ignores, path, name, true); r != nil {
				out.ignored++
				w.byRule(out, path+"/", ReasonIgnored, f, r)
				continue
			}
			if next, ok := w.enter(dir, path, e.Type()&fs.ModeSymlink != 0); ok {
				folders = append(folders, next)
			} else if next.path == "" {
				out.skipped = append(out.skipped, skipTwice(path))
			}
			continue
		}
		if f, r := w.ignoredBy(dir.ignores, path, name, false); r != nil {
			out.ignored++
			w.byRule(out, path, ReasonIgnored, f, r)
			continue
		}
		if real := offloaded(name); real != "" && w.document(dir.path+real, real) && !listed(entries, real) {
			if _, r := w.ignoredBy(dir.ignores, dir.path+real, real, false); r == nil {
				skip(dir.path+real, ReasonCloud, "a cloud drive keeps it; open it once to get it back")
				out.unread = append(out.unread, dir.path+real)
			}
			continue
		}
		w.file(list, e, info, path, mode, out, skip)
	}
	return folders
}

// offloaded is the name of the file for which iCloud left a placeholder of the given name; ""
// for another file. See [catalog.Placeholder].
func offloaded(placeholder string) string {
	name, cloud := strings.CutSuffix(placeholder, ".icloud")
	name, hidden := strings.CutPrefix(name, ".")
	if !cloud || !hidden {
		return ""
	}
	return name
}

// isIndex reports whether a folder is an index: every run that writes one changes its
// files, so that a run that looked at them would always find something new.
func isIndex(full string, entries []fs.DirEntry) bool {
	if !listed(entries, indexRecord) || !isFile(filepath.Join(full, indexRecord)) {
		return false
	}
	file, err := os.Open(filepath.Join(full, indexRecord))
	if err != nil {
		return false
	}
	defer file.Close()
	var record struct {
		Format int
		Root   string
	}
	content, err := io.ReadAll(io.LimitReader(file, maxRecord+1)) // of others it may be large
	return err == nil && len(content) <= maxRecord && json.Unmarshal(content, &record) == nil && record.Format > 0 &&
		filepath.IsAbs(record.Root)
}

// listed reports whether one of entries, which are in the order of names, has a name.
func listed(entries []fs.DirEntry, name string) bool {
	byName := func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }
	_, ok := slices.BinarySearchFunc(entries, name, byName)
	return ok
}

// isFile reports whether a name is that of a file, or of a link to one: opening a pipe would
// wait for who writes into it.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// linkMatters reports whether a link that is not followed is worth a line in the
// report: it leads to a folder, or has the name of a document. To ignore files a
// link is a file, as it is to git.
func (w *walker) linkMatters(path, name string) bool {
	if w.document(path, name) {
		return true
	}
	info, err := os.Stat(filepath.Join(w.root, filepath.FromSlash(path)))
	return err == nil && info.IsDir() && !skippedFolders[name]
}

// byRule notes what a rule leaves out, when that is to be listed.
func (w *walker) byRule(out *walked, path, reason string, f *ignoreFile, r *ignoreRule) {
	if !w.o.ListIgnored {
		return
	}
	out.allByRule++
	if len(out.byRule) >= maxIgnored {
		return
	}
	s := catalog.Skip{Path: path, Reason: reason}
	if r != nil {
		s.Detail = f.says(r)
	}
	out.byRule = append(out.byRule, s)
}

// file takes a file that no rule leaves out.
func (w *walker) file(list *listing, e fs.DirEntry, info fs.FileInfo, path string, mode fs.FileMode, out *walked,
	skip func(path, reason, detail string)) {
	name := e.Name()
	switch {
	case !w.document(path, name):
		if strings.HasPrefix(name, ".") { // of some program, not worth a line in the report
			w.byRule(out, path, ReasonUnsupported, nil, nil)
		} else {
			skip(path, ReasonUnsupported, strings.ToLower(filepath.Ext(name)))
		}
		return
	case !mode.IsRegular():
		skip(path, ReasonSpecial, mode.String())
		return
	}
	file := found{path: path}
	if info != nil {
		file.size, file.modTime = info.Size(), info.ModTime().UnixNano()
	} else if err := list.stat(e, &file); err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // else it vanished meanwhile
			skip(path, ReasonUnreadable, reasonOf(err))
			out.mayHold(err, path)
		}
		return
	}
	if file.size == 0 {
		skip(path, ReasonEmpty, "")
		return
	}
	if file.size > w.o.MaxFileBytes {
		skip(path, ReasonTooLarge, fmt.Sprintf("%d bytes, the limit is %d", file.size, w.o.MaxFileBytes))
		return
	}
	out.files = append(out.files, file)
}

// document reports whether a file of this name is one.
func (w *walker) document(path, name string) bool {
	if len(w.include.rules) > 0 {
		if r := w.include.verdict(path, name, false); r != nil {
			return !r.negated
		}
	}
	if chunk.KindOf(name) == chunk.KindMarkdown {
		return true
	}
	return strings.EqualFold(filepath.Ext(name), ".txt")
}

// ignoredBy is the rule that leaves a file or folder out, and where it stands; nil
// when none does. It asks the options first, then our ignore files from the inside
// out, then those of git.
func (w *walker) ignoredBy(ignores []ignoreFile, path, name string, isDir bool) (*ignoreFile, *ignoreRule) {
	f, r := &w.exclude, w.exclude.verdict(path, name, isDir)
	for i := len(ignores) - 1; i >= 0 && r == nil; i-- {
		f, r = &ignores[i], ignores[i].verdict(path, name, isDir)
	}
	if r != nil && r.negated {
		return nil, nil
	}
	return f, r
}

// enter prepares a folder that is to be read now; ok is false for one that a link leads to,
// which is read later, and for one, without a path, that was entered before.
func (w *walker) enter(dir folder, path string, linked bool) (next folder, ok bool) {
	next = folder{path: path + "/", ignores: dir.ignores, device: dir.device}
	if !w.o.FollowLinks {
		return next, true
	}
	next.real = realPath(filepath.Join(w.root, filepath.FromSlash(path)))
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case next.real == "" || !linked && w.entered[next.real]:
		return folder{}, false
	case linked:
		w.linked = append(w.linked, next)
		return next, false
	}
	w.entered[next.real] = true
	return next, true
}

func realPath(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// withIgnores adds the ignore files of a folder to those above it. One that cannot be read
// is an error. Where a repository begins, git forgets its rules from above; ours stay.
func (w *walker) withIgnores(dir folder, full string, entries []fs.DirEntry) ([]ignoreFile, error) {
	ignores, added := dir.ignores, false
	take := func(file, shown string) error {
		content, err := readIgnore(file)
		if err != nil {
			return fmt.Errorf("its ignore file %s: %s", filepath.Base(shown), reasonOf(err))
		}
		if f := parseIgnore(dir.path, shown, content); len(f.rules) > 0 {
			ignores, added = append(ignores[:len(ignores):len(ignores)], f), true
		}
		return nil
	}
	if dir.path != "" && listed(entries, ".git") {
		if git := gitFolder(full); git != "" {
			ignores = slices.DeleteFunc(slices.Clone(ignores), func(f ignoreFile) bool { return !f.own() })
			exclude := filepath.Join(git, excludes)
			w.watchIgnore(exclude)
			if _, fault := os.Lstat(exclude); !errors.Is(fault, fs.ErrPermission) {
				if err := take(exclude, above(w.root, exclude)); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, name := range ignoreNames {
		if !listed(entries, name) {
			continue
		}
		if err := take(filepath.Join(full, name), dir.path+name); err != nil {
			return nil, err
		}
	}
	if added { // to a copy
		ownLast(ignores)
	}
	return ignores, nil
}

// ownLast has our rules asked before those of git, wherever they stand.
func ownLast(ignores []ignoreFile) {
	slices.SortStableFunc(ignores, func(a, b ignoreFile) int {
		switch {
		case a.own() == b.own():
			return 0
		case b.own():
			return -1
		}
		return 1
	})
}

// excludes are a repository's own rules, from the folder that git keeps it in.
const excludes = "info/exclude"

// gitFolder is the folder that git keeps the excludes in of a repository which begins in the
// folder full; "" when none does that git would take for one. Of a worktree and of a submodule .git
// is a file that leads there.
func gitFolder(full string) string {
	git := filepath.Join(full, ".git")
	if to, leads := strings.CutPrefix(readSmall(git), "gitdir:"); leads {
		git = leading(full, to)
	}
	if _, err := os.Stat(filepath.Join(git, "HEAD")); err != nil {
		return ""
	}
	if common := readSmall(filepath.Join(git, "commondir")); common != "" {
		git = leading(git, common)
	}
	return git
}

// readSmall is what a file of git's says; "" for what is none, as a pipe that nobody writes to.
func readSmall(name string) string {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecord {
		return ""
	}
	text, _ := os.ReadFile(name)
	return string(text)
}

// leading is where a path of git's, written in a file, leads from a folder.
func leading(from, to string) string {
	to = filepath.FromSlash(strings.TrimSpace(to))
	if filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(from, to)
}

// repository reports whether a repository begins in a folder above, and the folder of its
// excludes, "" when nobody may look for them; the error says that nobody knows.
func repository(full string) (git string, begins bool, err error) {
	git = filepath.Join(full, ".git")
	switch _, err := os.Stat(git); {
	case err == nil:
		git = cmp.Or(gitFolder(full), git)
		if _, fault := os.Lstat(filepath.Join(git, excludes)); errors.Is(fault, fs.ErrPermission) {
			git = ""
		}
		return git, true, nil
	case isAbsent(git), errors.Is(err, fs.ErrPermission):
		return "", false, nil
	default:
		return "", false, err
	}
}

// watchIgnore has somebody told of changes of an ignore file, also of one that is not there.
func (w *walker) watchIgnore(name string) {
	if w.o.watch == nil {
		return
	}
	if dir := realPath(filepath.Dir(name)); dir != "" {
		w.o.watch(filepath.Join(dir, filepath.Base(name)), false)
	}
}

// readIgnore is what an ignore file says; "" when there is none: what has its name and is no
// file leaves nothing out. Of a link that leads nowhere, as to a disk that is not mounted,
// nobody knows what it does.
func readIgnore(name string) (string, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(name)
	}
	if err == nil && int64(len(content)) < info.Size() {
		err = errChanging
	}
	switch {
	case err != nil && isAbsent(name):
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		err = errNowhere
	}
	return string(content), err
}

// errNowhere is of a link that leads to nothing.
var errNowhere = errors.New("a link that leads nowhere")

// isAbsent reports whether nothing has a name, not even a link that leads nowhere.
func isAbsent(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// outerIgnores are the ignore files above root, up to the top of the repository
// that it lies in, and that repository's own excludes. from are the names of
// all of them, there or not. err says that one cannot be read, or that it is not known
// where the repository begins; what nobody may look for there is no repository, and what
// nobody may look for in it are no excludes.
func outerIgnores(root string) (ignores []ignoreFile, from []string, err error) {
	lead := "" // from the folder that is looked at down to root
	take := func(name string) {
		from = append(from, name)
		content, fault := readIgnore(name)
		if fault != nil && err == nil {
			err = fmt.Errorf("the ignore file %s: %s", above(root, name), reasonOf(fault))
		}
		if fault == nil {
			f := parseIgnore("", name, content)
			f.lead = lead
			ignores = append([]ignoreFile{f}, ignores...)
		}
	}
	for dir := root; ; {
		git, begins, fault := repository(dir)
		if fault != nil {
			return nil, from, fmt.Errorf("the repository %s: %s", above(root, filepath.Join(dir, ".git")), reasonOf(fault))
		}
		if git != "" {
			take(filepath.Join(git, excludes))
		}
		if begins {
			ownLast(ignores)
			return ignores, from, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, nil, nil // no repository
		}
		lead = filepath.Base(dir) + "/" + lead
		for _, own := range slices.Backward(ignoreNames[:]) {
			take(filepath.Join(parent, own))
		}
		dir = parent
	}
}

// above is where a file above root lies from there: where root lies itself is not for everybody.
func above(root, name string) string {
	at, err := filepath.Rel(root, name)
	if err != nil {
		return filepath.Base(name)
	}
	return filepath.ToSlash(at)
}

// reasonOf is an error without the path, which stands beside it.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
