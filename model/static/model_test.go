package static

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
)

// small is a model of four dimensions with known rows.
func small(t testing.TB) []byte {
	t.Helper()
	v := must.Get(ParseVocabulary([]byte("[UNK]\ncat\nsat\n##s\na\n")))
	rows := [][]float32{{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0.5, 0}, {0, 0, 0, 127}}
	data := must.Get(Write("small-1", v, rows))
	return data
}

func encoderOf(t testing.TB, m *Model, others *Unigram) *encoder {
	t.Helper()
	e := must.Get(newEncoder(m, others))
	return e
}

func TestEmbedIsTheUnitSumOfRows(t *testing.T) {
	m := must.Get(Open(small(t)))
	must.Do(t, m.Verify())
	must.That(t, m.Name() == "small-1" && m.Dims() == 4 && m.Vocabulary().Len() == 5, "name %q, %d dims, %d pieces",
		m.Name(), m.Dims(), m.Vocabulary().Len())
	e := encoderOf(t, m, nil)
	for _, c := range []struct {
		text string
		want []float32
	}{
		{"cat", []float32{1, 0, 0, 0}},
		{"Cat sat.", []float32{1, 1, 0, 0}}, // "." is [UNK]
		{"cats", []float32{1, 0, 0.5, 0}},
		{"a", []float32{0, 0, 0, 1}},
		{"dog", []float32{0, 0, 0, 0}},
		{"", []float32{0, 0, 0, 0}},
	} {
		got := make([]float32, 4)
		e.Embed(got, c.text)
		var square float64
		for _, x := range c.want {
			square += float64(x) * float64(x)
		}
		for i, x := range c.want {
			if square > 0 {
				x /= float32(math.Sqrt(square))
			}
			if math.Abs(float64(got[i]-x)) > 1e-6 {
				t.Errorf("%q: vector %v, want the direction of %v", c.text, got, c.want)
				break
			}
		}
	}
}

// TestEveryFlipIsSeen flips a bit of each byte of a table in turn, and cuts it. Opening or verifying must fail, and use
// must not panic.
func TestEveryFlipIsSeen(t *testing.T) {
	m := smallEnglish(t)
	_, others := smallTable(t)
	for name, c := range map[string]struct {
		data  []byte
		every int // of the bytes after the first 4,000
		open  func(data []byte, use string) error
	}{
		"English": {small(t), 1, func(data []byte, use string) error {
			m, err := Open(data)
			if err != nil {
				return err
			}
			encoderOf(t, m, nil).Embed(make([]float32, m.Dims()), "cats sat a dog "+use)
			return m.Verify()
		}},
		"others": {others, 7, func(data []byte, use string) error {
			u, err := OpenUnigram(data)
			if err != nil {
				return err
			}
			if e, err := newEncoder(m, u); err == nil {
				e.Embed(make([]float32, m.Dims()), use)
			}
			return u.Verify()
		}},
	} {
		for i := range c.data {
			if i > 4000 && i%c.every > 0 {
				continue
			}
			flipped := bytes.Clone(c.data)
			flipped[i] ^= 1 << (i % 8)
			err := c.open(flipped, sentences[i%len(sentences)])
			must.That(t, errors.Is(err, ErrCorrupt), "%s, byte %d flipped: %v", name, i, err)
		}
		for n := 0; n < len(c.data); n += 1 + len(c.data)/2000 {
			err := c.open(c.data[:n], "")
			must.That(t, errors.Is(err, ErrCorrupt), "%s, cut to %d bytes: %v", name, n, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	v := must.Get(ParseVocabulary([]byte("[UNK]\na\n")))
	nan := float32(math.NaN())
	for say, c := range map[string]struct {
		name string
		rows [][]float32
	}{
		"1 rows for 2":  {"m", [][]float32{{1}}},
		"holds NaN":     {"m", [][]float32{{1}, {nan}}},
		"has 2 dims":    {"m", [][]float32{{1}, {1, 2}}},
		"1 to 40 bytes": {"", [][]float32{{1}, {1}}},
	} {
		_, err := Write(c.name, v, c.rows)
		check.That(t, err != nil && strings.Contains(err.Error(), say), "got %v, want an error with %q", err, say)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(small(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Open(data)
		if err != nil {
			return
		}
		encoderOf(t, m, nil).Embed(make([]float32, m.Dims()), "cats sat [UNK] a ö")
		for id := range int32(m.Vocabulary().Len()) {
			_ = m.vocab.piece(id)
		}
	})
}

func ExampleEmbedder() {
	v, _ := ParseVocabulary([]byte("[UNK]\ncat\ndog\n"))
	file, _ := Write("toy-1", v, [][]float32{{0, 0}, {1, 0}, {0, 2}})
	m, _ := Open(file)
	e, _ := NewEmbedder(m.Name(), m, nil)
	vectors, _ := e.Embed(context.Background(), model.Passage, []string{"dog"})
	fmt.Println(vectors[0])
	// Output: [0 1]
}
