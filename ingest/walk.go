package ingest

import (
	"bytes"
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
	"time"

	"golang.org/x/sync/errgroup"

	"sheaf/index/catalog"
	"sheaf/internal/wikilink"
	"sheaf/text/chunk"
)

// WalkOptions say which files of a folder are documents.
type WalkOptions struct {
	// Include has gitignore patterns of documents besides Markdown and plain text (.md, .markdown, .mdx, .txt). A pattern
	// of Include and Exclude that begins with "./" begins at the folder of the walk.
	Include []string
	// Exclude has gitignore patterns of files and folders to skip.
	Exclude []string
	// MaxFileBytes is the size in bytes of the largest file that is indexed; 0 means DefaultMaxFileBytes.
	MaxFileBytes int64
	// FollowLinks follows symbolic links, even to targets outside the folder.
	FollowLinks bool
	// ListIgnored makes [Scan] list the files that rules exclude.
	ListIgnored bool
	// watch is called with each folder before the walk lists it, and with the targets of links. No path contains a link.
	watch func(path string, isDir bool)
}

// textEnding is the extension of plain text.
const textEnding = ".txt"

// Endings returns a text for people that lists the extensions of documents, without those of WalkOptions.Include.
func Endings() string { return strings.Join(wikilink.MarkdownEndings[:], ", ") + " and " + textEnding }

// DefaultMaxFileBytes is the default of WalkOptions.MaxFileBytes.
const DefaultMaxFileBytes = 32 << 20

// These are the reasons for which a file is not indexed.
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
	ReasonEmpty       = "empty" // no bytes, or only white space
	// ReasonIgnored is for a file or folder that a rule excludes. ReasonFolder is for a folder that a walk never enters.
	ReasonIgnored = "ignored"
	ReasonFolder  = "skipped folder"
)

// maxIgnored limits the list of files and folders that rules exclude.
const maxIgnored = 100_000

// skippedFolders has the names of folders that a walk never enters.
var skippedFolders = map[string]bool{".git": true, ".hg": true, ".svn": true, ".obsidian": true, ".trash": true,
	"node_modules": true, ".sheaf": true}

// indexRecord is the file in an index's folder that says which folders the index covers. maxRecord limits its size.
const (
	indexRecord = "collection.json"
	maxRecord   = 64 << 10
)

// File is the file of a document, as a walk found it.
type File struct {
	// Path is relative to the folder, with slashes.
	Path    string
	Bytes   int64
	ModTime time.Time
	// state is the time of the last change to the file's content, rights or times; 0 if unknown.
	state int64
}

// Walk is the result of a walk through a folder. Each list is sorted by path.
type Walk struct {
	root    string
	began   time.Time
	files   []File
	skipped []catalog.Skip
	// unread has the paths that could not be read. A folder's path ends with a slash; the top is "".
	unread []string
	// disks lists folders on another device than their parent. empty lists folders without content, and broken links.
	// All these paths end with a slash.
	disks, empty []string
	ignored      int // files and folders excluded by ignore files
	// byRule lists excluded files and folders, and hidden files that are not documents, if the options ask for it. It
	// has at most maxIgnored entries; allByRule counts all.
	byRule    []catalog.Skip
	allByRule int
}

// NewWalk lists the documents below root. It skips files and folders that it cannot read, and records the reason. Only
// an unreadable root is an error.
func NewWalk(ctx context.Context, root string, o WalkOptions) (*Walk, error) {
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
	w := &walker{root: root, o: o, include: settingRules(o.Include), exclude: settingRules(o.Exclude)}
	w.out.root, w.out.began = root, time.Now()
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
	for next, ok := top, true; ok; next, ok = w.linkedFolder() {
		if err := w.readBelow(ctx, next); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(root); err != nil { // unmounted meanwhile: keep its files
		return nil, fmt.Errorf("index folder: %w", err)
	}
	slices.Sort(w.out.disks)
	slices.SortFunc(w.out.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
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
	device  uint64 // of the parent; 0 for the top, or when unknown
	unknown error  // why the rules of an ignore file above the top are unknown
}

type walker struct {
	root, real       string // real is root without links; it is set for a watch and for FollowLinks
	o                WalkOptions
	include, exclude ignoreFile

	mu      sync.Mutex // guards the fields below
	linked  []folder   // targets of links, entered after all other folders
	entered map[string]bool
	out     Walk
}

// readBelow reads a folder and the folders below it, several at once.
func (w *walker) readBelow(ctx context.Context, top folder) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	var visit func(folder) error
	visit = func(dir folder) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		var out Walk
		folders := w.read(dir, &out)
		w.mu.Lock()
		w.out.files = append(w.out.files, out.files...)
		w.out.skipped = append(w.out.skipped, out.skipped...)
		w.out.unread = append(w.out.unread, out.unread...)
		w.out.disks = append(w.out.disks, out.disks...)
		w.out.empty = append(w.out.empty, out.empty...)
		w.out.ignored += out.ignored
		w.out.allByRule += out.allByRule
		w.out.byRule = append(w.out.byRule, out.byRule[:min(len(out.byRule), maxIgnored-len(w.out.byRule))]...)
		w.mu.Unlock()
		for _, next := range folders {
			if group.TryGo(func() error { return visit(next) }) {
				continue
			}
			if err := visit(next); err != nil {
				return err
			}
		}
		return nil
	}
	group.Go(func() error { return visit(top) })
	return group.Wait()
}

// linkedFolder returns the next target of a link: the first, by path, that the walk has not entered. ok is false if
// none is left. The walk enters targets last and one at a time, so that paths of documents do not depend on timing.
func (w *walker) linkedFolder() (next folder, ok bool) {
	slices.SortFunc(w.linked, func(a, b folder) int { return strings.Compare(a.path, b.path) })
	for len(w.linked) > 0 {
		next, w.linked = w.linked[0], w.linked[1:]
		if !w.entered[next.real] {
			w.entered[next.real] = true
			return next, true
		}
		w.out.skipped = append(w.out.skipped, skipTwice(next.path))
	}
	return folder{}, false
}

// skipTwice returns the entry for a folder that the walk skips, because it reached the folder before by another path.
// path ends with a slash.
func skipTwice(path string) catalog.Skip {
	return catalog.Skip{Path: strings.TrimSuffix(path, "/"), Reason: ReasonLink,
		Detail: "leads to a folder that is indexed under another path"}
}

// mayHold adds paths that could not be read to the list unread, unless err says that they do not exist.
func (w *Walk) mayHold(err error, paths ...string) {
	if !errors.Is(err, fs.ErrNotExist) {
		w.unread = append(w.unread, paths...)
	}
}

func (w *walker) read(dir folder, out *Walk) (folders []folder) {
	full := filepath.Join(w.root, filepath.FromSlash(dir.path))
	skip := func(path, reason, detail string) {
		out.skipped = append(out.skipped, catalog.Skip{Path: path, Reason: reason, Detail: detail})
	}
	if w.o.watch != nil {
		w.o.watch(cmp.Or(dir.real, filepath.Join(w.real, filepath.FromSlash(dir.path))), true)
	}
	entries, err := os.ReadDir(full)
	if err != nil { // without all entries, an ignore file may be missing
		skip(cmp.Or(dir.path, "."), ReasonUnreadable, reasonOf(err))
		out.mayHold(err, dir.path)
		return nil
	}
	if dir.path != "" && isIndex(full, entries) {
		w.byRule(out, dir.path, ReasonFolder, nil, nil)
		return nil
	}
	device := deviceOf(full)
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
	if dir.unknown != nil { // then the set of ignored files is unknown too
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
				} else if to, err := os.Stat(filepath.Join(full, name)); w.document(path, name) ||
					err == nil && to.IsDir() && !skippedFolders[name] {
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
		shown := path
		if mode.IsDir() {
			shown += "/"
			if skippedFolders[name] {
				w.byRule(out, shown, ReasonFolder, nil, nil)
				continue
			}
		}
		real := catalog.Offloaded(name)
		cloud := real != "" && !mode.IsDir() && w.document(dir.path+real, real) && !listed(entries, real)
		if cloud { // rules such as *.icloud keep the placeholder out of a repository, not the document
			path, name, shown = dir.path+real, real, dir.path+real
		}
		if f, r := w.ignoredBy(dir.ignores, path, name, mode.IsDir()); r != nil {
			out.ignored++
			w.byRule(out, shown, ReasonIgnored, f, r)
			continue
		}
		if mode.IsDir() {
			if next, ok := w.enter(dir, path, e.Type()&fs.ModeSymlink != 0); ok {
				folders = append(folders, next)
			} else if next.path == "" {
				out.skipped = append(out.skipped, skipTwice(path))
			}
			continue
		}
		if cloud {
			skip(path, ReasonCloud, "a cloud drive keeps it; open it once to get it back")
			out.unread = append(out.unread, path)
			continue
		}
		w.file(full, e, info, path, mode, out, skip)
	}
	return folders
}

// isIndex reports whether a folder is an index of Sheaf. A run skips it, because each run changes the files in it.
func isIndex(full string, entries []fs.DirEntry) bool {
	if !listed(entries, indexRecord) {
		return false
	}
	var record struct {
		Format int
		Root   string
	}
	content := readSmall(filepath.Join(full, indexRecord))
	return json.Unmarshal([]byte(content), &record) == nil && record.Format > 0 && filepath.IsAbs(record.Root)
}

// listed reports whether the sorted entries include this name.
func listed(entries []fs.DirEntry, name string) bool {
	byName := func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }
	_, ok := slices.BinarySearchFunc(entries, name, byName)
	return ok
}

// byRule records a file or folder that a rule excludes, if the options ask for it.
func (w *walker) byRule(out *Walk, path, reason string, f *ignoreFile, r *ignoreRule) {
	if !w.o.ListIgnored {
		return
	}
	out.allByRule++
	if len(out.byRule) >= maxIgnored {
		return
	}
	s := catalog.Skip{Path: path, Reason: reason}
	switch {
	case r == nil:
	case f.name == "":
		s.Detail = "exclude: " + r.text // a rule of the settings has no line
	default:
		s.Detail = fmt.Sprintf("%s:%d: %s", f.name, r.line, r.text)
	}
	out.byRule = append(out.byRule, s)
}

// file adds to out a file that no rule excludes. If the file is not a document to index, it calls skip with the reason.
func (w *walker) file(full string, e fs.DirEntry, info fs.FileInfo, path string, mode fs.FileMode, out *Walk,
	skip func(path, reason, detail string)) {
	name := e.Name()
	switch {
	case !w.document(path, name):
		if strings.HasPrefix(name, ".") { // a file that belongs to a program
			w.byRule(out, path, ReasonUnsupported, nil, nil)
		} else {
			skip(path, ReasonUnsupported, strings.ToLower(filepath.Ext(name)))
		}
		return
	case !mode.IsRegular():
		skip(path, ReasonSpecial, mode.String())
		return
	}
	file := File{Path: path}
	if info != nil {
		file.Bytes, file.ModTime = info.Size(), info.ModTime()
	} else if err := file.stat(full + "/" + name); err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // unless it was removed meanwhile
			skip(path, ReasonUnreadable, reasonOf(err))
			out.mayHold(err, path)
		}
		return
	}
	if file.Bytes == 0 {
		skip(path, ReasonEmpty, "")
		return
	}
	if file.Bytes > w.o.MaxFileBytes {
		skip(path, ReasonTooLarge, fmt.Sprintf("%d bytes, the limit is %d", file.Bytes, w.o.MaxFileBytes))
		return
	}
	out.files = append(out.files, file)
}

// document reports whether a file with this path and name is a document.
func (w *walker) document(path, name string) bool {
	if len(w.include.rules) > 0 {
		if r := w.include.verdict(path, name, false); r != nil {
			return !r.negated
		}
	}
	if chunk.KindOf(name) == chunk.KindMarkdown {
		return true
	}
	return strings.EqualFold(filepath.Ext(name), textEnding)
}

// enter returns the folder at path, in the folder dir. linked says that path is a link. There are three results:
//   - ok is true: the caller reads the folder next.
//   - ok is false and next.path is set: path is a link, and enter has queued its folder.
//   - ok is false and next.path is "": the walk entered the folder before, or its real path is unknown.
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

// reasonOf returns the text of an error without the path, which users see beside it.
func reasonOf(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// Files lists the documents below root by path, with the skipped files and reasons. It needs no index, and lists the
// same files as [Run] indexes. Only an unreadable root is an error.
func Files(ctx context.Context, root string, o WalkOptions) (files []File, skipped []catalog.Skip, err error) {
	w, err := NewWalk(ctx, root, o)
	if err != nil {
		return nil, nil, err
	}
	return w.files, w.skipped, nil
}

// Sample returns the beginnings of at most n documents, at most size bytes each, spread evenly over the folder. It
// decodes them as [Run] does: other encodings become UTF-8, and invalid bytes become spaces. Each beginning ends with a
// line feed. Sample leaves out data such as base64, and files that are unreadable or not text.
func (w *Walk) Sample(n, size int) string {
	var sample strings.Builder
	buffer := make([]byte, max(size, headBytes))
	n = min(n, len(w.files))
	for i := range n {
		head, err := ReadHead(filepath.Join(w.root, filepath.FromSlash(w.files[i*len(w.files)/n].Path)), buffer)
		if err != nil {
			continue
		}
		text, ok := Text(head)
		if !ok {
			continue
		}
		valid := bytes.ToValidUTF8(text[:min(len(text), size)], []byte(" "))
		sample.WriteString(chunk.WithoutPayloads(string(valid)).Text)
		sample.WriteByte('\n')
	}
	return sample.String()
}

// LanguageSample reads at most languageFiles documents, and at most languageBytes bytes of each.
const (
	languageFiles = 40
	languageBytes = 4 << 10
)

// LanguageSample returns a sample of text from which to detect the language of the folder.
func (w *Walk) LanguageSample() string { return w.Sample(languageFiles, languageBytes) }

// ReadHead reads the beginning of a file into buffer and returns the filled part. If name is not a regular file, but
// for example a folder or a pipe, ReadHead returns an error.
func ReadHead(name string, buffer []byte) ([]byte, error) {
	f, info, err := openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	n, err := io.ReadFull(f, buffer[:min(int64(len(buffer)), info.Size())])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return buffer[:n], err
}
