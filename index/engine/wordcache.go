package engine

import (
	"math"

	"sheaf/index/engine/segment"
	"sheaf/internal/offheap"
)

// wordCache maps raw words to tokens. It has two hash tables with open addressing: one for words of at most headBytes,
// and one for longer words. An entry holds all bytes of a word of up to twice headBytes. The middle of a longer word is
// in a shared buffer. So most look-ups need one memory access. Very long words and words with many tokens are not
// cached.
type wordCache struct {
	short         offheap.List[shortWord]
	long          offheap.List[longWord]
	shorts, longs int // used entries
	keys          offheap.List[byte]
	tokens        offheap.List[segment.Token] // positions are relative to the word's
}

// free empties the cache and releases its memory.
func (c *wordCache) free() {
	c.short.Free()
	c.long.Free()
	c.keys.Free()
	c.tokens.Free()
	*c = wordCache{}
}

// knownWord has the fields that entries of both tables share.
type knownWord struct {
	first     uint32 // index of its first token, or the term of its only token
	size      uint8  // length of the word; 0 marks a free entry
	count     uint8  // number of its tokens, or singleToken
	positions uint16
}

type shortWord struct {
	head uint64 // see wordHead
	knownWord
}

type longWord struct {
	head, tail uint64 // the first and the last headBytes
	knownWord
	hash uint32
	key  uint32 // start of the bytes between head and tail in keys
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

func load64(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(
		s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func (c *wordCache) bytes() int64 {
	return c.short.Bytes() + c.long.Bytes() + c.keys.Bytes() + c.tokens.Bytes()
}

const oddFactor = 0x9e3779b97f4a7c15

// hashShort returns the hash of a word of at most headBytes.
func hashShort(head uint64, size int) uint32 {
	return uint32((head ^ uint64(size)) * oddFactor >> 32)
}

// hashLong returns the hash of s, a word of more than headBytes. head and tail have its first and last headBytes.
func hashLong(s string, head, tail uint64) uint32 {
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

// find returns the entry of the word raw, or nil. head is the result of wordHead for the word.
func (c *wordCache) find(raw string, head uint64) *knownWord {
	if len(raw) > headBytes {
		return c.findLong(raw, head)
	}
	table := c.short.Items
	if len(table) == 0 {
		return nil
	}
	mask := uint32(len(table) - 1)
	for i := hashShort(head, len(raw)) & mask; ; i = (i + 1) & mask {
		e := &table[i]
		if e.head == head && int(e.size) == len(raw) {
			return &e.knownWord
		}
		if e.size == 0 {
			return nil
		}
	}
}

func (c *wordCache) findLong(raw string, head uint64) *knownWord {
	table := c.long.Items
	if len(table) == 0 {
		return nil
	}
	tail := load64(raw[len(raw)-headBytes:])
	mask := uint32(len(table) - 1)
	for i := hashLong(raw, head, tail) & mask; ; i = (i + 1) & mask {
		e := &table[i]
		if e.head == head && e.tail == tail && int(e.size) == len(raw) {
			if between := middle(raw); string(c.keys.Items[e.key:][:len(between)]) == between {
				return &e.knownWord
			}
		}
		if e.size == 0 {
			return nil
		}
	}
}

// insert adds the word raw, whose tokens are c.tokens.Items[first:]. head is the result of wordHead for the word, and
// positions is how many positions the word takes. insert returns false if the word cannot be cached.
func (c *wordCache) insert(raw string, head uint64, first int, positions uint32) bool {
	count := len(c.tokens.Items) - first
	if len(raw) == 0 || len(raw) > math.MaxUint8 || count >= singleToken || positions > math.MaxUint16 ||
		uint64(len(c.keys.Items)+len(raw)) > math.MaxUint32 {
		return false
	}
	known := knownWord{first: uint32(first), size: uint8(len(raw)), count: uint8(count), positions: uint16(positions)}
	if count == 1 && c.tokens.Items[first].Position == 0 {
		known.first, known.count = c.tokens.Items[first].Term, singleToken
		c.tokens.Items = c.tokens.Items[:first]
	}
	if len(raw) <= headBytes {
		if c.shorts*4 >= len(c.short.Items)*3 {
			c.growShort()
		}
		c.shorts++
		placeShort(c.short.Items, shortWord{head, known})
		return true
	}
	if c.longs*4 >= len(c.long.Items)*3 {
		c.growLong()
	}
	c.longs++
	tail := load64(raw[len(raw)-headBytes:])
	placeLong(c.long.Items, longWord{head: head, tail: tail, knownWord: known, hash: hashLong(raw, head, tail),
		key: uint32(len(c.keys.Items))})
	between := middle(raw)
	c.keys.Grow(len(between))
	c.keys.Items = append(c.keys.Items, between...)
	return true
}

func placeShort(table []shortWord, e shortWord) {
	mask := uint32(len(table) - 1)
	i := hashShort(e.head, int(e.size)) & mask
	for table[i].size != 0 {
		i = (i + 1) & mask
	}
	table[i] = e
}

func placeLong(table []longWord, e longWord) {
	mask := uint32(len(table) - 1)
	i := e.hash & mask
	for table[i].size != 0 {
		i = (i + 1) & mask
	}
	table[i] = e
}

func (c *wordCache) growShort() {
	var table offheap.List[shortWord]
	table.Make(max(1024, 2*len(c.short.Items)))
	for _, e := range c.short.Items {
		if e.size != 0 {
			placeShort(table.Items, e)
		}
	}
	c.short.Free()
	c.short = table
}

func (c *wordCache) growLong() {
	var table offheap.List[longWord]
	table.Make(max(512, 2*len(c.long.Items)))
	for _, e := range c.long.Items {
		if e.size != 0 {
			placeLong(table.Items, e)
		}
	}
	c.long.Free()
	c.long = table
}
