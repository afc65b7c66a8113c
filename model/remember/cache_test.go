package remember_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

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

func TestNothingIsEmbeddedTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors")
	inner := &counting{hashed.New(8), 0, "m"}
	texts := []string{"one", "two", "one", "", "three words here"}
	want, err := hashed.New(8).Embed(context.Background(), model.Passage, texts)
	if err != nil {
		t.Fatal(err)
	}
	check := func(step string, e *remember.Embedder, texts []string, want [][]float32, asked int) {
		t.Helper()
		inner.texts = 0
		got, err := e.Embed(context.Background(), model.Passage, texts)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v", step, got, err)
		}
		if inner.texts != asked {
			t.Errorf("%s: the model was asked for %d texts, want %d", step, inner.texts, asked)
		}
	}
	e := remember.New(inner, path)
	check("first", e, texts, want, 4)
	check("again", e, texts, want, 1) // the empty text has no vector to store
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = remember.New(inner, path)
	check("reopened", e, texts[:3], want[:3], 0)
	if _, err := e.Embed(context.Background(), model.Query, []string{"one"}); err != nil || inner.texts != 1 {
		t.Errorf("queries are kept: %d, %v", inner.texts, err)
	}
	e.Close()

	// The last record is cut off and the second is damaged. Records before the fault are used, and
	// the other vectors are computed again.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-3], 0o600); err != nil {
		t.Fatal(err)
	}
	e = remember.New(inner, path)
	check("cut short", e, []string{"one", "two", "three words here"}, [][]float32{want[0], want[1], want[4]}, 1)
	e.Close()
	data[12+16+32+4+20] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	e = remember.New(inner, path)
	check("damaged", e, []string{"one", "two", "three words here"}, [][]float32{want[0], want[1], want[4]}, 2)
	e.Close()

	inner.name = "other"
	e = remember.New(inner, path)
	check("another model", e, []string{"one"}, want[:1], 1)
	e.Close()
	inner.Embedder = hashed.New(4)
	four, _ := hashed.New(4).Embed(context.Background(), model.Passage, []string{"one"})
	e = remember.New(inner, path)
	check("other dimensions", e, []string{"one"}, four, 1)
	check("other dimensions again", e, []string{"one"}, four, 0)
	e.Close()

	e = remember.New(inner, t.TempDir()) // a folder cannot be the file
	check("no file", e, []string{"one"}, four, 1)
}

// TestEmbeddedPassagesStayCached checks that a long document keeps its earlier vectors when later
// passages fail, and that every text has its own vector.
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
	check := func(e *remember.Embedder, text string, asked int) {
		t.Helper()
		want, err := hashed.New(8).Embed(context.Background(), model.Passage, []string{text})
		if err != nil {
			t.Fatal(err)
		}
		inner.texts = 0
		got, err := e.Embed(context.Background(), model.Passage, []string{text})
		if err != nil || !reflect.DeepEqual(got, want) || inner.texts != asked {
			t.Errorf("%s: %v, %v, want %v; the model was asked for %d, want %d", text, got, err, want, inner.texts, asked)
		}
	}
	a, b := remember.New(inner, path), remember.New(inner, path)
	defer a.Close()
	defer b.Close()
	check(a, "one", 1)
	check(b, "two", 1)
	check(a, "three", 1)
	check(a, "two", 0)
	check(b, "two", 0)
	check(b, "one", 0)
	check(b, "three", 0)

	// Another process overwrote known records, or started a new file.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	record := (len(data) - 12) / 3
	copy(data[12:12+record], data[12+record:])
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	check(a, "one", 1)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	check(a, "two", 1)
	check(b, "two", 0)
	check(a, "four", 1)
	check(b, "four", 0)
	c := remember.New(inner, path)
	defer c.Close()
	check(c, "two", 0)
	check(c, "four", 0)
}
