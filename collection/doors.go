package collection

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sheaf/collection/access"
)

// settleStep is many times longer than looking up a document.
const settleStep = 5 * time.Millisecond

// Settle hides how long a lookup took: it waits for the next multiple of some milliseconds after
// began. For callers that see everything, it returns at once. Doors call it where names of hidden
// documents are looked up: before an error about a missing document, or before every answer.
func Settle(ctx context.Context, grant access.Grant, began time.Time) {
	if grant.SeesAll() {
		return
	}
	select {
	case <-time.After(settleStep - time.Since(began)%settleStep):
	case <-ctx.Done():
	}
}

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

// MaxValues returns an upper bound of the values and names in a JSON text. It counts brackets and
// commas, and works for invalid JSON too.
func MaxValues(text []byte) int64 {
	n := int64(1)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',', ':', '[', '{':
			n++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}
