package segment

import (
	"encoding/binary"
	"hash/maphash"
	"strings"

	"sheaf/internal/offheap"
)

// names gives each name a number, counted from 0 in the order of first use. It is a hash table with open addressing.
// The zero value is ready. The caller must call free at the end.
type names struct {
	list  offheap.List[string] // by number
	slots offheap.List[uint64] // the hash of a name in the upper half, its number plus 1 below; 0 means free
	seed  maphash.Seed
	texts offheap.Texts
}

func (n *names) free() {
	n.list.Free()
	n.slots.Free()
	n.texts.Free()
}

func (n *names) bytes() int64 { return n.list.Bytes() + n.slots.Bytes() + n.texts.Bytes() }

// number returns the number of a name. The result added reports whether the name is new.
func (n *names) number(name []byte) (number uint32, added bool) {
	if len(n.list.Items)*4 >= len(n.slots.Items)*3 {
		n.grow()
	}
	hash := maphash.Bytes(n.seed, name) >> 32
	list, slots := n.list.Items, n.slots.Items
	mask := uint64(len(slots) - 1)
	i := hash & mask
	for ; slots[i] != 0; i = (i + 1) & mask {
		if slot := slots[i]; slot>>32 == hash && list[uint32(slot)-1] == string(name) {
			return uint32(slot) - 1, false
		}
	}
	n.list.Add(n.texts.Add(name))
	slots[i] = hash<<32 | uint64(len(list)+1)
	return uint32(len(list)), true
}

func (n *names) grow() {
	if n.slots.Items == nil {
		n.seed = maphash.MakeSeed()
	}
	old := n.slots
	defer old.Free()
	n.slots = offheap.List[uint64]{}
	n.slots.Make(max(1024, 2*len(old.Items)))
	slots := n.slots.Items
	mask := uint64(len(slots) - 1)
	for _, slot := range old.Items {
		if slot != 0 {
			i := slot >> 32 & mask
			for slots[i] != 0 {
				i = (i + 1) & mask
			}
			slots[i] = slot
		}
	}
}

// sortName is a name to sort: its number, and its first bytes, which decide most comparisons.
type sortName struct {
	head   uint64
	number uint32
}

func sortNameOf(name string, number uint32) sortName {
	var head [8]byte
	copy(head[:], name)
	return sortName{binary.BigEndian.Uint64(head[:]), number}
}

func (n *names) compare(x, y sortName) int {
	switch {
	case x.head < y.head:
		return -1
	case x.head > y.head:
		return 1
	}
	return strings.Compare(n.list.Items[x.number], n.list.Items[y.number])
}
