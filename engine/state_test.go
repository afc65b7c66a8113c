package engine

import (
	"reflect"
	"testing"

	"sheaf/vfs/manifest"
)

func TestState(t *testing.T) {
	s := state{generation: 7, analyzer: "x language=en", next: 12, vectors: []VectorModel{{"body", "m", 384}},
		segments: []entry{{"00000001.seg", []byte{1, 2}}, {"00000009.seg", nil}}}
	got, err := decodeState(manifest.Manifest{Generation: 7, Files: s.files(), Payload: s.encode()})
	if err != nil || !reflect.DeepEqual(got.files(), s.files()) || got.analyzer != s.analyzer || got.next != 12 || string(got.segments[0].deleted) != "\x01\x02" || got.vectors[0] != s.vectors[0] {
		t.Fatalf("%+v comes back as %+v, %v", s, got, err)
	}
}

// FuzzState: no payload makes the decoder panic.
func FuzzState(f *testing.F) {
	s := state{analyzer: "x", vectors: []VectorModel{{"body", "m", 384}}, segments: []entry{{"a", []byte{1, 2}}}}
	f.Add(s.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := decodeState(manifest.Manifest{Files: []string{"a"}, Payload: data})
		if err == nil && len(got.segments) != 1 {
			t.Fatalf("%d segments", len(got.segments))
		}
	})
}
