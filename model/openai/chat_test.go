package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sheaf/internal/check"
	"sheaf/internal/must"
)

// chat returns a client of a server that answers requests with handle, and a counter of them.
func chat(t *testing.T, handle func(body map[string]any, w http.ResponseWriter)) (*Chat, *atomic.Int64) {
	t.Helper()
	h, count := answering(t, "/v1/chat/completions",
		func(_ int64, body map[string]any, w http.ResponseWriter, _ *http.Request) { handle(body, w) })
	c := must.Get(NewChat(started(t, h)))
	return c, count
}

func TestChat(t *testing.T) {
	c, _ := chat(t, func(body map[string]any, w http.ResponseWriter) {
		if got, want := fmt.Sprint(body), "map[max_tokens:1024 messages:[map[content:do this role:system] "+
			"map[content:with \"that\" role:user]] model:m stream:false temperature:0]"; got != want {
			t.Errorf("asked %s, want %s", got, want)
		}
		fmt.Fprint(w,
			`{"choices":[{"message":{"role":"assistant","content":"the reply"}},{"message":{"content":"another"}}]}`)
	})
	reply, err := c.Complete(context.Background(), "do this", `with "that"`)
	check.That(t, err == nil && reply == "the reply", "%q, %v", reply, err)
	check.Equal(t, c.Model(), "m", "model")
}

// TestChatReasons checks a reasoning model, which accepts neither max_tokens nor temperature. The
// client tries without both, and does so in later calls.
func TestChatReasons(t *testing.T) {
	c, count := chat(t, func(body map[string]any, w http.ResponseWriter) {
		for _, name := range []string{"temperature", "max_tokens"} {
			if body[name] != nil {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, `{"error":{"message":"Unsupported parameter: '%s'","param":"%s"}}`, name, name)
				return
			}
		}
		check.Equal(t, body["max_completion_tokens"], any(float64(maxTokens)), "max_completion_tokens in %v", body)
		fmt.Fprint(w, `{"choices":[{"message":{"content":"the reply"}}]}`)
	})
	for want := int64(2); want <= 3; want++ {
		reply, err := c.Complete(context.Background(), "s", "u")
		check.That(t, err == nil && reply == "the reply" && count.Load() == want, "%q, %v after %d requests, want %d", reply,
			err, count.Load(), want)
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
		{401, `{"error":"secret is wrong"}`, "", "refused the key"},
		{404, `no such model`, "", `knows no model "m"`},
		{500, `boom`, "", "answered 500"},
	} {
		client, _ := chat(t, func(_ map[string]any, w http.ResponseWriter) { w.WriteHeader(c.status); fmt.Fprint(w, c.body) })
		reply, err := client.Complete(context.Background(), "s", "u")
		check.That(t, reply == c.want && (err == nil) == (c.message == ""), "%.40s: %q, %v", c.body, reply, err)
		check.That(t, err == nil || errors.Is(err, errChat) && strings.Contains(err.Error(), c.message) &&
			!strings.Contains(err.Error(), "secret"), "%.40s: %v", c.body, err)
	}
}
