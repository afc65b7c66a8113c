package collection

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"time"

	"sheaf"
	"sheaf/collection/intake"
)

// Key makes it safe to repeat a request. If the same request comes again with this key within a day, the caller gets
// the first results. Another request with this key fails.
type Key struct {
	// Name is a hash of two things: who the caller is, and the key that the caller chose.
	Name [sha256.Size]byte
	// Request is a hash of the content of the request. It tells the same request from another one with the same key.
	Request [sha256.Size]byte
}

// keyRecord is what intake.db stores for a key: the request and its results.
type keyRecord struct {
	Request string    `json:"request"`
	At      time.Time `json:"at"`
	Done    bool      `json:"done"` // false if the index may lack the change
	Results []Stored  `json:"results,omitempty"`
	Task    *Task     `json:"task,omitempty"`
}

// results returns the results in the record, or nil if r is nil.
func (r *keyRecord) results() []Stored {
	if r == nil {
		return nil
	}
	return r.Results
}

// requestKey is the key of a running request. A request without a key has a nil requestKey, and all methods accept nil.
type requestKey struct {
	Key
	at  time.Time
	end func()
}

// errOtherRequest means that the caller used the key for a different request before.
var errOtherRequest = conflict(errors.New("the Idempotency-Key belongs to another request: send a new one"))

// useKey starts a request with the first of the keys. Without keys, all results are nil. If the request was done
// before, before is its record, and key is nil. Otherwise call key.release when the request ends. useKey fails if the
// key belongs to another request, or to a request that still runs.
func (c *Collection) useKey(ctx context.Context, keys []Key) (key *requestKey, before *keyRecord, err error) {
	if len(keys) == 0 {
		return nil, nil, nil
	}
	k := keys[0]
	if other, running := c.given.keys.LoadOrStore(k.Name, k); running {
		if other.(Key).Request != k.Request {
			return nil, nil, errOtherRequest
		}
		return nil, nil, conflict(errors.New("a request with this Idempotency-Key is still running: repeat this in a " +
			"moment"))
	}
	end := func() { c.given.keys.Delete(k.Name) }
	if err = c.acquireOwner(); err == nil { // otherwise another process accepts documents and keys
		if before, err = c.doneBefore(ctx, k); err == nil && before == nil {
			return &requestKey{Key: k, at: c.o.Now().UTC(), end: func() { end(); c.disown() }}, nil, nil
		}
		c.disown()
	}
	end()
	return nil, before, err
}

// doneBefore returns the record of a request that was done before, or nil.
func (c *Collection) doneBefore(ctx context.Context, k Key) (*keyRecord, error) {
	if err := c.prepare(ctx); err != nil {
		return nil, err
	}
	r, err := c.keyRecord(k.Name[:])
	if err == nil && r != nil && !r.Done { // its process was killed
		if err = c.recoverDocuments(ctx, false); err == nil {
			r, err = c.keyRecord(k.Name[:])
		}
	}
	if err == nil && r != nil && r.Request != hex.EncodeToString(k.Request[:]) {
		err = errOtherRequest
	}
	return r, err
}

func (c *Collection) keyRecord(name []byte) (r *keyRecord, err error) {
	err = c.given.file.View(func(tx *intake.Tx) error {
		if content := tx.Key(name, c.o.Now()); content != nil {
			r = &keyRecord{}
			return json.Unmarshal(content, r)
		}
		return nil
	})
	return r, err
}

// release ends the request that uses the key. Other requests may then use the key.
func (k *requestKey) release() {
	if k != nil {
		k.end()
	}
}

// putResults stores the results of a request under the key of the request. If the request is still running, the caller
// passes the results that the request will have.
func (k *requestKey) putResults(tx *intake.Tx, r keyRecord) error {
	if k == nil {
		return nil
	}
	r.Request, r.At = hex.EncodeToString(k.Request[:]), k.at
	return putKey(tx, k.Name[:], &r, k.at)
}

func putKey(tx *intake.Tx, name []byte, r *keyRecord, now time.Time) error {
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return tx.PutKey(name, content, r.At, now)
}

// entry is the task or the key to which a change belongs, or neither. intake.db stores the results of a change before
// the change is indexed. Until the change is indexed, the task is waiting, or Done in the record of the key is false.
type entry struct {
	task *keptTask
	key  *requestKey
}

// begin records that a change was accepted, with the results that it will have.
func (e entry) begin(tx *intake.Tx, results []Stored) error {
	if e.task != nil {
		return tx.WriteTask(e.task.ID, intake.Results, results)
	}
	return e.key.putResults(tx, keyRecord{Results: results})
}

func (e entry) end(tx *intake.Tx, results []Stored, now time.Time) error {
	if e.task != nil {
		return e.task.withEnd("", results, now).write(tx)
	}
	return e.key.putResults(tx, keyRecord{Done: true, Results: results})
}

// refuse records that the index refused the change. If e has a task, the task fails with failure as the reason, or runs
// again if failure is "". If e has only a key, refuse removes the key, so that the request can be repeated.
func (e entry) refuse(tx *intake.Tx, failure string, now time.Time) error {
	switch {
	case e.task != nil && failure != "":
		return e.task.withEnd(failure, nil, now).write(tx)
	case e.task != nil:
		return tx.DropTask(e.task.ID, intake.Results)
	case e.key != nil:
		return tx.DropKey(e.key.Name[:])
	}
	return nil
}

// begunChange is a change that a killed process began, with the results that it will have.
type begunChange struct {
	entry
	results []Stored
}

// begunChanges returns the changes whose end is not recorded. It skips unreadable tasks and keys.
func begunChanges(tx *intake.Tx) (list []begunChange) {
	for id := range tx.Tasks() {
		var b begunChange
		var err error
		if b.task, err = readTask(tx, id); err != nil || b.task.State != TaskWaiting {
			continue
		}
		if begun, err := tx.ReadTask(id, intake.Results, &b.results); begun && err == nil {
			list = append(list, b)
		}
	}
	for name, content := range tx.Keys() {
		var r keyRecord
		if json.Unmarshal(content, &r) != nil || r.Done {
			continue
		}
		key := &requestKey{at: r.At}
		copy(key.Name[:], name)
		sum, _ := hex.DecodeString(r.Request)
		copy(key.Request[:], sum)
		list = append(list, begunChange{entry{key: key}, r.Results})
	}
	return list
}

// finish records the end of changes that a killed process began. The index has the documents of these changes, except
// the rejected ones. The caller must have the right to write.
func (c *Collection) finish(rejected map[sheaf.ID]error) error {
	var begun []begunChange
	err := c.given.file.View(func(tx *intake.Tx) error { begun = begunChanges(tx); return nil })
	now := c.o.Now().UTC()
	for _, b := range begun {
		err = cmp.Or(err, c.given.file.Update(func(tx *intake.Tx) error {
			if failed := partOf(b.results, rejected); failed != nil {
				failure := ""
				if b.task != nil {
					failure = c.ownerText(b.task.ID, failed)
				}
				return b.refuse(tx, failure, now)
			}
			if err := c.describe(b.results); err != nil {
				return err
			}
			return b.end(tx, b.results, now)
		}))
	}
	return err
}
