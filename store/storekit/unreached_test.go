package storekit_test

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
)

// TestUnreachableServer checks the advice for an unreachable server.
func TestUnreachableServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			_ = conn.Close() // as a database does with an HTTP request
		}
	}()
	gone := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	must.Do(t, gone.Close())
	for url, want := range map[string]string{
		"http://" + gone.Addr().String():                 "does a server run there?",
		"https" + strings.TrimPrefix(server.URL, "http"): "leave +https out",
		"http://" + silent.Addr().String():               "is that Nonesuch",
	} {
		client := &storekit.Client{Store: "Nonesuch", URL: url, HTTP: http.DefaultClient, Attempts: 1}
		err := client.Call(t.Context(), "GET", "/x", nil, nil)
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(err.Error(), want) &&
			strings.Contains(err.Error(), "Nonesuch: GET /x"), "%s: %v: want %q", url, err, want)
	}
}

// TestUntrustedCertificate checks the errors for an untrusted certificate, and for http where the server needs https.
func TestUntrustedCertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	client := &storekit.Client{Store: "Nonesuch", URL: server.URL, HTTP: http.DefaultClient}
	err := client.Call(t.Context(), "GET", "/x", nil, nil)
	check.That(t, errors.Is(err, sheaf.ErrUnavailable) && errors.As(err, new(*tls.CertificateVerificationError)) &&
		strings.Count(err.Error(), "/x") == 1, "an unknown authority: %v: want the request once", err)
	client.URL = "http" + strings.TrimPrefix(server.URL, "https")
	err = client.Call(t.Context(), "GET", "/x", nil, nil)
	check.That(t, err != nil && strings.Contains(err.Error(), "put +https into the address"),
		"no TLS where there is some: %v", err)
}

// TestInvalidAnswers checks answers of other servers: reading stops at a limit, redirects are not
// followed, and null is an error.
func TestInvalidAnswers(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s of who was sent elsewhere, with %q", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	storekit.LimitAnswers(t, 2<<20)
	read := make(chan int64, 1)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"endless": {func(w http.ResponseWriter, _ *http.Request) {
			part, n := []byte(strings.Repeat("x", 1<<20)), int64(0)
			for n < 1<<30 {
				if _, err := w.Write(part); err != nil {
					break
				}
				n += int64(len(part))
			}
			read <- n
		}, "the answer has more than 2 MB"},
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/login", http.StatusTemporaryRedirect)
		}, "status 307: http"},
		"found": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/login", http.StatusFound)
		}, "is not followed: put that host and port into the address"},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(" null\n")) },
			"is not from such a server"},
	} {
		server := httptest.NewServer(c.answer)
		client := &storekit.Client{Store: "Nonesuch", URL: server.URL, HTTP: server.Client(),
			Authorize: func(r *http.Request) { r.SetBasicAuth("me", "secret") }}
		var out struct{ Count int }
		err := client.Call(t.Context(), "POST", "/x", map[string]int{"a": 1}, &out)
		check.That(t, errors.Is(err, sheaf.ErrUnavailable) && strings.Contains(err.Error(), c.want) &&
			strings.Contains(err.Error(), "Nonesuch: POST /x"), "%s: %v: want %q", name, err, c.want)
		if name != "endless" {
			_, _ = client.Clock(t.Context(), "/x") // Clock must not follow redirects either
		}
		server.Close()
	}
	n := <-read
	check.That(t, n < 1<<30, "%d bytes of an endless answer were taken", n)
}

// TestRefusals checks the category and the advice for each status.
func TestRefusals(t *testing.T) {
	for status, want := range map[int]struct {
		category error
		hint     string
	}{
		400: {sheaf.ErrInvalid, ": no"},
		401: {store.ErrKeptOut, "check user and password"},
		403: {store.ErrForbidden, "grant it"},
		404: {sheaf.ErrNotFound, ": no"},
		413: {storekit.ErrTooLarge, "raise the limit"},
		429: {sheaf.ErrUnavailable, "repeat this later"},
		500: {sheaf.ErrUnavailable, "log says more"},
		503: {sheaf.ErrUnavailable, "repeat this later"},
	} {
		check.Fails(t, storekit.Refused(status, "no"), want.category, want.hint, "%d", status)
	}
}
