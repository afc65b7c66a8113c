package ingest

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding/unicode"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storetest"
)

// eastern are texts whose bytes in UTF-16 are often printable in UTF-8. 上 and 《 have the byte of a line feed, as the
// letters of Gurmukhi and Gujarati do.
var eastern = []string{
	"いただきましたが、返事がまだです。",
	"あいうえおかきくけこさしすせそたちつてと",
	"いただきましたが上の人にきいてください。",
	"このたびは、おせわになっております。",
	"そこにあった《かぎ》がない",
	"すみませんが、もういちどおねがいします。",
	"ただいまのじかんはつかえません。",
	"東京都の人口は約千四百万人で、日本で最も多い。",
	"彼は一九六四年に大学を卒業し、新聞社に入った。",
	"会議は３階の大きな部屋でおこなわれます。",
	"コーヒーとパンをテーブルの上に置いた。",
	"なぜそのようなことがおきたのか、だれにもわからない。",
	"橋は戦争のあとに木から石へ作り直された。",
	"机上的书是他昨天从图书馆借来的。",
	"中央政府支持地方政府推行改革。",
	"晚上我们去看《红楼梦》，请早点来。",
	"上海是中国最大的城市之一，人口超过两千万。",
	"这座桥建于一九三二年，全长约五百米。",
	"他在大学学习物理，后来当了老师。",
	"明天上午十点在三楼会议室开会。",
	"一个人在森林里走了很久才找到水。",
	"战争结束以后，许多家庭回到了故乡。",
	"辦公室的鑰匙不見了，請大家幫忙尋找。",
	"這本書的作者出生在台灣南部的一個小村。",
	"天氣預報說明天會下雨，記得帶傘。",
	"材料科学与工程机械技术研究村桥楼林",
	"사무실 열쇠가 없어졌습니다. 내일 돌려 주세요.",
	"ਸਤਿਨਾਮਵਾਹਿਗੁਰੂ ਪੰਜਾਬੀ ਵਿੱਚ ਲਿਖਿਆ ਹੋਇਆ ਹੈ।",
	"કાર્યાલયની ચાવી ખોવાઈ ગઈ છે.",
	"Ключ от кабинета потерян.",
	"# Notes 2024-05-06",
	"",
}

// TestUTF16OfEasternTexts checks that a whole file in UTF-16 stays in UTF-16, with each byte order and line end.
func TestUTF16OfEasternTexts(t *testing.T) {
	must.Whole(t, "it decodes megabytes in one goroutine")
	random := rand.New(rand.NewPCG(1, 2))
	texts := append([]string{strings.Join(eastern, "\n"), "\n" + strings.Join(eastern, "")}, eastern[:len(eastern)-1]...)
	for range 3000 {
		var text strings.Builder
		for range 1 + random.IntN(30) {
			runes := []rune(eastern[random.IntN(len(eastern))])
			text.WriteString(string(runes[random.IntN(len(runes)+1):]))
			if random.IntN(3) > 0 {
				text.WriteString("\n")
			}
		}
		texts = append(texts, text.String()+"办公室 key")
	}
	faults := 0
	for _, text := range texts {
		text += "\n"
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n")} {
			for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
				for _, mark := range []unicode.BOMPolicy{unicode.IgnoreBOM, unicode.UseBOM} {
					data := must.Get(unicode.UTF16(order, mark).NewEncoder().String(text))
					if got, note, ok := decode([]byte(data)); (!ok || string(got) != text) && faults < 10 {
						faults++
						t.Errorf("%v %v: %v %.200q is read as %.200q, %s", order, mark, ok, text, got, note)
					}
				}
			}
		}
	}
}

// TestDamagedUTF16 checks that a fault in a file in UTF-16 leaves the other characters as they are.
func TestDamagedUTF16(t *testing.T) {
	text := strings.Join(eastern, "\n")
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		encode := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String
		for name, damage := range map[string]string{
			"half a character": "\x30", "a line feed in UTF-8": "\n", "half of a pair": "\xd8\xd8", "no character": "\xff\xff",
		} {
			for _, line := range eastern {
				data := must.Get(encode(text + "\n" + line))
				if got, note, ok := decode([]byte(data + damage)); !ok || !strings.HasPrefix(string(got), text+"\n"+line) {
					t.Errorf("%v, %s after %q: %v %.300q, %s", order, name, line, ok, got, note)
				}
			}
		}
	}
}

// TestUTF16AfterUTF8WithoutLineEnd checks a file in UTF-8 without a line end, to which a program appended UTF-16.
func TestUTF16AfterUTF8WithoutLineEnd(t *testing.T) {
	for _, plain := range []string{"The key is here, and a heron.", "# Key\n\nThe key is in the green box",
		"Der Schlüssel zum Büro fehlt", "Ключ от кабинета потерян.\nКлюч от кабинета потерян"} {
		for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
			for _, mark := range []unicode.BOMPolicy{unicode.IgnoreBOM, unicode.UseBOM} {
				for _, line := range []string{"\r\n", "the heron is here\r\n", "\nКлюч от кабинета\n"} {
					line += "办公室的钥匙 key\n"
					data := plain + must.Get(unicode.UTF16(order, mark).NewEncoder().String(line))
					text, note, ok := decode([]byte(data))
					check.That(t, ok && string(text) == plain+line, "%v %v: %v %q, %s", order, mark, ok, text, note)
				}
			}
		}
	}
}

// TestTimeOfBadUTF16 checks that the processor time to decode a file grows with its size only.
func TestTimeOfBadUTF16(t *testing.T) {
	must.Whole(t, "it decodes megabytes in one goroutine")
	const size = 1 << 20
	for _, part := range []string{
		"D0_0", "\n\x00", "\x00\n", "\n", "\n\n\x00", "D0_0D0_0D0_0D0_0\nN", "\x00", "\x00a", "e e e ", "\xff\xfe",
		"the key of the heron\n\x00", "the key of the heron\nT\x00h\x00e\x00\n\x00", "the key of the heron\n\xff\xfe",
	} {
		for _, start := range []string{"", "\xff\xfe", "\xfe\xff", "a\x00\n\x00", "\x00"} {
			began := storetest.CPU()
			decode([]byte(start + strings.Repeat(part, size/len(part))))
			took := storetest.CPU() - began
			check.That(t, took <= 5*time.Second, "%q, then %q took %v", start, part, took)
		}
	}
}
