package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Mem is a file system in memory that can crash. It keeps durable data apart from data that was only written. The
// content of a file is durable after Sync of the file. The creation, renaming or removal of a file is durable after
// SyncDir of its folder. NewMem makes a Mem.
type Mem struct {
	mu      sync.Mutex
	live    map[string]*memNode // files as programs see them
	durable map[string]*memNode // files that survive a crash in any case
	dirs    map[string]bool
	locks   map[string]bool
	crashed bool
}

// memNode is the content of a file. It does not have the name.
type memNode struct {
	data    []byte
	synced  []byte // data at the last Sync
	clean   bool   // unchanged since then
	emptied bool   // it was emptied since then
	mod     time.Time
}

var _ FS = (*Mem)(nil)

// NewMem returns an empty file system.
func NewMem() *Mem {
	return &Mem{live: map[string]*memNode{}, durable: map[string]*memNode{}, dirs: map[string]bool{"/": true, ".": true},
		locks: map[string]bool{}}
}

// Crash returns a file system in a state that a sudden loss of power can leave. seed selects one of the possible
// states. Synced content and the entries of synced folders survive. Other entries may or may not survive. Content that
// was not synced may be missing, cut short, or hold zeros. After Crash, m can no longer be used.
func (m *Mem) Crash(seed uint64) *Mem {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.crashed = true
	r := rand.New(rand.NewPCG(seed, 1))
	out := NewMem()
	for dir := range m.dirs {
		out.dirs[dir] = true
	}
	names := make([]string, 0, len(m.live)+len(m.durable))
	for name := range m.live {
		names = append(names, name)
	}
	for name := range m.durable {
		if m.live[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names) // makes the result depend on the seed alone
	for _, name := range names {
		node := m.live[name]
		if old := m.durable[name]; old != node && r.IntN(2) == 0 {
			node = old
		}
		if node == nil {
			continue
		}
		data := node.afterCrash(r)
		kept := &memNode{data: data, synced: data, clean: true, mod: node.mod}
		out.live[name], out.durable[name] = kept, kept
	}
	return out
}

// afterCrash returns one of the contents that a file may have after a crash.
func (n *memNode) afterCrash(r *rand.Rand) []byte {
	if n.clean {
		return slices.Clone(n.data)
	}
	safe := len(n.synced) // bytes of data that cannot be lost
	if n.emptied {
		safe = 0
	}
	switch r.IntN(3) {
	case 0: // only what was synced
		return slices.Clone(n.synced)
	case 1: // cut short after the synced part
		return slices.Clone(n.data[:safe+r.IntN(len(n.data)-safe+1)])
	}
	data := slices.Clone(n.data) // a piece of it never arrived
	if from := safe; from < len(data) {
		at := from + r.IntN(len(data)-from)
		clear(data[at:min(len(data), at+1+r.IntN(4096))])
	}
	return data
}

func (m *Mem) fault(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

var (
	errCrashed  = errors.New("the file system has crashed")
	errNotEmpty = errors.New("the folder is not empty")
)

// clean returns the key of a name, or an error after a crash. The caller holds mu.
func (m *Mem) clean(op, name string) (string, error) {
	if m.crashed {
		return "", m.fault(op, name, errCrashed)
	}
	return path.Clean(filepath.ToSlash(name)), nil
}

// Create implements [FS].
func (m *Mem) Create(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("create", name)
	if err != nil {
		return nil, err
	}
	if !m.dirs[path.Dir(key)] {
		return nil, m.fault("create", name, fs.ErrNotExist)
	}
	node := m.live[key]
	if node == nil {
		node = &memNode{}
		m.live[key] = node
	}
	// An existing file keeps its place on the disk, so a crash may leave it empty without any new content.
	node.data, node.clean, node.emptied, node.mod = nil, false, true, time.Now()
	return &memFile{m: m, name: name, node: node, writable: true}, nil
}

// Open implements [FS].
func (m *Mem) Open(name string) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("open", name)
	if err != nil {
		return nil, err
	}
	node := m.live[key]
	if node == nil {
		return nil, m.fault("open", name, fs.ErrNotExist)
	}
	return &memFile{m: m, name: name, node: node}, nil
}

// Rename implements [FS].
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("rename", from)
	if err != nil {
		return err
	}
	node := m.live[key]
	if node == nil {
		return m.fault("rename", from, fs.ErrNotExist)
	}
	target := path.Clean(filepath.ToSlash(to))
	if !m.dirs[path.Dir(target)] {
		return m.fault("rename", to, fs.ErrNotExist)
	}
	delete(m.live, key)
	m.live[target] = node
	return nil
}

// Remove implements [FS].
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("remove", name)
	if err != nil {
		return err
	}
	if m.live[key] != nil {
		delete(m.live, key)
		return nil
	}
	if !m.dirs[key] {
		return m.fault("remove", name, fs.ErrNotExist)
	}
	for other := range m.live {
		if path.Dir(other) == key {
			return m.fault("remove", name, errNotEmpty)
		}
	}
	for other := range m.dirs {
		if other != key && path.Dir(other) == key {
			return m.fault("remove", name, errNotEmpty)
		}
	}
	delete(m.dirs, key)
	return nil
}

// MkdirAll implements [FS].
func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("mkdir", name)
	for ; err == nil && !m.dirs[key]; key = path.Dir(key) {
		m.dirs[key] = true
	}
	return err
}

// List implements [FS].
func (m *Mem) List(dir string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("list", dir)
	if err != nil {
		return nil, err
	}
	if !m.dirs[key] {
		return nil, m.fault("list", dir, fs.ErrNotExist)
	}
	var names []string
	for name := range m.live {
		if path.Dir(name) == key {
			names = append(names, path.Base(name))
		}
	}
	for name := range m.dirs {
		if name != key && path.Dir(name) == key {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Stat implements [FS].
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("stat", name)
	if err != nil {
		return nil, err
	}
	if node := m.live[key]; node != nil {
		return memInfo{path.Base(key), int64(len(node.data)), node.mod, false}, nil
	}
	if m.dirs[key] {
		return memInfo{path.Base(key), 0, time.Time{}, true}, nil
	}
	return nil, m.fault("stat", name, fs.ErrNotExist)
}

// SyncDir implements [FS].
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("sync", dir)
	if err != nil {
		return err
	}
	for name := range m.durable {
		if path.Dir(name) == key && m.live[name] == nil {
			delete(m.durable, name)
		}
	}
	for name, node := range m.live {
		if path.Dir(name) == key {
			m.durable[name] = node
		}
	}
	return nil
}

// Map implements [FS]. It returns a copy of the current bytes of the file.
func (m *Mem) Map(name string) (Mapping, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("map", name)
	if err != nil {
		return nil, err
	}
	node := m.live[key]
	if node == nil {
		return nil, m.fault("map", name, fs.ErrNotExist)
	}
	data := aligned(len(node.data))
	copy(data, node.data)
	return bytesMapping(data), nil
}

// Lock implements [FS]. Locks end with a crash.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key, err := m.clean("lock", name)
	if err != nil {
		return nil, err
	}
	if m.locks[key] {
		return nil, m.fault("lock", name, fmt.Errorf("%w by this process", ErrLocked))
	}
	m.locks[key] = true
	return memLock{m, key}, nil
}

type memLock struct {
	m   *Mem
	key string
}

func (l memLock) Close() error {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	delete(l.m.locks, l.key)
	return nil
}

type memInfo struct {
	name  string
	size  int64
	mod   time.Time
	isDir bool
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) ModTime() time.Time { return i.mod }
func (i memInfo) IsDir() bool        { return i.isDir }
func (i memInfo) Sys() any           { return nil }
func (i memInfo) Mode() fs.FileMode {
	if i.isDir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

// memFile is an open file of a Mem.
type memFile struct {
	m        *Mem
	name     string
	node     *memNode
	writable bool
	pos      int
	closed   bool
}

func (f *memFile) check(op string) error {
	switch {
	case f.m.crashed:
		return f.m.fault(op, f.name, errCrashed)
	case f.closed:
		return f.m.fault(op, f.name, fs.ErrClosed)
	}
	return nil
}

func (f *memFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, int64(f.pos))
	f.pos += n
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(b []byte, at int64) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("read"); err != nil {
		return 0, err
	}
	if at < 0 || at > int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) Write(b []byte) (int, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("write"); err != nil {
		return 0, err
	}
	if !f.writable {
		return 0, f.m.fault("write", f.name, fs.ErrPermission)
	}
	f.node.data, f.node.clean = append(f.node.data, b...), false
	f.node.mod = time.Now()
	return len(b), nil
}

func (f *memFile) Sync() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("sync"); err != nil {
		return err
	}
	f.node.synced, f.node.clean, f.node.emptied = slices.Clone(f.node.data), true, false
	return nil
}

func (f *memFile) Stat() (fs.FileInfo, error) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("stat"); err != nil {
		return nil, err
	}
	name := f.name[strings.LastIndexAny(f.name, `/\`)+1:]
	return memInfo{name, int64(len(f.node.data)), f.node.mod, false}, nil
}

func (f *memFile) Close() error {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if err := f.check("close"); err != nil {
		return err
	}
	f.closed = true
	return nil
}
