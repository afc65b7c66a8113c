package ingest

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// Text returns the text of a file in UTF-8, as [Run] reads it. ok is false if the content is not text.
func Text(content []byte) (text []byte, ok bool) {
	text, _, ok = decode(content)
	return text, ok
}

// decode returns the text of a file in UTF-8, and a note about its encoding, which is "" for UTF-8. ok is false if the
// content is not text. For UTF-8, text is content itself.
func decode(content []byte) (text []byte, note string, ok bool) {
	if text, name, ok := decodeMarked(content); ok {
		return text, keptAs(name), true
	}
	if isBinary(content) {
		return nil, "", false
	}
	if utf8.Valid(content) {
		if zero := bytes.IndexByte(content, 0); zero >= 0 {
			note = fmt.Sprintf("a zero byte at byte %d: text from there on may be in another encoding", zero)
		}
		return content, note, true
	}
	faults := findFaults(content)
	// As in Western languages, letters beyond ASCII are mostly alone between ASCII letters.
	apart := 2*faults.invalid <= 5*faults.runs
	whole := faults.wide <= faults.invalid
	if whole {
		text, name := decodeLegacy(content, faults.first, apart)
		if name == "" && !apart { // a short text with words such as żółć
			text, name = decodeLegacy(content, faults.first, true)
		}
		if name != "" {
			return text, keptAs(name), true
		}
	}
	switch {
	case !apart || bytes.ContainsAny(content[:min(len(content), sampleBytes)], oddControls):
		return content, fmt.Sprintf("not valid UTF-8 at byte %d; words leave out invalid bytes", faults.first), true
	case whole:
		return decodeBytes(content, charmap.Windows1252), keptAs("Windows-1252"), true
	}
	note = fmt.Sprintf("not valid UTF-8 at byte %d; invalid bytes are read as Windows-1252, and the text is kept in "+
		"the index as UTF-8", faults.first)
	return decodeBytes(content, charmap.Windows1252), note, true
}

func keptAs(name string) string { return name + ": its text is kept in the index as UTF-8" }

// wideEncoding is an encoding with two or four bytes for each character, such as UTF-16.
type wideEncoding struct {
	name, mark string // mark is the byte order mark
	unit       int    // bytes
	lineFeed   string
	encoding.Encoding
}

var wide = [...]wideEncoding{
	{"UTF-32", "\xff\xfe\x00\x00", 4, "\n\x00\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"UTF-32", "\x00\x00\xfe\xff", 4, "\x00\x00\x00\n", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"UTF-16", "\xff\xfe", 2, "\n\x00", utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)},
	{"UTF-16", "\xfe\xff", 2, "\x00\n", utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)},
}

// decodeMarked decodes text in UTF-32 or UTF-16, with or without a byte order mark, also if parts are UTF-8. It also
// decodes ISO-2022-JP. It returns the text as UTF-8. name is for messages, for example "UTF-8 and UTF-16". ok is false
// if data has none of these encodings.
func decodeMarked(data []byte) (text []byte, name string, ok bool) {
	text, name, ok = decodeWide(data)
	if ok && len(data)%2 == 0 && isClean(text) {
		return text, name, true
	}
	for _, e := range wide {
		if mixed, ok := e.decodeMixed(data); ok {
			return mixed, "UTF-8 and " + e.name, true
		}
	}
	if ok && !isPlainWithZeros(data) {
		return text, name, true
	}
	head := data[:min(len(data), headBytes)]
	if bytes.Contains(head, []byte("\x1b$B")) || bytes.Contains(head, []byte("\x1b$@")) {
		text, err := japanese.ISO2022JP.NewDecoder().Bytes(data)
		if err == nil && !bytes.ContainsRune(text, utf8.RuneError) {
			return text, "ISO-2022-JP", true
		}
	}
	return nil, "", false
}

// decodeWide decodes a text that begins in UTF-32 or UTF-16. It replaces invalid characters by U+FFFD. name is the name
// of the encoding. ok is false for other texts.
func decodeWide(data []byte) (text []byte, name string, ok bool) {
	for _, e := range wide {
		if rest, marked := bytes.CutPrefix(data, []byte(e.mark)); marked && (e.unit == 2 || len(data)%e.unit == 0) {
			text, err := e.NewDecoder().Bytes(rest[:len(rest)/e.unit*e.unit])
			return text, e.name, err == nil
		}
	}
	head := data[:min(len(data), headBytes)]
	if bytes.IndexByte(head, 0) < 0 { // spaces and line ends have a zero byte in every script
		return nil, "", false
	}
	for _, e := range wide {
		if len(data)%e.unit != 0 {
			continue
		}
		start, err := e.NewDecoder().Bytes(head)
		start = bytes.TrimSuffix(start, []byte("\ufffd")) // the first half of a character
		if err == nil && isText(start, bytes.HasSuffix(data, []byte(e.lineFeed))) {
			text, err := e.NewDecoder().Bytes(data)
			return text, e.name + " without a byte order mark", err == nil
		}
	}
	return nil, "", false
}

// leastPlain is the smallest number of neighboring bytes that count as UTF-8 inside a UTF-16 text. Fewer bytes may be
// Chinese characters in UTF-16 that look like UTF-8.
const leastPlain = 16

// decodeMixed decodes a text with parts in UTF-8 and parts in e. Such files exist because some programs append lines in
// another encoding. ok is false if the text lacks one of the encodings, or if a part is not readable.
func (e wideEncoding) decodeMixed(data []byte) (text []byte, ok bool) {
	if bytes.IndexByte(data, 0) < 0 {
		return nil, false
	}
	parts := 0
	for len(data) > 0 {
		plain := e.plainBytes(data)
		text = append(text, data[:plain]...)
		data = bytes.TrimPrefix(data[plain:], []byte(e.mark))
		own := 0 // bytes in e
		for own < len(data) && e.plainBytes(data[own:]) == 0 {
			own += e.lineBytes(data[own:])
		}
		part, err := e.NewDecoder().Bytes(data[:own])
		line := bytes.HasSuffix(data[:own], []byte(e.lineFeed))
		if err != nil || own > 0 && (!isText(part, line) || !isClean(part) || isPlainWithZeros(data[:own])) {
			return nil, false
		}
		text = append(text, part...)
		data = data[own:]
		parts += min(plain, 1) + min(own, 1)
	}
	return text, parts > 1
}

// lineBytes returns the number of bytes in the first line of data, which is in the encoding e.
func (e wideEncoding) lineBytes(data []byte) int {
	for at := e.unit; at <= len(data); at += e.unit {
		if string(data[at-e.unit:at]) == e.lineFeed {
			return at
		}
	}
	return len(data)
}

// plainBytes returns the number of bytes at the start of data that are in UTF-8, not in e. It ends after a line feed of
// one byte, or before a byte order mark or ASCII character in e. If the part is short, or also clean text in e, the
// result is 0.
func (e wideEncoding) plainBytes(data []byte) int {
	n := printableBytes(data)
	if rest := data[n:]; len(rest) > 0 && !bytes.HasPrefix(rest, []byte(e.mark)) {
		ascii := rest[0] == 0
		if ascii && n > 0 && e.lineFeed[0] == '\n' {
			n-- // the first byte of a character in e
		}
		if line := bytes.LastIndexByte(data[:n], '\n') + 1; !ascii || e.isClean(data[line:n]) {
			n = line
		}
	}
	if n < leastPlain || e.isClean(data[:n/e.unit*e.unit]) {
		return 0
	}
	return n
}

func (e wideEncoding) isClean(data []byte) bool {
	text, err := e.NewDecoder().Bytes(data)
	return err == nil && isClean(text)
}

// isClean reports whether a decoded text is readable, and is not UTF-8 that was wrongly read as UTF-16. A wrongly read
// text usually has one of these signs:
//   - letters of Gurmukhi and Gujarati, U+0A00 to U+0AFF, beside Chinese or Korean, which come from line feeds
//   - format characters, U+2060 to U+206F, which come from spaces
//   - Chinese right after Korean, which comes from letters beyond ASCII
func isClean(decoded []byte) bool {
	indian, eastern, korean := false, false, false
	for _, r := range string(decoded) {
		chinese := unicode.Is(unicode.Han, r)
		if !isReadable(r) || r>>4 == 0x206 || korean && chinese {
			return false
		}
		korean = unicode.Is(unicode.Hangul, r)
		indian = indian || r>>8 == '\n'
		eastern = eastern || chinese || korean
	}
	return !indian || !eastern
}

// isReadable reports whether a decoded character is white space or printable.
func isReadable(r rune) bool {
	return r != utf8.RuneError && (unicode.IsSpace(r) || unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r))
}

// printableBytes returns how many bytes at the start of data are UTF-8 without control characters.
func printableBytes(data []byte) int {
	at := 0
	for at < len(data) {
		r, size := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && size == 1 || r < ' ' && (r < '\t' || r > '\r') {
			break
		}
		at += size
	}
	return at
}

// isPlainWithZeros reports whether data is UTF-8 except for a few zero bytes.
func isPlainWithZeros(data []byte) bool {
	zeros := bytes.Count(data, []byte{0})
	return zeros*4 < len(data) && printableBytes(bytes.ReplaceAll(data, []byte{0}, nil)) == len(data)-zeros
}

// isText reports whether a decoded text is printable and, without its white space, at least half letters or digits. The
// text must also contain white space, unless line is true. line says that the text ends with a line feed.
func isText(decoded []byte, line bool) bool {
	spaces, letters, all := 0, 0, 0
	for _, r := range string(decoded) {
		all++
		switch {
		case r == ' ' || r == '\n' || r == '\r' || r == '\t':
			spaces++
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			letters++
		case !isReadable(r):
			return false
		}
	}
	return letters > 0 && (spaces > 0 || line) && letters*2 >= all-spaces
}

// legacy is an encoding that is older than UTF-8.
type legacy struct {
	name string
	encoding.Encoding
	// common has two ranges of bytes, for encodings with two bytes per character. Frequent characters begin with such a
	// byte.
	common string
}

// languages lists languages with their older encodings. The field letters has the most frequent letters of a language
// outside ASCII. Text that is decoded with the right encoding has many letters from one such list.
var languages = [...]struct {
	letters string
	// least is a percentage. An encoding fits if at least this percentage of the characters beyond ASCII is in letters.
	// An encoding with legacy.common also fits, whatever the percentage, if isCommon accepts the text.
	least     int
	encodings []legacy
}{
	{"éèáíóöüäñçåøôêïîœàâÿ" + marks, leastLatin, western}, // English, with names of others
	{"äöüß" + marks, leastLatin, western},                 // German
	{"éèàêçùôîâûœëï" + marks, leastLatin, western},        // French
	{"áéíóúñü" + marks, leastLatin, western},              // Spanish
	{"ãõçáéíóúâêôà" + marks, leastLatin, western},         // Portuguese
	{"àèéìòù" + marks, leastLatin, western},               // Italian
	// Scandinavian languages, Finnish
	{"åäöæøé" + marks, leastLatin, western},
	{"áæðéíóöþúý" + marks, leastLatin, western},           // Icelandic
	{"ąćęłńóśźż" + marks, leastLatin, central},            // Polish
	{"áčďéěíňóřšťúůýžäôľĺŕ" + marks, leastLatin, central}, // Czech, Slovak
	{"áéíóöőúüű" + marks, leastLatin, central},            // Hungarian
	{"ăâîşţ" + marks, leastLatin, central},                // Romanian
	{"čćđšž" + marks, leastLatin, central},                // Croatian, Slovene
	{"çğıiöşüâî" + marks, leastLatin, turkish},            // Turkish; the small letter of İ is i
	{"āčēģīķļņšūžąęėįųõäöü" + marks, leastLatin, baltic},  // Baltic languages
	// Cyrillic is before Hebrew and Greek, and wins when they fit equally well.
	{"оеаинтсрвлкмдпуязьіч", leastLetters, cyrillic},
	{"יוהלארתשמבנחעקפדםט", leastLetters, []legacy{{"Windows-1255", charmap.Windows1255, ""}}},
	{"αοιετσνηυρκλπςάίόέήμώύχ", leastLetters, []legacy{{"Windows-1253", charmap.Windows1253, ""}}},
	{"اليمنرتوبةعدسهكفحقأج", leastLetters, []legacy{
		{"Windows-1256", charmap.Windows1256, ""}, {"ISO-8859-6", charmap.ISO8859_6, ""}}},
	{"านรอกเงมยลวดทตสปคพะหบ่้ี็ิัุไ", leastLetters, []legacy{{"Windows-874", charmap.Windows874, ""}}},
	{kana, leastKana, []legacy{
		{"Shift_JIS", japanese.ShiftJIS, "\x81\x83\x88\x97"}, {"EUC-JP", japanese.EUCJP, "\xa1\xa5\xb0\xcf"}}},
	{simplified, leastHan, []legacy{gb18030}},
	{traditional, leastHan, []legacy{{"Big5", traditionalchinese.Big5, "\xa1\xa3\xa4\xc6"}, gb18030}},
	{hangul, leastHan, []legacy{{"EUC-KR", korean.EUCKR, "\xa1\xa3\xb0\xc8"}}},
}

// These encodings are used for several languages.
var (
	gb18030 = legacy{"GB18030", simplifiedchinese.GB18030, "\xa1\xa3\xb0\xd7"}
	western = []legacy{
		{"Windows-1252", charmap.Windows1252, ""},
		{"code page 850", charmap.CodePage850, ""},
		{"Mac Roman", charmap.Macintosh, ""},
		{"ISO-8859-15", charmap.ISO8859_15, ""},
	}
	central = []legacy{
		{"Windows-1250", charmap.Windows1250, ""},
		{"ISO-8859-2", charmap.ISO8859_2, ""},
		{"code page 852", charmap.CodePage852, ""},
	}
	turkish  = []legacy{{"Windows-1254", charmap.Windows1254, ""}}
	baltic   = []legacy{{"Windows-1257", charmap.Windows1257, ""}}
	cyrillic = []legacy{
		{"Windows-1251", charmap.Windows1251, ""},
		{"KOI8", charmap.KOI8U, ""}, // it has all letters of KOI8-R
		{"code page 866", charmap.CodePage866, ""},
		{"ISO-8859-5", charmap.ISO8859_5, ""},
		{"Mac Cyrillic", charmap.MacintoshCyrillic, ""},
	}
)

// These are the smallest shares of frequent letters in text of the right encoding, in percent.
const (
	leastLatin   = 80
	leastLetters = 60
	leastHan     = 50
	leastKana    = 25
)

const (
	// marks are signs that texts of every Latin language may contain.
	marks = "„“”‚‘’–—…«»€§°±×²³¼½µ£©®™•·\u00a0"
	// kana are the Japanese letters that occur beside Chinese signs.
	kana = "のにをはがとでたしてるなれかもいらこりさっうくよあまどけそきめすえみせわおつだんち、。ーンスルトラアイリクシドレジタフロカマ"
	// simplified, traditional and hangul are the most frequent signs of Chinese and Korean texts.
	simplified = "，。、的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心" +
		"她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给" +
		"世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社" +
		"便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运存储库"
	traditional = "，。、的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作里用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其" +
		"些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代" +
		"內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克" +
		"許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運存儲庫請找"
	hangul = "이다는을의에가고하지로한도은기인사그리서자어나를시대아수해들만일있라과으니게정여보부전장원스구거동주상공제것면비우선무오유성경때소학안마문적생요내미조년국신치않모없말되등했었와습간데방세관용입계실단" +
		"려연위점분화재현물당집식행방회할된체금업개교통중발음"
)

// sampleBytes is the largest number of bytes of text that are read to detect the encoding. An encoding of a language
// without Latin letters fits only a text with at least leastSigns characters beyond ASCII. If legacy.common is set and
// isCommon accepts the text, leastCommon characters are enough.
const (
	sampleBytes = 64 << 10
	leastSigns  = 6
	leastCommon = 3
)

// decodeLegacy decodes text in an encoding from before UTF-8. first is the position of the first byte that is not
// UTF-8. apart says that bytes beyond ASCII come in short runs between ASCII letters. Only languages with Latin letters
// have such texts. If no encoding fits, name is "". If two encodings fit equally well, Windows-1252 wins, then the one
// that the variable languages lists first.
func decodeLegacy(data []byte, first int, apart bool) (text []byte, name string) {
	var fit legacy
	best := 0
	line := bytes.LastIndexByte(data[:first], '\n') + 1
	sample := data[line:min(len(data), line+sampleBytes)]
	for _, language := range languages {
		latin := language.least == leastLatin
		for _, e := range language.encodings {
			if _, alphabet := e.Encoding.(*charmap.Charmap); alphabet && apart != latin {
				continue
			}
			share, signs := frequentShare(sample, e, language.letters)
			if latin {
				signs += leastSigns
			}
			over := share - language.least + 1
			if e.common != "" && signs >= leastCommon && isCommon(sample, e.common) {
				signs, over = leastSigns, share+10 // a short text, such as a name, has few of the frequent signs
			}
			if signs >= leastSigns && (over > best || over == best && e == western[0]) {
				best, fit = over, e
			}
		}
	}
	if best <= 0 {
		return nil, ""
	}
	if alphabet, ok := fit.Encoding.(*charmap.Charmap); ok && apart {
		return decodeBytes(data, alphabet), fit.name
	}
	decoder := fit.NewDecoder()
	for part := range bytes.Lines(data) {
		if f := findFaults(part); f.invalid > 0 || f.wide < leastSigns { // not a line in UTF-8
			if part, err := decoder.Bytes(part); err == nil {
				text = append(text, part...)
				continue
			}
		}
		text = append(text, part...)
	}
	return text, fit.name
}

// isCommon reports whether at least nine of ten characters beyond ASCII begin with a byte in ranges. ranges has four
// bytes: the first and the last byte of each of two ranges.
func isCommon(sample []byte, ranges string) bool {
	common, all := 0, 0
	for i := 0; i < len(sample); i++ {
		if c := sample[i]; c >= 0x80 {
			all++
			if c >= ranges[0] && c <= ranges[1] || c >= ranges[2] && c <= ranges[3] {
				common++
			}
			i++ // its second byte
		}
	}
	return common*10 >= all*9
}

// frequentShare decodes sample with e. signs is the number of characters beyond ASCII. share is the percentage of these
// characters that are in letters, in upper or lower case. Two kinds of characters do not add to share, because text in
// a wrong encoding has many of them:
//   - a letter for which isMisplaced is true
//   - a mark between two letters, except the apostrophe and the space
//
// If the sample is invalid in e, both results are 0.
func frequentShare(sample []byte, e legacy, letters string) (share, signs int) {
	out, err := e.NewDecoder().Bytes(sample)
	if err != nil {
		return 0, 0
	}
	frequent, broken := 0, 0
	before := ' '
	for i, r := range string(out) {
		small := unicode.ToLower(r)
		after, _ := utf8.DecodeRune(out[i+utf8.RuneLen(r):])
		switch {
		case r < 0x80:
			before = r
			continue
		case r == utf8.RuneError:
			broken++
		case !strings.ContainsRune(letters, small), isMisplaced(before, r, after):
		case !unicode.In(r, unicode.L, unicode.Z) && r != '’' && unicode.IsLetter(before) && unicode.IsLower(after):
		default:
			frequent++
		}
		signs++
		before = r
	}
	if broken > 1 || broken*50 > signs || signs == 0 { // the sample may end within a character
		return 0, 0
	}
	return frequent * 100 / signs, signs
}

// isMisplaced reports whether words seldom have the letter r between the characters before and after.
func isMisplaced(before, r, after rune) bool {
	switch {
	case unicode.IsUpper(r) && unicode.IsLower(before), unicode.IsLower(r) && unicode.IsUpper(after):
		return true
	case strings.ContainsRune("ךםןףץς", r): // only at the end of words
		return unicode.IsLetter(after)
	case strings.ContainsRune("כמנפצσ", r): // not at the end of words
		return !unicode.In(after, unicode.L, unicode.M)
	case r == 'ь' || r == 'Ь': // only after consonants
		return !unicode.IsLetter(before) || strings.ContainsRune("аеиоуыэюяіїє", unicode.ToLower(before))
	}
	return false
}

// decodeBytes keeps valid UTF-8 in data, and decodes other bytes with alphabet, because a file may have both encodings.
func decodeBytes(data []byte, alphabet *charmap.Charmap) []byte {
	text := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			r = alphabet.DecodeByte(data[0])
		}
		text = utf8.AppendRune(text, r)
		data = data[size:]
	}
	return text
}

// oddControls are control characters that no text needs.
const oddControls = "\x00\x01\x02\x03\x04\x05\x06\x07\x0e\x0f"

// utf8Faults says in which ways a text is not valid UTF-8.
type utf8Faults struct {
	invalid int // bytes that are not UTF-8
	runs    int // runs of bytes beyond ASCII that have an invalid byte
	wide    int // valid characters beyond ASCII
	first   int // position of the first invalid byte, or the length of a valid text
}

func findFaults(data []byte) utf8Faults {
	f := utf8Faults{first: len(data)}
	within, counted := false, false // in a run, and in a run that was counted
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		counted = counted && within && r >= 0x80
		within = r >= 0x80
		switch {
		case r == utf8.RuneError && size == 1:
			f.first = min(f.first, at)
			f.invalid++
			if !counted {
				f.runs++
				counted = true
			}
		case within:
			f.wide++
		}
		at += size
	}
	return f
}
