package catalog

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"sync/atomic"

	"sheaf"
	"sheaf/index/vfs"
	"sheaf/index/vfs/sectionfile"
	"sheaf/internal/lru"
)

// A segment file has documents and tombstones (marks of deleted documents), sorted by ID. doc/formats/catalog.md
// describes its sections. A reader reads every section page by page, except for the data section.
const (
	sectionData    = "data"
	sectionStates  = "states"
	sectionIDs     = "ids"
	sectionGroups  = "groups"
	sectionBlocks  = "blocks"
	sectionTexts   = "texts"
	sectionPieces  = "pieces"
	sectionNames   = "names"
	sectionTargets = "targets"
	sectionLabels  = "labels"

	// stateBytes is the size of a document's state. It has these little-endian numbers:
	//   - size of the file: 8 bytes
	//   - modification time: 8
	//   - hash: 16
	//   - number of the block: 4
	//   - start in the block: 4
	//   - number of chunks, with the bit stateAliases: 4
	//   - number of the text, counted from 1, or 0 without a stored text: 4
	stateBytes = 48
	// stateAliases is a bit that says that the document has aliases. Back-links need this, and most documents have
	// none.
	stateAliases = 1 << 31
	// blockBytes is the size of a block's description: offset 8 bytes, packed length 4, unpacked length 4, checksum 4.
	blockBytes = 20
	// textBytes is the size of a text's description: number of the first piece 4 bytes, zeros 4, length 8. The
	// description of a piece has the format of a block's description: see blockBytes.
	textBytes = 16

	// noBlock is the block number in the state of a tombstone. A tombstone has no record.
	noBlock = 1<<32 - 1
	// blockTarget is the size in bytes of a full block of records. Larger blocks compress better and take longer to
	// unpack.
	blockTarget = 12 << 10
	// pieceBytes is the length of a piece of text in bytes. A reader unpacks only the pieces that a span touches.
	pieceBytes = 1 << 20
	// maxBlocks is the largest number of unpacked blocks that a segment caches.
	maxBlocks = 256
)

// segment is an open segment file that views share. The errors of its methods wrap vfs.ErrCorrupt.
type segment struct {
	name   string
	r      *sectionfile.Reader
	refs   atomic.Int32
	n      int // documents and tombstones
	ids    idList
	states *sectionfile.Paged
	blocks *sectionfile.Paged
	texts  *sectionfile.Paged
	pieces *sectionfile.Paged
	labels *sectionfile.Paged
	// names finds documents by their names. targets finds documents by the names in their links.
	names   keyTable
	targets keyTable
	data    []byte

	unpacked lru.Cache[int, []byte] // recently used blocks
}

func openSegment(fsys vfs.FS, path string) (*segment, error) {
	r, err := sectionfile.Open(fsys, path, kindSegment, format)
	if err != nil {
		return nil, err
	}
	s := &segment{name: filepath.Base(path), r: r}
	s.unpacked.Limit(maxBlocks)
	s.refs.Store(1)
	if err := s.open(); err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

func (s *segment) open() error {
	for _, section := range []struct {
		name string
		to   **sectionfile.Paged
	}{
		{sectionStates, &s.states}, {sectionIDs, &s.ids.data}, {sectionGroups, &s.ids.groups}, {sectionBlocks, &s.blocks},
		{sectionTexts, &s.texts}, {sectionPieces, &s.pieces}, {sectionNames, &s.names.data},
		{sectionTargets, &s.targets.data}, {sectionLabels, &s.labels},
	} {
		p, err := s.r.Paged(section.name)
		if err != nil {
			return err
		}
		*section.to = p
	}
	data, ok := s.r.Section(sectionData)
	if !ok {
		return s.r.Corrupt(sectionData, 0, "the section is missing")
	}
	s.data = data
	s.n = s.states.Len() / stateBytes
	s.ids.n, s.names.docs, s.targets.docs = s.n, s.n, s.n
	if s.states.Len()%stateBytes != 0 || s.ids.groups.Len() != 4*((s.n+idGroup-1)/idGroup) {
		return s.states.Corrupt(0, "%d bytes of states and %d of groups do not fit", s.states.Len(), s.ids.groups.Len())
	}
	return nil
}

func (s *segment) release() {
	if s.refs.Add(-1) == 0 {
		_ = s.r.Close() // nothing was written, so nothing can be lost
	}
}

// find returns the number of the entry (document or tombstone) with this ID, or -1 without such an entry.
func (s *segment) find(id sheaf.ID) (int, error) {
	i, exact, err := s.ids.lowerBound(string(id))
	if err != nil || !exact {
		return -1, err
	}
	return i, nil
}

// state is what a segment knows of a document without reading its record.
type state struct {
	file    FileState
	block   uint32
	start   uint32
	chunks  int
	aliases bool
	text    uint32
}

func (st *state) tombstone() bool { return st.block == noBlock }

func (s *segment) state(i int) (state, error) {
	b, err := s.states.Slice(i*stateBytes, stateBytes)
	if err != nil {
		return state{}, err
	}
	le := binary.LittleEndian
	st := state{
		file:  FileState{Size: int64(le.Uint64(b)), ModTime: int64(le.Uint64(b[8:]))},
		block: le.Uint32(b[32:]), start: le.Uint32(b[36:]), chunks: int(le.Uint32(b[40:]) &^ stateAliases),
		aliases: le.Uint32(b[40:])&stateAliases != 0,
		text:    le.Uint32(b[44:]),
	}
	copy(st.file.Hash[:], b[16:32])
	return st, nil
}

func appendState(to []byte, st *state) []byte {
	le := binary.LittleEndian
	to = le.AppendUint64(to, uint64(st.file.Size))
	to = le.AppendUint64(to, uint64(st.file.ModTime))
	to = append(to, st.file.Hash[:]...)
	to = le.AppendUint32(to, st.block)
	to = le.AppendUint32(to, st.start)
	chunks := uint32(st.chunks)
	if st.aliases {
		chunks |= stateAliases
	}
	to = le.AppendUint32(to, chunks)
	return le.AppendUint32(to, st.text)
}

// readBlock returns block number i of a list in compressed form, and verifies its checksum.
func (s *segment) readBlock(list *sectionfile.Paged, i int) (packedBlock, error) {
	entry, err := list.Slice(i*blockBytes, blockBytes)
	if err != nil {
		return packedBlock{}, err
	}
	le := binary.LittleEndian
	offset, n, sum := le.Uint64(entry), uint64(le.Uint32(entry[8:])), le.Uint32(entry[16:])
	if offset > uint64(len(s.data)) || n > uint64(len(s.data))-offset {
		return packedBlock{}, list.Corrupt(i*blockBytes, "block %d: the data has no %d bytes at %d", i, n, offset)
	}
	b := packedBlock{s.data[offset : offset+n], le.Uint32(entry[12:])}
	if err := sectionfile.Verify(b.packed, sum); err != nil {
		return packedBlock{}, s.r.Corrupt(sectionData, int(offset), "block %d: %v", i, err)
	}
	return b, nil
}

// unpack decompresses block into new memory. An error names the description of the block: number i in list.
func (s *segment) unpack(list *sectionfile.Paged, i int, block packedBlock) ([]byte, error) {
	b, err := unpack(block.packed, uint64(block.size))
	if err != nil {
		return nil, list.Corrupt(i*blockBytes, "block %d: %v", i, err)
	}
	return b, nil
}

// decode calls the parameter use with the encoded record of a document. The record shares the memory of its block,
// which never changes. If use returns false, the record is invalid, and decode returns an error.
func (s *segment) decode(id sheaf.ID, st *state, use func(b []byte) bool) error {
	at := int(st.block)
	records, ok := s.unpacked.Get(at)
	if !ok {
		block, err := s.readBlock(s.blocks, at)
		if err != nil {
			return err
		}
		if records, err = s.unpack(s.blocks, at, block); err != nil {
			return err
		}
		s.unpacked.Put(at, records, 1)
	}
	if uint64(st.start) < uint64(len(records)) {
		n, size := binary.Uvarint(records[st.start:])
		if rest := records[int(st.start)+max(size, 0):]; size > 0 && n <= uint64(len(rest)) {
			if use(rest[:n:n]) {
				return nil
			}
			return s.r.Corrupt(sectionData, 0, "the record of %s cannot be read", id)
		}
	}
	return s.r.Corrupt(sectionStates, 0, "a record begins at %d of block %d, which has %d bytes", st.start, st.block,
		len(records))
}

// packedText returns the compressed pieces of the text of a document, and the length of the text. All pieces except the
// last have pieceBytes bytes. first is the number of the first piece.
func (s *segment) packedText(st *state) (pieces []packedBlock, first, size int, err error) {
	at := int(st.text-1) * textBytes
	entry, err := s.texts.Slice(at, textBytes)
	if err != nil {
		return nil, 0, 0, err
	}
	length := binary.LittleEndian.Uint64(entry[8:])
	first, size = int(binary.LittleEndian.Uint32(entry)), int(min(length, math.MaxInt-pieceBytes))
	n, have := (size+pieceBytes-1)/pieceBytes, s.pieces.Len()/blockBytes
	if uint64(size) != length || first > have || n > have-first {
		return nil, 0, 0, s.texts.Corrupt(at, "%d bytes from piece %d of %d", length, first, have)
	}
	for i := range n {
		b, err := s.readBlock(s.pieces, first+i)
		if want := min(size-i*pieceBytes, pieceBytes); err == nil && int(b.size) != want {
			err = s.pieces.Corrupt((first+i)*blockBytes, "a piece has %d bytes, not %d", b.size, want)
		}
		if err != nil {
			return nil, 0, 0, err
		}
		pieces = append(pieces, b)
	}
	return pieces, first, size, nil
}

func (s *segment) readText(st *state) ([]byte, error) {
	pieces, first, size, err := s.packedText(st)
	if err != nil {
		return nil, err
	}
	text := []byte{}
	for i, piece := range pieces {
		b, err := s.unpack(s.pieces, first+i, piece)
		if err != nil {
			return nil, err
		}
		if len(text) == 0 { // allocate only when a first piece is valid
			text = make([]byte, 0, size)
		}
		text = append(text, b...)
	}
	return text, nil
}
