package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"

	"sheaf/index/catalog"
	"sheaf/index/vfs"
)

// errChanging means that a file changed at each attempt to read it.
var errChanging = errors.New("the file changed while it was read")

// text returns what was read as a string. That of a file shares its memory, which is not
// written to again; a given text belongs to the caller.
func (it *item) text(data []byte) string {
	if it.given != nil {
		return string(data)
	}
	return unsafe.String(unsafe.SliceData(data), len(data))
}

// content returns the content of an item: a file that is read, or the given text.
func (it *item) content() (content, error) {
	if it.given != nil {
		return it.given.content(), nil
	}
	return read(it.file)
}

// readAttempts is how often a file that changes is read.
const readAttempts = 3

// content is a file as it was read.
type content struct {
	data  []byte
	state catalog.FileState
	// modified is the time of the file, or the given one; zero for none.
	modified time.Time
	// decoded says that data is the text of the file in UTF-8, converted from another
	// encoding; note tells which.
	decoded bool
	note    string
}

// read reads a file whole and makes sure that it did not change meanwhile.
func read(name string) (content, error) {
	for range readAttempts {
		c, same, err := readOnce(name)
		if err != nil || same {
			return c, err
		}
	}
	return content{}, errChanging
}

func readOnce(name string) (c content, same bool, err error) {
	f, err := vfs.Disk{}.Open(name)
	if err != nil {
		return c, false, err
	}
	defer f.Close()
	before, err := f.Stat()
	if err != nil {
		return c, false, err
	}
	if !before.Mode().IsRegular() {
		return c, false, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	data := make([]byte, before.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return c, false, nil // it shrank
		}
		return c, false, err
	}
	now := time.Now()
	after, err := f.Stat()
	if err != nil {
		return c, false, err
	}
	if after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime()) {
		return c, false, nil
	}
	c.data = data
	c.state = catalog.FileState{Size: after.Size(), ModTime: after.ModTime().UnixNano(), Hash: catalog.HashOf(data)}
	c.modified = after.ModTime()
	if isRecent(after.ModTime(), now) {
		c.state.ModTime = 0 // a change within the clock's resolution would not show
	}
	return c, true, nil
}

// isRecent reports whether a file may change again without another time: when it changed so
// shortly before now that the next change may get the same time. Times of whole seconds show
// a file system that counts seconds. A program, or a wrong clock, set a time that is further
// ahead; no change gets that time soon.
func isRecent(modified, now time.Time) bool {
	window := 20 * time.Millisecond
	if modified.Nanosecond() == 0 {
		window = 2 * time.Second
	}
	return now.Sub(modified).Abs() < window
}

// headBytes is how much of a file is looked at to see whether it is text.
const headBytes = 8 << 10

// isBinary reports whether data is no text: when it begins as a known format
// does, when more than a tenth of its first 8 KB are zero bytes or control
// characters, or when more than a fiftieth are and a fifth is no UTF-8 either.
// Random and compressed bytes hold about a tenth of the former and nearly a half
// of the latter; text in an older encoding may be all of the latter and none of
// the former.
func isBinary(data []byte) bool {
	if hasSignature(data) {
		return true
	}
	head := data[:min(len(data), headBytes)]
	control, i := 0, 0
	for ; i+8 <= len(head); i += 8 {
		// Eight bytes at a time: most hold none below a space.
		w := binary.LittleEndian.Uint64(head[i:])
		if (w-0x2020202020202020)&^w&0x8080808080808080 == 0 {
			continue
		}
		for _, c := range head[i : i+8] {
			control += int(controls[c])
		}
	}
	for _, c := range head[i:] {
		control += int(controls[c])
	}
	if control*50 <= len(head) {
		return false
	}
	invalid, _ := invalidBytes(head)
	return control*10 > len(head) || invalid*5 > len(head)
}

// signatures begin files of formats that may look like text further on. Those
// that consist of letters alone are not here: a note may begin with them.
var signatures = []string{
	"\x89PNG\r\n\x1a\n", "\xff\xd8\xff" /* JPEG */, "\x1f\x8b\x08" /* gzip */, "PK\x03\x04" /* zip */, "\x7fELF",
	"\x28\xb5\x2f\xfd" /* zstd */, "\xfd7zXZ\x00", "BZh91AY&SY" /* bzip2 */, "7z\xbc\xaf\x27\x1c", "OggS\x00",
	"SQLite format 3\x00",
}

// pdfSignature is the first line of a PDF file.
var pdfSignature = regexp.MustCompile(`^%PDF-\d\.\d[\r\n]`)

func hasSignature(data []byte) bool {
	for _, s := range signatures {
		if bytes.HasPrefix(data, []byte(s)) {
			return true
		}
	}
	return pdfSignature.Match(data[:min(len(data), 16)])
}

// controls is 1 for bytes that no text holds.
var controls = func() (t [256]uint8) {
	for c := range ' ' {
		if (c < '\t' || c > '\r') && c != 0x1b {
			t[c] = 1
		}
	}
	return t
}()

// Read returns the text of a file, as [Run] reads it. left has the reason and detail when it
// has none.
func Read(name string) (text []byte, left *catalog.Skip) {
	c, err := read(name)
	if err != nil {
		return nil, skipOf(err)
	}
	text, ok := Text(c.data)
	if !ok {
		return nil, &catalog.Skip{Reason: ReasonBinary}
	}
	return text, nil
}

// skipOf returns the reason and detail for a file that could not be read.
func skipOf(err error) *catalog.Skip {
	if errors.Is(err, errChanging) {
		return &catalog.Skip{Reason: ReasonChanging, Detail: err.Error()}
	}
	return &catalog.Skip{Reason: ReasonUnreadable, Detail: reasonOf(err)}
}

// Text returns the text of a file's content as [Run] reads it, in UTF-8; ok is false when
// the content is no text.
func Text(content []byte) (text []byte, ok bool) {
	text, _, ok = decode(content)
	return text, ok
}

// decode is the text of a file's content in UTF-8, and a note about its encoding: "" for
// UTF-8. ok is false for what is no text. Text that is UTF-8 is content itself.
func decode(content []byte) (text []byte, note string, ok bool) {
	if text, name, ok := decodeWide(content); ok {
		return text, keptAs(name), true
	}
	if isBinary(content) {
		return nil, "", false
	}
	if utf8.Valid(content) {
		return content, "", true
	}
	invalid, runs := invalidBytes(content)
	apart := invalid <= 2*runs // letters between plain ones, as in Western languages
	whole := multibyte(content) <= invalid
	if whole {
		if text, name := decodeScript(content, apart); name != "" {
			return text, keptAs(name), true
		}
	}
	at := firstInvalid(content)
	switch {
	case !apart || hasOddControls(content):
		return content, fmt.Sprintf("not valid UTF-8 at byte %d; invalid bytes are no part of words", at), true
	case whole:
		return decodeWestern(content), keptAs("Windows-1252"), true
	}
	note = fmt.Sprintf("not valid UTF-8 at byte %d; invalid bytes are read as Windows-1252, and the text is kept in "+
		"the index as UTF-8", at)
	return decodeWestern(content), note, true
}

func keptAs(name string) string { return name + ": its text is kept in the index as UTF-8" }

// decodeWide reads UTF-32 and UTF-16 with a byte order mark, and UTF-16 without one.
func decodeWide(data []byte) (text []byte, name string, ok bool) {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe, 0, 0}) && len(data)%4 == 0:
		return decodeUTF32(data[4:], binary.LittleEndian), "UTF-32", true
	case bytes.HasPrefix(data, []byte{0, 0, 0xfe, 0xff}) && len(data)%4 == 0:
		return decodeUTF32(data[4:], binary.BigEndian), "UTF-32", true
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return decodeUTF16(data[2:], binary.LittleEndian), "UTF-16", true
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return decodeUTF16(data[2:], binary.BigEndian), "UTF-16", true
	}
	// Spaces and line ends have a zero byte in every script.
	if head := data[:min(len(data), headBytes)]; bytes.IndexByte(head, 0) >= 0 {
		for _, order := range [...]binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if isUTF16(head, order) {
				return decodeUTF16(data, order), "UTF-16 without a byte order mark", true
			}
		}
	}
	return nil, "", false
}

// isUTF16 reports whether data reads as text in UTF-16: characters that are written, with
// spaces or line ends between them.
func isUTF16(data []byte, order binary.ByteOrder) bool {
	if len(data)%2 != 0 || len(data) < 4 {
		return false
	}
	spaces, letters, all := 0, 0, 0
	for _, r := range string(decodeUTF16(data[:len(data)-2], order)) { // the last may be half a pair
		all++
		switch {
		case r == ' ' || r == '\n' || r == '\r' || r == '\t':
			spaces++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
		case r == utf8.RuneError || !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r):
			return false
		}
	}
	last := order.Uint16(data[len(data)-2:])
	return (spaces > 0 || last == '\n') && letters*2 >= all
}

// decodeUTF16 turns UTF-16 without its byte order mark into UTF-8.
func decodeUTF16(data []byte, order binary.ByteOrder) []byte {
	text := make([]byte, 0, len(data))
	for len(data) >= 2 {
		r := rune(order.Uint16(data))
		data = data[2:]
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if len(data) >= 2 {
				low = rune(order.Uint16(data))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				data = data[2:]
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// decodeUTF32 turns UTF-32 without its byte order mark into UTF-8.
func decodeUTF32(data []byte, order binary.ByteOrder) []byte {
	text := make([]byte, 0, len(data)/2)
	for ; len(data) >= 4; data = data[4:] {
		text = utf8.AppendRune(text, rune(order.Uint32(data)))
	}
	return text
}

// scripts are encodings that are recognized by frequent letters: a text decoded in the right
// encoding has many of them, and in a wrong one few.
var scripts = [...]struct {
	name     string
	encoding encoding.Encoding
	frequent string
	// least is how many of a hundred characters beyond ASCII are frequent.
	least int
}{
	{"Windows-1251", charmap.Windows1251, "оеаинтсрвлкмдпуязьі", 60},
	{"KOI8-R", charmap.KOI8R, "оеаинтсрвлкмдпуязь", 60},
	{"code page 866", charmap.CodePage866, "оеаинтсрвлкмдпуязь", 60},
	{"Windows-1253", charmap.Windows1253, "αοιετσνηυρκλπςάίόέήμ", 60},
	{"Shift_JIS", japanese.ShiftJIS, kana, 25},
	{"EUC-JP", japanese.EUCJP, kana, 25},
	{"GB18030", simplifiedchinese.GB18030,
		"的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心" +
			"她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给" +
			"世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社" +
			"便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运存储库", 50},
}

// kana are the letters that Japanese is written in beside signs.
const kana = "のにをはがとでたしてるなれかもいらこりさっうくよあまどけそきめすえみせわおつだんち、。ーンスルトラアイリクシドレジタフロカマ"

// sampleBytes is how much of a text tells its encoding, and leastSigns how many characters
// beyond ASCII do.
const (
	sampleBytes = 64 << 10
	leastSigns  = 6
)

// decodeScript reads text in an encoding of scripts; name is "" when none fits. apart says that
// the bytes beyond ASCII have plain letters between them, as no word of another alphabet has.
func decodeScript(data []byte, apart bool) (text []byte, name string) {
	best, fit := 0, -1
	sample := data[:min(len(data), sampleBytes)]
	for i, s := range scripts {
		if _, alphabet := s.encoding.(*charmap.Charmap); alphabet && apart {
			continue
		}
		out, err := s.encoding.NewDecoder().Bytes(sample)
		if err != nil {
			continue
		}
		frequent, signs, broken := 0, 0, 0
		for _, r := range string(out) {
			switch {
			case r < 0x80:
				continue
			case r == utf8.RuneError:
				broken++
			case strings.ContainsRune(s.frequent, r) || strings.ContainsRune(s.frequent, unicode.ToLower(r)):
				frequent++
			}
			signs++
		}
		if broken > 1 || signs < leastSigns { // the sample may end within a character
			continue
		}
		if share := frequent * 100 / signs; share >= s.least && share-s.least > best-1 {
			best, fit = share-s.least+1, i
		}
	}
	if fit < 0 {
		return nil, ""
	}
	text, err := scripts[fit].encoding.NewDecoder().Bytes(data)
	if err != nil {
		return nil, ""
	}
	return text, scripts[fit].name
}

// decodeWestern reads what is UTF-8 as that, and each other byte as Windows-1252: so a file
// may change its encoding in the middle.
func decodeWestern(data []byte) []byte {
	text := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			r = charmap.Windows1252.DecodeByte(data[0])
		}
		text = utf8.AppendRune(text, r)
		data = data[size:]
	}
	return text
}

// hasOddControls reports whether a text has bytes that Windows-1252 gives no meaning, or
// control characters.
func hasOddControls(data []byte) bool {
	return bytes.ContainsAny(data[:min(len(data), sampleBytes)], "\x00\x01\x02\x03\x04\x05\x06\x07\x0e\x0f")
}

// invalidBytes counts the bytes that are no UTF-8, and the runs of bytes beyond ASCII that
// they stand in.
func invalidBytes(data []byte) (n, runs int) {
	within, counted := false, false
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		within = within && r >= 0x80
		counted = counted && within
		if r == utf8.RuneError && size == 1 {
			if n++; !counted {
				runs++
				counted = true
			}
		}
		within = r >= 0x80
		data = data[size:]
	}
	return n, runs
}

// multibyte counts the characters beyond ASCII that are UTF-8.
func multibyte(data []byte) (n int) {
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r >= 0x80 && size > 1 {
			n++
		}
		data = data[size:]
	}
	return n
}

// firstInvalid returns the place of the first byte that is no UTF-8.
func firstInvalid(data []byte) (at int) {
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}
