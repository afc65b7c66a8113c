// Package catalog stores which documents exist. It knows trees and chunks, spans, links and back-links, tags,
// properties, dates, content hashes and folders. It also knows the skipped files with reasons, and the settings of
// the collection. It does not find chunks by words or meaning; a store does.
//
// The catalog keeps no text of files. It reads a chunk's text from the source file by its span, as long as the file is
// unchanged. If a text has no source file, the catalog itself stores the text, compressed.
//
// A [Catalog] is a folder of immutable segment files and a manifest. Readers take a [View], a snapshot that never
// changes. One writer at a time publishes a new generation. The format is documented in doc/formats/catalog.md.
package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
)

// ErrStale means that a source file has changed or is gone since it was indexed, so that spans are wrong. It wraps
// sheaf.ErrUnavailable, because indexing again helps.
var ErrStale = fmt.Errorf("%w: changed since it was indexed", sheaf.ErrUnavailable)

// ErrUnread means that a source file exists but cannot be read, because of its permissions or its disk. It wraps
// sheaf.ErrUnavailable, because a user may repair that.
var ErrUnread = fmt.Errorf("%w: cannot be read", sheaf.ErrUnavailable)

// ErrMisfiled means that a stored table differs from the table that this program makes of the same records. The table
// is damaged, or another version of the program wrote it. ErrMisfiled wraps sheaf.ErrCorrupt.
var ErrMisfiled = fmt.Errorf("%w: stored under another name", sheaf.ErrCorrupt)

// Hash is the 128-bit XXH3 hash of a file's content. Different contents have different hashes, unless someone makes a
// collision on purpose.
type Hash [16]byte

// HashOf returns the hash of content.
func HashOf(content []byte) Hash { return xxh3.Hash128(content).Bytes() }

// FileState is what the catalog records of a file to detect changes: size, time and hash.
type FileState struct {
	Size    int64
	ModTime int64 // nanoseconds since 1970
	Hash    Hash
}

// Record is what the catalog keeps of a document.
type Record struct {
	Document sheaf.Document
	File     FileState
	Date     sheaf.Dated
	// Text is the text of a document without a source file. HasText says whether the document has this text, because Text
	// may be empty.
	Text    []byte
	HasText bool
}

// Skip is a file that was not indexed, with the reason.
type Skip struct {
	Tree   string `json:"tree,omitempty"`
	Path   string `json:"path"` // relative to the tree's folder
	Reason string `json:"reason"`
	Detail string `json:"detail,omitempty"`
	// Size and ModTime describe a file that was read before it was skipped, in the units of FileState. They are 0 for
	// other files.
	Size    int64 `json:"size,omitempty"`
	ModTime int64 `json:"mod_time,omitempty"`
}

// Tree is a set of documents: the files of a folder, or documents that programs sent. All IDs begin with the tree's
// name.
type Tree struct {
	Name string `json:"name"`
	Root string `json:"root"` // absolute; "" when the documents have no source files
}

// FreeTree is the tree of the documents that programs sent for no tenant. Every other tree of sent documents belongs to
// the tenant with the tree's name. [TreeName] gives this name to no folder.
const FreeTree = "api"

// TreeName returns the name of a folder's tree. IDs begin with this name. It is the last part of the folder's path,
// without colons, because a colon ends the name in an ID. If this name is [FreeTree] or in taken, TreeName appends a
// number.
func TreeName(root string, taken ...string) string {
	base := strings.ToValidUTF8(strings.ReplaceAll(filepath.Base(root), ":", "-"), "-")
	if base == "/" || base == "." || base == `\` {
		base = "root"
	}
	name := base
	for n := 2; name == FreeTree || slices.Contains(taken, name); n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name
}

// Settings describe how a collection was made. After most changes of settings, all documents must be indexed again.
type Settings struct {
	Trees []Tree `json:"trees"`
	// Chunker is the name of the chunker with its options. Analyzer is the name of the analyzer with its version.
	Chunker  string `json:"chunker"`
	Analyzer string `json:"analyzer"`
	// Language is the language of the collection, and LanguageDetected says that it was detected, not set.
	Language         string `json:"language"`
	LanguageDetected bool   `json:"language_detected"`
	// Embedder is the name of the model that made the vectors. It is "" without vectors.
	Embedder string `json:"embedder,omitempty"`
	Dims     int    `json:"dims,omitempty"`
	// Extra has settings of other packages, by key.
	Extra map[string]string `json:"extra,omitempty"`
}

// Root returns the folder of the tree with this name, or "" if there is no such tree.
func (s Settings) Root(tree string) string {
	for _, t := range s.Trees {
		if t.Name == tree {
			return t.Root
		}
	}
	return ""
}

// Update is a set of changes that become visible together.
type Update struct {
	// Put and Encoded list documents to add. A document replaces the document with the same ID.
	Put     []Record
	Encoded []Encoded
	// Delete lists documents to remove; missing ones are ignored. If a document is also in Put or Encoded, it is added.
	Delete []sheaf.ID
	// Skipped, Settings and Pending replace the earlier values, unless they are nil.
	Skipped  *[]Skip
	Settings *Settings
	Pending  *map[sheaf.ID]string
	// Whole rewrites the catalog as one segment that includes the changes. The data of replaced documents is then gone.
	Whole bool
}

// payload is what the catalog stores in the manifest, as JSON.
type payload struct {
	Format   int           `json:"format"`
	Segments []segmentInfo `json:"segments"` // oldest first
	Settings Settings      `json:"settings"`
	// Skipped and Pending name the files with the lists of skipped files and of pending documents. "" means an empty
	// list.
	Skipped string `json:"skipped,omitempty"`
	Pending string `json:"pending,omitempty"`
	// Copy names a file with a copy of the settings, without Extra. If the manifest is damaged, the settings can be
	// read from this file.
	Copy   string `json:"copy,omitempty"`
	Skips  int    `json:"skips"`
	Docs   int    `json:"docs"`
	Chunks int    `json:"chunks"`
	Bytes  int64  `json:"bytes"` // of the source files
}

type segmentInfo struct {
	Name string `json:"name"`
	// Records counts documents and tombstones.
	Records int `json:"records"`
}

// files returns the names of the generation's files: first the segments, oldest first, then the lists.
func (p *payload) files() []string {
	var names []string
	for _, info := range p.Segments {
		names = append(names, info.Name)
	}
	for _, name := range []string{p.Skipped, p.Pending, p.Copy} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// format is the version of the catalog's files: the payload in the manifest, the segments and the lists.
const format = 2

const (
	kindSegment  = "catalog"
	kindSkipped  = "catalog-skipped"
	kindPending  = "catalog-pending"
	kindSettings = "catalog-settings"
	prefix       = "catalog-"
	lockName     = "LOCK"

	sectionList = "list"
	sectionSize = "size"
)

// Options say how to open a catalog.
type Options struct {
	// Source is the file system of the documents' files; nil means vfs.Disk.
	Source vfs.FS
}

// Catalog is an open catalog. It is safe for concurrent use, except for Reload.
type Catalog struct {
	fs  vfs.FS
	dir string
	o   Options

	writing sync.Mutex // held during Update
	mu      sync.Mutex
	current *View
	closed  bool
	held    io.Closer // the lock that Hold took
}

var errClosed = fmt.Errorf("%w: the catalog is closed", sheaf.ErrUnavailable)

// Open opens the catalog in a folder. If the folder has no catalog, Open starts with an empty one. If the catalog is
// damaged, the error wraps sheaf.ErrCorrupt. For another version of the format, it wraps sheaf.ErrUnsupported.
func Open(fsys vfs.FS, dir string, o Options) (*Catalog, error) {
	if fsys == nil {
		return nil, sheaf.Invalidf("open catalog: a file system is needed")
	}
	if o.Source == nil {
		o.Source = vfs.Disk{}
	}
	c := &Catalog{fs: fsys, dir: dir, o: o}
	if err := fsys.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	view, err := c.load()
	if err != nil {
		return nil, err
	}
	c.current = view
	return c, nil
}

func (c *Catalog) load() (*View, error) {
	view, _, err := manifest.Open(c.fs, c.dir, c.openView)
	if errors.Is(err, fs.ErrNotExist) && c.headless() {
		// A new writer publishes before it writes segments.
		if view, _, err = manifest.Open(c.fs, c.dir, c.openView); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s: %w: at byte 0: the file is missing, and segments exist", manifest.Name, vfs.ErrCorrupt)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return newView(c, manifest.Manifest{}, payload{Format: format}, nil), nil
	case err != nil:
		return nil, fmt.Errorf("open catalog %s: %w", c.dir, translate(err))
	}
	return view, nil
}

// headless reports whether the folder has segment files. Without a manifest, they mean damage, not a new catalog.
func (c *Catalog) headless() bool {
	names, err := c.fs.List(c.dir)
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		number, ok := strings.CutPrefix(name, prefix)
		_, err := strconv.ParseUint(number, 16, 64)
		return ok && err == nil
	})
}

// begin returns the number of the current generation. If the catalog has none yet, begin publishes an empty generation,
// so that a manifest exists before any segment. Without a manifest, segments would look like damage after a crash.
func (c *Catalog) begin(view *View) (generation uint64, err error) {
	if view.Generation() > 0 {
		return view.Generation(), nil
	}
	data, err := json.Marshal(payload{Format: format})
	if err != nil {
		return 0, err
	}
	generation = following(0)
	return generation, manifest.Publish(c.fs, c.dir, manifest.Manifest{Generation: generation, Payload: data})
}

func (c *Catalog) openView(m manifest.Manifest) (*View, error) {
	var p payload
	if err := json.Unmarshal(m.Payload, &p); err != nil {
		return nil, fmt.Errorf("%s: %w: payload: %w", manifest.Name, sheaf.ErrCorrupt, err)
	}
	if p.Format != format {
		return nil, fmt.Errorf("%s: %w %d, this program reads %d", manifest.Name, vfs.ErrVersion, p.Format, format)
	}
	for _, name := range p.files() {
		if !slices.Contains(m.Files, name) {
			return nil, fmt.Errorf("%s: %w: payload: file %q does not belong to the generation",
				manifest.Name, sheaf.ErrCorrupt, name)
		}
	}
	var segments []*segment
	for _, info := range p.Segments {
		s, err := openSegment(c.fs, filepath.Join(c.dir, info.Name))
		if err != nil {
			for _, s := range segments {
				s.release()
			}
			return nil, err
		}
		segments = append(segments, s)
	}
	return newView(c, m, p, segments), nil
}

// translate converts errors of files to errors that wrap the categories of the root package.
func translate(err error) error {
	switch {
	case errors.Is(err, vfs.ErrCorrupt):
		return sheaf.WithCategory(sheaf.ErrCorrupt, err)
	case errors.Is(err, vfs.ErrVersion):
		return sheaf.WithCategory(sheaf.ErrUnsupported, err)
	case errors.Is(err, vfs.ErrLocked):
		return sheaf.WithCategory(sheaf.ErrUnavailable, err)
	}
	return err
}

// View returns a snapshot of the newest generation that this Catalog has loaded. A view stays valid
// while the catalog changes. The caller must close the view.
func (c *Catalog) View() *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current.refs.Add(1)
	return c.current
}

// Reload loads the generation that another process published last. While Reload runs, the caller must not call Update,
// Hold or Reload in another goroutine. [Catalog.Follow] has no such limit.
func (c *Catalog) Reload() error {
	newer, err := c.newer()
	if err != nil || !newer {
		return err
	}
	view, err := c.load()
	if err != nil {
		return err
	}
	c.replace(view)
	return nil
}

// ErrGone means that a catalog existed and is now missing. The error does not name the folder,
// because a caller on another machine must not learn the name.
var ErrGone = fmt.Errorf("%w: the index is gone: make it again, or restore its folder or disk", sheaf.ErrUnavailable)

// newer reports whether the folder has a newer generation than c has loaded.
func (c *Catalog) newer() (bool, error) {
	generation, err := manifest.Generation(c.fs, c.dir)
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		return false, fmt.Errorf("open catalog %s: %w", c.dir, translate(err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return false, errClosed
	case none && c.current.Generation() != 0:
		return false, ErrGone
	}
	return !none && generation != c.current.Generation(), nil
}

// Follow loads the newest generation, as Reload does. Unlike Reload, it is safe for concurrent use, even while this
// process changes the catalog. If there is a newer generation, Follow first waits until a running Update of this
// Catalog has ended.
func (c *Catalog) Follow() error {
	newer, err := c.newer()
	if err != nil || !newer {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.held != nil {
		return nil // this process published it
	}
	return c.Reload()
}

func (c *Catalog) replace(view *View) {
	c.mu.Lock()
	old := c.current
	if c.closed { // closed meanwhile
		old = view
	} else {
		c.current = view
	}
	c.mu.Unlock()
	old.Close()
}

// Hold takes the writer's lock, so that no other process writes between the caller's updates. The caller must call
// release. If another process has the lock, the error wraps sheaf.ErrUnavailable and names the owner.
func (c *Catalog) Hold() (release func() error, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.held != nil {
		return nil, fmt.Errorf("lock catalog: %w: this process holds it already", sheaf.ErrUnavailable)
	}
	lock, err := c.fs.Lock(filepath.Join(c.dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("lock catalog: %w", translate(err))
	}
	if err := c.Reload(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	c.held = lock
	c.sweep(manifest.Manifest{})
	return func() error {
		c.writing.Lock()
		defer c.writing.Unlock()
		c.held = nil
		return lock.Close()
	}, nil
}

// sweep removes old files of the catalog. It keeps the files of the current generation and of the previous one. before
// is the manifest of the previous generation. So a reader that has read the manifest can still open its files after one
// more update. After two updates the files are missing, and the reader reads the manifest again. If sweep fails, the
// next writer tries again.
func (c *Catalog) sweep(before manifest.Manifest) {
	c.mu.Lock()
	m, closed := c.current.manifest, c.closed
	c.mu.Unlock()
	if closed {
		return // the current generation is unknown
	}
	m.Files = slices.Concat(m.Files, before.Files)
	_ = manifest.Sweep(c.fs, c.dir, m, func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// Update applies changes and returns when they are durable and visible. After an error nothing changed. If another
// process has the writer's lock, the error wraps sheaf.ErrUnavailable.
func (c *Catalog) Update(ctx context.Context, u Update) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.held == nil {
		lock, err := c.fs.Lock(filepath.Join(c.dir, lockName))
		if err != nil {
			return fmt.Errorf("update catalog: %w", translate(err))
		}
		defer lock.Close()
		if err := c.Reload(); err != nil {
			return err
		}
	}
	view := c.View()
	defer view.Close()
	if err := view.Err(); errors.Is(err, errClosed) {
		return fmt.Errorf("update catalog: %w", err)
	}
	next, err := c.publish(view, u)
	if err != nil {
		return fmt.Errorf("update catalog: %w", translate(err))
	}
	c.replace(next)
	c.sweep(view.manifest)
	return nil
}

// Close ends the use of the catalog. Open views stay valid. Later views are empty, and their Err returns an error.
func (c *Catalog) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.current.Close()
	c.closed, c.current = true, newView(c, manifest.Manifest{}, payload{Format: format}, nil)
	c.current.note(errClosed)
	return nil
}
