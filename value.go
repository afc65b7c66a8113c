package sheaf

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"time"
)

// Kind is the type of a [Value].
type Kind uint8

// These are the kinds of value. Values of different kinds are never equal.
const (
	KindText Kind = iota + 1
	KindNumber
	KindDate
	KindBool
)

// String returns "text", "number", "date" or "bool".
func (k Kind) String() string { return nameIn([]string{"text", "number", "date", "bool"}, int(k)) }

// nameIn returns the n-th name, counted from 1. For another n it returns "unknown".
func nameIn(names []string, n int) string {
	if n < 1 || n > len(names) {
		return "unknown"
	}
	return names[n-1]
}

// Value is a typed value of a property or a column. Values compare with ==. The zero Value means no value.
type Value struct {
	Kind Kind
	// Text is the text of KindText. Text of a number is the document's spelling if this is unusual, such as 000032 or
	// 12.10. Text of a date is the time in its time zone, unless the zone is UTC. Otherwise Text is "". Columns of stores
	// do not have Text of numbers and dates: see [Value.Plain].
	Text string
	// Number is the number of KindNumber, the milliseconds since 1970 UTC of KindDate, 0 or 1 for KindBool, never NaN.
	Number float64
}

// TextValue returns a text value.
func TextValue(s string) Value { return Value{Kind: KindText, Text: s} }

// TextValues returns a text value for each text.
func TextValues[T ~string](texts ...T) []Value {
	values := make([]Value, len(texts))
	for i, t := range texts {
		values[i] = TextValue(string(t))
	}
	return values
}

// NumberValue returns a number value, or the zero Value for NaN.
func NumberValue(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	return Value{Kind: KindNumber, Number: f + 0} // +0 turns -0 into 0
}

// WrittenNumber returns the value of the number f, which a document spells as s.
func WrittenNumber(f float64, s string) Value {
	v := NumberValue(f)
	if v.Kind == KindNumber && s != v.String() {
		v.Text = s
	}
	return v
}

// DateValue returns a date value. It keeps milliseconds, and drops smaller units.
func DateValue(t time.Time) Value {
	return Value{Kind: KindDate, Number: float64(t.UnixMilli())}
}

// WrittenDate returns a date value like [DateValue], but also keeps the time zone of t.
func WrittenDate(t time.Time) Value {
	v := DateValue(t)
	if _, offset := t.Zone(); offset != 0 {
		v.Text = t.Format(time.RFC3339)
	}
	return v
}

// Clock returns the date and time of day in the zone of t, as a time in UTC. For example, 23:30-08:00 becomes 23:30Z.
// Filters compare these times, so a document has the same day for every reader.
func Clock(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// Plain returns v as columns store it: a number without the document's spelling, a date as [Clock] returns it.
func (v Value) Plain() Value {
	switch {
	case v.Kind == KindText || v.Text == "":
		return v
	case v.Kind == KindDate:
		if t, err := time.Parse(time.RFC3339, v.Text); err == nil {
			return DateValue(Clock(t))
		}
	}
	v.Text = ""
	return v
}

// BoolValue returns a boolean as a Value.
func BoolValue(b bool) Value {
	if b {
		return Value{Kind: KindBool, Number: 1}
	}
	return Value{Kind: KindBool}
}

// IsZero reports whether v is the zero Value.
func (v Value) IsZero() bool { return v.Kind == 0 }

// Time returns the time of a date value in UTC, or the zero time for other kinds.
func (v Value) Time() time.Time {
	if v.Kind != KindDate {
		return time.Time{}
	}
	return time.UnixMilli(int64(v.Number)).UTC()
}

// Compare orders values by kind. Within a kind, texts compare by bytes, other values by number. It returns -1, 0 or +1.
func (v Value) Compare(w Value) int {
	if v.Kind != w.Kind {
		return cmp.Compare(v.Kind, w.Kind)
	}
	if v.Kind == KindText {
		return cmp.Compare(v.Text, w.Text)
	}
	return cmp.Compare(v.Number, w.Number)
}

// String formats v for people: a text as it is, a number in the document's spelling, true or false. A date is
// 2006-01-02, with the time of day if it has one.
func (v Value) String() string {
	if v.Text != "" {
		return v.Text
	}
	switch v.Kind {
	case KindNumber:
		if size := math.Abs(v.Number); size < 1e21 && (size >= 1e-6 || size == 0) {
			return strconv.FormatFloat(v.Number, 'f', -1, 64)
		}
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

// isDecimal matches a spelling of a number that MarshalJSON may write unchanged: 12.10, but not 007 or 1e3.
var isDecimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// MarshalJSON writes texts and dates as strings, numbers as numbers, and booleans as true or false. The zero Value
// and an infinite number become null. A number in an unusual spelling that is not a plain decimal, such as 000032,
// becomes a string.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case KindNumber:
		switch {
		case isDecimal.MatchString(v.Text):
			return []byte(v.Text), nil
		case v.Text != "":
			return json.Marshal(v.Text)
		}
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

// UnmarshalJSON reads a text, a number or a boolean. A date becomes a text, and null becomes the zero Value. A plain
// decimal such as 12.10 keeps its spelling.
func (v *Value) UnmarshalJSON(content []byte) error {
	var decoded any
	if err := json.Unmarshal(content, &decoded); err != nil {
		return err
	}
	switch d := decoded.(type) {
	case nil:
		*v = Value{}
	case string:
		*v = TextValue(d)
	case float64:
		if *v = NumberValue(d); isDecimal.Match(content) {
			*v = WrittenNumber(d, string(content))
		}
	case bool:
		*v = BoolValue(d)
	default:
		return Invalidf("read a value: it is a list or an object: must be a text, a number or a boolean")
	}
	return nil
}
