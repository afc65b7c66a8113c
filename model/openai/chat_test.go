package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// chat returns a client of a server that answers with handle.
func chat(t *testing.T, handle http.HandlerFunc) *Chat {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	c, err := NewChat(Server{URL: s.URL + "/v1/", Model: "m", Key: "top-secret"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChat(t *testing.T) {
	c := chat(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model       string
			Temperature *float64
			MaxTokens   int `json:"max_tokens"`
			Messages    []chatMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/v1/chat/completions" ||
			r.Header.Get("Authorization") != "Bearer top-secret" {
			t.Errorf("%s %v, %v", r.URL.Path, r.Header, err)
		}
		if body.Model != "m" || body.Temperature == nil || *body.Temperature != 0 || body.MaxTokens != maxTokens ||
			len(body.Messages) != 2 ||
			body.Messages[0] != (chatMessage{"system", "do this"}) ||
			body.Messages[1] != (chatMessage{"user", "with \"that\""}) {
			t.Errorf("asked %+v", body)
		}
		fmt.Fprint(w,
			`{"choices":[{"message":{"role":"assistant","content":"the reply"}},{"message":{"content":"another"}}]}`)
	})
	if reply, err := c.Complete(context.Background(), "do this", `with "that"`); err != nil || reply != "the reply" {
		t.Errorf("%q, %v", reply, err)
	}
	if c.Model() != "m" {
		t.Errorf("model %q", c.Model())
	}
}

// TestChatReasons checks a reasoning model, which accepts neither max_tokens nor temperature. The
// client tries without both, and does so in later calls.
func TestChatReasons(t *testing.T) {
	asked := 0
	c := chat(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"temperature", "max_tokens"} {
			if body[name] != nil {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: '%s'","param":"%s"}}`, name, name)
				return
			}
		}
		if body["max_completion_tokens"] != float64(maxTokens) {
			t.Errorf("asked %v", body)
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":"the reply"}}]}`)
	})
	for want := 2; want <= 3; want++ {
		if reply, err := c.Complete(context.Background(), "s", "u"); err != nil || reply != "the reply" || asked != want {
			t.Errorf("%q, %v after %d requests, want %d", reply, err, asked, want)
		}
	}
}

func TestChatAnswers(t *testing.T) {
	for _, c := range []struct {
		status  int
		body    string
		want    string
		message string
	}{
		{200, `{"choices":[{"message":{"content":[{"type":"text","text":"in ` +
			`"},{"type":"image"},{"type":"text","text":"parts"}]}}]}`, "in parts", ""},
		{200, `{"choices":[]}`, "", "no reply"},
		{200, `{"choices":[{"message":{"content":null}}]}`, "", "empty reply"},
		{200, `{"choices":[{"message":{"content":" \n"}}]}`, "", "empty reply"},
		{200, `{"choices":[{"message":{"content":{"a":1}}}]}`, "", "no text"},
		{200, `<html>`, "", "no JSON"},
		{200, strings.Repeat(" ", maxChatAnswer+2), "", "more than"},
		{401, `{"error":"top-secret is wrong"}`, "", "refused the key"},
		{404, `no such model`, "", `knows no model "m"`},
		{500, `boom`, "", "answered 500"},
	} {
		client := chat(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status); fmt.Fprint(w, c.body) })
		reply, err := client.Complete(context.Background(), "s", "u")
		if reply != c.want || (err == nil) != (c.message == "") {
			t.Errorf("%.40s: %q, %v", c.body, reply, err)
		}
		if err != nil && (!errors.Is(err, errChat) || !strings.Contains(err.Error(), c.message) ||
			strings.Contains(err.Error(), "top-secret")) {
			t.Errorf("%.40s: %v", c.body, err)
		}
	}
}

func TestChatInTime(t *testing.T) {
	release := make(chan struct{})
	c := chat(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	if _, err := c.Complete(ctx, "s", "u"); !errors.Is(err, context.DeadlineExceeded) ||
		!errors.Is(err, errChat) {
		t.Errorf("%v", err)
	}
}
