package catalog

import (
	"errors"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxUnpacked is the largest unpacked size of a block in bytes: the largest window that the decoder accepts.
const maxUnpacked = zstd.MaxWindowSize

// recordWindow is the largest distance in bytes at which the compressor of records finds repetitions. Few blocks are
// longer, so the default window of some megabytes would waste memory.
const recordWindow = 256 << 10

// recordPacker compresses blocks of records, textPacker compresses texts. Their level, the fastest, takes a third of
// the default level's time and makes records 5 % larger.
var (
	recordPacker = sync.OnceValue(func() *zstd.Encoder { return newPacker(recordWindow) })
	textPacker   = sync.OnceValue(func() *zstd.Encoder { return newPacker(pieceBytes) })
)

func newPacker(window int) *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
		zstd.WithWindowSize(window),
		zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return e
}

var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

func pack(e *zstd.Encoder, b []byte) []byte { return e.EncodeAll(b, make([]byte, 0, len(b)/2+64)) }

var errUnpack = errors.New("the compressed data cannot be read")

// maxRatio is an upper bound of Zstandard's compression ratio. At best, 128 KiB become four bytes.
const maxRatio = 1 << 15

// unpack decompresses a block. If the content does not have exactly size bytes, unpack returns an error. It checks the
// size that the block states before it allocates memory.
func unpack(packed []byte, size uint64) ([]byte, error) {
	if size > maxUnpacked || size > uint64(len(packed))*maxRatio {
		return nil, errUnpack
	}
	var header zstd.Header
	if err := header.Decode(packed); size > 0 && (err != nil || !header.HasFCS || header.FrameContentSize != size) {
		return nil, errUnpack
	}
	b, err := unpacker().DecodeAll(packed, make([]byte, 0, size))
	if err != nil {
		return nil, err
	}
	if uint64(len(b)) != size {
		return nil, errUnpack
	}
	return b, nil
}
