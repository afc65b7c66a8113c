package httpstore_test

import (
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
