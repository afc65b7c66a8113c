package remember_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/hashed"
	"sheaf/model/remember"
)

// counting counts the texts that the model gets.
type counting struct {
	hashed.Embedder
	texts int
	name  string
}

func (c *counting) Model() string { return c.name }

func (c *counting) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	c.texts += len(texts)
	return c.Embedder.Embed(ctx, p, texts)
}

// check embeds texts with e and checks the vectors, and how many texts its model was asked for.
func check(t *testing.T, step string, e *remember.Embedder, inner *counting, asked int, texts ...string) {
	t.Helper()
	want := must.Get(inner.Embedder.Embed(context.Background(), model.Passage, texts))
	inner.texts = 0
	got, err := e.Embed(context.Background(), model.Passage, texts)
	if err != nil || !reflect.DeepEqual(got, want) || inner.texts != asked {
		t.Errorf("%s: %v, %v, want %v; the model was asked for %d texts, want %d", step, got, err, want, inner.texts, asked)
	}
}

func TestNothingIsEmbeddedTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors")
	inner := &counting{hashed.New(8), 0, "m"}
	texts := []string{"one", "two", "one", "", "three words here"}
	e := remember.New(inner, path)
	check(t, "first", e, inner, 4, texts...)
	check(t, "again", e, inner, 1, texts...) // the empty text has no vector to store
	must.Do(t, e.Close())
	e = remember.New(inner, path)
	check(t, "reopened", e, inner, 0, texts[:3]...)
	if _, err := e.Embed(context.Background(), model.Query, []string{"one"}); err != nil || inner.texts != 1 {
		t.Errorf("queries are kept: %d, %v", inner.texts, err)
	}
	e.Close()

	// The last record is cut off and the second is damaged. Records before the fault are used, and
	// the other vectors are computed again.
	data := must.Get(os.ReadFile(path))
	must.Do(t, os.WriteFile(path, data[:len(data)-3], 0o600))
	e = remember.New(inner, path)
	check(t, "cut short", e, inner, 1, "one", "two", "three words here")
	e.Close()
	data[12+16+32+4+20] ^= 1
	must.Do(t, os.WriteFile(path, data, 0o600))
	e = remember.New(inner, path)
	check(t, "damaged", e, inner, 2, "one", "two", "three words here")
	e.Close()

	inner.name = "other"
	e = remember.New(inner, path)
	check(t, "another model", e, inner, 1, "one")
	e.Close()
	inner.Embedder = hashed.New(4)
	e = remember.New(inner, path)
	check(t, "other dimensions", e, inner, 1, "one")
	check(t, "other dimensions again", e, inner, 0, "one")
	e.Close()

	e = remember.New(inner, t.TempDir()) // a folder cannot be the file
	check(t, "no file", e, inner, 1, "one")
}

// TestEmbeddedPassagesStayCached checks that a long document keeps earlier vectors when later passages fail.
func TestEmbeddedPassagesStayCached(t *testing.T) {
	inner := &failing{counting{hashed.New(8), 0, "m"}, 100}
	e := remember.New(inner, filepath.Join(t.TempDir(), "vectors"))
	defer e.Close()
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = fmt.Sprint("word", i/2)
	}
	if _, err := e.Embed(context.Background(), model.Passage, texts); err == nil {
		t.Fatal("no error")
	}
	first := inner.texts
	inner.most = 1 << 20
	out, err := e.Embed(context.Background(), model.Passage, texts)
	if err != nil || first < 50 || inner.texts != 150 {
		t.Errorf("%d texts, then %d, %v", first, inner.texts-first, err)
	}
	out[0][0] = 7
	if out[1][0] == 7 {
		t.Error("two texts share one vector")
	}
}

// failing gives vectors of a fixed number of texts, then fails.
type failing struct {
	counting
	most int
}

func (f *failing) Embed(ctx context.Context, p model.Purpose, texts []string) ([][]float32, error) {
	if f.texts+len(texts) > f.most {
		return nil, errors.New("enough")
	}
	return f.counting.Embed(ctx, p, texts)
}

// TestSeveralProcesses checks that a process finds what another process stored in the open file. It
// never takes the vector of another text, for any order of writes.
func TestSeveralProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors")
	inner := &counting{hashed.New(8), 0, "m"}
	a, b := remember.New(inner, path), remember.New(inner, path)
	defer a.Close()
	defer b.Close()
	check(t, "one", a, inner, 1, "one")
	check(t, "two", b, inner, 1, "two")
	check(t, "three", a, inner, 1, "three")
	check(t, "two", a, inner, 0, "two")
	check(t, "two", b, inner, 0, "two")
	check(t, "one", b, inner, 0, "one")
	check(t, "three", b, inner, 0, "three")

	// Another process overwrote known records, or started a new file.
	data := must.Get(os.ReadFile(path))
	record := (len(data) - 12) / 3
	copy(data[12:12+record], data[12+record:])
	must.Do(t, os.WriteFile(path, data, 0o600))
	check(t, "one", a, inner, 1, "one")
	must.Do(t, os.Truncate(path, 0))
	check(t, "two", a, inner, 1, "two")
	check(t, "two", b, inner, 0, "two")
	check(t, "four", a, inner, 1, "four")
	check(t, "four", b, inner, 0, "four")
	c := remember.New(inner, path)
	defer c.Close()
	check(t, "two", c, inner, 0, "two")
	check(t, "four", c, inner, 0, "four")
}
