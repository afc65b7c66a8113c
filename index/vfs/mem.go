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

// Mem is a file system in memory that can crash. It separates durable data, which survives a crash, from other written
// data. The content of a file is durable after Sync of the file. The creation, renaming or removal of a file is durable
// after SyncDir of its folder. NewMem makes a Mem.
type Mem struct {
	mu      sync.Mutex
	live    map[string]*memNode // files as programs see them
	durable map[string]*memNode // files that survive a crash in any case
	dirs    map[string]bool
	locks   map[string]bool
	crashed bool
}

// memNode is the content of a file, without its name.
type memNode struct {
	data    []byte
	synced  []byte // data at the last Sync
	clean   bool   // unchanged since then
	emptied bool   // emptied since then
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

// afterCrash returns one of the contents that a file may have after a crash. r decides which.
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

var (
	errCrashed  = errors.New("the file system has crashed")
	errNotEmpty = errors.New("the folder is not empty")
)

// on locks m, calls work with the key of the file called name, and returns the result. It wraps an error in an
// fs.PathError with op and name, except io.EOF. After a crash, on returns an error and does not call work.
func on[T any](m *Mem, op, name string, work func(key string) (T, error)) (result T, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err = errCrashed; !m.crashed {
		result, err = work(keyOf(name))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return result, err
}

// do does the same as on, for calls that return only an error.
func (m *Mem) do(op, name string, work func(key string) error) error {
	_, err := on(m, op, name, func(key string) (struct{}, error) { return struct{}{}, work(key) })
	return err
}

func keyOf(name string) string { return path.Clean(filepath.ToSlash(name)) }

// Create implements [FS].
func (m *Mem) Create(name string) (File, error) {
	return on(m, "create", name, func(key string) (File, error) {
		if !m.dirs[path.Dir(key)] {
			return nil, fs.ErrNotExist
		}
		node := m.live[key]
		if node == nil {
			node = &memNode{}
			m.live[key] = node
		}
		// An existing file keeps its place on the disk, so a crash may leave it empty without any new content.
		node.data, node.clean, node.emptied, node.mod = nil, false, true, time.Now()
		return &memFile{m: m, name: name, node: node, writable: true}, nil
	})
}

// node returns the file with this key, or an error. The caller holds mu.
func (m *Mem) node(key string) (*memNode, error) {
	if node := m.live[key]; node != nil {
		return node, nil
	}
	return nil, fs.ErrNotExist
}

// Open implements [FS].
func (m *Mem) Open(name string) (File, error) {
	return on(m, "open", name, func(key string) (File, error) {
		node, err := m.node(key)
		if err != nil {
			return nil, err
		}
		return &memFile{m: m, name: name, node: node}, nil
	})
}

// Rename implements [FS].
func (m *Mem) Rename(from, to string) error {
	return m.do("rename", from, func(key string) error {
		node, err := m.node(key)
		if err == nil && !m.dirs[path.Dir(keyOf(to))] {
			err = fs.ErrNotExist
		}
		if err == nil {
			delete(m.live, key)
			m.live[keyOf(to)] = node
		}
		return err
	})
}

// Remove implements [FS].
func (m *Mem) Remove(name string) error {
	return m.do("remove", name, func(key string) error {
		switch {
		case m.live[key] != nil:
			delete(m.live, key)
		case !m.dirs[key]:
			return fs.ErrNotExist
		case len(m.names(key)) > 0:
			return errNotEmpty
		default:
			delete(m.dirs, key)
		}
		return nil
	})
}

// names returns the names in a folder, sorted. The caller holds mu.
func (m *Mem) names(dir string) []string {
	var names []string
	for name := range m.live {
		if path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	for name := range m.dirs {
		if name != dir && path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names
}

// MkdirAll implements [FS].
func (m *Mem) MkdirAll(name string) error {
	return m.do("mkdir", name, func(key string) error {
		for ; !m.dirs[key]; key = path.Dir(key) {
			m.dirs[key] = true
		}
		return nil
	})
}

// List implements [FS].
func (m *Mem) List(dir string) ([]string, error) {
	return on(m, "list", dir, func(key string) ([]string, error) {
		if !m.dirs[key] {
			return nil, fs.ErrNotExist
		}
		return m.names(key), nil
	})
}

// Stat implements [FS].
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	return on(m, "stat", name, func(key string) (fs.FileInfo, error) {
		if m.dirs[key] {
			return memInfo{path.Base(key), 0, time.Time{}, true}, nil
		}
		node, err := m.node(key)
		if err != nil {
			return nil, err
		}
		return memInfo{path.Base(key), int64(len(node.data)), node.mod, false}, nil
	})
}

// SyncDir implements [FS].
func (m *Mem) SyncDir(dir string) error {
	return m.do("sync", dir, func(key string) error {
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
	})
}

// Map implements [FS]. It returns a copy of the current bytes of the file.
func (m *Mem) Map(name string) (Mapping, error) {
	return on(m, "map", name, func(key string) (Mapping, error) {
		node, err := m.node(key)
		if err != nil {
			return nil, err
		}
		data := aligned(len(node.data))
		copy(data, node.data)
		return bytesMapping(data), nil
	})
}

// Lock implements [FS]. Locks end with a crash.
func (m *Mem) Lock(name string) (io.Closer, error) {
	return on(m, "lock", name, func(key string) (io.Closer, error) {
		if m.locks[key] {
			return nil, fmt.Errorf("%w by this process", ErrLocked)
		}
		m.locks[key] = true
		return memLock{m, key}, nil
	})
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

type memFile struct {
	m        *Mem
	name     string
	node     *memNode
	writable bool
	pos      int
	closed   bool
}

// on locks the file system and calls work. If f is closed or the file system has crashed, on returns an error and does
// not call work.
func (f *memFile) on(op string, work func() error) error {
	return f.m.do(op, f.name, func(string) error {
		if f.closed {
			return fs.ErrClosed
		}
		return work()
	})
}

func (f *memFile) Read(b []byte) (int, error) {
	n, err := f.ReadAt(b, int64(f.pos))
	f.pos += n
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func (f *memFile) ReadAt(b []byte, at int64) (n int, err error) {
	err = f.on("read", func() error {
		if at < 0 || at > int64(len(f.node.data)) {
			return io.EOF
		}
		if n = copy(b, f.node.data[at:]); n < len(b) {
			return io.EOF
		}
		return nil
	})
	return n, err
}

func (f *memFile) Write(b []byte) (n int, err error) {
	err = f.on("write", func() error {
		if !f.writable {
			return fs.ErrPermission
		}
		f.node.data, f.node.clean, n = append(f.node.data, b...), false, len(b)
		f.node.mod = time.Now()
		return nil
	})
	return n, err
}

func (f *memFile) Sync() error {
	return f.on("sync", func() error {
		f.node.synced, f.node.clean, f.node.emptied = slices.Clone(f.node.data), true, false
		return nil
	})
}

func (f *memFile) Stat() (info fs.FileInfo, err error) {
	err = f.on("stat", func() error {
		name := f.name[strings.LastIndexAny(f.name, `/\`)+1:]
		info = memInfo{name, int64(len(f.node.data)), f.node.mod, false}
		return nil
	})
	return info, err
}

func (f *memFile) Close() error {
	return f.on("close", func() error {
		f.closed = true
		return nil
	})
}
