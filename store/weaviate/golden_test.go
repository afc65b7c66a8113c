package weaviate_test

import (
	"flag"
	"net/http"
	"path/filepath"
	"testing"

	"sheaf/internal/must"
	"sheaf/store"
	"sheaf/store/storekit"
	"sheaf/store/storetest"
	"sheaf/store/weaviate"
)

var update = flag.Bool("update", false, "write golden files anew, with what the server answers")

// TestRequests compares with a golden file all requests to Weaviate, the answers, and the store's results. They
// create classes, write, search with each feature, join branches, and delete.
func TestRequests(t *testing.T) {
	o := weaviate.Options{Options: storekit.Options{URL: "http://weaviate", Analyzer: storetest.Analyzer(t, "en"),
		Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}}}, Class: "Golden"}
	if *update {
		o.URL = server(t)
		must.Do(t, weaviate.Drop(t.Context(), o))
		empty(t, o.URL)
	}
	x := storetest.NewExchanges(t, filepath.Join("testdata", "requests.json"), *update)
	o.Client = x.Client()
	x.About = "open"
	s := must.Get(weaviate.Open(t.Context(), o))
	x.All(t.Context(), s)
	x.About = "drop"
	x.Result(weaviate.Drop(t.Context(), o))
}

// empty fails when a server has classes, because the golden file would contain them.
func empty(t *testing.T, url string) {
	t.Helper()
	var schema struct {
		Classes []struct{ Class string }
	}
	client := storekit.Client{Store: "weaviate", URL: url, HTTP: http.DefaultClient}
	must.Do(t, client.Call(t.Context(), "GET", "/v1/schema", nil, &schema))
	if n := len(schema.Classes); n > 0 {
		t.Fatalf("the server at %s holds %d classes, such as %s: update with one that is empty (scripts/servers/weaviate.sh)",
			url, n, schema.Classes[0].Class)
	}
}

// TestIncompleteAnswers checks incomplete answers of Weaviate. It needs no server.
func TestIncompleteAnswers(t *testing.T) {
	storetest.HollowAnswers(t, filepath.Join("testdata", "requests.json"), func(client *http.Client) store.Backend {
		s := must.Get(weaviate.Open(t.Context(), weaviate.Options{Options: storekit.Options{URL: "http://weaviate",
			Client: client, Analyzer: storetest.Analyzer(t, "en"),
			Vectors: []store.VectorField{{Name: "body", Model: "m", Dims: 3}}}, Class: "Golden"}))
		return s
	}, []storetest.Hollow{
		{About: "write", Path: "/batch/objects", From: `(?s)^\[.*`, To: `[]`},
		{About: "write", Path: "/batch/objects", From: `(?s)"result":\s*{.*?}`, To: `"result":null`},
		{About: "write", Path: "/batch/objects", From: `"SUCCESS"`, To: `"PENDING"`},
		{About: "words", Path: "/graphql", From: `"Golden":`, To: `"Other":`},
		{About: "words", Path: "/graphql", From: `"score":\s*"[0-9.]*"`, To: `"score":"many"`},
		{About: "words", Path: "/graphql", From: `"cid":`, To: `"other":`},
		{About: "vector", Path: "/graphql", From: `"distance":`, To: `"other":`},
		{About: "count", Path: "/graphql", From: `(?s)"meta":\s*{.*?}`, To: `"meta":{}`},
		{About: "delete", Path: "/batch/objects", From: `"results":`, To: `"other":`},
		{About: "delete", Path: "/batch/objects", From: `"failed":\s*0`, To: `"failed":1`},
	})
}
