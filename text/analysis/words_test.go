package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/analysis"
)

func analyzer(t testing.TB, language string) *analysis.Analyzer {
	t.Helper()
	a := must.Get(analysis.New(analysis.Options{Language: language}))
	return a
}

// show formats tokens as "position:term", forms in brackets.
func show(tokens []analysis.Token) string {
	var out []string
	for _, t := range tokens {
		s := fmt.Sprintf("%d:%s", t.Position, t.Term)
		if t.Form {
			s = "(" + s + ")"
		}
		if t.Prefix {
			s += "*"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ language, text, want string }{
		{"en", "Running dogs", "0:run (0:running) 1:dog (1:dogs)"},
		{"", "Running dogs", "0:running 1:dogs"},
		{"en", "getUserName", "0:getusernam (0:getusername) 0:get 1:user 2:name"},
		{"en", "HTTPServer2", "0:httpserver2 0:http 1:server 2:2"},
		{"en", "snake_case_name", "0:snake_case_name 0:snake 1:case 2:name"},
		{"en", "__init__", "0:__init__ 0:init"},
		{"en", "v1.2.3", "0:v1.2.3 0:1.2.3 0:v1 1:2 2:3"},
		{"en", "node.js.", "0:node.js 0:node 1:js"},
		{"en", "user@host.org", "0:user@host.org 0:user 1:host 2:org"},
		{"en", "C++ and C# or c", "0:c++ 1:and 2:c# 3:or 4:c"},
		{"en", "a #tag/sub, not#this", "0:a 1:#tag 1:tag 2:sub 3:not 4:this"},
		{"en", "John's can't", "0:john (0:john's) 1:can't 1:cant"},
		{"fr", "l'homme", "0:l'homme 0:l 1:homm (1:homme)"},
		{"", "l'écran D’Angelo rock'n'roll c'è", "0:l'ecran 0:l 1:ecran 2:d'angelo 2:d 3:angelo 4:rock'n'roll 5:c'e"},
		{"en", "all'alba I'll d'or", "0:all'alba 0:all 1:alba 2:i'll 3:d'or 3:d 4:or"},
		{"en", "YouTube's McDonald’s", "0:youtub (0:youtube's) 0:you 1:tube (1:tube's) " +
			"1:mcdonald (1:mcdonald's) 1:mc 2:donald (2:donald's)"},
		{"en", "1,000,000 3.14 U.S.A. e.g.", "0:1,000,000 0:1000000 0:1 1:000 2:000 3:3.14 3:3 4:14 5:u.s.a 5:usa 5:u 6:s " +
			"7:a 8:e.g 8:eg 8:e 9:g"},
		{"en", "naïve Ångström ﬁle", "0:naiv (0:naive) 1:angstrom 2:file"},
		{"de", "Straße Häuser", "0:strass (0:strasse) 1:haus (1:hauser)"},
		{"ru", "ёлки йод", "0:елк (0:елки) 1:йод"},
		{"", "東京都 and 猫", "0:東 0:東京 1:京都 2:都 3:and 4:猫"},
		{"", "ภาษาไทย", "0:ภ 0:ภา 1:าษ 2:ษา 3:าไ 4:ไท 5:ทย 6:ย"},
		{"", "한국어 문서", "0:한 0:한국 1:국어 2:어 3:문 3:문서 4:서"},
		{"", "x😀y \xff\xfe z\x00w", "0:x 1:😀 2:y 3:z 4:w"},
		{"", "ＡＢＣ １２", "0:abc 1:12"},
		{"en", "Get-ChildItem well-known utf-8", "0:getchilditem 0:get 1:childitem 1:child 2:item 2:well 3:known " +
			"4:utf8 4:utf 5:8"},
		{"en", "2024-05-01 C++17 #a-b", "0:2024-05-01 0:2024 1:05 2:01 3:c++17 3:c++ 4:17 5:#a-b 5:ab 5:a 6:b"},
		{"", "soft\u00ADhyphen نمی\u200Cخواهم ٣٤", "0:softhyphen 1:نميخواهم 2:34"},
		{"", "हिन्दी தமிழ் 1'000", "0:हिन्दी 1:தமிழ் 2:1'000 2:1000 2:1 3:000"},
		{"en", "John’s can’t", "0:john (0:john's) 1:can't 1:cant"},
		{"", "2024年度", "0:2024 1:年 1:年度 2:度"},
		{"", "https://example.com/a_b?q=x#top <b>bold</b> [text](url.md)", "0:https 1:example.com 1:example 2:com 3:a_b " +
			"3:a 4:b 5:q 6:x 7:top 8:b 9:bold 10:b 11:text 12:url.md 12:url 13:md"},
		{"ar", "الكِتابُ", "0:كتاب (0:الكتاب)"},
		{"", "___ ' . #", ""},
		{"", "utf8 k8s 3d x86_64", "0:utf8 0:utf 1:8 1:k8s 2:3d 3:x86_64 3:x86 4:64"},
		// Capitals and digits split names into words, but not into single letters.
		{"", "IPv6", "0:ipv6 0:ipv 1:6"},
		{"", "IPV6", "0:ipv6 0:ipv 1:6"},
		{"", "4K", "0:4k"},
		{"", "E2E", "0:e2e"},
		{"", "10GB", "0:10gb 0:10 1:gb"},
		{"", "5km/h 2nd", "0:5km 0:5 1:km 1:h 2:2nd 2:2 3:nd"},
		{"", "XMLToJSON", "0:xmltojson 0:xml 1:to 2:json"},
		{"", "MP3Player", "0:mp3player 0:mp3 1:player"},
		{"", "GitHub pages", "0:github 0:git 1:hub 1:pages"},
		{"", "IPv6_x y", "0:ipv6_x 0:ipv6 0:ipv 1:6 1:x 2:y"},
		{"", "HTTPServer.x", "0:httpserver.x 0:http 1:server 1:x"},
		// A word that a line end cuts is found joined and by its parts.
		{"", "infor-\nmation x", "0:infor 0:information 1:mation 1:information 2:x"},
		{"", "infor-\r\nmation", "0:infor 0:information 1:mation 1:information"},
		{"", "_infor-\nmation_", "0:_infor-\nmation_ 0:_infor 0:infor 0:information 1:mation_ " +
			"1:mation 1:information"},
		{"", "infor- \n\t mation", "0:infor 0:information 1:mation 1:information"},
		{"", "> infor-\n> > mation", "0:infor 0:information 1:mation 1:information"},
		{"", "infor\u2010\nmation", "0:infor 0:information 1:mation 1:information"},
		{"", "infor\u00AD\nmation", "0:infor 0:information 1:mation 1:information"},
		{"", "INFOR-\nMATION", "0:infor 0:information 1:mation 1:information"},
		{"", "Größen-\nmaß", "0:grossen 0:grossenmass 1:mass 1:grossenmass"},
		{"", "инфор-\nмация", "0:инфор 0:информация 1:мация 1:информация"},
		{"", "in-\nfor-\nmation", "0:in 0:information 1:for 2:mation 2:information"},
		{"", "l'infor-\nmation", "0:l'infor 0:l 1:infor 1:information 2:mation 2:information"},
		{"", "self-infor-\nmation a", "0:self 1:infor 1:information 2:mation 2:information 3:a"},
		{"fr", "l\u2019infor-\nmation d'auto-\nmobile", "0:l'infor 0:l 1:infor 1:inform (1:information) 2:mation 2:inform " +
			"(2:information) 3:d'auto 3:d 4:auto 4:automobil (4:automobile) 5:mobil (5:mobile) 5:automobil (5:automobile)"},
		{"", "Jean-\nPaul COVID-\n19", "0:jean 1:paul 2:covid 3:19"},
		{"", "a list -\nof things", "0:a 1:list 2:of 3:things"},
		{"", "infor-\n\nmation", "0:infor 1:mation"},
		{"", "10-\n20 infor-\n- item", "0:10 1:20 2:infor 3:item"},
	} {
		check.Equal(t, show(analyzer(t, c.language).Tokens(c.text)), c.want, "%s %q", c.language, c.text)
	}
}

func TestQueryTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Running", "0:run"},
		{"東京都", "0:東京 1:京都"},
		{"猫", "0:猫*"},
		{"한국 문서", "0:한국 2:문서"},
		{"修改 VSCode 配置", "0:修改 2:vscode 2:vs 3:code 3:配置"},
		{"getUserName", "0:getusernam 0:get 1:user 2:name"},
	} {
		check.Equal(t, show(analyzer(t, "en").QueryTokens(c.text)), c.want, "%q", c.text)
	}
}

// TestQueryPositions checks that the tokens of a query have the same positions as in an indexed
// text, which phrases need.
func TestQueryPositions(t *testing.T) {
	for _, text := range []string{"猫 x 猫", "修改 VSCode 配置", "東京都 の猫, 猫 and 東京", "회사 소개 문서", "กา กาแฟ a", "が が b"} {
		a := analyzer(t, "")
		indexed := map[string]bool{}
		for _, token := range a.Tokens(text) {
			indexed[fmt.Sprint(token.Term, token.Position)] = true
		}
		for _, token := range a.QueryTokens(text) {
			check.That(t, indexed[fmt.Sprint(token.Term, token.Position)], "%q: %s is not indexed at position %d: %s", text,
				token.Term, token.Position, show(a.Tokens(text)))
		}
	}
}

// TestWordsOfLettersAndDigitsInAnyCase checks that a phrase and the index have the same terms and positions in any
// case.
func TestWordsOfLettersAndDigitsInAnyCase(t *testing.T) {
	for _, language := range []string{"", "en", "de", "fr", "ru", "ar"} {
		a := analyzer(t, language)
		for _, text := range []string{"PowerShell", "getUserNames", "TypeScript", "HTTPServers", "SQLite", "WebRTC", "OAuth2",
			"ÄnderungsListen", "IPv6", "use 4K now", "E2E tests", "OAuth2 server", "B2B", "H264", "MP3Player",
			"x86_64", "K8s", "I18n", "HTTPServer2.start", "Get-ChildItem2",
			"GitHub Pages", "URLs and PDFs", "eBay iPhone7", "Ту154М", "МойКласс2 есть", "Größe2X", "Wi-Fi 6E",
			"my_IPv6_Address", "COVID-19", "3D", "C++17", "10GB"} {
			indexed := map[string]bool{}
			for _, token := range a.Tokens(text) {
				indexed[fmt.Sprint(token.Term, token.Position)] = true
			}
			want := show(a.PhraseTokens(text))
			for _, typed := range []string{strings.ToLower(text), strings.ToUpper(text), text} {
				tokens := a.PhraseTokens(typed)
				check.Equal(t, show(tokens), want, "%s: terms of %q, as of %q", language, typed, text)
				for _, token := range tokens {
					check.That(t, indexed[fmt.Sprint(token.Term, token.Position)], "%s: %q has no %s at %d: %s", language, text,
						token.Term, token.Position, show(a.Tokens(text)))
				}
			}
		}
	}
}

// TestZeroWidthCharacters checks that invisible characters split no word, in any script.
func TestZeroWidthCharacters(t *testing.T) {
	for _, c := range []string{"\u200B", "\u200C", "\u200D", "\u2060", "\uFEFF", "\u00AD", "\u200E", "\u034F"} {
		for _, word := range []string{"Donaudampfschiff", "getUserName", "ИнформацияX", "東京都", "ภาษาไทย", "한국어", "COVID-19",
			"v1.2.3"} {
			letters := []rune(word)
			hidden := string(letters[:2]) + c + string(letters[2:]) + c
			a := analyzer(t, "")
			got, want := show(a.Tokens(hidden+" x")), show(a.Tokens(word+" x"))
			check.That(t, got == want, "%+q:\n got %s\nwant %s", hidden, got, want)
			terms := a.Tokens(hidden)
			last := terms[len(terms)-1]
			check.That(t, last.End <= len(hidden), "%+q: %+v", hidden, last)
		}
	}
}

// TestNamesWithoutMarks checks that a name with a hyphen or an apostrophe is found without it.
func TestNamesWithoutMarks(t *testing.T) {
	a := analyzer(t, "en")
	for _, c := range []struct {
		text, query string
		finds       bool
	}{
		{"Wi-Fi", "wifi", true}, {"wifi", "Wi-Fi", true}, {"Get-Item", "getitem", true}, {"GetItem", "Get-Item", true},
		{"E-Mails", "email", true}, {"emails", "E-Mail", true}, {"e-mails", "email", true}, {"x-ray", "Xray", true},
		{"utf-8", "UTF8", true}, {"utf8", "UTF\u20118", true}, {"pages 3-5", "35", false}, {"2024-05-31", "20240531", false},
		{"don't", "dont", true}, {"don’t", "don't", true}, {"Tim O'Reilly", "oreilly", true}, {"we're", "were", false},
		{"I'll", "ill", false}, {"the dog's", "dogs", true},
	} {
		terms := a.Tokens(c.text)
		found := slices.ContainsFunc(a.MatchTokens(c.query), func(q analysis.Token) bool {
			return slices.ContainsFunc(terms, func(t analysis.Token) bool { return t.Term == q.Term })
		})
		check.That(t, found == c.finds, "%q finds %q: %t", c.query, c.text, found)
	}
}

// TestOtherHyphens checks that all kinds of hyphens join the same word. Dashes split words, and a
// phrase with a hyphen finds the words around a dash.
func TestOtherHyphens(t *testing.T) {
	a := analyzer(t, "")
	for _, text := range []string{"COVID\u201119", "COVID\u201019", "COVID-19", "COVID－19"} {
		got, want := show(a.Tokens(text)), "0:covid19 0:covid 1:19"
		check.That(t, got == want, "%+q:\n got %s\nwant %s", text, got, want)
	}
	for _, text := range []string{"3\u20135", "3-5", "3\u20145", "3 5", "3\u22125", "3\u20125", "3/5"} {
		got, want := show(a.PhraseTokens(text)), "0:3 1:5"
		check.That(t, got == want, "%+q:\n got %s\nwant %s", text, got, want)
	}
}

// TestEmoji checks that a joined emoji is one word, and that each of its terms covers all of it.
func TestEmoji(t *testing.T) {
	a := analyzer(t, "en")
	for _, c := range []struct{ text, want string }{
		{"a🐘b", "0:a 1:🐘 2:b"},
		{"👩\u200D💻", "0:👩💻 0:👩 0:💻"},
		{"👍🏽👍", "0:👍🏽 0:👍 1:👍"},
		{"👩🏽\u200D💻", "0:👩🏽💻 0:👩💻 0:👩 0:💻"},
		{"🇩🇪🇫🇷🇩", "0:🇩🇪 1:🇫🇷 2:🇩"},
		{"15️⃣ #️⃣ *⃣", "0:1 1:5⃣ 1:5 2:#⃣ 3:*⃣"},
		{"5️⃣", "0:5⃣ 0:5"},
		{"❤️ ❤ ❤️\u200D🔥", "0:❤ 1:❤ 2:❤🔥 2:❤ 2:🔥"},
		{"©️ © ▶️ ▶ →", "0:© 1:▶ 2:▶"},
		{"🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
			"0:🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F 0:🏴"},
		{"👩\u200D❤️\u200D👩", "0:👩❤👩 0:👩 0:❤"},
		{"note🐘.md", "0:note 1:🐘 2:md"},
	} {
		check.Equal(t, show(a.Tokens(c.text)), c.want, "%+q", c.text)
		a.Words(c.text, func(start, end int) bool {
			for _, term := range a.Terms(nil, c.text[start:end]) {
				check.That(t, term.Text[0] < 0x80 || term.Start == 0 && term.End == end-start,
					"%+q: %+v stands for a part of an emoji", c.text, term)
			}
			return true
		})
	}
}

// TestValueEnd checks that no phrase continues from a value to the next.
func TestValueEnd(t *testing.T) {
	if got, want := show(analyzer(t, "").Tokens("hello world"+analysis.ValueEnd+"foo-"+analysis.ValueEnd+"bar")),
		"0:hello 1:world 3:foo 5:bar"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLongWords checks that a very long word of any characters is cut into words of limited length.
func TestLongWords(t *testing.T) {
	must.Whole(t, "it analyzes megabytes in one goroutine")
	a := analyzer(t, "en")
	for _, part := range []string{"a", "aB", "a-\n", "1", "é", "\u200B", "a\u200B", "中", "👩\u200D", "🏽", "_", "v1.",
		"aB-"} {
		text := "x" + strings.Repeat(part, 1<<18/len(part))
		words, longest := 0, 0
		a.Words(text, func(start, end int) bool {
			words++
			longest = max(longest, end-start)
			return true
		})
		check.That(t, words <= len(text) && longest <= 4096+8, "%q: %d words, of at most %d bytes", part, words, longest)
		start := time.Now()
		if n := len(a.Tokens(text)); n > 4*len(text) || time.Since(start) > 20*time.Second {
			t.Errorf("%q: %d tokens in %v", part, n, time.Since(start))
		}
	}
}

func TestDetect(t *testing.T) {
	for want, text := range map[string]string{
		"en": "The configuration of the server is in a file that you edit with any editor, and it is read at start.",
		"de": "Die Konfiguration des Servers ist in einer Datei, die man mit einem Editor bearbeitet und die beim Start " +
			"gelesen wird.",
		"fr": "La configuration du serveur est dans un fichier que vous pouvez modifier avec un éditeur et qui est lu au " +
			"démarrage.",
		"es": "La configuración del servidor está en un archivo que se puede editar con un editor y que se lee al inicio.",
		"ru": "Настройки сервера находятся в файле, который можно изменить в любом редакторе, и он читается при запуске.",
		"zh": "服务器的配置在一个文件中，可以用任何编辑器修改。",
		"ja": "サーバーの設定は一つのファイルにあり、エディタで編集できます。",
		"ko": "서버 설정은 하나의 파일에 있으며 편집기로 수정할 수 있습니다.",
		"th": "การตั้งค่าเซิร์ฟเวอร์อยู่ในไฟล์เดียว",
		"ar": "إعدادات الخادم موجودة في ملف واحد يمكن تعديله",
		"":   "xyzzy plugh 12345 foo.bar()",
	} {
		check.Equal(t, analysis.Detect(text), want, "%q", text)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"getUserName v1.2.3 C++", "東京都 naïve", "a\xffb \u200d #x 1,0", strings.Repeat("é", 300),
		strings.Repeat("中", 3000)} {
		f.Add(s)
	}
	en := analyzer(f, "en")
	f.Fuzz(func(t *testing.T, text string) {
		position, end := -1, 0
		en.Words(text, func(start, stop int) bool {
			must.That(t, start >= end && stop > start && stop <= len(text),
				"word %d:%d after one that ends at %d", start, stop, end)
			end = stop
			return true
		})
		for _, token := range en.Tokens(text) {
			must.That(t, token.Term != "" && token.Start >= 0 && token.End <= len(text) && token.Start <= token.End,
				"token %+v of %d bytes", token, len(text))
			must.That(t, token.Position >= position-255, "position %d after %d", token.Position, position)
			position = max(position, token.Position)
			for _, r := range token.Term {
				must.That(t, r >= 0x20, "control character in term %q", token.Term)
			}
		}
		for _, token := range en.QueryTokens(text) {
			must.That(t, !token.Form, "form %q in a query", token.Term)
		}
		_ = analysis.Detect(text)
	})
}

func TestStopWordsLeaveGaps(t *testing.T) {
	a, err := analysis.New(analysis.Options{Language: "en", StopWords: true})
	must.Do(t, err)
	got, want := show(a.Tokens("The end of the world")), "1:end 4:world"
	check.That(t, got == want, "got %s, want %s", got, want)
	again, err := analysis.Parse(a.Name())
	check.That(t, err == nil && again.Name() == a.Name() && show(again.Tokens("the x")) == "1:x", "Parse(%q) = %v, %v",
		a.Name(), again, err)
	for raw, want := range map[string]bool{"the": true, "The": true, "to-do": true, "_": true, "end": false,
		"To-Do": false, "getThe": false, "the.x": false} {
		check.Equal(t, a.Stops(raw), want, "Stops(%q)", raw)
	}
}

func TestMatchTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"how to install", "0:how 1:to 2:instal"},
		{"How do I install it?", "3:instal"},
		{"what is the way to install the server on Windows", "3:way 5:instal 7:server 9:window"},
		{"What is this?", "0:what 1:is 2:this"},
		{"how do I install", "3:instal"},
		{"can i move a note", "2:move 4:note"},
		{"how to move a note", "0:how 1:to 2:move 3:a 4:note"},
		{"how notes move", "0:how 1:note 2:move"},
		{"what is it", "0:what 1:is 2:it"},
		{"move it", "0:move 1:it"},
	} {
		check.Equal(t, show(analyzer(t, "en").MatchTokens(c.text)), c.want, "%q", c.text)
	}
	check.Equal(t, show(analyzer(t, "ar").MatchTokens("ما هو المسرح؟")), "2:مسرح", "an Arabic question")
}

func TestPieces(t *testing.T) {
	write := func(pieces []analysis.Piece) string {
		var out []string
		for _, p := range pieces {
			if p.Exact {
				p.Text = `"` + p.Text + `"`
			}
			out = append(out, p.Text)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct{ text, prefix, fuzzy string }{
		{"Caf", "caf", "caf"}, {"getUserN", "getusern", "getusern"}, {"Get-It", `"Get" it`, "get it"},
		{"docs/set", `"docs" set`, "docs set"},
		{"東京", "東京", `"東京"`}, {"東京都", `"東京都"`, `"東京都"`}, {"京", "京", `"京"`}, {"v1.2", "v1.2", "v1.2"}, {"#Ta", "#ta", "#ta"},
		{"c++", "c++", "c++"}, {"?!", "", ""}, {"", "", ""},
	} {
		a := analyzer(t, "en")
		check.Equal(t, write(a.PrefixPieces(c.text)), c.prefix, "prefix %q", c.text)
		check.Equal(t, write(a.FuzzyPieces(c.text)), c.fuzzy, "fuzzy %q", c.text)
	}
}

// TestSpansOfComposedRuns checks that each term of a run which Unicode composes differently covers its own letters.
// Search marks this part.
func TestSpansOfComposedRuns(t *testing.T) {
	a := analyzer(t, "")
	many := strings.Repeat("\u0e49", 40)
	pieces := []string{"ที่", "น้ำ", "ภาษา", "ນ້ຳ", "\u1112\u1161\u11ab", "국", "ｶﾞ", "ｶ", "か\u3099", "㍿", "数", many}
	rapid.Check(t, func(t *rapid.T) {
		raw := "ก" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 12).Draw(t, "pieces"), "")
		for _, term := range a.Terms(nil, raw) {
			part := raw[term.Start:term.End]
			if strings.Contains(raw, many) { // Unicode composes no further here
				continue
			}
			must.That(t, utf8.ValidString(part) && strings.Contains(norm.NFKC.String(part), term.Text) &&
				len(part) <= 2*len(term.Text)+128, "the term %+q of %+q stands for %+q", term.Text, raw, part)
		}
	})
}

// TestNoTermIsEmpty checks that no term is empty in any language, for any marks in a word, also
// invisible ones.
func TestNoTermIsEmpty(t *testing.T) {
	must.Whole(t, "it analyzes megabytes in one goroutine")
	rng := rand.New(rand.NewPCG(41, 8))
	parts := []rune("aZéßΣя7数ع'’‘.-@_,#\u0300\u0301\u0306\u00ad\u200b\u200d\u0e33")
	texts := []string{"x-\u200d'\u200d", "Z-\u00ad'\u00ad", "É-\u0301'\u0301", "hello Z-\u0300\u2019\u0300 world"}
	for range 20_000 {
		var b strings.Builder
		for range 1 + rng.IntN(9) {
			b.WriteRune(parts[rng.IntN(len(parts))])
		}
		texts = append(texts, b.String())
	}
	for _, language := range append(analysis.Languages(), "") {
		a := analyzer(t, language)
		var terms []analysis.Term
		for _, text := range texts {
			a.Words(text, func(start, end int) bool {
				terms = a.Terms(terms[:0], text[start:end])
				for _, term := range terms {
					if term.Text == "" {
						t.Fatalf("%q: %q of %+q has an empty term: %+v", language, text[start:end], text, terms)
					}
				}
				return true
			})
		}
	}
}
