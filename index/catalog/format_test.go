package catalog

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// TestWorkedExample checks the example in doc/formats/catalog.md.
func TestWorkedExample(t *testing.T) {
	fsys, text := vfs.NewMem(), []byte("# A\nx\n")
	c := must.Get(Open(fsys, "/c", Options{}))
	defer c.Close()
	k := must.Get(chunk.New(chunk.Options{}))
	record := Record{Document: k.Chunk("t", "a.md", text), File: FileState{Size: int64(len(text)), Hash: HashOf(text)}}
	must.Do(t, c.Update(context.Background(), Update{Put: []Record{record}}))
	v := c.View()
	defer v.Close()
	r := must.Get(sectionfile.Open(fsys, filepath.Join("/c", v.payload.Segments[0].Name), kindSegment, 2))
	defer r.Close()
	le := binary.LittleEndian
	hash := HashOf(text)
	keys := []uint64{pathKey("t", "a"), nameKey("t", "a")}
	lists := []byte{1, 0, 1, 1} // one item each: document 0 with its path, document 0 with its name
	if keys[0] > keys[1] {
		keys[0], keys[1] = keys[1], keys[0]
		lists = []byte{1, 1, 1, 0}
	}
	names := append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, le.AppendUint64(le.AppendUint64(nil, keys[0]), keys[1])...)
	for section, want := range map[string][]byte{
		"ids":    []byte("\x06t:a.md"),
		"groups": {0, 0, 0, 0},
		"states": slices.Concat([]byte{6, 0, 0, 0, 0, 0, 0, 0}, make([]byte, 8), hash[:], make([]byte, 8),
			[]byte{2, 0, 0, 0, 0, 0, 0, 0}),
		"names":   slices.Concat(names, []byte{0, 0, 0, 0}, lists),
		"targets": make([]byte, 8),
		"texts":   nil,
		"pieces":  nil,
		"labels":  nil,
	} {
		got, ok := r.Section(section)
		check.That(t, ok && bytes.Equal(got, want), "%s is % x, want % x", section, got, want)
	}
	blocks, _ := r.Section("blocks")
	data, _ := r.Section("data")
	check.That(t, len(blocks) == 20 && le.Uint64(blocks) == 0 && int(le.Uint32(blocks[8:])) == len(data) &&
		le.Uint32(blocks[12:]) == 29 && le.Uint32(blocks[16:]) == sectionfile.Checksum(data),
		"blocks is % x, the data has %d bytes", blocks, len(data))
	unpacker := must.Get(zstd.NewReader(nil))
	defer unpacker.Close()
	want := "1c 01 41 00 00 00 00 00 00 00 00 00 02 82 00 00 00 00 00 0c 01 c1 02 01 04 00 02 01 00"
	block, err := unpacker.DecodeAll(data, nil)
	check.That(t, err == nil && fmt.Sprintf("% x", block) == want, "the block is % x, %v, want %s", block, err, want)
}
