package http

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sheaf"
)

// sensibleID matches the request IDs of clients that the server uses. The server replaces other IDs.
var sensibleID = regexp.MustCompile(`^[A-Za-z0-9._:-]+$`)

// requestID returns the ID that the client gave the request, or a new one.
func requestID(req *http.Request) string {
	if id := req.Header.Get("X-Request-Id"); len(id) <= 128 && sensibleID.MatchString(id) {
		return id
	}
	return randomHex(16)
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // it never fails: see crypto/rand
	return hex.EncodeToString(b)
}

// traceparent matches a header of W3C Trace Context. Later versions begin like version 00 and may be longer.
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)

// traceFlags are the flags in traceparent that version 00 defines. Bit 0 means sampled, bit 1 means a random trace ID.
const traceFlags = 0b11

// traceOf returns the header traceparent for an answer: the valid trace of the request with a new span, or "".
func traceOf(req *http.Request) string {
	given := req.Header.Values("Traceparent")
	if len(given) != 1 {
		return ""
	}
	m := traceparent.FindStringSubmatch(given[0])
	if m == nil || m[1] == "ff" || m[1] == "00" && m[5] != "" || strings.Trim(m[2], "0") == "" ||
		strings.Trim(m[3], "0") == "" {
		return ""
	}
	flags, _ := strconv.ParseUint(m[4], 16, 8) // two digits
	return fmt.Sprintf("00-%s-%s-%02x", m[2], randomHex(8), flags&traceFlags)
}

// nameOf returns the host name in a Host header: without the port, in lower case.
func nameOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// checkNames refuses hosts and origins that no request can have, and two collections with the same name.
func (o *Options) checkNames() error {
	names := map[string]bool{}
	for i, c := range o.Collections {
		if name := c.Name(); names[name] || name == "" && i > 0 {
			return sheaf.Invalidf("collection %q: another collection has this name", name)
		}
		names[c.Name()] = true
	}
	for _, name := range slices.Concat(o.Hosts, o.Origins) {
		if strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }) {
			return sheaf.Invalidf("%q: browsers write this name in ASCII, as xn--...: give that form", name)
		}
	}
	for _, host := range o.Hosts {
		name := nameOf(host)
		if name == "" || !strings.EqualFold(name, host) || strings.ContainsAny(name, "/:@ ") && net.ParseIP(name) == nil {
			return sheaf.Invalidf("host %q: must be a name alone, without a scheme, a port or a path, such as notes.example",
				host)
		}
	}
	for _, origin := range o.Origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" {
			return sheaf.Invalidf("origin %q: must be that of a web page, such as https://notes.example", origin)
		}
		host := strings.ToLower(u.Host)
		switch u.Scheme {
		case "https":
			host = strings.TrimSuffix(host, ":443")
		case "http":
			host = strings.TrimSuffix(host, ":80")
		}
		if sent := u.Scheme + "://" + host; sent != origin {
			return sheaf.Invalidf("origin %q: browsers send %s: give that form", origin, sent)
		}
	}
	return nil
}

// checkOrigin returns an error for a request that another site's page may have sent. Such a request has a foreign host
// name (DNS rebinding) or a foreign origin.
func (a *API) checkOrigin(req *http.Request) error {
	host := nameOf(req.Host)
	none := host == "" && !req.ProtoAtLeast(1, 1) // no browser does this
	if !none && net.ParseIP(host) == nil && host != "localhost" &&
		!slices.ContainsFunc(a.o.Hosts, func(h string) bool { return strings.EqualFold(h, host) }) {
		return problem("forbidden", "the server has no name %s: if it is right, add it with --host", quote(host))
	}
	origins := req.Header.Values("Origin")
	if len(origins) > 1 {
		return problem("forbidden", "there are %d headers Origin: send one", len(origins))
	}
	if len(origins) == 1 {
		if !a.knownOrigin(req, origins[0]) {
			return problem("forbidden", "web pages of %s may not use this server: allow them with --origin", quote(origins[0]))
		}
		return nil
	}
	if site := req.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		if req.Header.Get("Sec-Fetch-Mode") != "navigate" || req.Method != http.MethodGet {
			return problem("forbidden", "web pages of another site may not use this server")
		}
	}
	return nil
}

// knownOrigin reports whether an origin is the server itself or one of Options.Origins.
func (a *API) knownOrigin(req *http.Request, origin string) bool {
	if slices.Contains(a.o.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && strings.EqualFold(u.Host, req.Host)
}

// allowOrigin adds the CORS headers with which pages of an origin in Options.Origins can read the answer.
func (a *API) allowOrigin(w http.ResponseWriter, req *http.Request) {
	origin := req.Header.Get("Origin")
	if !slices.Contains(a.o.Origins, origin) {
		return
	}
	h := w.Header()
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "ETag, Location, X-Request-Id, Server-Timing, Retry-After")
	if req.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, "+
			"X-Request-Id, Traceparent, Mcp-Protocol-Version, Mcp-Method, Mcp-Name")
		h.Set("Access-Control-Max-Age", "600")
	}
}
