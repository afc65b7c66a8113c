package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
)

const (
	// maxTokens limits the length of a reply in tokens. It is enough for a few sentences.
	maxTokens = 1024
	// maxChatAnswer is the largest answer of a chat server in bytes.
	maxChatAnswer = 1 << 20
)

// Chat is a language model at OpenAI's /v1/chat/completions. It is safe for concurrent use.
type Chat struct {
	endpoint *endpoint
	// reasons says that the server refuses the parameters max_tokens and temperature, as for OpenAI's reasoning models.
	reasons atomic.Bool
}

// NewChat returns a client without calling the server. Errors wrap ErrConfig.
func NewChat(s Server) (*Chat, error) {
	s.Attempts = 1 // the caller can continue without a reply
	at, err := endpoint{Server: s, kind: errChat, most: maxChatAnswer}.open("chat ", "/chat/completions")
	switch {
	case err != nil:
		return nil, err
	case s.Model == "":
		return nil, fmt.Errorf("%w: no chat model named for %s", ErrConfig, s.URL)
	}
	return &Chat{endpoint: at}, nil
}

// Model returns the name of the chat model, as the settings have it.
func (c *Chat) Model() string { return c.endpoint.Model }

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Complete calls the model once and returns its reply. system is the instruction, user is the data. Complete asks
// for a deterministic reply if the model supports that. An error names the server.
func (c *Chat) Complete(ctx context.Context, system, user string) (string, error) {
	reasons := c.reasons.Load()
	reply, err := c.ask(ctx, reasons, system, user)
	if causeOf(err) == tooMuch && !reasons && (strings.Contains(err.Error(), "max_tokens") ||
		strings.Contains(err.Error(), "temperature")) {
		c.reasons.Store(true)
		return c.ask(ctx, true, system, user)
	}
	return reply, err
}

func (c *Chat) ask(ctx context.Context, reasons bool, system, user string) (string, error) {
	asked := map[string]any{"model": c.endpoint.Model, "stream": false,
		"messages": []chatMessage{{"system", system}, {"user", user}}}
	if reasons {
		asked["max_completion_tokens"] = maxTokens
	} else {
		asked["max_tokens"], asked["temperature"] = maxTokens, 0
	}
	return call(ctx, c.endpoint, asked, c.reply)
}

// reply returns the text of the first choice of an answer. Some servers write the text as a list of parts.
func (c *Chat) reply(data []byte) (string, error) {
	var answer struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return "", c.endpoint.notJSON("a chat", data, err)
	}
	if len(answer.Choices) == 0 {
		return "", c.endpoint.fault("gave no reply%s", c.endpoint.errorMessage(data))
	}
	content := answer.Choices[0].Message.Content
	var text string
	if json.Unmarshal(content, &text) != nil {
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(content, &parts); err != nil {
			return "", c.endpoint.fault("gave a reply that is no text")
		}
		for _, p := range parts {
			if p.Type == "text" {
				text += p.Text
			}
		}
	}
	if strings.TrimSpace(text) == "" {
		return "", c.endpoint.fault("gave an empty reply")
	}
	return text, nil
}
