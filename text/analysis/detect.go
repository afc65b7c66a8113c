package analysis

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// functionWords has the function words of languages, by language code. Detect recognizes languages by these words.
// StopWords omits them, and MatchTokens drops them from questions.
var functionWords = map[string]string{
	"en": "a an and are as at be but by for if in into is it no not of on or such that the their then there these they " +
		"this to was will with " +
		"what how which who whom whose when where why do does did can am were been has i me my we our us you your he she " +
		"him her its from",
	"de": "der die das und ist nicht ein eine einen dem den des zu von mit auf für im sich auch es an werden aus er " +
		"hat dass sie nach wird bei einer um am sind noch wie über was wer wen wem wo wann warum welche welcher welches " +
		"welchen ich du wir ihr mein kann",
	"fr": "le la les de des et un une est que qui dans en du pour pas au sur ne se ce plus par avec il sont à être ou " +
		"cette aux nous vous leur mais quel quelle quels quelles comment quand pourquoi où je tu elle qu l d",
	"es": "el la los las de y que en un una es se no por con para su al lo como más del o pero sus le ha este sí " +
		"porque esta son entre cuando muy qué cómo cuál cuáles cuándo dónde quién cuánto fue",
	"it": "il lo la i gli le di e che è un una per in non con del della si da sono come più dei al nel alla ma anche " +
		"questo delle ha essere cosa quale quali quando dove chi perché mi ci",
	"pt": "o a os as de e que do da em um uma para é com não se na no por mais dos como mas ao das ou seu sua à são " +
		"quando muito também foi qual quais onde quem quanto porque eu você",
	"nl": "de het een en van is dat op te in zijn met voor niet aan er om ook als bij door maar naar hebben worden dit " +
		"wordt of uit deze nog kan over wat wie waar wanneer waarom hoe welke ik jij je we hij zij",
	"sv": "och det att i en som är på av för med till den har de inte om ett han men var jag sig från vi så kan när nu " +
		"skulle efter eller under vad vem hur varför vilken vilka du hon",
	"da": "og det at en den til er som på de med af for ikke der var et har om vi men eller han sig kan fra ved nu jeg " +
		"efter skal blev være også hvad hvem hvor hvordan hvornår hvorfor hvilken du hun",
	"no": "og det at en den til er som på de med av for ikke der var et har om vi men eller han seg kan fra ved nå jeg " +
		"etter skal ble være også hva hvem hvor hvordan når hvorfor hvilken du hun",
	"fi": "ja on ei se että oli hän mutta ovat kun niin joka myös tai sen ole kuin olla vain tämä jos mukaan sekä " +
		"jossa tämän hänen siitä voi mikä mitä kuka missä milloin miksi miten minä sinä",
	"hu": "a az és hogy nem is egy van ez meg de azt volt csak ha már mint el még ki lesz vagy kell lehet minden ezt " +
		"volna azonban amely",
	"ro": "și de la în a cu pe nu că este un o care mai din să pentru sunt se fi au lui prin fost cel dar după când " +
		"sau această",
	"tr": "ve bir bu da için ile de çok daha olarak gibi var ne kadar olan ise değil sonra ancak her ama en mi şey " +
		"göre olduğu",
	"ru": "и в не на что я с он как это по но они к у мы за вы так от же из бы для о или если при быть только его все " +
		"также который какой какая какие кто где когда почему сколько чем",
	"ga": "an agus na a is i ar go le do sé tá ní sin bhí leis ag ach féin mar é nach aon seo iad chun atá raibh",
	"ar": "في من على إلى عن ما هو هي هم التي الذي الذين هذا هذه ذلك تلك أن إن أنه أنها كان كانت يكون لا لم لن قد مع كل " +
		"بعد قبل عند بين أو ثم حيث كما أي كم كيف متى أين لماذا ماذا هل حتى",
	"pl": "i w nie na się z do to że jest jak o ale po co za od tym przez są tak dla czy które jego lub może być oraz",
	"cs": "a se v na je že o s z do to i ve by za pro jako ale po od nebo tak byl jsou při které být mezi také",
}

// questionStarts are function words that begin a question if another function word follows, as in "how do" and "is it".
// The exception is "to": "how to" begins no question.
var questionStarts = map[string]string{
	"en": "what how which who whom when where why do does did can am is are was have has",
	"de": "was wer wen wem wo wann warum wie welche welcher welches welchen kann ist sind",
	"fr": "comment quand pourquoi où quel quelle quels quelles que qui est",
	"es": "qué cómo cuál cuáles cuándo dónde quién cuánto",
	"it": "cosa quale quali quando dove chi perché come",
	"pt": "qual quais onde quem quanto quando porque como",
	"nl": "wat wie waar wanneer waarom hoe welke",
	"sv": "vad vem hur varför vilken vilka när",
	"da": "hvad hvem hvor hvordan hvornår hvorfor hvilken",
	"no": "hva hvem hvor hvordan når hvorfor hvilken",
	"fi": "mikä mitä kuka missä milloin miksi miten",
	"ru": "что кто как где когда почему сколько какой какая какие",
}

// Detect reads at most detectBytes of a sample. The best language needs detectLead times as many function words as the
// second. The function words of the best language must be at least detectShare of all words.
const (
	detectBytes = 1 << 16
	detectLead  = 1.25
	detectShare = 0.04
)

// Detect returns the language of a sample as an ISO 639-1 code, or "" when the language is not certain. It examines
// the scripts, and for Latin and Cyrillic the function words. The same sample always gets the same answer.
func Detect(sample string) string {
	if len(sample) > detectBytes {
		sample = sample[:detectBytes]
	}
	if language, sure := byScript(sample); sure {
		return language
	}
	counts, words := map[string]int{}, 0
	longer, distinct := map[string]int{}, map[string]int{}
	seen := map[string]bool{}
	(&Analyzer{}).Words(sample, func(start, end int) bool {
		word := strings.ToLower(sample[start:end])
		if r, _ := utf8.DecodeRuneInString(word); unicode.IsLetter(r) {
			words++
			for _, language := range functionWordLanguages()[word] {
				counts[language]++
				if !seen[word] {
					distinct[language]++
					longer[language] += min(utf8.RuneCountInString(word)-1, 1)
				}
			}
			seen[word] = true
		}
		return true
	})
	ranked := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	ranked = append(ranked, "", "") // if there are fewer than two
	best, second := ranked[0], ranked[1]
	n := float64(counts[best])
	// One repeated word, or single letters, may be anything: names in a formula, keys of a list.
	if distinct[best] < 2 || longer[best] == 0 {
		return ""
	}
	if words < 3 || n < 2 || n < detectShare*float64(words) || n < detectLead*float64(counts[second]) {
		return ""
	}
	return best
}

// byScript detects languages with a script of their own. sure is false when several languages share the script.
func byScript(sample string) (language string, sure bool) {
	counts := map[string]int{}
	letters := 0
	for _, r := range sample {
		if r < utf8.RuneSelf {
			if isLetter(byte(r)) {
				letters++
			}
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		letters++
		for _, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[s.language]++
				break
			}
		}
	}
	if han, kana := counts["zh"], counts["ja"]; han+kana > 0 && 20*kana > han {
		counts["ja"], counts["zh"] = han+kana, 0
	}
	best := ""
	for _, s := range scripts {
		if counts[s.language] > counts[best] {
			best = s.language
		}
	}
	// A third is enough: technical text has many Latin letters, and these characters say more than a Latin letter.
	if 3*counts[best] < letters || counts[best] == 0 {
		return "", false
	}
	return best, true
}

var scripts = []struct {
	language string
	table    *unicode.RangeTable
}{
	{"zh", unicode.Han}, {"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"ko", unicode.Hangul}, {"th", unicode.Thai},
	{"lo", unicode.Lao}, {"km", unicode.Khmer}, {"my", unicode.Myanmar}, {"ar", unicode.Arabic}, {"he", unicode.Hebrew},
	{"el", unicode.Greek}, {"hi", unicode.Devanagari}, {"ta", unicode.Tamil}, {"te", unicode.Telugu},
	{"bn", unicode.Bengali},
	{"ka", unicode.Georgian}, {"hy", unicode.Armenian},
}

var functionWordLanguages = sync.OnceValue(func() map[string][]string {
	index := map[string][]string{}
	for language, words := range functionWords {
		for _, word := range strings.Fields(words) {
			index[word] = append(index[word], language)
		}
	}
	return index
})

func functionSet(language string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(functionWords[language]) {
		set[word] = true
	}
	return set
}
