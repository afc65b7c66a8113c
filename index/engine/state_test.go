package engine

import (
	"fmt"
	"reflect"
	"testing"

	"sheaf/index/engine/segment"
	"sheaf/index/vfs/manifest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func TestState(t *testing.T) {
	s := state{generation: 7, analyzer: "x language=en", next: 12, vectors: []VectorModel{{"body", "m", 384}},
		segments: []entry{{"00000001.seg", []byte{1, 2}}, {"00000009.seg", nil}}}
	got, err := decodeState(manifest.Manifest{Generation: 7, Files: s.files(), Payload: s.encode()})
	must.That(t, err == nil && reflect.DeepEqual(got.files(), s.files()) && got.analyzer == s.analyzer && got.next == 12 &&
		string(got.segments[0].deleted) == "\x01\x02" && got.vectors[0] == s.vectors[0], "%+v comes back as %+v, %v", s, got,
		err)
}

// FuzzState checks that no payload makes the decoder panic.
func FuzzState(f *testing.F) {
	s := state{analyzer: "x", vectors: []VectorModel{{"body", "m", 384}}, segments: []entry{{"a", []byte{1, 2}}}}
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeState(manifest.Manifest{Files: []string{"a"}, Payload: data})
		must.That(t, err != nil || len(got.segments) == 1, "%d segments", len(got.segments))
	})
}

// TestDocumentedState checks the worked example of doc/formats/index.md.
func TestDocumentedState(t *testing.T) {
	deleted := segment.NewBitset(10)
	for _, o := range []uint32{0, 1, 5} {
		deleted.Set(o)
	}
	s := state{analyzer: "sheaf-2", next: 2,
		segments: []entry{{"00000001.seg", nil}, {"00000002.seg", deleted.AppendRuns(nil)}}}
	check.Equal(t, fmt.Sprintf("%x", s.encode()), "0107736865"+"61662d32"+"0200"+"00"+"0400010300", "the example")
}
