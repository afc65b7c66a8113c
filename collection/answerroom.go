package collection

import (
	"sync"
	"time"

	"sheaf"
	"sheaf/index/catalog"
	"sheaf/search"
)

// answerRoom is an answer with the memory that its results lie in, all together, and what
// showing them takes. Nothing of it is used after [Answer.Release] but as memory.
type answerRoom struct {
	answer  Answer
	results []Result
	found   foundHits // what the results were shown of
	timings []search.Timing
	legs    []Leg
	ranks   []int
	dates   []time.Time
	matches []Span
	texts   []textOf       // that were read: several results are often of one document
	made    []shownSnippet // those that may be remembered
	spans   []sheaf.Span
	written []byte     // of which snippets and names of files are parts
	hit     search.Hit // the one that is shown
	single  singleRoom
	guessed bool // how rare a word is: what was made with that is not remembered
}

var answerRooms sync.Pool

// openRoom is empty room for an answer.
func openRoom() *answerRoom {
	if room, ok := answerRooms.Get().(*answerRoom); ok {
		return room
	}
	return &answerRoom{results: []Result{}, timings: make([]search.Timing, 0, 24)}
}

// mostParts is for how many matches, or legs, of the results of an answer memory is kept.
const mostParts = 4 << 10

// mostWritten is for how many bytes of texts it is.
const mostWritten = 64 << 10

// Release ends the use of an answer, and of all that it holds, texts too: other answers have
// its memory then. It is called once, by who was given the answer and is the last to use it.
// Who does not call it leaves the memory to be collected.
func (a *Answer) Release() {
	room := a.room
	if room == nil || cap(room.legs) > mostParts || cap(room.matches) > mostParts || cap(room.written) > mostWritten {
		return
	}
	results, timings := a.Results, a.Timings
	room.found.release()
	clear(results)
	clear(timings)
	clear(room.legs)
	clear(room.texts)
	clear(room.made)
	legs := room.hit.Legs
	*room = answerRoom{results: results[:0], timings: timings[:0], legs: room.legs[:0], ranks: room.ranks[:0], dates: room.dates[:0],
		matches: room.matches[:0], texts: room.texts[:0], made: room.made[:0], spans: room.spans[:0], written: room.written[:0], hit: search.Hit{Legs: legs[:0]}}
	answerRooms.Put(room)
}

// singleRoom is memory for a document with one of its chunks, and no more of both than what
// snippets are cut by.
type singleRoom struct {
	card     catalog.Card
	document sheaf.Document
	chunk    [1]sheaf.Chunk
}
