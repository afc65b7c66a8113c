package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// embedder runs "embedder NAME": it starts a server with OpenAI's /v1/embeddings until the script
// ends, and stores its address in the variable NAME. A vector counts words by hash. "automobile"
// counts as "car", so a test can distinguish meaning from words. A request for the model "broken"
// fails. The server refuses requests below NAME/busy as busy, with the number of refusals.
func embedder(ts *testscript.TestScript, args []string) {
	var refused atomic.Int64
	routes := http.NewServeMux()
	routes.HandleFunc("/", embeddings)
	routes.HandleFunc("/v1/busy/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, fmt.Sprintf("refused %d times", refused.Add(1)), http.StatusServiceUnavailable)
	})
	server := httptest.NewServer(routes)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL+"/v1")
}

func embeddings(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Model == "broken" ||
		r.URL.Path != "/v1/embeddings" {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
		return
	}
	type entry struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var response struct {
		Data []entry `json:"data"`
	}
	for i, text := range request.Input {
		vector := make([]float32, 64)
		for word := range strings.FieldsSeq(strings.ToLower(text)) {
			word = strings.Trim(word, ".,:;!?")
			if word == "automobile" {
				word = "car"
			}
			h := fnv.New32a()
			_, _ = h.Write([]byte(word))
			vector[h.Sum32()%64]++
		}
		vector[0] += 0.01
		response.Data = append(response.Data, entry{i, vector})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(response)
}
