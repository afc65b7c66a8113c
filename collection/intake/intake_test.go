package intake_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"sheaf"
	"sheaf/collection/intake"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func update(t testing.TB, in *intake.Intake, change func(*intake.Tx) error) {
	t.Helper()
	must.Do(t, in.Update(change))
}

func view(t testing.TB, in *intake.Intake, read func(*intake.Tx)) {
	t.Helper()
	must.Do(t, in.View(func(tx *intake.Tx) error { read(tx); return nil }))
}

// TestRevertRestoresVersionBefore checks that reverting restores the version before, even after several changes.
func TestRevertRestoresVersionBefore(t *testing.T) {
	in := intake.Open(t.TempDir())
	view(t, in, func(tx *intake.Tx) {
		check.That(t, tx.Document("api:a") == nil && len(tx.Changing()) == 0 && !tx.HasTask("x", intake.Head),
			"there is something before there is a file")
	})
	const a, b = sheaf.ID("api:a"), sheaf.ID("api:b")
	update(t, in, func(tx *intake.Tx) error { return tx.Set(a, []byte("one")) })
	update(t, in, func(tx *intake.Tx) error {
		return errors.Join(tx.Put(a, []byte("two")), tx.Put(a, nil), tx.Put(b, []byte("new")))
	})
	view(t, in, func(tx *intake.Tx) {
		content, ok := tx.Before(a)
		check.That(t, ok && string(content) == "one" && tx.Document(a) == nil, "before it was %q", content)
		content, ok = tx.Before(b)
		check.That(t, ok && content == nil && string(tx.Document(b)) == "new", "before it was %q", content)
		check.That(t, slices.Equal(tx.Changing(), []sheaf.ID{a, b}), "changing are %v", tx.Changing())
	})
	wrong := errors.New("wrong")
	check.Is(t, in.Update(func(tx *intake.Tx) error { return errors.Join(tx.Set(a, []byte("x")), wrong) }), wrong,
		"Update")
	update(t, in, func(tx *intake.Tx) error {
		return errors.Join(tx.Restore(a), tx.Restore(b))
	})
	view(t, in, func(tx *intake.Tx) {
		if string(tx.Document(a)) != "one" || tx.Document(b) != nil || len(tx.Changing()) > 0 {
			t.Errorf("%q, %q, %v", tx.Document(a), tx.Document(b), tx.Changing())
		}
		_, ok := tx.Hash(b)
		check.That(t, !ok, "the hash of a document is left that is gone")
	})
}

// TestKeyBounds checks that keys stay for a day, and only up to a maximum number.
func TestKeyBounds(t *testing.T) {
	in := intake.Open(t.TempDir())
	now := time.Unix(1_700_000_000, 0).UTC()
	put := func(tx *intake.Tx, name string, at time.Time) error {
		return tx.PutKey([]byte(name), fmt.Appendf(nil, `{"at": %q}`, at.Format(time.RFC3339Nano)), at, now)
	}
	update(t, in, func(tx *intake.Tx) error {
		var err error
		for i := range 10_100 {
			err = errors.Join(err, put(tx, fmt.Sprint(i), now.Add(time.Duration(i)*time.Millisecond)))
		}
		return errors.Join(err, put(tx, "10099", now.Add(time.Hour)), tx.DropKey([]byte("10098")), tx.DropKey([]byte("none")))
	})
	has := func(name string) (is bool) {
		view(t, in, func(tx *intake.Tx) { is = tx.Key([]byte(name), now) != nil })
		return is
	}
	for name, want := range map[string]bool{"0": false, "99": false, "100": true, "10097": true, "10098": false,
		"10099": true} {
		check.Equal(t, has(name), want, "the key %s is kept: %v", name, !want)
	}
	now = now.Add(24*time.Hour + time.Minute)
	check.That(t, !has("100") && has("10099"), "a key is kept for longer than a day, or less")
	update(t, in, func(tx *intake.Tx) error { return put(tx, "new", now) })
	db := must.Get(bbolt.Open(in.Path(), 0o600, nil))
	defer db.Close()
	_ = db.View(func(tx *bbolt.Tx) error {
		if n, times := tx.Bucket([]byte("keys")).Inspect().KeyN, tx.Bucket([]byte("key times")).Inspect().KeyN; n != 2 ||
			times != 2 {
			t.Errorf("%d keys are left, and %d times", n, times)
		}
		return nil
	})
}

// TestDamaged checks that a damaged file is reported, and repaired as far as it is readable.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	in := intake.Open(dir)
	update(t, in, func(tx *intake.Tx) error {
		var err error
		for i := range 300 {
			err = errors.Join(err, tx.Set(sheaf.ID(fmt.Sprintf("api:%03d", i)), fmt.Appendf(nil, `{"text": "%03d %s"}`, i,
				strings.Repeat("x", 300))))
		}
		return errors.Join(err, tx.WriteTask("t1", intake.Head, struct{}{}), tx.WriteTask("t1", intake.Work, []int{}))
	})
	must.Do(t, in.Check())
	whole := must.Get(os.ReadFile(in.Path()))
	for name, damage := range map[string]func([]byte) []byte{
		"a flipped bit of a text": func(b []byte) []byte {
			b[strings.Index(string(b), "150 xxx")] ^= 1
			return b
		},
		"cut off":  func(b []byte) []byte { return b[:len(b)/2] },
		"no pages": func(b []byte) []byte { return make([]byte, len(b)) },
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, os.WriteFile(in.Path(), damage(slices.Clone(whole)), 0o600))
			check.Fails(t, in.Check(), intake.ErrDamaged, in.Path(), "check")
			lost := must.Get(in.Repair(filepath.Join(dir, "damaged", name)))
			check.NoError(t, in.Check(), "repaired")
			if name != "a flipped bit of a text" {
				return
			}
			view(t, in, func(tx *intake.Tx) {
				n := 0
				for range tx.Hashes() {
					n++
				}
				check.That(t, n == 299 && slices.Equal(lost, []sheaf.ID{"api:150"}) && tx.HasTask("t1", intake.Work),
					"%d documents, lost are %v", n, lost)
			})
		})
	}
}

// TestRepairThatFails checks that the damaged file stays in place if Repair fails or its process is
// killed. Otherwise the next change would begin an empty file, and the documents would be lost.
func TestRepairThatFails(t *testing.T) {
	dir := t.TempDir()
	in := intake.Open(dir)
	must.Do(t, os.WriteFile(in.Path(), []byte("no pages"), 0o600))
	must.Do(t, os.MkdirAll(filepath.Join(in.Path()+".new", "in the way"), 0o700))
	if _, err := in.Repair(filepath.Join(dir, "aside", "damaged")); err == nil {
		t.Fatal("Repair wrote over a folder")
	}
	text, err := os.ReadFile(in.Path())
	check.That(t, err == nil && string(text) == "no pages", "the damaged file is %q, %v", text, err)
}

// TestLaterFormat checks that a file of a later version stays unchanged.
func TestLaterFormat(t *testing.T) {
	in := intake.Open(t.TempDir())
	update(t, in, func(tx *intake.Tx) error { return tx.Set("api:a", []byte("{}")) })
	db, err := bbolt.Open(in.Path(), 0o600, nil)
	must.Do(t, err)
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("format"), []byte("2")) })
	must.Do(t, errors.Join(err, db.Close()))
	nothing := func(*intake.Tx) error { return nil }
	for _, err := range []error{in.View(nothing), in.Update(nothing)} {
		check.That(t, errors.Is(err, sheaf.ErrUnsupported) && !errors.Is(err, intake.ErrDamaged), "%v", err)
	}
}

// TestCompact checks that a large, mostly free file shrinks and keeps its content.
func TestCompact(t *testing.T) {
	in := intake.Open(t.TempDir())
	update(t, in, func(tx *intake.Tx) error {
		return errors.Join(tx.Set("api:small", []byte("small")), tx.Set("api:large", make([]byte, 70<<20)))
	})
	must.Do(t, in.Compact())
	update(t, in, func(tx *intake.Tx) error { return tx.Set("api:large", nil) })
	must.Do(t, in.Compact())
	if info, err := os.Stat(in.Path()); err != nil || info.Size() > 1<<20 {
		t.Errorf("it has %d bytes, %v", info.Size(), err)
	}
	view(t, in, func(tx *intake.Tx) {
		check.Equal(t, string(tx.Document("api:small")), "small", "text of the document")
	})
}
