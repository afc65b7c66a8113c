package chunk

import (
	"math"
	"strconv"
	"strings"
	"time"

	"sheaf"
	"sheaf/internal/wikilink"
)

// plainValue types a scalar without quotes as YAML's core schema does, and knows
// dates. Nothing, null and ~ give the zero Value.
func plainValue(s string) sheaf.Value {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return sheaf.Value{}
	case "true", "True", "TRUE":
		return sheaf.BoolValue(true)
	case "false", "False", "FALSE":
		return sheaf.BoolValue(false)
	}
	if c := s[0]; isDigit(c) || c == '-' || c == '+' || c == '.' {
		if t, ok := parseDate(s); ok {
			return sheaf.DateValue(t)
		}
		if n, ok := parseNumber(s); ok {
			return sheaf.NumberValue(n)
		}
	}
	return sheaf.TextValue(s)
}

// Linked is what a property's value says that is a wiki link to a note and nothing else:
// the date or number that the note is called, or its name. Another value says itself.
func Linked(v sheaf.Value) sheaf.Value {
	if v.Kind != sheaf.KindText {
		return v
	}
	name := wikilink.Name(v.Text)
	if name == "" {
		return v
	}
	if v := plainValue(name); v.Kind == sheaf.KindDate || v.Kind == sheaf.KindNumber {
		return v
	}
	return sheaf.TextValue(name)
}

func parseNumber(s string) (float64, bool) {
	if strings.ContainsAny(s, "_xXpP") && !strings.HasPrefix(s, "0x") {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil && !strings.HasPrefix(s, "0b") && (len(s) == 1 || s[0] != '0' || strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o")) {
		return float64(n), true
	}
	if strings.HasPrefix(s, "0x") {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// dateLayouts are the ways in which YAML and people write dates.
var dateLayouts = [...]string{
	"2006-01-02", time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04",
	"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05 -07:00", "2006-01-02 15:04:05Z07:00",
}

// Writable reports whether a time can be written as RFC 3339 and JSON write one, in UTC:
// years have four digits there.
func Writable(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}

// parseDate reads a date or a time that is [Writable]; without a zone it is UTC.
func parseDate(s string) (time.Time, bool) {
	if len(s) < len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), Writable(t)
		}
	}
	return time.Time{}, false
}
