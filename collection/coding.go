package collection

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// weighted matches the weight of a coding: RFC 9110, section 12.4.2.
var weighted = regexp.MustCompile(`^[ \t]*[qQ]=([01](?:\.[0-9]{0,3})?)[ \t]*$`)

// TakesGzip reports whether a client with this header accepts gzip: the header names gzip or *, and does not prefer
// unpacked answers (RFC 9110, section 12.5.3).
func TakesGzip(h http.Header) bool {
	if len(h["Accept-Encoding"]) == 0 {
		return false
	}
	weights := map[string]float64{}
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		name, weight, _ := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		weights[name] = 1
		if m := weighted.FindStringSubmatch(weight); m != nil {
			weights[name], _ = strconv.ParseFloat(m[1], 64) // the pattern matches numbers only
		}
	}
	gzip, named := weights["gzip"]
	if !named {
		gzip = weights["*"]
	}
	return gzip > 0 && gzip >= weights["identity"]
}
