package opensearch

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"sheaf"
	"sheaf/index/engine/bm25"
	"sheaf/store/storekit"
)

// escapes is the first of 256 private-use characters of Unicode. Each of them encodes one byte that is not UTF-8.
const escapes = 0x10ff00

// escape turns any bytes into UTF-8, which JSON requires. Each byte that is not UTF-8 becomes a private-use character.
// So does each byte of a private-use character that the text already has. All other text stays unchanged.
func escape(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r >= escapes }) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r >= escapes {
			for _, b := range []byte(s[i : i+size]) {
				out.WriteRune(escapes + rune(b))
			}
		} else {
			out.WriteString(s[i : i+size])
		}
		i += size
	}
	return out.String()
}

// unescape returns the text from which escape made s.
func unescape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= escapes }) {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		if r >= escapes {
			out.WriteByte(byte(r - escapes))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// key returns the key (_id) of the document with this ID. The server accepts at most 512 bytes, so the key is a hash.
func key(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Every value of a column becomes one word of the field "c". The word has the column's name, a separator, a letter for
// the kind, and the sortable value. So filters need no mapping of each column, and a word matches exactly when its
// value does.
const (
	separator = "\x1f"
	// maxWord is the length in bytes to which a text value is cut in a word. A hash of the value follows.
	maxWord = 8000
)

// columnWord returns the text with which all words of the column begin.
func columnWord(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 }) || len(name) > maxWord {
		sum := sha256.Sum256([]byte(name))
		return "\x01" + hex.EncodeToString(sum[:]) + separator
	}
	return escape(name) + separator
}

func valueWord(v sheaf.Value) string {
	if v.Kind == sheaf.KindText {
		if len(v.Text) > maxWord {
			sum := sha256.Sum256([]byte(v.Text))
			end := maxWord
			for end > 0 && !utf8.RuneStart(v.Text[end]) {
				end--
			}
			return "t" + escape(v.Text[:end]) + "\x1e" + hex.EncodeToString(sum[:])
		}
		return "t" + escape(v.Text)
	}
	return storekit.ValueWord(v)
}

// These are separators between terms in texts for the server.
const (
	betweenPlaces = "\x1e" // between positions
	betweenTerms  = "\x1f" // between terms at one position; alone, it marks a position without terms
)

// termPosition is a term and its position in a field.
type termPosition struct {
	position int32
	term     string
}

// places sorts terms by position and encodes them for the server's analyzer. It shortens gaps to maxGap. Longer gaps
// come only from many stop words in a row.
func places(terms []termPosition) string {
	slices.SortStableFunc(terms, func(a, b termPosition) int { return cmp.Compare(a.position, b.position) })
	var out strings.Builder
	for i, t := range terms {
		switch {
		case i == 0:
		case t.position == terms[i-1].position:
			out.WriteString(betweenTerms)
		default:
			for range min(t.position-terms[i-1].position-1, maxGap) {
				out.WriteString(betweenPlaces + betweenTerms)
			}
			out.WriteString(betweenPlaces)
		}
		out.WriteString(t.term)
	}
	return out.String()
}

const maxGap = 1000

// present is an additional form in every field that has terms. Without it, idf would count fewer chunks for forms than
// for terms, because some texts have no forms.
const present = "\x02"

// fieldTexts returns two texts for the server's analyzer: the terms of a field, and the forms.
func fieldTexts(f storekit.Field) (terms, forms string) {
	at := make([]termPosition, 0, f.Length)
	rest := []string{present}
	for _, p := range f.Postings {
		if form, ok := strings.CutPrefix(p.Term, storekit.FormMark); ok {
			for range p.Frequency {
				rest = append(rest, form)
			}
			continue
		}
		for _, place := range p.Positions {
			at = append(at, termPosition{place, p.Term})
		}
	}
	if n := filling(f.Length); n > 0 && len(at) > 0 {
		end := slices.MaxFunc(at, func(a, b termPosition) int { return cmp.Compare(a.position, b.position) }).position
		at = append(at, slices.Repeat([]termPosition{{end + 1, filler}}, n)...)
	}
	return places(at), strings.Join(rest, betweenPlaces)
}

// filler is a term that pads short fields and that no query contains.
const filler = "\x03"

// filling returns how many fillers pad a field of n terms to the nearest length that Lucene can store. Lucene rounds
// lengths down, but averages exact lengths, so texts would seem up to an eighth too short. With fillers the error is at
// most a sixteenth, up or down.
func filling(n int) int {
	return max(0, int(bm25.LengthsLucene.Of(uint32(n)))-n)
}

// plainField returns the name that a field of sheaf.Fields has in the index.
func plainField(name string) string {
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r == '_') }) {
		return name
	}
	return "0" + hex.EncodeToString([]byte(name))
}
