package intake

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"sheaf"
	"sheaf/index/catalog"
)

// These are the buckets of the file. doc/formats/intake.md describes them.
var (
	meta      = []byte("meta")
	documents = []byte("documents")
	hashes    = []byte("hashes")
	before    = []byte("before")
	tasks     = []byte(Head)
	works     = []byte(Work)
	results   = []byte(Results)
	keys      = []byte("keys")
	keyTimes  = []byte("key times")
)

var buckets = [][]byte{meta, documents, hashes, before, tasks, works, results, keys, keyTimes}

// format is the version of the file format. The bucket meta stores the version under formatKey.
const format = "1"

var formatKey = []byte("format")

func makeBuckets(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(meta).Put(formatKey, []byte(format))
}

// ofFormat converts use to a function that takes a transaction of bbolt. For a file of another format, this function
// returns an error.
func ofFormat(use func(*Tx) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		if b := tx.Bucket(meta); b != nil && string(b.Get(formatKey)) != format {
			return fmt.Errorf("%w: given documents have format %q, this program reads %s: use a newer version",
				sheaf.ErrUnsupported, b.Get(formatKey), format)
		}
		return use(&Tx{tx})
	}
}

// Tx is one transaction. Use it only inside the function that gets it. Its results are copies and stay valid.
type Tx struct{ tx *bbolt.Tx }

// get returns the value of a key in a bucket, or nil. The value is valid only during the transaction.
func (tx *Tx) get(bucket, key []byte) []byte {
	if tx.tx == nil || tx.tx.Bucket(bucket) == nil {
		return nil
	}
	return tx.tx.Bucket(bucket).Get(key)
}

// each yields the keys and values of a bucket, in the order of the keys.
func (tx *Tx) each(bucket []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(k, v []byte) bool) {
		if tx.tx == nil || tx.tx.Bucket(bucket) == nil {
			return
		}
		c := tx.tx.Bucket(bucket).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			if !yield(k, v) {
				return
			}
		}
	}
}

func (tx *Tx) check(bucket, key, value []byte) error {
	switch string(bucket) {
	case string(documents):
		if hash, ok := tx.Hash(sheaf.ID(key)); !ok || hash != catalog.HashOf(value) {
			return fmt.Errorf("the hash of %q does not match", key)
		}
	case string(hashes):
		if tx.get(documents, key) == nil {
			return fmt.Errorf("%q has a hash and no text", key)
		}
	case string(tasks), string(works), string(results), string(keys):
		if !json.Valid(value) {
			return fmt.Errorf("%q in %s is not JSON", key, bucket)
		}
	}
	return nil
}

func (tx *Tx) put(bucket, key, value []byte) error { return tx.tx.Bucket(bucket).Put(key, value) }

func (tx *Tx) drop(bucket, key []byte) error { return tx.tx.Bucket(bucket).Delete(key) }

// Document returns the stored form of a given document, or nil if there is no such document.
func (tx *Tx) Document(id sheaf.ID) []byte { return slices.Clone(tx.get(documents, []byte(id))) }

// Hash returns the hash of a given document's stored form. ok is false if there is no such document.
func (tx *Tx) Hash(id sheaf.ID) (hash catalog.Hash, ok bool) {
	return hash, copy(hash[:], tx.get(hashes, []byte(id))) > 0
}

// Hashes yields the ID and the hash of every given document.
func (tx *Tx) Hashes() iter.Seq2[sheaf.ID, catalog.Hash] {
	return func(yield func(sheaf.ID, catalog.Hash) bool) {
		for k, v := range tx.each(hashes) {
			var hash catalog.Hash
			if copy(hash[:], v); !yield(sheaf.ID(k), hash) {
				return
			}
		}
	}
}

// Changing returns the IDs of documents whose newest change the index may lack.
func (tx *Tx) Changing() (ids []sheaf.ID) {
	for k := range tx.each(before) {
		ids = append(ids, sheaf.ID(k))
	}
	return ids
}

// Before returns the version of a document before those changes that the index may lack. content is nil if the document
// did not exist then. If the index has all changes of the document, ok is false.
func (tx *Tx) Before(id sheaf.ID) (content []byte, ok bool) {
	v := tx.get(before, []byte(id))
	if len(v) == 0 {
		return nil, v != nil
	}
	return slices.Clone(v), true
}

// Put writes a document, or deletes it if content is nil. It keeps the previous version for Restore, unless an older
// version is kept already.
func (tx *Tx) Put(id sheaf.ID, content []byte) error {
	if _, changing := tx.Before(id); !changing {
		if err := tx.put(before, []byte(id), append([]byte{}, tx.Document(id)...)); err != nil {
			return err
		}
	}
	return tx.Set(id, content)
}

// Set writes or deletes a document like Put, and does not keep the previous version.
func (tx *Tx) Set(id sheaf.ID, content []byte) error {
	if content == nil {
		return errors.Join(tx.drop(documents, []byte(id)), tx.drop(hashes, []byte(id)))
	}
	hash := catalog.HashOf(content)
	return errors.Join(tx.put(documents, []byte(id), content), tx.put(hashes, []byte(id), hash[:]))
}

// Restore brings back the version of a document that Put kept. Without a kept version, Restore does nothing.
func (tx *Tx) Restore(id sheaf.ID) error {
	content, ok := tx.Before(id)
	if !ok {
		return nil
	}
	return errors.Join(tx.Set(id, content), tx.Taken(id))
}

// Taken records that the index has the newest change of a document. It drops the kept previous version.
func (tx *Tx) Taken(id sheaf.ID) error { return tx.drop(before, []byte(id)) }

// Part names one of the JSON texts that a task consists of: see the constants below.
type Part string

// These are the parts of a task. Work holds the changes of a waiting task. Results holds the results of an ended task.
// A waiting task also has Results after its changes are in intake.db, until the index has the changes too.
const (
	Head    Part = "tasks"
	Work    Part = "works"
	Results Part = "results"
)

// Tasks yields the IDs of all tasks, oldest first.
func (tx *Tx) Tasks() iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range tx.each(tasks) {
			if !yield(string(k)) {
				return
			}
		}
	}
}

// NewestTask returns the ID of the newest task, or "" if there is no task.
func (tx *Tx) NewestTask() string {
	k, _ := tx.tx.Bucket(tasks).Cursor().Last()
	return string(k)
}

// HasTask reports whether a task has a part.
func (tx *Tx) HasTask(id string, part Part) bool { return tx.get([]byte(part), []byte(id)) != nil }

// ReadTask reads a part of a task into value. If the task lacks the part, ReadTask returns false and no error.
func (tx *Tx) ReadTask(id string, part Part, value any) (ok bool, err error) {
	content := tx.get([]byte(part), []byte(id))
	if content == nil {
		return false, nil
	}
	if err := json.Unmarshal(content, value); err != nil {
		return false, fmt.Errorf("read task: %w: %w", sheaf.ErrCorrupt, err)
	}
	return true, nil
}

// WriteTask writes a part of a task.
func (tx *Tx) WriteTask(id string, part Part, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return tx.put([]byte(part), []byte(id), content)
}

// DropTask removes parts of a task.
func (tx *Tx) DropTask(id string, parts ...Part) (err error) {
	for _, part := range parts {
		err = errors.Join(err, tx.drop([]byte(part), []byte(id)))
	}
	return err
}

// KeyAge is the time for which the file keeps the results of idempotent requests. maxKeys limits their number.
const (
	KeyAge  = 24 * time.Hour
	maxKeys = 10_000
)

// keyTime has the time of a value in the bucket keys, as a member of its JSON.
type keyTime struct {
	At time.Time `json:"at"`
}

// timeKey returns a bucket key that begins with a time. So keys are sorted by time.
func timeKey(at time.Time, key []byte) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())), key...)
}

// Key returns the value of an idempotent request. If the value is missing or too old, Key returns nil.
func (tx *Tx) Key(key []byte, now time.Time) []byte {
	v := tx.get(keys, key)
	var of keyTime
	if v == nil || json.Unmarshal(v, &of) != nil || now.Sub(of.At) > KeyAge {
		return nil
	}
	return slices.Clone(v)
}

// Keys yields the keys and values of all idempotent requests. The keys and values are valid only during the
// transaction.
func (tx *Tx) Keys() iter.Seq2[[]byte, []byte] { return tx.each(keys) }

// PutKey stores the value of an idempotent request. The value is a JSON object; its member "at" is the time. PutKey
// removes values that are too old, and the oldest values if there are too many.
func (tx *Tx) PutKey(key, value []byte, at, now time.Time) error {
	if err := tx.DropKey(key); err != nil {
		return err
	}
	b := tx.tx.Bucket(keys)
	if err := tx.put(keyTimes, timeKey(at, key), []byte{}); err != nil {
		return err
	}
	if err := b.Put(key, value); err != nil {
		return err
	}
	if err := b.SetSequence(b.Sequence() + 1); err != nil { // the sequence counts the entries
		return err
	}
	for {
		oldest, _ := tx.tx.Bucket(keyTimes).Cursor().First()
		old := now.Add(-KeyAge).UnixNano()
		if len(oldest) < 8 || b.Sequence() <= maxKeys && binary.BigEndian.Uint64(oldest) >= uint64(max(old, 0)) {
			return nil
		}
		if err := tx.DropKey(bytes.Clone(oldest[8:])); err != nil {
			return err
		}
	}
}

// DropKey removes the value of an idempotent request.
func (tx *Tx) DropKey(key []byte) error {
	v := tx.get(keys, key)
	if v == nil {
		return nil
	}
	var of keyTime
	if err := json.Unmarshal(v, &of); err != nil {
		return fmt.Errorf("%w: read the entry of a key: %w", sheaf.ErrCorrupt, err)
	}
	b := tx.tx.Bucket(keys)
	if err := b.SetSequence(b.Sequence() - 1); err != nil {
		return err
	}
	if err := tx.drop(keyTimes, timeKey(of.At, key)); err != nil {
		return err
	}
	return b.Delete(key)
}
