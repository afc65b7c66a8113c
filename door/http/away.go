package http

import "net/http"

// Away answers for a server that runs and whose index is not open, yet or for now: it says so
// whatever is asked, and that it runs to who asks that.
func Away() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		problem("unavailable",
			"the index is not open, perhaps because another program makes it anew: repeat this in a moment").write(w,
			requestID(req))
	})
	return mux
}
