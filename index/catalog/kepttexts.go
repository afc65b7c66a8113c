package catalog

import (
	"sync"
	"unsafe"

	"github.com/zeebo/xxh3"

	"sheaf"
)

// Texts of files are kept, as far as they fit into keptTextBytes twice, so that showing a
// document again takes one call that tells the file's time. Long ones would take the
// place of many.
const (
	keptTextBytes = 10 << 20
	longestText   = 64 << 10
)

// sourceText is the text of a source file. A zero byte follows its name in memory, as
// systems want names.
type sourceText struct {
	name string
	file FileState
	text []byte
}

// keptTexts keeps texts of source files as recent keeps what was decoded: about limit
// bytes of them twice. The texts lie in few pieces of memory and what finds them holds no
// pointer, so that whoever looks for garbage has next to nothing to look at. It is safe
// for concurrent use.
type keptTexts struct {
	limit       int
	mu          sync.RWMutex
	now, before textPieces
	turn        int // grows when now becomes before
}

// textPieces are texts, each in one of the pieces: the document's ID, the file's name
// with a zero byte, and the text. What was written is not changed.
type textPieces struct {
	at     map[uint64]keptText // by the hash of the ID
	pieces [][]byte
	bytes  int
}

// keptText is where a text lies, and how long its parts are.
type keptText struct {
	piece, start, id, name, text uint32
	file                         FileState
}

// keptEntry is about what finding a text takes: a table that grows has room for twice what
// is in it.
const keptEntry = 2 * int(unsafe.Sizeof(uint64(0))+unsafe.Sizeof(keptText{}))

// textPiece is how long a piece is: no less than the longest text with its name in it.
const textPiece = 4 * longestText

// get is what is kept of a document; false for nothing.
func (k *keptTexts) get(doc sheaf.ID) (sourceText, bool) {
	key := xxh3.HashString(string(doc))
	k.mu.RLock()
	defer k.mu.RUnlock()
	if t, ok := k.now.get(key, doc); ok {
		return t, true
	}
	return k.before.get(key, doc)
}

func (p *textPieces) get(key uint64, doc sheaf.ID) (sourceText, bool) {
	at, ok := p.at[key]
	if !ok {
		return sourceText{}, false
	}
	b := p.pieces[at.piece][at.start:]
	if view(b[:at.id]) != string(doc) {
		return sourceText{}, false
	}
	b = b[at.id:]
	name, text := b[:at.name], b[at.name+1:]
	return sourceText{view(name), at.file, text[:at.text:at.text]}, true
}

// textPlace is where a text is written that may be kept. Nobody else writes there.
type textPlace struct {
	key  uint64
	at   keptText
	turn int
	text []byte // as long as the text; nil when it is not kept
}

// place is where to write the text of a document. Of two documents with the same hash the
// first stays.
func (k *keptTexts) place(doc sheaf.ID, name string, file FileState) textPlace {
	size := len(doc) + len(name) + 1 + int(file.Size)
	if size > textPiece {
		return textPlace{}
	}
	key := xxh3.HashString(string(doc))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now.at == nil || k.now.bytes > k.limit {
		k.before, k.now = k.now, textPieces{at: map[uint64]keptText{}}
		k.turn++
	}
	p := &k.now
	if _, ok := p.at[key]; ok {
		return textPlace{}
	}
	last := len(p.pieces) - 1
	if last < 0 || cap(p.pieces[last])-len(p.pieces[last]) < size {
		p.pieces = append(p.pieces, make([]byte, 0, textPiece))
		p.bytes += textPiece
		last++
	}
	piece := &p.pieces[last]
	at := keptText{uint32(last), uint32(len(*piece)), uint32(len(doc)), uint32(len(name)), uint32(file.Size), file}
	*piece = append(append(append(*piece, doc...), name...), 0)
	from := len(*piece)
	*piece = (*piece)[:from+int(file.Size)]
	return textPlace{key, at, k.turn, (*piece)[from:len(*piece):len(*piece)]}
}

// keep keeps the text that was written at a place.
func (k *keptTexts) keep(t textPlace) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.now.at[t.key]; ok || t.text == nil || t.turn != k.turn {
		return
	}
	k.now.at[t.key] = t.at
	k.now.bytes += keptEntry
}
