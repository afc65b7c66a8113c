package ingest

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// TestTextThatIsNotUTF8 checks that texts in older encodings and in UTF-16 are decoded correctly.
func TestTextThatIsNotUTF8(t *testing.T) {
	must.Whole(t, "it decodes megabytes in one goroutine")
	wide := func(order unicode.Endianness, mark unicode.BOMPolicy) encoding.Encoding {
		return unicode.UTF16(order, mark)
	}
	russian := "# Заметка\n\nСъешь же ещё этих мягких французских булок, да выпей чаю.\n"
	french := "# Été\n\nL'élève zélé a été reçu où la forêt brûle, à côté du château.\n"
	polish := "# Klucz\n\nKlucz do biura jest żółty. Proszę zwrócić go później, dziękuję. Gęś i źdźbło.\n"
	czech := "# Klíč\n\nPříliš žluťoučký kůň úpěl ďábelské ódy. Kde je klíč od kanceláře?\n"
	chinese := "# 鑰匙\n\n辦公室的鑰匙不見了。請大家幫忙尋找，我們明天再開會討論這個問題。\n"
	german := "# Budget\n\nDer Schlüssel zum Büroraum fehlt: Größe, Straße, Maß.\n"
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		text     string
	}{
		"Latin-1":               {charmap.ISO8859_1, german},
		"code page 850":         {charmap.CodePage850, german},
		"code page 850, short":  {charmap.CodePage850, "# Büro\n"},
		"Mac Roman":             {charmap.Macintosh, german},
		"Mac Roman, French":     {charmap.Macintosh, french},
		"code page 850, French": {charmap.CodePage850, french},
		"Windows-1250, Polish":  {charmap.Windows1250, polish},
		"ISO-8859-2, Polish":    {charmap.ISO8859_2, polish},
		"code page 852, Polish": {charmap.CodePage852, polish},
		"Windows-1250, Czech":   {charmap.Windows1250, czech},
		"ISO-8859-2, pangram":   {charmap.ISO8859_2, "# Zażółć\n\nZażółć gęślą jaźń, klucz do biura.\n"},
		"Windows-1254, İ":       {charmap.Windows1254, "# Tr\n\nİstanbul ışığı değişti güneş\n"},
		"ISO-8859-2, Czech":     {charmap.ISO8859_2, czech},
		"Windows-1250, Hungarian": {charmap.Windows1250, "# Jegyzet\n\nÁrvíztűrő tükörfúrógép, és őszi eső hullik " +
			"a földre.\n"},
		"Windows-1252, Spanish": {charmap.Windows1252, "# Año\n\n¿Dónde está la llave? El niño salió mañana.\n"},
		"Windows-1252, Danish":  {charmap.Windows1252, "# Nøgle\n\nNøglen på værelset er væk. Årets bedste smørrebrød.\n"},
		"Windows-1252, signs":   {charmap.Windows1252, "# Tank\n\nThe tank holds 5 m³ ± 3 %, 20 °C, 10 µm.\n"},
		"Windows-1254, Turkish": {charmap.Windows1254, "# Anahtar\n\nÇalışma odasının anahtarı kayıp, değişik bir şey.\n"},
		"Windows-1257, Lithuanian": {charmap.Windows1257, "# Raktas\n\nKabineto raktas dingo, prašome grąžinti jį šį " +
			"vakarą į Žaliąją salę.\n"},
		"ISO-8859-5":   {charmap.ISO8859_5, russian},
		"Mac Cyrillic": {charmap.MacintoshCyrillic, russian},
		"Windows-1255": {charmap.Windows1255, "# הערה\n\nהמפתח של המשרד אבד, נא להחזיר אותו מחר בבוקר.\n"},
		"Windows-1256": {charmap.Windows1256, "# ملاحظة\n\nمفتاح المكتب مفقود، يرجى إعادته غدا صباحا إلى " +
			"الغرفة.\n"},
		"Windows-874":             {charmap.Windows874, "# บันทึก\n\nกุญแจของสำนักงานหายไป กรุณานำมาคืนพรุ่งนี้เช้า\n"},
		"Big5":                    {traditionalchinese.Big5, chinese},
		"GB18030, traditional":    {simplifiedchinese.GB18030, chinese},
		"EUC-KR":                  {korean.EUCKR, "# 메모\n\n사무실 열쇠가 없어졌습니다. 내일 아침까지 돌려 주시기 바랍니다.\n"},
		"ISO-2022-JP":             {japanese.ISO2022JP, "# メモ\n\n東京の鍵はここにあります。\n"},
		"UTF-32LE, no mark":       {utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), german},
		"UTF-32BE, no mark":       {utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), russian},
		"Shift_JIS, names":        {japanese.ShiftJIS, "# 東京\n\n観光案内所の場所\n"},
		"Shift_JIS, one name":     {japanese.ShiftJIS, "# Notes\n\nThe room 会議室 is on the left of the stairs.\n"},
		"EUC-JP, names":           {japanese.EUCJP, "# 東京\n\n観光案内所の場所\n"},
		"GB18030, names":          {simplifiedchinese.GB18030, "# 会议\n\n请确认会议室预订\n"},
		"Big5, names":             {traditionalchinese.Big5, "# 會議\n\n請確認會議室預訂\n"},
		"EUC-KR, names":           {korean.EUCKR, "# 일정\n\n회의실 예약\n"},
		"Windows-1255, short":     {charmap.Windows1255, "# שלום\n\nמה שלומך היום\n"},
		"Windows-1250, all signs": {charmap.Windows1250, "# Żółw\n\nZażółć gęślą jaźń\n"},
		"Windows-1252": {charmap.Windows1252, "L’été à Évreux — où « l’élève zélé » a été reçu, œuvre " +
			"achevée… 5 €\n"},
		"Windows-1252, short":                         {charmap.Windows1252, "# Café\n"},
		"Windows-1252, only spaces that do not break": {charmap.Windows1252, "heron\u00a0sits at 5\u00a0euros\n"},
		"Windows-1251":                                {charmap.Windows1251, russian},
		"KOI8-R":                                      {charmap.KOI8R, russian},
		"code page 866":                               {charmap.CodePage866, russian},
		"Windows-1253": {charmap.Windows1253, "# Σημείωση\n\nΤο κλειδί του γραφείου λείπει και δεν το " +
			"βρίσκω πουθενά.\n"},
		"Shift_JIS":                  {japanese.ShiftJIS, "# メモ\n\nいろはにほへと、散りぬるを。東京の鍵はここにあります。\n"},
		"EUC-JP":                     {japanese.EUCJP, "# メモ\n\nいろはにほへと、散りぬるを。東京の鍵はここにあります。\n"},
		"GB18030":                    {simplifiedchinese.GB18030, "我们使用数据库来存储数据。这个项目的钥匙不在办公室里。\n"},
		"KOI8-U":                     {charmap.KOI8U, "# Нотатка\n\nКлюч від кабінету загублено, їжак.\n"},
		"ISO-8859-15":                {charmap.ISO8859_15, "# P\n\nPrix: 20 € et l'œuvre\n"},
		"ISO-8859-6":                 {charmap.ISO8859_6, "# ملاحظة\n\nالمفتاح على الطاولة\n"},
		"ISO-8859-8, two words":      {charmap.ISO8859_8, "שלום עולם\n"},
		"Windows-1251, Serbian":      {charmap.Windows1251, "Здраво, шта радиш\n"},
		"Windows-1253, short":        {charmap.Windows1253, "Ευχαριστώ πολύ\n"},
		"ISO-8859-8":                 {charmap.ISO8859_8, "# פתק\n\nהמפתח על השולחן\n"},
		"Windows-1251, recipe":       {charmap.Windows1251, "Рецепт борща\n"},
		"Windows-1251, about work":   {charmap.Windows1251, "О работе\n"},
		"Windows-1251, bill":         {charmap.Windows1251, "Счет за\n"},
		"Windows-1251, hero":         {charmap.Windows1251, "Номер шесть герой нашего\n"},
		"KOI8-R, introduction":       {charmap.KOI8R, "ВВЕДЕНИЕ\n"},
		"KOI8-R, chapter":            {charmap.KOI8R, "ГЛАВА ПЕРВАЯ\n"},
		"KOI8-R, bill":               {charmap.KOI8R, "СЧЕТ ЗА ЭЛЕКТРИЧЕСТВО\n"},
		"KOI8-R, gull":               {charmap.KOI8R, "Чайка палата\n"},
		"Mac Cyrillic, recipe":       {charmap.MacintoshCyrillic, "Рецепт борща\nрецепт борща\n"},
		"Windows-1255, good night":   {charmap.Windows1255, "לילה טוב\n"},
		"Windows-1257, Estonian":     {charmap.Windows1257, "# Märkus\n\nVõti on laual, palun tooge täna tagasi.\n"},
		"Windows-1252, Estonian":     {charmap.Windows1252, "# Märkus\n\nVõti on laual, palun tooge täna tagasi.\n"},
		"UTF-16LE":                   {wide(unicode.LittleEndian, unicode.UseBOM), german},
		"UTF-16BE":                   {wide(unicode.BigEndian, unicode.UseBOM), german},
		"UTF-16LE, no mark":          {wide(unicode.LittleEndian, unicode.IgnoreBOM), german},
		"UTF-16BE, no mark":          {wide(unicode.BigEndian, unicode.IgnoreBOM), german},
		"UTF-16LE, no mark, short":   {wide(unicode.LittleEndian, unicode.IgnoreBOM), "# B\r\n\r\nThe key.\r\n"},
		"UTF-16LE, no mark, Russian": {wide(unicode.LittleEndian, unicode.IgnoreBOM), russian},
		"UTF-16BE, no mark, Chinese": {wide(unicode.BigEndian, unicode.IgnoreBOM), "# 我们\n\n使用数据库来存储数据。\n"},
		"UTF-32":                     {utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), german},
	} {
		data, err := c.encoding.NewEncoder().String(c.text)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, n := range []int{1, 500} {
			if n > 1 && strings.HasPrefix(name, "UTF-") && !strings.Contains(name, "no mark") {
				continue // a byte order mark inside the text
			}
			text, note, ok := decode([]byte(strings.Repeat(data, n)))
			if !ok || string(text) != strings.Repeat(c.text, n) || note == "" {
				t.Errorf("%s, %d times: %v %q, note %q", name, n, ok, text[:min(len(text), 100)], note)
			}
		}
	}
	// A text in one language of Windows-1252 with a foreign word, and code with one special character.
	for _, c := range []string{"Der Schlüssel fehlt, señor. Größe.\n", "a × b\n", "10 µm\n", "§ 5\n", "naïve façade\n"} {
		data := must.Get(charmap.Windows1252.NewEncoder().String(c))
		text, note, ok := decode([]byte(data))
		check.That(t, ok && string(text) == c, "%q: %v %q, note %q", c, ok, text, note)
	}
	text, note, ok := decode([]byte(german))
	check.That(t, ok && string(text) == german && note == "", "UTF-8: %v %q %q", ok, text, note)
}

// TestEncodingThatChanges checks that a file with two encodings is decoded correctly in both parts.
func TestEncodingThatChanges(t *testing.T) {
	must.Whole(t, "it decodes megabytes in one goroutine")
	for _, c := range []struct {
		line, name string
		encoding   encoding.Encoding
	}{
		{"Der Schlüssel zum Büro fehlt.\n", "Windows-1252", charmap.Windows1252},
		{"Ключ от кабинета потерян.\n", "Windows-1251", charmap.Windows1251},
		{"鍵は会議室にあります。\n", "Shift_JIS", japanese.ShiftJIS},
	} {
		old := must.Get(c.encoding.NewEncoder().String(c.line))
		for _, n := range []int{1, 100_000} {
			began := time.Now()
			text, note, ok := decode([]byte(strings.Repeat(c.line, n) + strings.Repeat(old, n)))
			check.That(t, ok && string(text) == strings.Repeat(c.line, 2*n) && strings.Contains(note, c.name),
				"%s, %d lines: %v %.100q, %q", c.name, n, ok, text, note)
			took := time.Since(began)
			check.That(t, took <= 10*time.Second, "%s, %d lines took %v", c.name, n, took)
		}
	}
}

// TestUTF16AndUTF8InOneFile checks that lines in the other encoding are decoded, wherever a program appended them.
// A stray zero byte does not make a text UTF-16.
func TestUTF16AndUTF8InOneFile(t *testing.T) {
	must.Whole(t, "it decodes megabytes in one goroutine")
	const plain, long = "# Key\n\nThe key is here.\n", "Der Schlüssel zum Büro fehlt: Größe.\n"
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		wide := func(text string, mark unicode.BOMPolicy) string {
			data := must.Get(unicode.UTF16(order, mark).NewEncoder().String(text))
			return data
		}
		for _, line := range []string{"the heron\n", "# B\r\n\r\nThe key.\r\n", "Ключ от кабинета потерян.\n",
			"办公室的钥匙在桌子上。\n", long} {
			for _, n := range []int{1, 5000} {
				line := strings.Repeat(line, n)
				for _, mark := range []unicode.BOMPolicy{unicode.IgnoreBOM, unicode.UseBOM} {
					for _, c := range [][2]string{
						{plain + wide(line, mark), plain + line},
						{wide(line, mark) + plain, line + plain},
						{wide(line, mark) + plain + wide(line, mark) + long, line + plain + line + long},
					} {
						text, note, ok := decode([]byte(c[0]))
						check.That(t, ok && string(text) == c[1] && note == keptAs("UTF-8 and UTF-16"),
							"%v %v, %d lines: %v %.200q, %q", order, mark, n, ok, text, note)
					}
				}
			}
		}
	}
	lines := strings.Repeat("the key is here, and a heron\n", 300)
	for _, zero := range []string{"\x00", " \x00 ", "\x00\n", "\n\x00", strings.Repeat("\x00", 99)} {
		data := lines + zero + lines
		if text, note, ok := decode([]byte(data)); !ok || string(text) != data || !strings.Contains(note, "a zero byte") {
			t.Errorf("zero bytes %q: %v %q", zero, ok, note)
		}
	}
}
