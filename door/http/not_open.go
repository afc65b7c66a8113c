package http

import "net/http"

// Away returns a handler to use until the index is open. It answers "ok" at /livez, and "unavailable" at other paths.
func Away() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		problem("unavailable",
			"the index is not open, perhaps because another program rebuilds it: repeat this in a moment").write(w,
			requestID(req))
	})
	return mux
}
