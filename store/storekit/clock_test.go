package storekit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/store/storekit"
)

func TestClock(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/late":
			w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		case "/none":
			w.Header()["Date"] = nil
		}
	}))
	defer server.Close()
	client := &storekit.Client{Store: "test", URL: server.URL, HTTP: server.Client()}
	if d, err := client.Clock(t.Context(), "/"); err != nil || d > 10*time.Second {
		t.Errorf("the same clock differs by %v, %v", d, err)
	}
	d, err := client.Clock(t.Context(), "/late")
	check.That(t, err == nil && (d-time.Hour).Abs() <= 10*time.Second, "an hour late is %v, %v", d, err)
	check.Is(t, must.Err(client.Clock(t.Context(), "/none")), sheaf.ErrUnsupported, "no date")
}
