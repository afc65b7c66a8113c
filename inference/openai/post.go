package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// poster makes requests of one server, again when it is busy.
type poster struct {
	kind            error // what errors wrap, and begin with
	url, model, key string
	timeout         time.Duration // of one request
	attempts        int
	most            int64 // bytes of an answer
	client          *http.Client
	sleep           func(context.Context, time.Duration) error
}

// post sends body and gives the answer to read, whose error is final.
func (p *poster) post(ctx context.Context, body []byte, read func(data []byte) error) error {
	wait := 500 * time.Millisecond
	for attempt := 1; ; attempt++ {
		retry, err := p.try(ctx, body, read)
		if err == nil || retry < 0 || attempt == p.attempts {
			return err
		}
		pause := wait + rand.N(wait)
		if retry > 0 {
			pause = retry
		}
		if pause > maxWait {
			return fmt.Errorf("%w; it asks to wait %v", err, pause)
		}
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < pause {
			return err
		}
		if sleepErr := p.sleep(ctx, pause); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
		wait *= 2
	}
}

// try makes one request. retry is below 0 when another attempt cannot help, the
// time to wait when the server names one, and 0 otherwise.
func (p *poster) try(ctx context.Context, body []byte, read func(data []byte) error) (retry time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.key != "" {
		req.Header.Set("Authorization", "Bearer "+p.key)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return 0, p.fault("cannot be reached: %v: is it running, and is the address right?", errors.Unwrap(err))
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, p.most+1))
	switch {
	case err != nil:
		return 0, p.fault("broke off its answer: %v", err)
	case int64(len(data)) > p.most:
		return -1, p.fault("answered more than %d bytes", p.most)
	case resp.StatusCode != http.StatusOK:
		return retryAfter(resp), p.fault("%s", refusal(resp, data, p.key, p.model))
	}
	return -1, read(data)
}

func (p *poster) fault(format string, args ...any) error {
	return fmt.Errorf("%w %s %s", p.kind, p.url, fmt.Sprintf(format, args...))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// refusal says what an answer other than 200 says, without the key.
func refusal(resp *http.Response, data []byte, key, model string) string {
	message := strings.Join(strings.Fields(strings.ToValidUTF8(string(data[:min(len(data), 300)]), "?")), " ")
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		message = "an HTML page: is this the address of an API?"
	}
	if key != "" {
		message = strings.ReplaceAll(message, key, "…")
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Sprintf("refused the key (%s): %s", resp.Status, message)
	case http.StatusNotFound:
		return fmt.Sprintf("knows no model %q or no such address (%s): %s", model, resp.Status, message)
	}
	return fmt.Sprintf("answered %s: %s", resp.Status, message)
}

// retryAfter says when a refused request may be made again.
func retryAfter(resp *http.Response) time.Duration {
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusInternalServerError:
	default:
		return -1
	}
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
