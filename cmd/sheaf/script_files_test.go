package main

import (
	"context"
	endian "encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/rogpeppe/go-internal/testscript"

	"sheaf/collection/location"
	"sheaf/index/catalog"
	"sheaf/index/vfs"
	"sheaf/index/vfs/manifest"
	"sheaf/ingest"
	"sheaf/store/embedded"
	"sheaf/text/analysis"
)

// lookPath finds a program as a script does.
func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %s", name)
}

// words runs "words FILE BYTES": it writes random words to a file that is one hour old. The text is
// always the same.
func words(ts *testscript.TestScript, args []string) {
	size, err := strconv.Atoi(args[1])
	ts.Check(err)
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%s%c", strconv.FormatUint(r.Uint64N(1<<36), 36), " \n"[r.IntN(2)])
	}
	writeOld(ts, args[0], []byte(b.String()))
}

// copies runs "copies FROM N TO": it writes N copies of a file into one file.
func copies(ts *testscript.TestScript, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.Repeat(ts.ReadFile(args[0]), n)), 0o644))
}

// give runs "give INDEX TREE PATH TEXT": it puts a document without a file into an index.
func give(ts *testscript.TestScript, args []string) {
	index := folder(ts, args[0])
	c, err := catalog.Open(vfs.Disk{}, location.CatalogDir(index), catalog.Options{})
	ts.Check(err)
	defer c.Close()
	v := c.View()
	defer v.Close()
	a, err := analysis.Parse(v.Settings().Analyzer)
	ts.Check(err)
	b, err := embedded.Open(embedded.Options{Dir: location.EngineDir(index), Analyzer: a})
	ts.Check(err)
	defer b.Close()
	o := ingest.Options{Catalog: c, Backend: b, Settings: func(*catalog.Settings) {}} // works with any settings
	_, err = ingest.Put(context.Background(), o, []ingest.Given{{Tree: args[1], Path: args[2], Text: []byte(args[3])}})
	ts.Check(err)
}

// scratch runs "scratch OFFSET PATTERN": it flips one byte of each matching file. At least one file
// must match.
func scratch(ts *testscript.TestScript, args []string) {
	at, err := strconv.Atoi(args[0])
	ts.Check(err)
	for _, file := range matching(ts, args[1]) {
		data, err := os.ReadFile(file)
		ts.Check(err)
		data[at] ^= 1
		ts.Check(os.WriteFile(file, data, 0o600))
	}
}

var formatMember = regexp.MustCompile(`"format":\d+`)

// reformat runs "reformat container|content PATTERN...": it makes the matching files look as though
// another version wrote them, with another container or other content. At least one file must
// match.
func reformat(ts *testscript.TestScript, args []string) {
	content := args[0] == "content"
	castagnoli, le := crc32.MakeTable(crc32.Castagnoli), endian.LittleEndian
	for _, pattern := range args[1:] {
		for _, file := range matching(ts, pattern) {
			data, err := os.ReadFile(file)
			ts.Check(err)
			switch {
			case filepath.Base(file) == manifest.Name && content:
				m, err := manifest.Read(vfs.Disk{}, filepath.Dir(file))
				ts.Check(err)
				if m.Payload[0] == '{' {
					m.Payload = formatMember.ReplaceAll(m.Payload, []byte(`"format":99`))
				} else {
					m.Payload[0] = 99
				}
				ts.Check(manifest.Publish(vfs.Disk{}, filepath.Dir(file), m))
				continue
			case filepath.Base(file) == manifest.Name:
				le.PutUint32(data[8:], 99)
				le.PutUint32(data[len(data)-4:], crc32.Checksum(data[:len(data)-4], castagnoli))
			default:
				at := 8
				if content {
					at = 12
				}
				le.PutUint32(data[at:], 99)
				le.PutUint32(data[60:], crc32.Checksum(data[:60], castagnoli))
			}
			ts.Check(os.WriteFile(file, data, 0o600))
		}
	}
}

// writeUTF16 runs "utf16 FILE SOURCE": it writes a text in UTF-16 with a byte order mark. The file
// is one hour old.
func writeUTF16(ts *testscript.TestScript, args []string) {
	content := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(ts.ReadFile(args[1]))) {
		content = endian.LittleEndian.AppendUint16(content, unit)
	}
	writeOld(ts, args[0], content)
}
