package storekit_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sheaf/internal/check"
	"sheaf/store/storekit"
)

// TestHosts checks that a client tries the next host, with the same body, and keeps using it. An error names all
// hosts.
func TestHosts(t *testing.T) {
	asked := map[string]int{}
	serve := func(name string, status int) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			asked[name]++
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"name":%q,"body":%q}`, name, body)
		}))
	}
	gone, proxy, two := serve("gone", 200), serve("proxy", 502), serve("two", 200)
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	gone.Close()
	client := storekit.Client{Store: "test", URL: gone.URL,
		HTTP: &http.Client{Transport: &storekit.Hosts{Transport: storekit.Transport(),
			Hosts: []string{host(gone), host(proxy), host(two)}}}, Attempts: 1}
	for range 2 {
		var said struct{ Name, Body string }
		err := client.Call(t.Context(), "POST", "/x", map[string]int{"a": 1}, &said)
		check.That(t, err == nil && said.Name == "two" && said.Body == `{"a":1}`, "%+v, %v", said, err)
	}
	check.That(t, asked["proxy"] == 1 && asked["two"] == 2,
		"asked %v: the host that answers is not the first choice", asked)
	two.Close()
	proxy.Close()
	if err := client.Call(t.Context(), "GET", "/x", nil, nil); err == nil ||
		!strings.Contains(err.Error(), host(gone)+", "+host(proxy)+", "+host(two)) ||
		!strings.Contains(err.Error(), "does a server run there?") {
		t.Error(err)
	}
}
