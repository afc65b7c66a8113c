package ingest_test

import (
	"bytes"
	"compress/gzip"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"sheaf/ingest"
	"sheaf/internal/check"
	"sheaf/internal/must"
)

func randomBytes(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestRandomBytesAreNoText(t *testing.T) {
	must.Whole(t, "it decodes megabytes in one goroutine")
	for seed := range uint64(1000) {
		_, ok := ingest.Text(randomBytes(seed, 5000))
		check.That(t, !ok, "seed %d: random bytes pass as text", seed)
	}
}

func TestKnownFormatsAreNoText(t *testing.T) {
	noise := image.NewRGBA(image.Rect(0, 0, 50, 50))
	copy(noise.Pix, randomBytes(1, len(noise.Pix)))
	flat := image.NewPaletted(image.Rect(0, 0, 50, 50), color.Palette{color.White})
	made := map[string]*bytes.Buffer{"noise.png": {}, "flat.png": {}, "noise.jpg": {}, "text.gz": {}}
	zip := gzip.NewWriter(made["text.gz"])
	for _, err := range []error{
		png.Encode(made["noise.png"], noise), png.Encode(made["flat.png"], flat), jpeg.Encode(made["noise.jpg"], noise, nil),
		func() error { _, err := zip.Write([]byte(strings.Repeat("alpha beta ", 50))); return err }(), zip.Close(),
	} {
		must.Do(t, err)
	}
	made["text.pdf"] = bytes.NewBufferString("%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n")
	for name, b := range made {
		_, ok := ingest.Text(b.Bytes())
		check.That(t, !ok, "%s passes as text", name)
	}
}

func TestTextWithMarksIsText(t *testing.T) {
	for _, text := range []string{"alpha\x00beta\n", "GIF89a is a format.\n", "RIFF files hold sound.\n",
		"PK is a code, %PDF-1.4 begins others.\n", "BZh is a mark.\n"} {
		_, ok := ingest.Text([]byte(text))
		check.That(t, ok, "%q is no text", text)
	}
}
