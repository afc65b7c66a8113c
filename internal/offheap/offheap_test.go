package offheap

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sheaf/internal/must"
)

// TestList checks that a list keeps its elements while it grows, and releases all its memory.
func TestList(t *testing.T) {
	before := InUse()
	rng := rand.New(rand.NewPCG(7, 1))
	for range 20 {
		var l List[uint64]
		var want []uint64
		for range rng.IntN(60) {
			switch rng.IntN(6) {
			case 0:
				l.Free()
				want = nil
			case 1:
				n := rng.IntN(5000)
				l.Make(n)
				want = make([]uint64, n)
			default:
				more := make([]uint64, rng.IntN(1<<rng.IntN(18)))
				for i := range more {
					more[i] = rng.Uint64()
				}
				want = append(want, more...)
				if rng.IntN(2) == 0 {
					l.Grow(len(more))
					l.Items = append(l.Items, more...)
				} else {
					for _, v := range more {
						l.Add(v)
					}
				}
			}
			must.That(t, slices.Equal(l.Items, want), "%d elements, want %d, or others", len(l.Items), len(want))
			if held := InUse() - before; held != int64(len(l.block.bytes)) || held < l.Bytes() {
				t.Fatalf("%d bytes in use for %d of elements", held, l.Bytes())
			}
		}
		l.Free()
		if l.Free(); InUse() != before {
			t.Fatalf("%d bytes are not given back", InUse()-before)
		}
	}
}

// TestTexts checks that texts of all lengths stay in place while others are added.
func TestTexts(t *testing.T) {
	before := InUse()
	rng := rand.New(rand.NewPCG(7, 2))
	for range 3 {
		var texts Texts
		var got, want []string
		size := int64(0)
		for i := range 5000 {
			text := strings.Repeat("abcdefg"[i%7:], rng.IntN(20))
			if rng.IntN(1000) == 0 {
				text = strings.Repeat("long", pieceBytes/2)
			}
			b := []byte(text)
			got, want = append(got, texts.Add(b)), append(want, text)
			clear(b) // the caller may change it
			size += int64(len(text))
		}
		if !slices.Equal(got, want) || texts.Bytes() != size {
			t.Fatalf("%d bytes of texts, want %d, or others", texts.Bytes(), size)
		}
		clear(got)
		if texts.Free(); InUse() != before || texts.Bytes() != 0 {
			t.Fatalf("%d bytes are not given back", InUse()-before)
		}
	}
}

// TestPoison checks that, with the race detector, reading freed memory returns nonsense.
func TestPoison(t *testing.T) {
	if !poisoned {
		t.Skip("freed memory is gone")
	}
	var l List[byte]
	l.Add('a')
	stale := l.Items
	if l.Free(); stale[0] != poison {
		t.Errorf("what is freed begins with %#x", stale[0])
	}
}

// TestUnusedMemoryIsCounted checks that the unused capacity of a list counts when it uses memory.
func TestUnusedMemoryIsCounted(t *testing.T) {
	var l List[byte]
	defer l.Free()
	l.Add('a')
	if want := int64(pageBytes); !l.block.mapped && l.Bytes() != want {
		t.Errorf("%d bytes, want %d of the heap", l.Bytes(), want)
	} else if l.block.mapped && l.Bytes() != 1 {
		t.Errorf("%d bytes, want 1 of a mapping", l.Bytes())
	}
	if l.block.mapped && Beside() != InUse() {
		t.Errorf("%d bytes are beside the heap of %d", Beside(), InUse())
	} else if !l.block.mapped && Beside() != 0 {
		t.Errorf("%d bytes are beside the heap, where nothing is", Beside())
	}
}
