package ingest

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// TestTextThatIsNotUTF8: text in older encodings and in UTF-16 is read with its letters.
func TestTextThatIsNotUTF8(t *testing.T) {
	wide := func(order unicode.Endianness, mark unicode.BOMPolicy) encoding.Encoding {
		return unicode.UTF16(order, mark)
	}
	russian := "# Заметка\n\nСъешь же ещё этих мягких французских булок, да выпей чаю.\n"
	german := "# Budget\n\nDer Schlüssel zum Büroraum fehlt: Größe, Straße, Maß.\n"
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		text     string
	}{
		"Latin-1": {charmap.ISO8859_1, german},
		"Windows-1252": {charmap.Windows1252, "L’été à Évreux — où « l’élève zélé » a été reçu, œuvre " +
			"achevée… 5 €\n"},
		"Windows-1252, short": {charmap.Windows1252, "# Café\n"},
		"Windows-1251":        {charmap.Windows1251, russian},
		"KOI8-R":              {charmap.KOI8R, russian},
		"code page 866":       {charmap.CodePage866, russian},
		"Windows-1253": {charmap.Windows1253, "# Σημείωση\n\nΤο κλειδί του γραφείου λείπει και δεν το " +
			"βρίσκω πουθενά.\n"},
		"Shift_JIS":                  {japanese.ShiftJIS, "# メモ\n\nいろはにほへと、散りぬるを。東京の鍵はここにあります。\n"},
		"EUC-JP":                     {japanese.EUCJP, "# メモ\n\nいろはにほへと、散りぬるを。東京の鍵はここにあります。\n"},
		"GB18030":                    {simplifiedchinese.GB18030, "我们使用数据库来存储数据。这个项目的钥匙不在办公室里。\n"},
		"UTF-16LE":                   {wide(unicode.LittleEndian, unicode.UseBOM), german},
		"UTF-16BE":                   {wide(unicode.BigEndian, unicode.UseBOM), german},
		"UTF-16LE, no mark":          {wide(unicode.LittleEndian, unicode.IgnoreBOM), german},
		"UTF-16BE, no mark":          {wide(unicode.BigEndian, unicode.IgnoreBOM), german},
		"UTF-16LE, no mark, Russian": {wide(unicode.LittleEndian, unicode.IgnoreBOM), russian},
		"UTF-16BE, no mark, Chinese": {wide(unicode.BigEndian, unicode.IgnoreBOM), "# 我们\n\n使用数据库来存储数据。\n"},
		"UTF-32":                     {utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), german},
	} {
		data, err := c.encoding.NewEncoder().String(c.text)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, n := range []int{1, 500} {
			if n > 1 && (strings.Contains(name, "32") && !strings.Contains(name, "32,") ||
				strings.HasPrefix(name, "UTF-16") && !strings.Contains(name, "no mark")) {
				continue // a mark within the text
			}
			text, note, ok := decode([]byte(strings.Repeat(data, n)))
			if !ok || string(text) != strings.Repeat(c.text, n) || note == "" {
				t.Errorf("%s, %d times: %v %q, note %q", name, n, ok, text[:min(len(text), 100)], note)
			}
		}
	}
	if text, note, ok := decode([]byte(german)); !ok || string(text) != german || note != "" {
		t.Errorf("UTF-8: %v %q %q", ok, text, note)
	}
}

// TestEncodingThatChanges: a file whose encoding changes in the middle is read on both sides.
func TestEncodingThatChanges(t *testing.T) {
	const line = "Der Schlüssel zum Büro fehlt.\n"
	old, err := charmap.Windows1252.NewEncoder().String(line)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 100_000} {
		began := time.Now()
		text, note, ok := decode([]byte(strings.Repeat(line, n) + strings.Repeat(old, n)))
		if !ok || string(text) != strings.Repeat(line, 2*n) || !strings.Contains(note, "Windows-1252") {
			t.Errorf("%d lines: %v, %q", n, ok, note)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%d lines took %v", n, took)
		}
	}
}
