package catalog

import (
	"encoding/binary"
	"sort"
	"strings"

	"sheaf/index/vfs/sectionfile"
)

// idGroup is the number of IDs in a group. The first ID of a group is stored whole. For every other
// ID, the list stores how many bytes it shares with the previous ID, and its remaining bytes.
const idGroup = 16

// idWriter encodes a sorted list of IDs.
type idWriter struct {
	n      int
	last   string
	data   []byte
	groups []byte // where each group begins, 4 bytes
}

func (w *idWriter) add(id string) {
	shared := 0
	if w.n%idGroup == 0 {
		w.groups = binary.LittleEndian.AppendUint32(w.groups, uint32(len(w.data)))
	} else {
		for shared < len(id) && shared < len(w.last) && id[shared] == w.last[shared] {
			shared++
		}
		w.data = binary.AppendUvarint(w.data, uint64(shared))
	}
	w.data = binary.AppendUvarint(w.data, uint64(len(id)-shared))
	w.data = append(w.data, id[shared:]...)
	w.last = id
	w.n++
}

// idList is a sorted list of IDs in a segment. Errors wrap vfs.ErrCorrupt.
type idList struct {
	n      int
	data   *sectionfile.Paged
	groups *sectionfile.Paged
}

func (l *idList) group(g int) ([]byte, error) {
	pair := 8
	if 4*g+pair > l.groups.Len() {
		pair = 4 // the last group ends with the section
	}
	b, err := l.groups.Slice(4*g, pair)
	if err != nil {
		return nil, err
	}
	start, end := int(binary.LittleEndian.Uint32(b)), l.data.Len()
	if pair == 8 {
		end = int(binary.LittleEndian.Uint32(b[4:]))
	}
	return l.data.Slice(start, end-start)
}

// idCursor walks over a list of IDs. key is the current ID, valid until the next step.
type idCursor struct {
	list *idList
	at   int // index of key; list.n after the end
	key  []byte
	rest []byte // rest of the group
}

// seek moves to ID number i. If there are fewer IDs, it moves to the end.
func (c *idCursor) seek(i int) error {
	if i >= c.list.n {
		c.at, c.key, c.rest = c.list.n, nil, nil
		return nil
	}
	group, err := c.list.group(i / idGroup)
	if err != nil {
		return err
	}
	c.rest, c.at = group, i-i%idGroup
	if err := c.decode(true); err != nil {
		return err
	}
	for c.at < i {
		c.at++
		if err := c.decode(false); err != nil {
			return err
		}
	}
	return nil
}

func (c *idCursor) next() error {
	if c.at+1 >= c.list.n || (c.at+1)%idGroup == 0 {
		return c.seek(c.at + 1)
	}
	c.at++
	return c.decode(false)
}

// decode reads the ID at the front of rest. whole says that the ID is the first of a group, stored in full.
func (c *idCursor) decode(whole bool) error {
	shared := uint64(0)
	if !whole {
		n, size := binary.Uvarint(c.rest)
		if size <= 0 || n > uint64(len(c.key)) {
			return c.list.data.Corrupt(0, "ID %d cannot be read", c.at)
		}
		shared, c.rest = n, c.rest[size:]
	}
	n, size := binary.Uvarint(c.rest)
	if size <= 0 || n > uint64(len(c.rest)-size) {
		return c.list.data.Corrupt(0, "ID %d cannot be read", c.at)
	}
	c.key = append(c.key[:shared], c.rest[size:size+int(n)]...)
	c.rest = c.rest[size+int(n):]
	return nil
}

// id returns a copy of the ID with this number.
func (l *idList) id(i int) (string, error) {
	c := idCursor{list: l}
	if err := c.seek(i); err != nil {
		return "", err
	}
	return string(c.key), nil
}

// lowerBound returns the number of the first ID that is not before id, or l.n. exact reports whether that ID equals id.
func (l *idList) lowerBound(id string) (i int, exact bool, err error) {
	c := idCursor{list: l}
	after := sort.Search((l.n+idGroup-1)/idGroup, func(group int) bool { // the first group that begins after id
		if err == nil {
			err = c.seek(group * idGroup)
		}
		return err != nil || view(c.key) > id
	})
	if err != nil || after == 0 {
		return 0, false, err
	}
	if err := c.seek((after - 1) * idGroup); err != nil {
		return 0, false, err
	}
	end := min(after*idGroup, l.n)
	for c.at < end {
		if order := strings.Compare(view(c.key), id); order >= 0 {
			return c.at, order == 0, nil
		}
		if err := c.next(); err != nil {
			return 0, false, err
		}
	}
	return end, false, nil
}
