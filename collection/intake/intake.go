// Package intake stores what programs give to an index: documents without files, tasks, and results of idempotent
// requests. All data are in one file, so that one transaction can change related data.
package intake

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolt "go.etcd.io/bbolt/errors"

	"sheaf"
	"sheaf/index/vfs"
)

// FileName is the name of the file in the folder of an index.
const FileName = "intake.db"

// lockPatience is the longest time that a transaction waits for other processes. After this time, the transaction fails
// with sheaf.ErrUnavailable.
const lockPatience = 10 * time.Second

// Intake is the intake.db of one index. Each transaction opens and closes the file, so that other processes can read
// the file between transactions. An Intake is safe for concurrent use.
type Intake struct {
	dir  string
	name string // the name of the file
	mu   sync.Mutex
}

// Open returns the Intake in the folder dir. Open neither reads nor makes the file.
func Open(dir string) *Intake { return &Intake{dir: dir, name: FileName} }

// Path returns the path of the file.
func (in *Intake) Path() string { return filepath.Join(in.dir, in.name) }

// View calls the function read with a transaction. If the file is missing or the Intake is nil, the transaction is
// empty.
func (in *Intake) View(read func(*Tx) error) error {
	if in == nil {
		return read(&Tx{})
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, err := os.Stat(in.Path()); errors.Is(err, fs.ErrNotExist) {
		return read(&Tx{})
	}
	return in.transact(true, func(db *bbolt.DB) error { return db.View(ofFormat(read)) })
}

// Update calls the function change with a transaction that can write. If Update succeeds, all writes are durable; if it
// fails, the file does not change.
func (in *Intake) Update(change func(*Tx) error) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.make(); err != nil {
		return err
	}
	return in.transact(false, func(db *bbolt.DB) error { return db.Update(ofFormat(change)) })
}

// make creates a missing file. After a crash, the file is either complete or missing.
func (in *Intake) make() error {
	if _, err := os.Stat(in.Path()); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := (vfs.Disk{}).MkdirAll(in.dir); err != nil {
		return err
	}
	return in.replace(func(db *bbolt.DB) error { return db.Update(makeBuckets) })
}

// replace replaces the file by a new one, whose content fill writes.
func (in *Intake) replace(fill func(*bbolt.DB) error) error {
	next := in.Path() + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a killed process
		return err
	}
	db, err := bbolt.Open(next, 0o600, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(fill(db), db.Close()); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return errors.Join(os.Rename(next, in.Path()), vfs.Disk{}.SyncDir(in.dir))
}

// transact opens the file, and calls the function use with the open file for one transaction. If the file is damaged,
// the error is [ErrDamaged]. The caller holds in.mu.
func (in *Intake) transact(readOnly bool, use func(*bbolt.DB) error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // reading a truncated file causes a fault
	defer func() {
		if r := recover(); r != nil {
			err = in.corrupt(fmt.Errorf("%v", r))
		}
	}()
	db, err := bbolt.Open(in.Path(), 0o600, &bbolt.Options{ReadOnly: readOnly, Timeout: lockPatience})
	switch {
	case errors.Is(err, bolt.ErrTimeout):
		return fmt.Errorf("%w: another process uses %s", sheaf.ErrUnavailable, in.Path())
	case errors.Is(err, bolt.ErrInvalid), errors.Is(err, bolt.ErrVersionMismatch), errors.Is(err, bolt.ErrChecksum):
		return in.corrupt(err)
	case err != nil:
		return fmt.Errorf("open %s: %w", in.Path(), err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return use(db)
}

// ErrDamaged means that the file is damaged. Until it is repaired, nothing can be added.
var ErrDamaged = fmt.Errorf("%w: the file of given documents is damaged; run sheaf check --repair",
	sheaf.ErrUnavailable)

func (in *Intake) corrupt(err error) error {
	return fmt.Errorf("%w: %s: %w", ErrDamaged, in.Path(), err)
}

// Check reads the whole file, and returns an error if it is damaged. A missing file is not an error.
func (in *Intake) Check() error {
	return in.View(func(tx *Tx) error {
		for _, bucket := range buckets {
			for k, v := range tx.each(bucket) {
				if err := tx.check(bucket, k, v); err != nil {
					return in.corrupt(err)
				}
			}
		}
		return nil
	})
}

// Repair copies the damaged file to the path aside, and replaces it by a new one with all readable entries. It returns
// the lost documents. Only the process that accepts documents may call Repair.
func (in *Intake) Repair(aside string) (lost []sheaf.ID, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := copyFile(in.Path(), aside); err != nil {
		return nil, err
	}
	damaged := &Intake{dir: filepath.Dir(aside), name: filepath.Base(aside)}
	err = in.replace(func(db *bbolt.DB) error {
		return db.Update(func(to *bbolt.Tx) error {
			if err := makeBuckets(to); err != nil {
				return err
			}
			for _, bucket := range buckets[1:] { // makeBuckets wrote meta
				into := to.Bucket(bucket)
				_ = damaged.View(func(tx *Tx) error { // up to the first unreadable entry
					for k, v := range tx.each(bucket) {
						switch {
						case tx.check(bucket, k, v) == nil:
							err = errors.Join(err, into.Put(bytes.Clone(k), bytes.Clone(v)))
						case string(bucket) == string(documents):
							lost = append(lost, sheaf.ID(k))
						}
					}
					return into.SetSequence(tx.tx.Bucket(bucket).Sequence())
				})
			}
			for _, id := range lost {
				err = errors.Join(err, to.Bucket(hashes).Delete([]byte(id)))
			}
			return err
		})
	})
	return lost, err
}

// copyFile copies a file durably. It makes the folder of the copy, if necessary.
func copyFile(from, to string) error {
	if err := (vfs.Disk{}).MkdirAll(filepath.Dir(to)); err != nil {
		return err
	}
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }() // the file was only read
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Sync(), dst.Close(), vfs.Disk{}.SyncDir(filepath.Dir(to)))
}

// Compact leaves files smaller than compactBytes unchanged. compactTx is the size of one transaction in bytes.
const (
	compactBytes = 64 << 20
	compactTx    = 16 << 20
)

// Compact makes a large file smaller if more than half is free. Only the process that accepts documents may call it.
func (in *Intake) Compact() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	info, err := os.Stat(in.Path())
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < compactBytes {
		return nil
	}
	if err != nil {
		return err
	}
	free := int64(0)
	err = in.transact(false, func(db *bbolt.DB) error {
		tx, err := db.Begin(true)
		if err == nil {
			err = tx.Rollback() // Rollback counts the free pages
		}
		free = int64(db.Stats().FreePageN) * int64(db.Info().PageSize)
		return err
	})
	if err != nil || free <= info.Size()/2 {
		return err
	}
	return in.transact(true, func(from *bbolt.DB) error {
		return in.replace(func(to *bbolt.DB) error { return bbolt.Compact(to, from, compactTx) })
	})
}
