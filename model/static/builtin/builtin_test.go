package builtin_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/model"
	"sheaf/model/static"
	"sheaf/model/static/builtin"
	"sheaf/model/static/english"
)

func open(t testing.TB) *static.Embedder {
	t.Helper()
	e := must.Get(builtin.New())
	return e
}

func vectors(t testing.TB, e *static.Embedder, texts ...string) [][]float32 {
	t.Helper()
	v := must.Get(e.Embed(context.Background(), model.Query, texts))
	return v
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestBuiltinModel(t *testing.T) {
	e := open(t)
	must.Do(t, e.Verify())
	check.That(t, e.Dims() == 256 && e.Model() == builtin.Name && builtin.Made(e.Model()) && builtin.Made("sheaf-en-1") &&
		!builtin.Made("other"), "%s has %d dimensions", e.Model(), e.Dims())
	check.That(t, slices.IsSorted(builtin.Languages) && slices.Contains(builtin.LanguagesOf(e.Model()), "ja") &&
		builtin.LanguagesOf("other") == nil, "languages: %v", builtin.Languages)
}

// questions ask in many languages how to delete a file, and how the weather will be.
var questions = map[string][2]string{
	"de": {"Wie lösche ich eine Datei?", "Wie wird das Wetter morgen?"},
	"fr": {"Comment supprimer un fichier ?", "Quel temps fera-t-il demain ?"},
	"es": {"¿Cómo se elimina un archivo?", "¿Qué tiempo hará mañana?"},
	"ru": {"Как удалить файл?", "Какая погода будет завтра?"},
	"el": {"Πώς διαγράφω ένα αρχείο;", "Τι καιρό θα κάνει αύριο;"},
	"tr": {"Bir dosya nasıl silinir?", "Yarın hava nasıl olacak?"},
	"ar": {"كيف أحذف ملفًا؟", "كيف سيكون الطقس غدًا؟"},
	"hi": {"फ़ाइल कैसे हटाएं?", "कल मौसम कैसा रहेगा?"},
	"th": {"ฉันจะลบไฟล์ได้อย่างไร", "พรุ่งนี้อากาศจะเป็นอย่างไร"},
	"zh": {"如何删除文件？", "明天天气怎么样？"},
	"ja": {"ファイルを削除する方法は？", "明日の天気はどうですか？"},
	"ko": {"파일을 어떻게 삭제하나요?", "내일 날씨는 어떤가요?"},
	"vi": {"Làm thế nào để xóa một tệp?", "Thời tiết ngày mai thế nào?"},
}

// TestMeaning checks that questions are nearer to their English translations than to other questions.
func TestMeaning(t *testing.T) {
	e := open(t)
	english := vectors(t, e, "How do I delete a file?", "What will the weather be like tomorrow?")
	for language, q := range questions {
		v := vectors(t, e, q[0], q[1])
		margin := 0.0
		for i := range v {
			margin += (dot(v[i], english[i]) - dot(v[i], english[1-i])) / 2
		}
		check.That(t, margin >= 0.1, "%s: translations are nearer than other questions by %.2f", language, margin)
	}
}

// TestIsEnglish checks which short texts show their language.
func TestIsEnglish(t *testing.T) {
	e := open(t)
	for text, want := range map[string]string{
		"how do I bake bread": "yes", "the configuration of a search engine": "yes",
		"как испечь хлеб": "no", "ไฟล์ถูกลบ": "no", "Kürbissuppe kochen": "no", "wie kann ich eine Datei löschen": "no",
		"undoo comit": "not known", "git rebase": "not known", "zzzzqqq": "not known", "4712": "not known", "": "not known",
	} {
		got := "not known"
		if english, known := e.IsEnglish(text); known {
			got = map[bool]string{true: "yes", false: "no"}[english]
		}
		check.Equal(t, got, want, "%q is English", text)
	}
}

// TestTableOfText checks that the main language of a text decides which table reads it, not names or
// code. English has exactly the vectors of the English table.
func TestTableOfText(t *testing.T) {
	e := open(t)
	alone := must.Get(english.New())
	for text, want := range map[string]bool{
		"How do I delete a file?": true, "delete": true, "undo a commit": true, "undo": true, "x": true, "2023-04-05": true,
		"The café on the corner — everybody’s favorite — serves “good” coffee.": true,
		"kubectl get pods --all-namespaces":                                     true, "": true,
		"func main() {\n\tfmt.Println(\"hello, world\")\n}\n":       true,
		"# Release notes\n\nThe server now restarts after a crash.": true,

		strings.Repeat("A long text about the configuration of a search engine. ", 50): true,

		"Kubernetes のクラスターを Terraform で構築する方法":                                false,
		"Функция `fmt.Println(\"hello\")` печатает строку и переводит курсор": false,
		"Der Befehl git commit --amend ändert den letzten Commit":             false,
		"The word Straße means street in German":                              true,
		"The Japanese title is 吾輩は猫である, which means I am a cat":               true,
	} {
		check.Equal(t, slices.Equal(vectors(t, e, text)[0], vectors(t, alone, text)[0]), want,
			"%q has the vector of the English table", text)
	}
}

// TestSegments checks pieces against the reference tokenizer, on sentences in many languages.
// testdata/make_segments.py writes them.
func TestSegments(t *testing.T) {
	raw := must.Get(os.ReadFile("testdata/segments.json"))
	var cases []struct {
		Text   string
		Pieces []int32
	}
	must.Do(t, json.Unmarshal(raw, &cases))
	others := must.Get(static.OpenUnigram(builtin.File))
	s := static.NewSegmenter(others)
	must.That(t, len(cases) >= 30, "only %d cases", len(cases))
	for _, c := range cases {
		check.List(t, s.Encode(nil, c.Text), c.Pieces, "pieces of %q", c.Text)
	}
}

// strange are texts in no language.
var strange = []string{
	"", " ", "\x00", "\xed\xa0\x80", "\u200f\u200e", "\u0301\u0301\u0323", "\ue000\uf8ff", "🎉👩‍💻🇩🇪", "字", "aжαअกあ索ا한גაՀ",
	strings.Repeat("ж", 1<<20), strings.Repeat("\u0301", 1<<18), strings.Repeat("ж索a", 10<<20/6),
}

func TestBadInput(t *testing.T) {
	e := open(t)
	for _, text := range strange {
		a, b := vectors(t, e, text)[0], vectors(t, e, text)[0]
		check.List(t, a, b, "two vectors of %.20q", text)
		if a != nil && (dot(a, a) < 0.99 || dot(a, a) > 1.01) {
			t.Errorf("%.20q has a vector of length %v", text, dot(a, a))
		}
	}
	v := vectors(t, e, "字")[0]
	check.That(t, v != nil, "a Han character has no vector")
}

// TestSameVectors checks that texts in many languages and in none have exactly the same vectors on
// every machine. When the table changes, write the sum that the test prints.
func TestSameVectors(t *testing.T) {
	const want uint32 = 0xe00c52f3
	raw := must.Get(os.ReadFile("testdata/sentences.txt"))
	texts := append(strings.Split(string(raw), "\n"), strange...)
	e, sum := open(t), crc32.NewIEEE()
	passages := must.Get(e.Embed(t.Context(), model.Passage, texts))
	weight := func(word string) float64 { return 1 / float64(1+len(word)) }
	for i, text := range texts {
		for _, v := range [][]float32{passages[i], e.EmbedWeighted(text, weight)} {
			must.Do(t, binary.Write(sum, binary.LittleEndian, v))
		}
	}
	check.Equal(t, sum.Sum32(), want, "checksum of the vectors")
}

// BenchmarkEmbed embeds texts of about 100 words.
func BenchmarkEmbed(b *testing.B) {
	e := open(b)
	run := func(name, text string, words int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.Get(e.Embed(b.Context(), model.Passage, []string{text}))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(words)*100, "us/100words")
		})
	}
	const english = "the configuration of a search engine decides which documents stand first and why embedding " +
		"tokenizers matter less than fields "
	run("en", strings.Repeat(english, 5), 95)
	for _, language := range []string{"de", "fr", "ru", "el", "ar", "hi", "ko", "tr", "vi"} {
		q := questions[language]
		text := strings.Repeat(q[0]+" "+q[1]+" ", 10)
		run(language, text, len(strings.Fields(text)))
	}
	for language, characters := range map[string]int{"zh": 2, "ja": 2, "th": 4} {
		q := questions[language]
		text := strings.Repeat(q[0]+q[1], 10)
		run(language, text, len([]rune(text))/characters)
	}
}

// TestKnownQueries checks that signs, numbers and single letters beside English words do not remove
// the meaning of a query. Codes, numbers alone and texts that the tables cannot read have no meaning.
func TestKnownQueries(t *testing.T) {
	e := open(t)
	same := func(string) float64 { return 1 }
	for text, want := range map[string]bool{
		`"Writing a Loader"`: true, "writer's guide": true, "Upgrade to v1": true, "chapter 5": true, "cargo-tree(1)": true,
		"html-webpack-plugin": true, "Node.js API": true, "getUrl() hook": true, `--mode="production"`: true,
		"ERR_X9_TIMEOUT": false, "ERR_CERT_4096": false, "X9": false, "COVID-19 vaccine": true, "python3 install": true,
		"4711": false, "x": false, "?!": false, "": false, "zzzzqqq": false, "xqzt": false, "kjhgf": false,
		"\ue000\ue001\ue002": false,
	} {
		got := e.EmbedWeighted(text, same) != nil
		check.That(t, got == want && (vectors(t, e, text)[0] != nil) == want, "%q is known: %t, want %t", text, got, want)
	}
	v, err := e.Embed(t.Context(), model.Passage, []string{"zzzzqqq"})
	check.That(t, err == nil && v[0] != nil, "a passage in no language has no vector (%v)", err)
}
