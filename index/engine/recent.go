package engine

import (
	"sync/atomic"
	"unsafe"
)

// recent is memory for many small things that are remembered for a while: they lie in a few
// blocks, one after another; a new block takes the place of the oldest. What lies
// there has no pointers and is never written again: its finder may keep it, also when it is
// forgotten. The collector has the blocks to look at, not the things. It takes no lock.
type recent struct {
	blocks []atomic.Pointer[recentBlock] // by number, modulo how many there are
	latest atomic.Uint64                 // the number of the newest, 0 before the first
}

const (
	// recentWords is how many words a block has room for.
	recentWords = recentBytes/recentWord - 2
	recentBytes = 32 << 10
	recentWord  = 8
	// recentMost is how many a thing may have.
	recentMost = recentWords / 4
	// recentBits are those of the place in a block.
	recentBits = 12
)

// recentBlock is a block with its number.
type recentBlock struct {
	number uint64
	taken  atomic.Uint64 // words, of those that did not fit too
	words  [recentWords]uint64
}

// newRecent is memory in so many blocks, which are made when they are needed.
func newRecent(blocks int) recent {
	return recent{blocks: make([]atomic.Pointer[recentBlock], blocks)}
}

// take is memory for a thing of so many bytes, zeros, and the name that it has for get: never
// 0. It is nil when that is too much.
func (r *recent) take(bytes int) (name uint64, thing unsafe.Pointer) {
	words := uint64(bytes+recentWord-1) / recentWord
	if words > recentMost {
		return 0, nil
	}
	for {
		number := r.latest.Load()
		if b := r.block(number); b != nil {
			if at := b.taken.Add(words) - words; at+words <= recentWords {
				return number<<recentBits | at, unsafe.Pointer(&b.words[at])
			}
		}
		r.add(number + 1)
	}
}

// block is the one with a number, nil when it is forgotten or not made.
func (r *recent) block(number uint64) *recentBlock {
	if b := r.blocks[number%uint64(len(r.blocks))].Load(); b != nil && b.number == number {
		return b
	}
	return nil
}

// add makes the block with a number the newest, if it is the next still.
func (r *recent) add(number uint64) {
	place := &r.blocks[number%uint64(len(r.blocks))]
	if old := place.Load(); old == nil || old.number < number {
		place.CompareAndSwap(old, &recentBlock{number: number})
	}
	r.latest.CompareAndSwap(number-1, number)
}

// get is the thing with a name, nil when it is forgotten. 0 is the name of none.
func (r *recent) get(name uint64) unsafe.Pointer {
	if b := r.block(name >> recentBits); b != nil {
		return unsafe.Pointer(&b.words[name&(1<<recentBits-1)])
	}
	return nil
}
