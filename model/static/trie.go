package static

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
)

// trie is a double array (Aoe, 1989; with XOR as in Darts-clone): [nodes]uint32, little endian. The child
// of a node by byte c is the node at base^c, if its label is c. The leaf of a node, where a piece ends,
// is at base^0. No two nodes have the same base, so the label alone identifies the parent of a child.
//
//	a node: label in bits 0 to 7, bit 8 set when it has a leaf, base in bits 9 to 30
//	a leaf: bit 31 set, cost (without its fineBits) in bits 0 to 13, piece in bits 14 to 30
//
// Texts do not contain byte 0. The root is node 0.
type trie []byte

const (
	leafBit   = 1 << 31
	hasLeaf   = 1 << 8
	baseShift = 9
	baseBits  = 22
	costBits  = 14
	fineBits  = 8 // of a cost, stored separately
	pieceBits = 17
)

// node returns node number i. In a damaged table, i may be out of range; the result then has no children.
func (t trie) node(i uint32) uint32 {
	if uint64(i)*4+4 > uint64(len(t)) {
		return leafBit
	}
	return binary.LittleEndian.Uint32(t[4*i:])
}

// child returns the child of a node by byte c. Without such a child, it returns leafBit, which has no children.
func (t trie) child(node uint32, c byte) uint32 {
	if child := t.node(base(node) ^ uint32(c)); node&leafBit == 0 && child&(leafBit|0xff) == uint32(c) && c != 0 {
		return child
	}
	return leafBit
}

// base returns the base of a node that is not a leaf.
func base(node uint32) uint32 { return node >> baseShift & (1<<baseBits - 1) }

// leafText is a text with the piece and the cost of its leaf.
type leafText struct {
	text  string
	piece uint32
	cost  uint32
}

// newTrie returns the trie of texts, which are distinct, not empty, and without byte 0.
func newTrie(texts []leafText) (trie, error) {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b leafText) int { return cmp.Compare(a.text, b.text) })
	b := trieBuilder{bases: map[uint32]bool{}}
	b.grow()
	b.used[0] = true
	if err := b.node(0, texts, 0); err != nil {
		return nil, err
	}
	out := make(trie, 0, 4*len(b.nodes))
	for _, n := range b.nodes {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	return out, nil
}

type trieBuilder struct {
	nodes []uint32
	used  []bool
	bases map[uint32]bool
	open  int // earlier positions are skipped
}

func (b *trieBuilder) grow() {
	b.nodes, b.used = append(b.nodes, make([]uint32, 256)...), append(b.used, make([]bool, 256)...)
	// Free positions in old blocks are too few for most nodes.
	b.open = max(0, len(b.nodes)-16*256)
}

// node fills the node at a position for texts, which share the first depth bytes.
func (b *trieBuilder) node(position uint32, texts []leafText, depth int) error {
	var labels []byte
	for i, e := range texts {
		switch {
		case len(e.text) == depth && i > 0:
			return fmt.Errorf("piece %q appears twice", e.text)
		case len(e.text) == depth:
			labels = append(labels, 0)
		case e.text[depth] == 0:
			return fmt.Errorf("piece %q has a zero byte", e.text)
		case len(labels) == 0 || labels[len(labels)-1] != e.text[depth]:
			labels = append(labels, e.text[depth])
		}
	}
	place := b.place(labels)
	if len(b.nodes) > mostNodes {
		return fmt.Errorf("the pieces need more than %d nodes", mostNodes)
	}
	b.nodes[position] |= place << baseShift
	for _, c := range labels {
		b.used[place^uint32(c)] = true
		b.nodes[place^uint32(c)] = uint32(c)
	}
	for len(texts) > 0 {
		if e := texts[0]; len(e.text) == depth {
			b.nodes[position] |= hasLeaf
			b.nodes[place] = leafBit | e.piece<<costBits | e.cost
			texts = texts[1:]
			continue
		}
		c, n := texts[0].text[depth], 1
		for n < len(texts) && texts[n].text[depth] == c {
			n++
		}
		if err := b.node(place^uint32(c), texts[:n], depth+1); err != nil {
			return err
		}
		texts = texts[n:]
	}
	return nil
}

// place returns the first unused base for which the positions of all labels are free.
func (b *trieBuilder) place(labels []byte) uint32 {
	for i := b.open; ; i++ {
		if i == len(b.nodes) {
			b.grow()
		}
		if len(labels) == 0 {
			return 0 // for a trie without texts
		}
		base := uint32(i) ^ uint32(labels[0])
		if b.used[i] || b.bases[base] || slices.ContainsFunc(labels, func(c byte) bool { return b.used[base^uint32(c)] }) {
			continue
		}
		b.bases[base] = true
		return base
	}
}
