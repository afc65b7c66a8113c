package http

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/index/vfs"
)

// Bounds of what is remembered; the oldest goes first.
const (
	rememberedAge   = 24 * time.Hour
	maxRemembered   = 10_000
	rememberedBytes = 16 << 20 // of answers
)

// remembered is the answers of requests with an Idempotency-Key. With a file they
// outlast the server: a line is written and synced before the caller is
// answered, and one before that just before what was asked for is done, so that a
// request whose server ends between is not done twice.
type remembered struct {
	now func() time.Time
	log *slog.Logger
	// own makes this server the one that takes documents until what it returns is called. Who
	// keeps the file is that one: were it another, neither could do what comes with a key.
	own func() (disown func(), err error)

	mu      sync.Mutex
	path    string   // of the file, "" without one
	journal *journal // nil without a file, and while another server keeps it
	byKey   map[sum]*memory
	oldest  []*memory // in the order in which they began
	size    int
}

// sum is a SHA-256.
type sum [sha256.Size]byte

// MarshalText writes it in hexadecimal digits.
func (s sum) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s[:])), nil }

// UnmarshalText reads what MarshalText writes.
func (s *sum) UnmarshalText(text []byte) error {
	if len(text) != 2*len(s) {
		return sheaf.Invalidf("a hash has %d digits: must have %d", len(text), 2*len(s))
	}
	_, err := hex.Decode(s[:], text)
	return err
}

// memory is a key with what was asked and answered.
type memory struct {
	Key     sum               `json:"key"`
	Request sum               `json:"request"`
	At      time.Time         `json:"at"`
	Status  int               `json:"status,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
	Answer  json.RawMessage   `json:"answer,omitempty"` // nil until it is done
	Begun   json.RawMessage   `json:"begun,omitempty"`  // what it will have done, until it is done

	running bool
}

func (m *memory) size() int { return len(m.Answer) + len(m.Begun) }

// openRemembered reads what a file remembers; "" is none.
func openRemembered(path string, own func() (func(), error), log *slog.Logger, now func() time.Time) (*remembered,
	error) {
	r := &remembered{now: now, log: log, own: own, path: path, byKey: map[sum]*memory{}}
	switch err := r.takeOver(); {
	case errors.Is(err, vfs.ErrLocked):
		log.Warn("requests with an Idempotency-Key are answered when the server before has ended", "cause", err.Error())
	case err != nil:
		return nil, err
	}
	return r, nil
}

// takeOver makes this server the one that keeps the file and reads it, and that takes documents,
// until it is closed. While another server of this index is one of both, the error wraps
// vfs.ErrLocked. r.mu must be held, or the only reference.
func (r *remembered) takeOver() error {
	if r.path == "" || r.journal != nil {
		return nil
	}
	disown, err := r.own()
	if err != nil {
		return err
	}
	lock, err := vfs.Disk{}.Lock(r.path + ".lock")
	switch {
	case errors.Is(err, vfs.ErrLocked):
		disown()
		return err
	case err != nil: // locks do not hold here
		disown()
		r.log.Warn("answers to requests with an Idempotency-Key are forgotten when this server ends", "cause", err.Error())
		r.path = ""
		return nil
	}
	r.journal = &journal{path: r.path, lock: lock, disown: disown}
	if err := r.load(); err != nil {
		r.journal = nil
		disown()
		return errors.Join(err, lock.Close())
	}
	return nil
}

// load reads the file. The next answer writes it anew, without what is too old and what a
// crash cut off: a server that only reads begins on a full disk too.
func (r *remembered) load() error {
	if err := r.read(); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("read answers: %w", err)
	}
	for _, m := range r.byKey {
		r.oldest, r.size = append(r.oldest, m), r.size+m.size()
	}
	slices.SortFunc(r.oldest, func(a, b *memory) int { return a.At.Compare(b.At) })
	r.forget(r.now())
	r.journal.torn = true
	return nil
}

// read fills byKey with what the file remembers: of a key the last line, since those
// before it were forgotten or done by then. Lines that a crash cut off were never answered, nor
// what they say begun, and are left out.
func (r *remembered) read() error {
	f, err := os.Open(r.journal.path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		m := new(memory)
		if json.Unmarshal(line, m) == nil && m.size() > 0 {
			r.byKey[m.Key] = m
		}
	}
}

func (r *remembered) close() error {
	r.mu.Lock()
	j, closed := r.journal, r.path == ""
	r.path = ""
	r.mu.Unlock() // whoever writes to the journal asks for what is remembered
	if j == nil || closed {
		return nil
	}
	return j.close()
}

// once does something, or gives the answer that it gave before under the same
// key of the same caller. A key that comes with another request, or while the
// first is still being done, is a conflict. Failures are not remembered, but what had begun is.
func once[O any](ctx context.Context, c *call, key string, run func(context.Context) (*O, int, error)) (*O, error) {
	if key == "" {
		out, status, err := run(ctx)
		if err == nil {
			c.status = status
		}
		return out, err
	}
	r := c.api.remembered
	m, old, err := r.begin(c, key)
	if err != nil {
		return nil, err
	}
	if old {
		c.status = m.Status
		for name, value := range m.Header {
			c.header.Set(name, value)
		}
		out := new(O)
		return out, json.Unmarshal(m.Answer, out)
	}
	done := false
	defer func() {
		if !done {
			r.fail(m)
		}
	}()
	again := collection.Once{Keep: func(b collection.Begun) error { return r.keep(m, b) }}
	if m.Begun != nil {
		if err := json.Unmarshal(m.Begun, &again.Before); err != nil {
			return nil, err
		}
	}
	out, status, err := run(collection.WithOnce(ctx, again))
	if err != nil {
		return nil, err
	}
	answer, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	header := map[string]string{}
	for _, name := range []string{"Etag", "Location"} {
		if v := c.header.Get(name); v != "" {
			header[name] = v
		}
	}
	r.finish(m, status, header, answer)
	done, c.status = true, status
	return out, nil
}

// begin is the memory of a key: an old one with its answer, or a new one that is
// to be finished or failed. It takes over what an old one has begun: whether that was done
// shows when it is done again.
func (r *remembered) begin(c *call, key string) (m *memory, old bool, err error) {
	id := sum(sha256.Sum256([]byte(c.caller + "\x00" + key)))
	condition := func(name string) string { return strings.Join(c.request.Header.Values(name), ",") }
	address := url.URL{Path: c.request.URL.Path, RawQuery: c.request.URL.Query().Encode()} // however its characters came
	request := sum(sha256.Sum256([]byte(strings.Join([]string{c.request.Method, address.String(), condition("If-Match"),
		condition("If-None-Match"), string(c.body)}, "\x00"))))
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.takeOver(); errors.Is(err, vfs.ErrLocked) { // what that one did, only it knows
		return nil, false, fmt.Errorf("%w: %w", collection.ErrTaken, err)
	} else if err != nil {
		return nil, false, err
	}
	r.forget(now)
	var begun json.RawMessage
	if m = r.byKey[id]; m != nil {
		switch {
		case m.Request != request && (m.Answer != nil || m.running):
			return nil, false, problem("conflict", "the Idempotency-Key came with another request before")
		case m.running:
			return nil, false, problem("conflict", "the request with this Idempotency-Key is still being done")
		case m.Answer != nil:
			done := *m
			return &done, true, nil
		case m.Request == request:
			begun = m.Begun
		}
		r.drop(m)
	}
	m = &memory{Key: id, Request: request, At: now.UTC(), Begun: begun, running: true}
	r.byKey[id], r.oldest, r.size = m, append(r.oldest, m), r.size+m.size()
	return m, false, nil
}

// forget drops what is too old or too much; r.mu must be held, or the only
// reference.
func (r *remembered) forget(now time.Time) {
	for len(r.oldest) > 0 && (len(r.oldest) > maxRemembered || r.size > rememberedBytes ||
		now.Sub(r.oldest[0].At) > rememberedAge) {
		if first := r.oldest[0]; r.byKey[first.Key] == first {
			delete(r.byKey, first.Key)
			r.size -= first.size()
		}
		r.oldest = r.oldest[1:]
	}
}

// fail ends a request that failed. It is forgotten, unless it may have been done all the same.
func (r *remembered) fail(m *memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.running = false; m.Begun == nil {
		r.drop(m)
	}
}

// drop forgets a request; r.mu must be held.
func (r *remembered) drop(m *memory) {
	if r.byKey[m.Key] == m {
		delete(r.byKey, m.Key)
		r.size -= m.size()
	}
	r.oldest = slices.DeleteFunc(r.oldest, func(o *memory) bool { return o == m })
}

// change makes a request begun or answered.
func (r *remembered) change(m *memory, to func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := m.size()
	to()
	if r.byKey[m.Key] == m {
		r.size += m.size() - before
	}
}

// keep remembers what a request will have done.
func (r *remembered) keep(m *memory, b collection.Begun) error {
	begun, err := json.Marshal(b)
	if err != nil {
		return err
	}
	r.change(m, func() { m.Begun = begun })
	r.write(m)
	return nil
}

// finish remembers an answer.
func (r *remembered) finish(m *memory, status int, header map[string]string, answer []byte) {
	r.change(m, func() { m.Status, m.Header, m.Answer, m.Begun, m.running = status, header, answer, nil, false })
	r.write(m)
}

// write keeps what is remembered of a request. When it cannot be written it is remembered while
// the server runs: what was asked for is done all the same.
func (r *remembered) write(m *memory) {
	if r.journal == nil {
		return
	}
	if err := r.journal.add(m, r.live); err != nil {
		r.log.Error("what is known of a request with an Idempotency-Key is forgotten when this server ends", "cause",
			err.Error())
	}
}

// live is what is remembered that is begun or done, as it is now.
func (r *remembered) live() (list []*memory) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.oldest {
		if m.size() > 0 {
			now := *m
			list = append(list, &now)
		}
	}
	return list
}

// journal is the file of what is remembered: a line of JSON for every answer,
// oldest first.
type journal struct {
	path   string
	lock   io.Closer
	disown func() // lets another server take documents

	mu    sync.Mutex
	file  *os.File // nil until the first line
	lines int
	bytes int
	torn  bool // the last line may be there in part, or not at all, or the file is that of a server before
}

// add appends an answer and makes it durable. When most lines may be of answers
// that are forgotten, or the last could not be written, the file is written anew with the
// live ones, m among them.
func (j *journal) add(m *memory, live func() []*memory) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.torn || j.lines >= 2*maxRemembered || j.bytes >= 2*rememberedBytes {
		return j.rewrite(live())
	}
	if j.file == nil {
		if j.file, err = os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
			return err
		}
		if err := (vfs.Disk{}).SyncDir(filepath.Dir(j.path)); err != nil {
			return err
		}
	}
	if _, err = j.file.Write(append(line, '\n')); err == nil {
		err = j.file.Sync()
	}
	j.lines, j.bytes, j.torn = j.lines+1, j.bytes+len(line), err != nil
	return err
}

// rewrite replaces the file by one with these answers alone; j.mu must be held.
func (j *journal) rewrite(live []*memory) error {
	var b bytes.Buffer
	for _, m := range live {
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	}
	if j.file != nil {
		_ = j.file.Close() // every line of it was synced
		j.file = nil
	}
	if err := vfs.WriteFile(j.path, b.Bytes(), 0); err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	j.lines, j.bytes, j.torn = len(live), b.Len(), false
	return vfs.Disk{}.SyncDir(filepath.Dir(j.path))
}

func (j *journal) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var err error
	if j.file != nil {
		err = j.file.Close()
		j.file = nil
	}
	err = errors.Join(err, j.lock.Close())
	j.disown() // behind it: who takes documents then can keep the file too
	return err
}
