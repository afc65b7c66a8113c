package sheaf

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Kind is the type of a [Value].
type Kind uint8

// The kinds of value. A value of one kind never equals one of another.
const (
	KindText Kind = iota + 1
	KindNumber
	KindDate
	KindBool
)

// String is "text", "number", "date" or "bool".
func (k Kind) String() string {
	switch k {
	case KindText:
		return "text"
	case KindNumber:
		return "number"
	case KindDate:
		return "date"
	case KindBool:
		return "bool"
	}
	return "unknown"
}

// Value is one typed value of a property or a column. It is comparable with
// ==; the zero Value is no value at all.
type Value struct {
	Kind Kind
	// Text is set for KindText.
	Text string
	// Number is the number for KindNumber, milliseconds since 1970 in UTC
	// for KindDate, and 0 or 1 for KindBool. Never NaN.
	Number float64
}

// TextValue is a text value.
func TextValue(s string) Value { return Value{Kind: KindText, Text: s} }

// NumberValue is a number value; NaN gives the zero Value.
func NumberValue(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{Kind: KindNumber, Number: f + 0} // +0 turns -0 into 0
}

// DateValue is a date value, to the millisecond.
func DateValue(t time.Time) Value {
	return Value{Kind: KindDate, Number: float64(t.UnixMilli())}
}

// BoolValue is a truth value.
func BoolValue(b bool) Value {
	if b {
		return Value{Kind: KindBool, Number: 1}
	}
	return Value{Kind: KindBool}
}

// IsZero reports whether v is no value.
func (v Value) IsZero() bool { return v.Kind == 0 }

// Time is the time of a date value in UTC; the zero time for other kinds.
func (v Value) Time() time.Time {
	if v.Kind != KindDate {
		return time.Time{}
	}
	return time.UnixMilli(int64(v.Number)).UTC()
}

// Compare orders values: by kind, then texts by their bytes and everything
// else by number. It returns -1, 0 or +1.
func (v Value) Compare(w Value) int {
	if v.Kind != w.Kind {
		return cmp.Compare(v.Kind, w.Kind)
	}
	if v.Kind == KindText {
		return cmp.Compare(v.Text, w.Text)
	}
	return cmp.Compare(v.Number, w.Number)
}

// String writes v for people: the text itself, the shortest form of a number,
// a date as 2006-01-02 (with a time of day only when it has one), true, false.
func (v Value) String() string {
	switch v.Kind {
	case KindText:
		return v.Text
	case KindNumber:
		return strconv.FormatFloat(v.Number, 'g', -1, 64)
	case KindDate:
		t := v.Time()
		if t.Equal(t.Truncate(24 * time.Hour)) {
			return t.Format("2006-01-02")
		}
		return t.Format(time.RFC3339)
	case KindBool:
		return strconv.FormatBool(v.Number != 0)
	}
	return ""
}

// MarshalJSON writes texts and dates as strings, numbers and truth values as
// themselves, and no value (or an infinite number) as null.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case KindNumber:
		if math.IsInf(v.Number, 0) {
			return []byte("null"), nil
		}
		return json.Marshal(v.Number)
	case KindBool:
		return json.Marshal(v.Number != 0)
	case KindText, KindDate:
		return json.Marshal(v.String())
	}
	return []byte("null"), nil
}
