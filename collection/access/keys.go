package access

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/internal/jsonname"
)

// Key is a secret with its grant. The file stores only the SHA-256 of the secret. The secret has 256 random bits, so a
// slow hash would not protect it better.
type Key struct {
	ID      string    `json:"id"`
	Hash    string    `json:"hash"` // hexadecimal
	Created time.Time `json:"created"`
	// Revoked is the time when the key was revoked. A revoked key stays in the file.
	Revoked time.Time `json:"revoked,omitzero"`
	Grant
}

// Active reports whether the key is valid at the given time: neither expired nor revoked.
func (k *Key) Active(now time.Time) bool {
	return k.Revoked.IsZero() && !k.Ended(now)
}

// Keys is a file of keys. Each method reads the newest version of the file, because other processes may change the
// file. Keys is safe for concurrent use.
type Keys struct {
	path string
	now  func() time.Time

	mu    sync.Mutex
	state fs.FileInfo // the state of the file when keys was read; nil without a file
	keys  []Key
}

const keysFormat = 1

type keysFile struct {
	Format int   `json:"format"`
	Keys   []Key `json:"keys"`
}

// OpenKeys opens a file of keys. The file may be missing. If the file is unreadable, OpenKeys fails: a server must not
// take an unreadable file for "no keys".
func OpenKeys(path string) (*Keys, error) {
	k := &Keys{path: path, now: time.Now}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k, k.read()
}

// errGone means that the file of keys disappeared. The text does not name the file, because callers of a server see it.
var errGone = fmt.Errorf("%w: the keys are gone", sheaf.ErrUnavailable)

// read loads the newest version of the file. If read fails, the keys in memory do not change. The caller holds k.mu.
func (k *Keys) read() error {
	if k.state != nil {
		if still, err := vfs.Still(vfs.Disk{}, k.path, k.state); err == nil && still {
			return nil
		}
	}
	state, err := os.Stat(k.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && k.state == nil:
		if _, err := os.Lstat(k.path); err == nil {
			return fmt.Errorf("read keys: %w: %s is a link to a file that does not exist", sheaf.ErrUnavailable, k.path)
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errGone
	case err != nil:
		return fmt.Errorf("read keys: %w", err)
	}
	content, err := os.ReadFile(k.path)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	var version struct{ Format int }
	if err := json.Unmarshal(content, &version); err != nil {
		return k.corrupt("%w", err)
	}
	if version.Format != keysFormat {
		return fmt.Errorf("read keys: %w: %s has format %d, this program reads %d", sheaf.ErrUnsupported, k.path,
			version.Format, keysFormat)
	}
	var file keysFile
	strict := json.NewDecoder(bytes.NewReader(content))
	strict.DisallowUnknownFields() // a misspelled field may restrict a key
	if err := strict.Decode(&file); err != nil {
		return k.corrupt("%w", err)
	}
	if name, ok := jsonname.Twice(content, jsonname.AnyCase); ok { // a repeated member could replace a restriction
		return k.corrupt("%q appears twice in one object", name)
	}
	of := map[string]string{}
	for i := range file.Keys {
		key := &file.Keys[i]
		if err := key.Validate(); err != nil {
			return k.corrupt("key %q: %w", key.ID, err)
		}
		if first, ok := of[key.Hash]; ok { // revoking one of the two would leave the secret valid
			return fmt.Errorf("read keys: %w: %s: the keys %q and %q are the same secret: remove one",
				sheaf.ErrCorrupt, k.path, first, key.ID)
		}
		of[key.Hash] = key.ID
	}
	k.keys, k.state = file.Keys, state
	return nil
}

// corrupt returns the error for a damaged file of keys.
func (k *Keys) corrupt(format string, args ...any) error {
	return fmt.Errorf("read keys: %w: %s: %w: restore the file from a backup, or remove it and make the keys again",
		sheaf.ErrCorrupt, k.path, fmt.Errorf(format, args...))
}

// Any reports whether there is a key or ever was one. If so, every caller needs a key.
func (k *Keys) Any() (bool, error) {
	if k == nil {
		return false, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.read()
	return len(k.keys) > 0 || k.state != nil, err
}

// List returns all keys, oldest first.
func (k *Keys) List() ([]Key, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.read()
	return slices.Clone(k.keys), err
}

// ErrKey means that a secret is unknown, or that its key is revoked or expired. The error does not say which of the
// three is the reason. It wraps sheaf.ErrNotFound.
var ErrKey = fmt.Errorf("%w: the key is unknown, expired or revoked", sheaf.ErrNotFound)

// Find returns the key of a secret, or [ErrKey]. The time that Find takes reveals nothing about the right secrets.
func (k *Keys) Find(secret string) (Key, error) {
	sum := sha256.Sum256([]byte(secret))
	hash := hex.EncodeToString(sum[:])
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.read(); err != nil {
		return Key{}, err
	}
	found := -1
	for i := range k.keys {
		if subtle.ConstantTimeCompare([]byte(k.keys[i].Hash), []byte(hash)) == 1 {
			found = i
		}
	}
	if found < 0 || !k.keys[found].Active(k.now()) {
		return Key{}, ErrKey
	}
	return k.keys[found], nil
}

// Add makes a key with a grant and returns the secret. The file does not store the secret.
func (k *Keys) Add(grant Grant) (key Key, secret string, err error) {
	if err := grant.Validate(); err != nil {
		return Key{}, "", err
	}
	random := make([]byte, 40)
	_, _ = rand.Read(random) // crypto/rand never fails
	key = Key{ID: strings.ToLower(base32.StdEncoding.EncodeToString(random[:5])),
		Created: k.now().UTC().Truncate(time.Second), Grant: grant}
	secret = "sheaf_" + key.ID + "_" + base64.RawURLEncoding.EncodeToString(random[8:])
	sum := sha256.Sum256([]byte(secret))
	key.Hash = hex.EncodeToString(sum[:])
	err = k.change(func(keys []Key) ([]Key, error) { return append(keys, key), nil })
	return key, secret, err
}

// called returns indexes in keys: of the key whose ID is name, or of all active keys with this name.
func called(keys []Key, name string, now time.Time) (at []int) {
	for i := range keys {
		if keys[i].ID == name && keys[i].Revoked.IsZero() {
			return []int{i}
		}
		if keys[i].Name == name && keys[i].Active(now) {
			at = append(at, i)
		}
	}
	return at
}

// Revoke ends a key at once. name is the ID of the key, or the name of exactly one active key. If no key fits, the
// error is sheaf.ErrNotFound. If several keys have this name, the error is sheaf.ErrInvalid.
func (k *Keys) Revoke(name string) (Key, error) {
	var revoked Key
	err := k.change(func(keys []Key) ([]Key, error) {
		switch at := called(keys, name, k.now()); len(at) {
		case 0:
			return nil, fmt.Errorf("%w: no active key is called %q", sheaf.ErrNotFound, name)
		case 1:
			keys[at[0]].Revoked = k.now().UTC().Truncate(time.Second)
			revoked = keys[at[0]]
			return keys, nil
		}
		return nil, sheaf.Invalidf("several keys are called %q: give an ID, which sheaf key list shows", name)
	})
	return revoked, err
}

// Named is a key. By is the name or ID with which [Keys.Revoke] finds the key.
type Named struct {
	Key
	By string
}

// Active returns the active keys, oldest first. The field By of each is the name of the key, or its ID if several keys
// match the name.
func (k *Keys) Active() ([]Named, error) {
	keys, err := k.List()
	var active []Named
	for i := range keys {
		if !keys[i].Active(k.now()) {
			continue
		}
		by := keys[i].Name
		if at := called(keys, by, k.now()); len(at) != 1 || at[0] != i {
			by = keys[i].ID
		}
		active = append(active, Named{keys[i], by})
	}
	return active, err
}

// lockPatience is the longest time that a change of keys waits for another process. After this time, the change fails.
// lockStep is the time between two attempts.
const (
	lockPatience = 5 * time.Second
	lockStep     = 5 * time.Millisecond
)

// change reads the newest file, changes its keys with the function edit, and replaces the whole file durably. It holds
// a lock, so it loses no change of another process, such as a revoked key.
func (k *Keys) change(edit func([]Key) ([]Key, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	path := k.path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // keep a link to a shared file
	}
	lock, err := vfs.Disk{}.Lock(path + ".lock")
	for began := time.Now(); errors.Is(err, vfs.ErrLocked) && time.Since(began) < lockPatience; {
		time.Sleep(lockStep)
		lock, err = vfs.Disk{}.Lock(path + ".lock")
	}
	if err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	defer lock.Close()
	if err := k.read(); err != nil {
		return err
	}
	keys, err := edit(slices.Clone(k.keys))
	if err != nil {
		return err
	}
	content, err := json.MarshalIndent(keysFile{keysFormat, keys}, "", "  ")
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(path, append(content, '\n'), 0); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	if err := (vfs.Disk{}).SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write keys: %w", err)
	}
	return k.read()
}
