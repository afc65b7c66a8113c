package httpstore_test

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend/httpstore"
)

// TestUnreached: who does not reach a server is told what to look at.
func TestUnreached(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			_ = conn.Close() // as a database does that is told HTTP
		}
	}()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"http://" + gone.Addr().String():                 "does a server run there?",
		"https" + strings.TrimPrefix(server.URL, "http"): "leave +https out",
		"http://" + silent.Addr().String():               "is that Nonesuch",
	} {
		client := &httpstore.Client{Store: "Nonesuch", URL: url, HTTP: http.DefaultClient, Attempts: 1}
		err := client.Call(t.Context(), "GET", "/x", nil, nil)
		if !errors.Is(err, sheaf.ErrUnavailable) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Nonesuch: GET /x") {
			t.Errorf("%s: %v: want %q", url, err, want)
		}
	}
}

// TestUntrusted: who does not trust a certificate is told of the request once, and who
// speaks no TLS where there is some what to change.
func TestUntrusted(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	client := &httpstore.Client{Store: "Nonesuch", URL: server.URL, HTTP: http.DefaultClient}
	err := client.Call(t.Context(), "GET", "/x", nil, nil)
	if !errors.Is(err, sheaf.ErrUnavailable) || !errors.As(err, new(*tls.CertificateVerificationError)) || strings.Count(err.Error(), "/x") != 1 {
		t.Errorf("an unknown authority: %v: want the request once", err)
	}
	client.URL = "http" + strings.TrimPrefix(server.URL, "https")
	if err := client.Call(t.Context(), "GET", "/x", nil, nil); err == nil || !strings.Contains(err.Error(), "put +https into the address") {
		t.Errorf("no TLS where there is some: %v", err)
	}
}
