package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sheaf"
	"sheaf/collection"
	"sheaf/collection/access"
	"sheaf/collection/collectiontest"
	"sheaf/door/mcp"
)

// TestManyValues: a message that is read into many times its length, and checked against a
// schema value by value, is refused as what it is; a long text is none.
func TestManyValues(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"multi_get","arguments":{"ids":[` +
		strings.Repeat("[],", 300_000) + `[]]}}}`
	began := time.Now()
	res, text, err := post(t.Context(), web, call)
	var got refusal
	if err == nil {
		err = json.Unmarshal([]byte(text), &got)
	}
	if err != nil || res.StatusCode != 400 || got.Error.Code != -32600 || string(got.ID) != "null" ||
		!strings.Contains(got.Error.Message, "too many values: must hold at most") {
		t.Errorf("%v %.300s", err, text)
	}
	_, _ = fmt.Fprintln(r.in, call)
	if l := <-r.out; l.Error == nil || l.Error.Code != -32600 ||
		!strings.Contains(l.Error.Message, "too many values: must hold at most") {
		t.Errorf("on standard input: %+v", l)
	}
	t.Log(time.Since(began))
	if l := r.ask("tools/call", `{"name":"context","arguments":{"text":"`+
		strings.Repeat("undo, a [commit], {here}: ", 30_000)+`"}}`); l.Error != nil ||
		strings.Contains(string(l.Result), `"isError":true`) {
		t.Errorf("a long text: %+v %.300s", l.Error, l.Result)
	}
}

// crowded is a body that cannot be read now.
type crowded struct{}

func (crowded) Read([]byte) (int, error) {
	return 0, fmt.Errorf("%w: too many bodies are being read", sheaf.ErrUnavailable)
}

// TestCrowdedBodies: who is refused since the server has too much to read is told to come again.
func TestCrowdedBodies(t *testing.T) {
	f := collectiontest.Open(t, notes, nil)
	h, err := mcp.Handler(mcp.Options{Collections: []*collection.Collection{f.Collection}},
		func(*http.Request) (access.Grant, error) { return access.Unrestricted(), nil })
	if err != nil {
		t.Fatal(err)
	}
	res := httptest.NewRecorder()
	h.ServeHTTP(res, httptest.NewRequest("POST", "/mcp", crowded{}))
	if res.Code != 503 || res.Header().Get("Retry-After") == "" ||
		!strings.Contains(res.Body.String(), "too many bodies") {
		t.Errorf("%d %v %s", res.Code, res.Header(), res.Body)
	}
}
