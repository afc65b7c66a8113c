package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/must"
	"sheaf/text/chunk"
)

// fuzzed lists the sections of a segment in the order of the fuzzer's arguments.
var fuzzed = []string{sectionData, sectionStates, sectionIDs, sectionGroups, sectionBlocks, sectionTexts, sectionPieces,
	sectionNames, sectionTargets, sectionLabels}

// segmentsFor returns the sections of sound segments, as seeds for the fuzzer.
func segmentsFor(f *testing.F) (seeds [][][]byte) {
	f.Helper()
	k := must.Get(chunk.New(chunk.Options{}))
	for _, n := range []int{1, 3, 20} {
		fsys := vfs.NewMem()
		var changes []Encoded
		for i := range n {
			text := []byte(fmt.Sprintf("---\naliases: [other %d]\ntags: [x, y]\nn: 1\n---\n# N %d\n\n[[n%d]] [l](n%d.md) "+
				"![[other 1]]\n", i, i, i/2, i+1))
			r := Record{Document: k.Chunk("t", fmt.Sprintf("f/n%02d.md", i), text), File: FileState{Size: int64(len(text))}}
			r.Text, r.HasText = text, i%2 == 1
			e := must.Get(Encode(&r))
			changes = append(changes, e)
		}
		changes = append(changes, Encoded{id: "t:gone.md"})
		if _, err := writeSegment(fsys, "/s", nil, changes, true, false); err != nil {
			f.Fatal(err)
		}
		r := must.Get(sectionfile.Open(fsys, "/s", kindSegment, format))
		var sections [][]byte
		for _, name := range fuzzed {
			data, _ := r.Section(name)
			sections = append(sections, data)
		}
		seeds = append(seeds, sections)
	}
	return seeds
}

// FuzzSegment checks that each query ends with an answer or a corruption error, for any content under valid
// checksums.
func FuzzSegment(f *testing.F) {
	for _, s := range segmentsFor(f) {
		f.Add(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9])
		forged := slices.Clone(s[1]) // the states contradict the records
		for at := 43; at < len(forged); at += stateBytes {
			forged[at] ^= stateAliases >> 24
		}
		f.Add(s[0], forged, s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9])
	}
	f.Fuzz(func(t *testing.T, data, states, ids, groups, blocks, texts, pieces, names, targets, labels []byte) {
		fsys := emptyFolder(t)
		w := must.Get(sectionfile.Create(fsys, "/c/catalog-000000000001", kindSegment, format))
		for i, section := range [][]byte{data, states, ids, groups, blocks, texts, pieces, names, targets, labels} {
			w.Section(fuzzed[i], section)
		}
		must.Do(t, must.Err(w.Close()))
		p := must.Get(json.Marshal(payload{Format: format, Segments: []segmentInfo{{"catalog-000000000001", 1}}, Docs: 1}))
		must.Do(t, manifest.Publish(fsys, "/c",
			manifest.Manifest{Generation: 1, Files: []string{"catalog-000000000001"}, Payload: p}))
		askEverything(t, fsys)
	})
}

func emptyFolder(t *testing.T) vfs.FS {
	t.Helper()
	fsys := vfs.NewMem()
	must.Do(t, fsys.MkdirAll("/c"))
	return fsys
}

// corruptOnly fails the test if err is not about corruption, absence, or an unsupported or invalid value.
func corruptOnly(t *testing.T, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, sheaf.ErrCorrupt) && !errors.Is(err, sheaf.ErrNotFound) &&
		!errors.Is(err, sheaf.ErrUnsupported) && !errors.Is(err, sheaf.ErrInvalid) {
		t.Fatal(err)
	}
}

// askEverything calls every query of a catalog in memory, changes the catalog, and salvages it.
func askEverything(t *testing.T, fsys vfs.FS) {
	c, err := Open(fsys, "/c", Options{Source: fsys})
	if err != nil {
		corruptOnly(t, err)
		return
	}
	defer c.Close()
	v := c.View()
	defer v.Close()
	asked := 0
	for id := range v.Files() {
		if asked++; asked > 50 {
			break
		}
		_, err := v.Record(id)
		corruptOnly(t, err)
		_, err = v.Text(id)
		corruptOnly(t, err)
		v.Links(id)
		v.Backlinks(id)
		v.References(id)
		v.Resolve(id, sheaf.Link{Kind: sheaf.LinkWiki, Target: "other 1", Fragment: "N 1"})
	}
	v.FolderSize("t", "f")
	_, err = v.Properties()
	corruptOnly(t, err)
	_, err = v.Warned()
	corruptOnly(t, err)
	for _, err := range append(v.Check(), v.Err()) {
		corruptOnly(t, err)
	}
	corruptOnly(t, c.Update(context.Background(), Update{Delete: []sheaf.ID{"t:f/n01.md", "t:a", "t:b", "t:c"}}))
	w, err := Examine(fsys, "/c", func(sheaf.ID, *Settings) bool { return true })
	corruptOnly(t, err)
	corruptOnly(t, w.Replace(func(*Settings) {}))
	corruptOnly(t, w.Close())
	sound := must.Get(Open(fsys, "/c", Options{Source: fsys}))
	defer sound.Close()
	after := sound.View()
	defer after.Close()
	faults := after.Check()
	must.That(t, len(faults) == 0, "what was made of the rest is not sound: %v", faults)
}

// FuzzPayload checks that Open succeeds or reports the fault for any manifest and list.
func FuzzPayload(f *testing.F) {
	f.Add([]byte(
		`{"format":2,"segments":[{"name":"catalog-000000000001","records":3}],`+
			`"settings":{"trees":[{"name":"t","root":"/t"}]},`+
			`"skipped":"catalog-skipped","docs":1}`),
		[]byte(`[{"path":"p","reason":"r"}]`), uint64(30))
	f.Add([]byte(`{"format":2,"skipped":"/l"}`), []byte{}, uint64(0))
	f.Add([]byte(`{"format":2,"pending":"catalog-pending","copy":"catalog-settings"}`), []byte(`{"t:a.md":"vectors"}`),
		uint64(1<<40))
	f.Add([]byte(`{"format":1}`), []byte{}, uint64(0))
	f.Fuzz(func(t *testing.T, said, list []byte, size uint64) {
		fsys := emptyFolder(t)
		for _, kind := range []string{kindSkipped, kindPending, kindSettings} {
			w := must.Get(sectionfile.Create(fsys, "/c/"+kind, kind, format))
			w.Section(sectionList, pack(recordPacker(), list))
			var e encoder
			e.b = append(e.b, byte(size), byte(size>>8), byte(size>>16), byte(size>>24), byte(size>>32), byte(size>>40), 0, 0)
			w.Section(sectionSize, e.b)
			must.Do(t, must.Err(w.Close()))
		}
		must.Do(t, manifest.Publish(fsys, "/c",
			manifest.Manifest{Generation: 1, Files: []string{kindSkipped, kindPending, kindSettings},
				Payload: said}))
		askEverything(t, fsys)
	})
}

// FuzzUnpack checks that unpack ends for any bytes and size, and allocates no more than the bytes
// can hold.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(recordPacker(), []byte("some words, some words")), uint64(22))
	f.Add(pack(recordPacker(), nil), uint64(0))
	f.Add(pack(recordPacker(), make([]byte, 100_000)), uint64(100_000))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd}, uint64(1<<40))
	f.Fuzz(func(t *testing.T, packed []byte, size uint64) {
		b, err := unpack(packed, size)
		must.That(t, err != nil || uint64(len(b)) == size, "%d bytes, not %d", len(b), size)
	})
}
