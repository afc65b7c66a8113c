// Package remember stores the vectors of passages in a file, by model and text. So a passage is not embedded again
// after a rename or a rebuild, or when two notes share a paragraph. Its main type is [Embedder].
package remember

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"sheaf/model"
)

// A file has the magic and the number of dimensions (4 bytes), then records. A record has a key (16 bytes), a vector
// (float32), and the CRC-32C of both. Numbers are little endian. The next write overwrites an incomplete last record.
const (
	magic       = "SHEAFVC1"
	headerBytes = len(magic) + 4
	keyBytes    = 16
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Embedder is an embedder with a file of vectors. It implements model.Embedder.
type Embedder struct {
	inner model.Embedder
	path  string

	mu   sync.Mutex
	file *os.File                 // nil until it is needed
	at   map[[keyBytes]byte]int64 // offset of the record in the file
	end  int64                    // end of the known records
}

var _ model.Embedder = (*Embedder)(nil)

// New returns an embedder that stores the vectors of e in the file at path. The first passage opens the file. The
// embedder stores no vectors of queries. Several processes may open the file. If two write at the same time, vectors
// may be lost. To prevent this, the caller holds a lock of its own while it embeds passages.
func New(e model.Embedder, path string) *Embedder { return &Embedder{inner: e, path: path} }

// Model implements model.Embedder.
func (c *Embedder) Model() string { return c.inner.Model() }

// Dims implements model.Embedder.
func (c *Embedder) Dims() int { return c.inner.Dims() }

// portion is the largest number of texts that are embedded before their vectors are stored. So vectors survive if later
// texts fail.
const portion = 64

// Embed implements model.Embedder. It returns remembered vectors and computes the missing ones. If the file is
// unusable, it computes all vectors.
func (c *Embedder) Embed(ctx context.Context, purpose model.Purpose, texts []string) ([][]float32, error) {
	if purpose != model.Passage {
		return c.inner.Embed(ctx, purpose, texts)
	}
	out := make([][]float32, len(texts))
	places := map[[keyBytes]byte][]int{} // of the missing vectors
	var missing []string
	var keys [][keyBytes]byte
	c.mu.Lock()
	usable := c.open() == nil
	for i, text := range texts {
		key := c.key(text)
		if usable {
			out[i] = c.get(key)
		}
		if out[i] != nil {
			continue
		}
		if places[key] == nil {
			missing, keys = append(missing, text), append(keys, key)
		}
		places[key] = append(places[key], i)
	}
	c.mu.Unlock()
	for len(missing) > 0 {
		n := min(portion, len(missing))
		vectors, err := c.inner.Embed(ctx, purpose, missing[:n])
		if err != nil {
			return nil, err
		}
		if len(vectors) != n {
			return nil, fmt.Errorf("model %s gave %d vectors for %d texts", c.Model(), len(vectors), n)
		}
		c.appendVectors(keys[:n], vectors)
		for i, v := range vectors {
			for nth, at := range places[keys[i]] {
				if out[at] = v; nth > 0 {
					out[at] = slices.Clone(v)
				}
			}
		}
		missing, keys = missing[n:], keys[n:]
	}
	return out, nil
}

// appendVectors appends vectors to the file, if the file is usable.
func (c *Embedder) appendVectors(keys [][keyBytes]byte, vectors [][]float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open() != nil {
		return
	}
	for i, v := range vectors {
		if len(v) != c.Dims() { // nil, or not a vector of this model
			continue
		}
		record := append(make([]byte, 0, c.recordBytes()), keys[i][:]...)
		for _, x := range v {
			record = binary.LittleEndian.AppendUint32(record, math.Float32bits(x))
		}
		record = binary.LittleEndian.AppendUint32(record, crc32.Checksum(record, castagnoli))
		if _, err := c.file.WriteAt(record, c.end); err != nil {
			return
		}
		c.at[keys[i]] = c.end
		c.end += int64(len(record))
	}
}

func (c *Embedder) key(text string) [keyBytes]byte {
	return xxh3.HashString128(c.inner.Model() + "\x00" + text).Bytes()
}

// open opens the file if needed, and reads the keys that other processes have added. The caller holds mu.
func (c *Embedder) open() error {
	if c.file == nil {
		f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		c.file, c.end = f, 0
	}
	info, err := c.file.Stat()
	if err != nil {
		return err
	}
	if c.end == 0 || info.Size() < c.end { // opened now, or another process started a new file
		header := binary.LittleEndian.AppendUint32([]byte(magic), uint32(c.Dims()))
		got := make([]byte, headerBytes)
		if _, err := c.file.ReadAt(got, 0); err != nil || !bytes.Equal(got, header) {
			// The file is new or has other dimensions: start with an empty file.
			if err := c.file.Truncate(0); err != nil {
				return err
			}
			if _, err := c.file.WriteAt(header, 0); err != nil {
				return err
			}
		}
		c.at, c.end = map[[keyBytes]byte]int64{}, int64(headerBytes)
	}
	if info.Size() <= c.end {
		return nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(c.file, c.end, info.Size()-c.end), 1<<16)
	record := make([]byte, c.recordBytes())
	for {
		if _, err := io.ReadFull(r, record); err != nil || !intact(record) {
			return nil // the next record overwrites it
		}
		c.at[[keyBytes]byte(record)] = c.end
		c.end += int64(len(record))
	}
}

func (c *Embedder) recordBytes() int { return keyBytes + 4*c.Dims() + 4 }

func intact(record []byte) bool {
	n := len(record) - 4
	return crc32.Checksum(record[:n], castagnoli) == binary.LittleEndian.Uint32(record[n:])
}

// get returns the vector of a key, or nil. The record of a known key may be gone, because another process may have
// overwritten it. The caller holds mu.
func (c *Embedder) get(key [keyBytes]byte) []float32 {
	at, ok := c.at[key]
	if !ok {
		return nil
	}
	record := make([]byte, c.recordBytes())
	if _, err := c.file.ReadAt(record, at); err != nil || !intact(record) || [keyBytes]byte(record) != key {
		return nil
	}
	v := make([]float32, c.Dims())
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(record[keyBytes+4*i:]))
	}
	return v
}

// Close closes the file.
func (c *Embedder) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file = nil
	return err
}
