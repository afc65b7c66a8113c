package engine

import (
	"sync/atomic"
	"unsafe"
)

// recent is memory for many small things of a cache. They are stored in a few blocks, one after
// another; a new block replaces the oldest. A thing has no pointers and is never written again, so
// a reader may keep it even after its eviction. The garbage collector scans the blocks, not the
// things. It takes no lock.
type recent struct {
	blocks []atomic.Pointer[recentBlock] // by number modulo their count
	latest atomic.Uint64                 // number of the newest block, 0 before the first
}

const (
	// recentWords is the number of words in a block.
	recentWords = recentBytes/recentWord - 2
	recentBytes = 32 << 10
	recentWord  = 8
	// recentMost is the most words of a thing.
	recentMost = recentWords / 4
	// recentBits is the number of bits for a position in a block.
	recentBits = 12
)

// recentBlock is a block with its number.
type recentBlock struct {
	number uint64
	taken  atomic.Uint64 // words, including those that did not fit
	words  [recentWords]uint64
}

// newRecent returns memory of this many blocks, which are allocated when needed.
func newRecent(blocks int) recent {
	return recent{blocks: make([]atomic.Pointer[recentBlock], blocks)}
}

// take returns memory for a thing of this many bytes, zeros, and its name for get, never 0. It
// returns nil when that is too much.
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

// block returns the block with a number, nil when it is evicted or not allocated.
func (r *recent) block(number uint64) *recentBlock {
	if b := r.blocks[number%uint64(len(r.blocks))].Load(); b != nil && b.number == number {
		return b
	}
	return nil
}

// add makes the block with a number the newest, if it is still the next.
func (r *recent) add(number uint64) {
	place := &r.blocks[number%uint64(len(r.blocks))]
	if old := place.Load(); old == nil || old.number < number {
		place.CompareAndSwap(old, &recentBlock{number: number})
	}
	r.latest.CompareAndSwap(number-1, number)
}

// get returns the thing with a name, nil when it is evicted. 0 names nothing.
func (r *recent) get(name uint64) unsafe.Pointer {
	if b := r.block(name >> recentBits); b != nil {
		return unsafe.Pointer(&b.words[name&(1<<recentBits-1)])
	}
	return nil
}
