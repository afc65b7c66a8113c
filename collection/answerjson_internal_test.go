package collection

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestAnswerAppendsJSON: an answer is the same bytes as json.Encoder writes, or the same
// error, whatever is in it; what else comes to be in an answer is tried too.
func TestAnswerAppendsJSON(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	errors := 0
	for n := range 4000 {
		var a Answer
		fillWith(random, reflect.ValueOf(&a).Elem(), n%3 == 0)
		var want bytes.Buffer
		wantErr := json.NewEncoder(&want).Encode(&a)
		got, err := a.AppendJSON([]byte("before "))
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("the error is %v: want %v", err, wantErr)
		}
		if err != nil {
			errors++
		}
		if want := "before " + want.String(); string(got) != want {
			t.Fatalf("the answer is\n%q: want\n%q", got, want)
		}
	}
	if errors == 0 || errors > 2000 {
		t.Errorf("%d answers of 4000 are no JSON", errors)
	}
}

// fillWith fills a value with others at random: strange ones that JSON has no number or time
// for only where strange is true.
func fillWith(random *rand.Rand, v reflect.Value, strange bool) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(random.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 300, math.MaxInt64, math.MinInt64}[random.IntN(6)])
	case reflect.Uint64:
		v.SetUint([]uint64{0, 1, math.MaxUint64}[random.IntN(3)])
	case reflect.Uint8:
		v.SetUint(uint64(random.IntN(3)))
	case reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 1, -0.25, 1e-6, 9.99e-7, -1e-9, 1e-10, 1e21, 9e20, -1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, random.Float64(), random.NormFloat64()}[random.IntN(15)])
		if strange && random.IntN(40) == 0 {
			v.SetFloat([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[random.IntN(3)])
		}
	case reflect.String:
		var b []byte
		for range random.IntN(5) {
			b = append(b, []string{"a", "plain words", `"`, `\`, "\b\f\n\r\t", "\x00", "\x1f", "\x7f", "<b>&", "ä", "𝄞", "\u2028", "\u2029", "\ufffd", "\xff", "\xe2\x80", "\xed\xa0\x80"}[random.IntN(17)]...)
		}
		v.SetString(string(b))
	case reflect.Pointer:
		if random.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillWith(random, v.Elem(), strange)
		}
	case reflect.Slice:
		if n := random.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n))
			for i := range v.Len() {
				fillWith(random, v.Index(i), strange)
			}
		}
	case reflect.Map:
		if n := random.IntN(4); n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n - 1 {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fillWith(random, key, strange)
				fillWith(random, value, strange)
				v.SetMapIndex(key, value)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			zone := []*time.Location{time.UTC, time.FixedZone("", 2*60*60), time.FixedZone("", -(9*60+30)*60)}[random.IntN(3)]
			at := time.Unix(random.Int64N(1<<33)-1<<32, []int64{0, 1, 120_000_000}[random.IntN(3)]).In(zone)
			if strange && random.IntN(10) == 0 {
				at = at.AddDate(10_000, 0, 0)
			}
			v.Set(reflect.ValueOf(at))
			return
		}
		for i := range v.NumField() {
			// Explanations hold others, and what they are written as is not tried here.
			if f := v.Type().Field(i); f.IsExported() && (f.Name != "Explanation" || random.IntN(4) == 0) && f.Name != "Parts" {
				fillWith(random, v.Field(i), strange)
			}
		}
	default:
		panic("an answer holds a " + v.Type().String())
	}
}

// FuzzAppendText: texts are written as encoding/json does.
func FuzzAppendText(f *testing.F) {
	for _, seed := range []string{"", "plain", "\"\\\b\f\n\r\t\x00\x1f\x7f<>&", "ä\u2028\u2029\ufffd𝄞", "\xff\xe2\x80", "\xed\xa0\x80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want, err := json.Marshal(text)
		if got := appendText(nil, text); err != nil || string(got) != string(want) || !utf8.Valid(got) {
			t.Errorf("%q is %s: want %s, %v", text, got, want, err)
		}
	})
}

// FuzzAppendNumber: numbers are written as encoding/json does.
func FuzzAppendNumber(f *testing.F) {
	for _, seed := range []float64{0, math.Copysign(0, -1), 1e-6, 9.99e-7, 1e-9, 1e-10, 1e20, 1e21, 1e-300, math.MaxFloat64, math.NaN(), math.Inf(-1)} {
		f.Add(math.Float64bits(seed))
	}
	f.Fuzz(func(t *testing.T, bits uint64) {
		number := math.Float64frombits(bits)
		want, err := json.Marshal(number)
		if got, ok := appendNumber(nil, number, true); ok != (err == nil) || string(got) != string(want) {
			t.Errorf("%v is %s, %v: want %s, %v", number, got, ok, want, err)
		}
	})
}

// TestTextsAppendJSON: each byte, at each place of a text, is written as json.Marshal writes it.
func TestTextsAppendJSON(t *testing.T) {
	for c := range 256 {
		for at := range 18 {
			text := strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("b", 17-at)
			want, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := appendText(nil, text); string(got) != string(want) {
				t.Errorf("%q is written as %s, want %s", text, got, want)
			}
		}
	}
}
