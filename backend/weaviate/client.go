package weaviate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"sheaf"
)

// Retries: objects are written under IDs of their own, so every request can be
// repeated.
const (
	attempts   = 4
	firstPause = 100 * time.Millisecond
	maxAnswer  = 1 << 30
)

// call sends body (nil for none) as JSON and decodes the answer into out unless
// that is nil.
func (s *Store) call(ctx context.Context, method, path string, body, out any) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for attempt := 1; ; attempt++ {
		answer, again, err := s.once(ctx, method, path, data)
		if err == nil {
			if out == nil {
				return nil
			}
			if err := json.Unmarshal(answer, out); err != nil {
				return fmt.Errorf("weaviate: %s %s: %w: the answer is not what such a server says: %w: %.200q", method, path, sheaf.ErrUnavailable, err, answer)
			}
			return nil
		}
		if !again || attempt == attempts || ctx.Err() != nil {
			return fmt.Errorf("weaviate: %s %s: %w", method, path, err)
		}
		pause := firstPause << (attempt - 1)
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return fmt.Errorf("weaviate: %s %s: %w", method, path, outOfTime(ctx, err))
		}
	}
}

func outOfTime(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return fmt.Errorf("%w: no answer in time: %w", sheaf.ErrUnavailable, err)
}

func (s *Store) once(ctx context.Context, method, path string, data []byte) (answer []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.o.URL+path, bytes.NewReader(data))
	if err != nil {
		return nil, false, sheaf.Invalidf("%w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.o.Key)
	}
	resp, err := s.o.Client.Do(req)
	if err == nil {
		defer resp.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, false, outOfTime(ctx, err)
	case err != nil:
		return nil, true, fmt.Errorf("%w: %w", sheaf.ErrUnavailable, err)
	case resp.StatusCode < 300:
		return answer, false, nil
	}
	category, again := sheaf.ErrInvalid, false
	hint := ""
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		hint = " (check the API key)"
	case code == http.StatusTooManyRequests, code >= 500:
		category = sheaf.ErrUnavailable
		again = code == http.StatusTooManyRequests || code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
	}
	return nil, again, fmt.Errorf("%w: status %d%s: %.300q", category, resp.StatusCode, hint, answer)
}

// ask sends a GraphQL query and decodes its data.
func (s *Store) ask(ctx context.Context, query string, out any) error {
	var said struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if err := s.call(ctx, "POST", "/v1/graphql", object{"query": query}, &said); err != nil {
		return err
	}
	if len(said.Errors) > 0 {
		return s.fault(sheaf.ErrUnavailable, "the query is refused: %.300s", said.Errors[0].Message)
	}
	if err := json.Unmarshal(said.Data, out); err != nil {
		return s.fault(sheaf.ErrUnavailable, "the answer is not what such a server says: %v", err)
	}
	return nil
}

// quote writes a GraphQL string; its escapes are those of JSON.
func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(out)
}

func quoteAll(list []string) string {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, text := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(quote(text))
	}
	out.WriteByte(']')
	return out.String()
}
