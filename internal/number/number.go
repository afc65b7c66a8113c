// Package number reads numbers as people write them.
package number

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxBytes is the largest length in bytes of a text that Parse reads. For a longer text, Parse returns false.
const maxBytes = 400

// Parse reads a decimal number such as 12.50 or 1e3, or a whole number such as 0x1F or 0o17. The same sign may separate
// all groups of three digits: 1,000,000 or 1 000 000.50. Parse returns false for other texts, and for Inf and NaN.
func Parse(s string) (float64, bool) {
	if len(s) > maxBytes {
		return 0, false
	}
	if strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0o") {
		n, err := strconv.ParseInt(s, 0, 64)
		return float64(n), err == nil
	}
	if strings.ContainsAny(s, "_xXpP") {
		return 0, false
	}
	if groups.MatchString(s) {
		s = groupSigns.Replace(s)
	}
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && !math.IsInf(n, 0) && !math.IsNaN(n)
}

// groups matches a number with groups of three digits and the same sign between all groups. It does not match 0,123 and
// 030 123 456, because a number of thousands does not begin with 0.
var groups = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}` +
	`((,\d{3})+|( \d{3})+|('\d{3})+|(’\d{3})+|(\x{a0}\d{3})+|(\x{202f}\d{3})+)(\.\d+)?$`)

var groupSigns = strings.NewReplacer(",", "", " ", "", "'", "", "’", "", "\u00a0", "", "\u202f", "")
