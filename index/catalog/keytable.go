package catalog

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"sheaf/index/vfs/sectionfile"
)

// kindBits is the number of low bits in a list entry that hold keyItem.kind.
const kindBits = 3

// keyItem connects a document with a name, given by the hash key. Either the document has the name, or one of its links
// contains the name. kind says in which way: see kindPath and pointPath.
type keyItem struct {
	key  uint64 // see keyOf
	doc  int    // number in the segment
	kind int    // below 1<<kindBits
}

func compareItems(a, b keyItem) int {
	return cmp.Or(cmp.Compare(a.key, b.key), a.doc-b.doc, a.kind-b.kind)
}

// keyGroup is the number of keys whose lists share one stored offset.
const keyGroup = 16

// encodeKeys sorts items and returns a key table, a map from hashes of names to lists of documents:
//
//	number of keys 4 bytes, zeros 4
//	keys, rising, 8 each
//	for each 16 keys where their lists begin, 4 each
//	for each key the length of its list in bytes, and the list: the differences
//	of document numbers, shifted left by kindBits, with the kind in the low bits
func encodeKeys(items []keyItem) []byte {
	slices.SortFunc(items, compareItems)
	items = slices.Compact(items)
	var keys, offsets, lists, list []byte
	n := 0
	for len(items) > 0 {
		key := items[0].key
		if n%keyGroup == 0 {
			offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(lists)))
		}
		n++
		keys = binary.LittleEndian.AppendUint64(keys, key)
		list = list[:0]
		for last := 0; len(items) > 0 && items[0].key == key; items = items[1:] {
			list = binary.AppendUvarint(list, uint64(items[0].doc-last)<<kindBits|uint64(items[0].kind))
			last = items[0].doc
		}
		lists = binary.AppendUvarint(lists, uint64(len(list)))
		lists = append(lists, list...)
	}
	table := binary.LittleEndian.AppendUint32(nil, uint32(n))
	table = binary.LittleEndian.AppendUint32(table, 0)
	return slices.Concat(table, keys, offsets, lists)
}

// keyTable reads a key table in a segment. Its errors wrap vfs.ErrCorrupt.
type keyTable struct {
	data *sectionfile.Paged
	docs int // documents in the segment
}

func (t *keyTable) number(offset, size int) (uint64, error) {
	b, err := t.data.Slice(offset, size)
	if err != nil {
		return 0, err
	}
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(b)), nil
	}
	return binary.LittleEndian.Uint64(b), nil
}

// find returns the items with this key.
func (t *keyTable) find(key uint64) (items []keyItem, err error) {
	count, err := t.number(0, 4)
	if err != nil {
		return nil, err
	}
	found := uint64(0) // the key at index i below
	i := sort.Search(int(count), func(i int) bool {
		k := uint64(0)
		if err == nil {
			k, err = t.number(8+8*i, 8)
		}
		if k >= key {
			found = k
		}
		return k >= key
	})
	if err != nil || i == int(count) || found != key {
		return nil, err
	}
	list, err := t.list(int(count), i)
	if err != nil {
		return nil, err
	}
	return t.items(key, list)
}

// items decodes the list of a key.
func (t *keyTable) items(key uint64, list []byte) (items []keyItem, err error) {
	doc := uint64(0)
	for len(list) > 0 {
		n, size := binary.Uvarint(list)
		if size <= 0 || doc+n>>kindBits >= uint64(t.docs) {
			return nil, t.data.Corrupt(0, "the list of key %016x", key)
		}
		doc += n >> kindBits
		items = append(items, keyItem{key, int(doc), int(n & (1<<kindBits - 1))})
		list = list[size:]
	}
	return items, nil
}

// all returns the items of every key.
func (t *keyTable) all() (items []keyItem, err error) {
	data, err := t.data.All()
	if err != nil || len(data) < 8 {
		return nil, err
	}
	n := int(binary.LittleEndian.Uint32(data))
	start := 8 + 8*n + 4*((n+keyGroup-1)/keyGroup)
	if start > len(data) {
		return nil, t.data.Corrupt(0, "%d keys", n)
	}
	lists := data[start:]
	for i := range n {
		length, size := binary.Uvarint(lists)
		if size <= 0 || length > uint64(len(lists)-size) {
			return nil, t.data.Corrupt(0, "the length of list %d", i)
		}
		list, rest := lists[size:size+int(length)], lists[size+int(length):]
		found, err := t.items(binary.LittleEndian.Uint64(data[8+8*i:]), list)
		if err != nil {
			return nil, err
		}
		items, lists = append(items, found...), rest
	}
	return items, nil
}

// list returns the encoded list of key number i. The table has n keys.
func (t *keyTable) list(n, i int) ([]byte, error) {
	start, err := t.number(8+8*n+4*(i/keyGroup), 4)
	if err != nil {
		return nil, err
	}
	lists := 8 + 8*n + 4*((n+keyGroup-1)/keyGroup)
	at := lists + int(start)
	for skip := i % keyGroup; ; skip-- {
		b, err := t.data.Slice(at, min(binary.MaxVarintLen64, max(t.data.Len()-at, 0)))
		if err != nil {
			return nil, err
		}
		length, size := binary.Uvarint(b)
		if size <= 0 || length > uint64(t.data.Len()) {
			return nil, t.data.Corrupt(at, "the length of a list")
		}
		at += size
		if skip == 0 {
			return t.data.Slice(at, int(length))
		}
		at += int(length)
	}
}
