package postings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// compareUnpack compares the loops for this processor with plain Go.
func compareUnpack(t *testing.T, src []byte, n int, width uint, add, next uint32) {
	t.Helper()
	src = append(slices.Clone(src), make([]byte, n*4+slack)...)[:(n*int(width)+7)/8+slack]
	got, want := make([]uint32, n+1), make([]uint32, n+1)
	got[n], want[n] = 7, 7 // unpack does not write it
	unpack(got[:n], src, width, add)
	unpackGo(want[:n], src, width, add)
	must.That(t, slices.Equal(got, want), "%d values of %d bits, plus %d: %v, want %v", n, width, add, got, want)
	gotLast, wantLast := sumUp(got[:n], next), sumUpGo(want[:n], next)
	if gotLast != wantLast || wantLast != End && !slices.Equal(got, want) {
		t.Fatalf("%d gaps of %d bits from %d: %d %v, want %d %v", n, width, next, gotLast, got, wantLast, want)
	}
}

func TestUnpack(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	src := make([]byte, 4*BlockLen)
	for width := range uint(33) {
		for n := 1; n <= BlockLen; n++ {
			for i := range src {
				src[i] = byte(rng.Uint32())
			}
			compareUnpack(t, src, n, width, uint32(n&1), rng.Uint32N(MaxOrdinal))
		}
	}
}

// TestReadFrameBounds checks that a value too large for a frequency minus one is a fault, packed or
// as an exception.
func TestReadFrameBounds(t *testing.T) {
	most := uint32(1<<32 - 1)
	for _, values := range [][]uint32{slices.Repeat([]uint32{most}, 20), append(make([]uint32, 19), most),
		append(make([]uint32, 127), most)} {
		frame := append(appendFrame(nil, values), make([]byte, slack)...)
		got := make([]uint32, len(values))
		_, ok := readFrame(got, frame, 0)
		check.That(t, ok && slices.Equal(got, values), "%v became %v", values, got)
		_, ok = readFrame(got, frame, 1)
		check.That(t, !ok, "one more than %v is %v", values, got)
	}
}

// TestDocumentedFrame checks the frame of doc/formats/postings.md.
func TestDocumentedFrame(t *testing.T) {
	values := []uint32{1, 5, 2, 1, 40}
	frame := packFrame(nil, values, 2)
	check.Equal(t, fmt.Sprintf("%x", frame), "820165000101040a", "the frame")
	got := make([]uint32, len(values))
	rest, ok := readFrame(got, frame, 0)
	check.That(t, ok && len(rest) == 0 && slices.Equal(got, values), "%v became %v, %x are left", values, got, rest)
}

// FuzzFrame checks that no bytes make a frame panic or give a value below the added number.
func FuzzFrame(f *testing.F) {
	f.Add(appendFrame(nil, []uint32{1, 5, 2, 1, 40}), uint8(4), false)
	f.Add(appendFrame(nil, slices.Repeat([]uint32{3, 9, 1 << 31}, 40)), uint8(119), true)
	f.Fuzz(func(t *testing.T, src []byte, n uint8, one bool) {
		dst, add := make([]uint32, int(n)%BlockLen+1), uint32(0)
		if one {
			add = 1
		}
		if rest, ok := readFrame(dst, src, add); ok && (len(rest) > len(src) || slices.Min(dst) < add) {
			t.Fatalf("%d values of %x plus %d: %v", len(dst), src, add, dst)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("some bytes"), uint8(7), uint8(128), true, uint32(3))
	f.Add(slices.Repeat([]byte{255}, 512), uint8(25), uint8(127), false, uint32(MaxOrdinal))
	f.Add([]byte{}, uint8(32), uint8(8), true, uint32(0))
	f.Fuzz(func(t *testing.T, src []byte, width, n uint8, one bool, next uint32) {
		add := uint32(0)
		if one {
			add = 1
		}
		compareUnpack(t, src, int(n)%BlockLen+1, uint(width)%33, add, next&MaxOrdinal)
	})
}
