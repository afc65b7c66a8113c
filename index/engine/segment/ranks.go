package segment

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"sheaf/index/vfs/sectionfile"
)

// The rank of a chunk is the place of its identifier among the sorted identifiers of the segment. Ranks are stored by
// ordinal. Adjacent chunks mostly have similar identifiers. So a block stores rankBlock ranks as differences from its
// least rank, in the bits that the largest difference needs:
//
//	headers  for each block: the least rank (3 bytes), the bits of a rank (1 byte), and where
//	         the block begins after the headers (4 bytes), little endian
//	blocks   the lowest bits first, each block rounded up to bytes
//	         4 zero bytes, so that a reader can read 4 bytes wherever a rank begins
const (
	rankBlock  = 64
	rankHeader = ordinalBytes + 1 + 4
	rankMore   = 4
)

func rankBlocks(n int) int { return (n + rankBlock - 1) / rankBlock }

func appendRanks(dst []byte, ranks []uint32) []byte {
	var blocks []byte
	for block := range slices.Chunk(ranks, rankBlock) {
		least := slices.Min(block)
		width := bits.Len32(slices.Max(block) - least)
		dst = binary.LittleEndian.AppendUint32(dst, least|uint32(width)<<24)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(blocks)))
		acc, filled := uint64(0), 0
		for _, rank := range block {
			acc |= uint64(rank-least) << filled
			for filled += width; filled >= 8; filled -= 8 {
				blocks = append(blocks, byte(acc))
				acc >>= 8
			}
		}
		if filled > 0 {
			blocks = append(blocks, byte(acc))
		}
	}
	dst = append(dst, blocks...)
	return append(dst, make([]byte, rankMore)...)
}

// rankOf reads the rank of a chunk from the section. chunks is the number of chunks in the segment.
func rankOf(section *sectionfile.Paged, ordinal int, chunks int) (uint32, error) {
	at := ordinal / rankBlock * rankHeader
	header, err := section.Slice(at, rankHeader)
	if err != nil {
		return 0, err
	}
	least, width := get24(header), int(header[ordinalBytes])
	place := uint64(rankBlocks(chunks)*rankHeader) + uint64(binary.LittleEndian.Uint32(header[ordinalBytes+1:]))
	bit := ordinal % rankBlock * width
	if width > 8*ordinalBytes || place > uint64(section.Len()) {
		return 0, section.Corrupt(at, "ranks of %d bits at byte %d of %d", width, place, section.Len())
	}
	b, err := section.Slice(int(place)+bit/8, ordinalBytes+1)
	if err != nil {
		return 0, err
	}
	return least + binary.LittleEndian.Uint32(b)>>(bit%8)&(1<<width-1), nil
}
