package opensearch_test

import (
	"flag"
	"net/http"
	"path/filepath"
	"testing"

	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/opensearch"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
)

var update = flag.Bool("update", false, "write golden files anew, with what the server answers")

// TestRequests compares with a golden file all requests to OpenSearch, the answers, and the store's results. They
// create the index, write, search with each feature, join branches, and delete.
func TestRequests(t *testing.T) {
	o := opensearch.Options{Options: storekit.Options{URL: "http://opensearch", Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}}}, Index: "golden"}
	if *update {
		o.URL = serverOf(t, opensearch.OpenSearch)
		must.Do(t, opensearch.Drop(t.Context(), o))
	}
	x := storetest.NewExchanges(t, filepath.Join("testdata", "requests.json"), *update)
	o.Client = x.Client()
	x.About = "open"
	s := must.Get(opensearch.Open(t.Context(), o))
	x.All(t.Context(), s)
	x.About = "drop"
	x.Result(opensearch.Drop(t.Context(), o))
}

// TestIncompleteAnswers checks incomplete answers of OpenSearch. It needs no server.
func TestIncompleteAnswers(t *testing.T) {
	storetest.HollowAnswers(t, filepath.Join("testdata", "requests.json"), func(client *http.Client) store.Backend {
		s := must.Get(opensearch.Open(t.Context(),
			opensearch.Options{Options: storekit.Options{URL: "http://opensearch", Client: client,
				Analyzer: storetest.Analyzer(t, "en"), Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}}},
				Index: "golden"}))
		return s
	}, []storetest.Hollow{
		{About: "write", Path: "/golden/_bulk", From: `(?s)"items":.*\]`, To: `"items":null`},
		{About: "write", Path: "/golden/_bulk", From: `"status":\s*201`, To: `"other":201`},
		{About: "write", Path: "/golden/_bulk", From: `(?s)"index":\s*{.*?}`, To: ``},
		{About: "write", Path: "/golden-terms/_bulk", From: `(?s)"items":.*\]`, To: `"items":[]`},
		{About: "write", Path: "/golden-terms/_bulk", From: `"status":\s*201`, To: `"status":503`},
		{About: "delete", Path: "/golden/_search", From: `(?s)"hits":\s*{.*`, To: `"hits":null}`},
		{About: "delete", Path: "/golden/_search", From: `"failed":\s*0`, To: `"failed":1`},
		{About: "delete", Path: "/golden/_search", From: `"timed_out":\s*false`, To: `"timed_out":true`},
		{About: "delete", Path: "/golden/_bulk", From: `"status":\s*200`, To: `"status":500`},
		{About: "words", Path: "/golden/_msearch", From: `(?s)"hits":\s*{.*`, To: `"hits":{}}]}`},
		{About: "words", Path: "/golden/_msearch", From: `(?s)"responses":.*\]`, To: `"responses":[]`},
		{About: "words", Path: "/golden/_msearch", From: `"failed":\s*0`, To: `"failed":1`},
		{About: "words", Path: "/golden/_msearch", From: `"id":`, To: `"other":`},
		{About: "prefix", Path: "/golden-terms/_search", From: `"failed":\s*0`, To: `"failed":1`},
		{About: "prefix", Path: "/golden-terms/_search", From: `(?s)"hits":\s*{.*`, To: `"hits":{}}`},
		{About: "count", Path: "/golden/_msearch", From: `"value":\s*2`, To: `"value":null`},
		{About: "count", Path: "/golden/_msearch", From: `"failed":\s*0`, To: `"failed":1`},
	})
}
