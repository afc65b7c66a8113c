package engine

import (
	"math"

	"sheaf/index/engine/segment"
	"sheaf/internal/offheap"
)

// wordCache maps raw words to tokens. It is a hash table with open addressing. An entry holds all bytes of a word of up
// to twice headBytes. The middle of a longer word is in a shared buffer. So most look-ups need one memory access. Very
// long words and words with many tokens are not cached.
type wordCache struct {
	table  offheap.List[knownWord]
	used   int // entries
	keys   offheap.List[byte]
	tokens offheap.List[segment.Token] // positions are relative to the word's
}

// free empties the cache and releases its memory.
func (c *wordCache) free() {
	c.table.Free()
	c.keys.Free()
	c.tokens.Free()
	*c = wordCache{}
}

// knownWord is an entry of the cache.
type knownWord struct {
	head, tail uint64 // see wordHead and wordTail
	first      uint32 // index of its first token, or the term of the only one
	size       uint8  // length of the word; 0 marks a free entry
	count      uint8  // number of its tokens, or singleToken
	positions  uint16
	hash       uint32
	key        uint32 // start of the bytes between head and tail in keys
}

const (
	headBytes = 8
	// singleToken is a value of count that marks a word with one token at position 0. The entry then holds the term.
	singleToken = math.MaxUint8
)

// wordHead returns the first headBytes of the word text[start:end] as a number. It pads a shorter word with zeros.
func wordHead(text string, start, end int) uint64 {
	n := end - start
	if len(text)-start >= headBytes {
		head := load64(text[start:])
		if n < headBytes {
			head &= 1<<(8*n) - 1
		}
		return head
	}
	head := uint64(0)
	for i := range n {
		head |= uint64(text[start+i]) << (8 * i)
	}
	return head
}

// wordTail returns the last headBytes of a longer word as a number, and 0 for other words.
func wordTail(raw string) uint64 {
	if len(raw) <= headBytes {
		return 0
	}
	return load64(raw[len(raw)-headBytes:])
}

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(
		s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func (c *wordCache) bytes() int64 {
	return c.table.Bytes() + c.keys.Bytes() + c.tokens.Bytes()
}

const oddFactor = 0x9e3779b97f4a7c15

// hashWord returns the hash of a word with this head and tail.
func hashWord(s string, head, tail uint64) uint32 {
	h := (head ^ uint64(len(s))) * oddFactor
	for at := headBytes; at+headBytes < len(s); at += headBytes {
		h = (h ^ h>>29 ^ load64(s[at:])) * oddFactor
	}
	h = (h ^ h>>29 ^ tail) * oddFactor
	return uint32(h >> 32)
}

// middle returns the bytes of a long word between its first and its last headBytes.
func middle(raw string) string {
	if len(raw) <= 2*headBytes {
		return ""
	}
	return raw[headBytes : len(raw)-headBytes]
}

// find returns the entry of a word that begins with head, or nil.
func (c *wordCache) find(raw string, head uint64) *knownWord {
	table := c.table.Items
	if len(table) == 0 {
		return nil
	}
	tail, between := wordTail(raw), middle(raw)
	mask := uint32(len(table) - 1)
	for i := hashWord(raw, head, tail) & mask; ; i = (i + 1) & mask {
		e := &table[i]
		if e.head == head && e.tail == tail && int(e.size) == len(raw) &&
			(between == "" || string(c.keys.Items[e.key:][:len(between)]) == between) {
			return e
		}
		if e.size == 0 {
			return nil
		}
	}
}

// insert adds a word whose tokens begin at index first. It returns false if the word cannot be cached.
func (c *wordCache) insert(raw string, head uint64, first int, positions uint32) bool {
	count := len(c.tokens.Items) - first
	if len(raw) == 0 || len(raw) > math.MaxUint8 || count >= singleToken || positions > math.MaxUint16 ||
		uint64(len(c.keys.Items)+len(raw)) > math.MaxUint32 {
		return false
	}
	tail := wordTail(raw)
	known := knownWord{head: head, tail: tail, first: uint32(first), size: uint8(len(raw)), count: uint8(count),
		positions: uint16(positions), hash: hashWord(raw, head, tail), key: uint32(len(c.keys.Items))}
	if count == 1 && c.tokens.Items[first].Position == 0 {
		known.first, known.count = c.tokens.Items[first].Term, singleToken
		c.tokens.Items = c.tokens.Items[:first]
	}
	if c.used*4 >= len(c.table.Items)*3 {
		c.grow()
	}
	c.used++
	placeWord(c.table.Items, known)
	between := middle(raw)
	c.keys.Grow(len(between))
	c.keys.Items = append(c.keys.Items, between...)
	return true
}

// placeWord puts an entry at the first free position of its hash.
func placeWord(table []knownWord, e knownWord) {
	mask := uint32(len(table) - 1)
	i := e.hash & mask
	for table[i].size != 0 {
		i = (i + 1) & mask
	}
	table[i] = e
}

// grow doubles the table.
func (c *wordCache) grow() {
	var table offheap.List[knownWord]
	table.Make(max(1024, 2*len(c.table.Items)))
	for _, e := range c.table.Items {
		if e.size != 0 {
			placeWord(table.Items, e)
		}
	}
	c.table.Free()
	c.table = table
}
