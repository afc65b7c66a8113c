package analysis_test

import (
	"strings"
	"testing"

	"sheaf/internal/check"
)

// samples are texts of about 100 kB each.
var samples = []struct{ name, language, text string }{
	{"english", "en", "The configuration of the server is in a file that you edit with any editor, and it is read at " +
		"start; so nothing else is needed. "},
	{"markdown", "en", "## Get-Item\n\n- See [the `getUserName` call](../api/users.md#get-user-name), *v1.2.3* and " +
		"later.\n```go\nif err := db.Open(ctx, \"x\"); err != nil {\n\treturn err\n}\n```\n"},
	{"german", "de", "Die Häuser für größere Familien stehen über der Straße, während die Gärten nördlich davon " +
		"schön blühen. "},
	{"russian", "ru", "Настройки сервера находятся в файле, который можно изменить в любом редакторе, и он читается " +
		"при запуске. "},
	{"chinese", "", "服务器的配置在一个文件中，可以用任何编辑器修改，启动时读取。"},
	{"thai", "", "การตั้งค่าเซิร์ฟเวอร์อยู่ในไฟล์เดียวที่แก้ไขได้ด้วยโปรแกรมใดก็ได้ "},
}

// BenchmarkWords measures cutting texts into raw words.
func BenchmarkWords(b *testing.B) {
	for _, s := range samples {
		b.Run(s.name, func(b *testing.B) {
			text := strings.Repeat(s.text, 100_000/len(s.text))
			a := analyzer(b, s.language)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				a.Words(text, func(int, int) bool { n++; return true })
			}
		})
	}
}

// TestWordsAllocateNothing checks that Words allocates nothing, as documented.
func TestWordsAllocateNothing(t *testing.T) {
	for _, s := range samples {
		a := analyzer(t, s.language)
		n := 0
		count := func(int, int) bool { n++; return true }
		allocs := testing.AllocsPerRun(10, func() { a.Words(s.text, count) })
		check.That(t, allocs <= 0, "%s: %v allocations", s.name, allocs)
	}
}
