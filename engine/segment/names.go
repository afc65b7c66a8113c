package segment

import (
	"encoding/binary"
	"hash/maphash"
	"strings"
)

// names numbers names from 0, in the order in which they are first asked for: a hash
// table with open addressing. Names lie one after another in large pieces of memory, so
// that the garbage collector has little to look at. The zero value is ready.
type names struct {
	list  []string // by number
	slots []uint64 // the hash of a name in the upper half, its number plus 1 below; 0 is free
	seed  maphash.Seed
	piece strings.Builder
}

const (
	pieceBytes = 64 << 10
	// nameBytes is about how much memory a name takes beside its bytes.
	nameBytes = 40
)

// number is the number of a name; added says that it was not known.
func (n *names) number(name []byte) (number uint32, added bool) {
	if len(n.list)*4 >= len(n.slots)*3 {
		n.grow()
	}
	hash := maphash.Bytes(n.seed, name) >> 32
	mask := uint64(len(n.slots) - 1)
	i := hash & mask
	for ; n.slots[i] != 0; i = (i + 1) & mask {
		if slot := n.slots[i]; slot>>32 == hash && n.list[uint32(slot)-1] == string(name) {
			return uint32(slot) - 1, false
		}
	}
	if n.piece.Cap()-n.piece.Len() < len(name) {
		n.piece = strings.Builder{}
		n.piece.Grow(max(pieceBytes, len(name)))
	}
	from := n.piece.Len()
	n.piece.Write(name)
	n.list = append(n.list, n.piece.String()[from:])
	n.slots[i] = hash<<32 | uint64(len(n.list))
	return uint32(len(n.list)) - 1, true
}

func (n *names) grow() {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	old := n.slots
	n.slots = make([]uint64, max(1024, 2*len(old)))
	mask := uint64(len(n.slots) - 1)
	for _, slot := range old {
		if slot != 0 {
			i := slot >> 32 & mask
			for n.slots[i] != 0 {
				i = (i + 1) & mask
			}
			n.slots[i] = slot
		}
	}
}

// sortName is a name to be sorted: its first bytes, which decide most comparisons, and
// its number.
type sortName struct {
	head   uint64
	number uint32
}

func sortNameOf(name string, number uint32) sortName {
	var head [8]byte
	copy(head[:], name)
	return sortName{binary.BigEndian.Uint64(head[:]), number}
}

// compare orders names by their bytes.
func (n *names) compare(x, y sortName) int {
	switch {
	case x.head < y.head:
		return -1
	case x.head > y.head:
		return 1
	}
	return strings.Compare(n.list[x.number], n.list[y.number])
}
