package mcp_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"sheaf/collection/access"
	"sheaf/door/mcp"
)

// refused are texts that are no messages, with the code and the identifier of their answer.
var refused = []struct {
	text string
	code int
	id   string
}{
	{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, -32600, "1.5"},
	{`{"jsonrpc":"2.0","id":1e300,"method":"ping"}`, -32600, "1e300"},
	{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, -32600, "9007199254740993"},
	{`{"jsonrpc":"2.0","id":-9223372036854775809,"method":"ping"}`, -32600, "-9223372036854775809"},
	{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":true,"method":"ping"}`, -32600, "null"},
	{`{"jsonrpc":"2.0","id":"a"}`, -32600, `"a"`},
	{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"a","query":"b"}}}`,
		-32600, "3"},
	{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search","arguments":{"query":"a","set":{"pool":50,"pool":60}}}}`, -32600, "3"},
	{`{"jsonrpc":"2.0","id":3,"method":"ping","method":"tools/list"}`, -32600, "3"},
	{`{"jsonrpc":"1.0","id":2,"method":"ping"}`, -32600, "2"},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, -32700, "null"},
	{`{"jsonrpc":"2.0","id":1,"method":"ping"} trailing`, -32700, "null"},
	{"5", -32600, "null"},
	{"null", -32600, "null"},
	{"[1", -32600, "null"},
}

type refusal struct {
	ID    json.RawMessage `json:"id"`
	Error struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// TestRefused: what is no message is answered with the identifier that it was sent with,
// and never as something else.
func TestRefused(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	for _, c := range refused {
		_, _ = fmt.Fprintln(r.in, c.text)
		if l := <-r.out; l.Error == nil || l.Error.Code != c.code || string(l.RawID) != c.id {
			t.Errorf("%s: %s %+v", c.text, l.RawID, l.Error)
		}
		res, text, err := post(t.Context(), web, c.text)
		var got refusal
		if err == nil {
			err = json.Unmarshal([]byte(text), &got)
		}
		if err != nil || res.StatusCode != 400 || got.Error.Code != c.code || string(got.ID) != c.id {
			t.Errorf("%s: %v %s", c.text, err, text)
		}
	}
	for _, id := range []string{"0", "-1", "1e2", "9007199254740991", `""`, `"1.5"`} {
		if res, text, err := post(t.Context(), web, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`); err != nil ||
			res.StatusCode != 200 {
			t.Errorf("%s: %v %s", id, err, text)
		}
	}
}

// TestCodes: errors have the codes of JSON-RPC, and a method that there is not, or that
// lacks its parameters, is answered also over HTTP, where clients take a plain text for a
// fault of the connection.
func TestCodes(t *testing.T) {
	web := overHTTP(t, mcp.Options{}, access.Unrestricted(), nil)
	r := startRaw(t)
	if l := r.ask("tools/list", "{}"); l.Error == nil || l.Error.Code != -32600 {
		t.Errorf("before the session has begun: %+v", l.Error)
	}
	r.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`)
	for _, c := range []struct {
		method, params string
		code           int
	}{
		{"nosuch/method", "{}", -32601},
		{"resources/list", `{"cursor":"x"}`, -32602},
		{"resources/list", `{"cursor":"sheaf://nosuch/a.md"}`, -32602},
		{"resources/read", `{"uri":"sheaf://nosuch/a.md"}`, -32602},
	} {
		if l := r.ask(c.method, c.params); l.Error == nil || l.Error.Code != c.code {
			t.Errorf("%s %s: %+v", c.method, c.params, l)
		}
		res, text, err := post(t.Context(), web,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, c.method, c.params), "MCP-Protocol-Version",
			"2025-06-18")
		var got refusal
		if err == nil {
			err = json.Unmarshal([]byte(text), &got)
		}
		if err != nil || res.StatusCode != 200 || got.Error.Code != c.code || string(got.ID) != "7" {
			t.Errorf("%s %s over HTTP: %v %s", c.method, c.params, err, text)
		}
	}
	res, text, err := post(t.Context(), web, `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, "MCP-Protocol-Version",
		"2025-06-18")
	var got refusal
	if err == nil {
		err = json.Unmarshal([]byte(text), &got)
	}
	if err != nil || res.StatusCode != 200 || got.Error.Code != -32600 || string(got.ID) != "7" {
		t.Errorf("a call without parameters: %v %s", err, text)
	}
	if res, text, err := post(t.Context(), web, `{"jsonrpc":"2.0","method":"tools/call"}`, "MCP-Protocol-Version",
		"2025-06-18"); err != nil || res.StatusCode != 400 {
		t.Errorf("one that cannot be answered: %v %s", err, text)
	}
}
