package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// connection sends the requests of one client, one at a time. An http.Client passes each request through two
// goroutines. A connection does without goroutines, and so leaves more processor time to a server on this machine.
type connection struct {
	options
	conn  net.Conn
	in    *bufio.Reader
	asked int // queries so far
}

// connect opens a connection to the server of o.
func connect(o options) (*connection, error) {
	u, err := url.Parse(o.address)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("--address is %q: must be http://HOST:PORT", o.address)
	}
	conn, err := net.DialTimeout("tcp", u.Host, time.Minute)
	if err != nil {
		return nil, err
	}
	return &connection{options: o, conn: conn, in: bufio.NewReaderSize(conn, 32<<10)}, nil
}

// request returns a request to the server.
func (o *options) request(path string) (*http.Request, error) {
	req, err := http.NewRequest(http.MethodGet, o.address+path, nil)
	if err == nil && o.key != "" {
		req.Header.Set("Authorization", "Bearer "+o.key)
	}
	return req, err
}

// search sends a query and checks the answer. The time is from the request to the last byte of the answer.
func (c *connection) search(query string) (time.Duration, error) {
	req, err := c.request("/v1/search?query=" + url.QueryEscape(query) + "&profile=" + url.QueryEscape(c.profile))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := errors.Join(c.conn.SetDeadline(began.Add(time.Minute)), req.Write(c.conn)); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(c.in, req)
	if err != nil {
		return 0, err
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("query %q: %s %s", query, res.Status, body)
	}
	c.asked++
	if err := right(body, query, c.asked%decodedEach == 1); err != nil {
		return 0, fmt.Errorf("query %q: %w: %.300s", query, err, body)
	}
	return took, nil
}

// A connection decodes one of every decodedEach answers, to check the order of its results.
const decodedEach = 50

// right checks that an answer is complete, belongs to this query and is not degraded. If decode is
// set, it also checks the order of the results.
func right(body []byte, query string, decode bool) error {
	asked, err := json.Marshal(query)
	if err != nil {
		return err
	}
	switch {
	case !bytes.HasPrefix(body, append([]byte(`{"query":`), asked...)):
		return errors.New("another query is answered")
	case !bytes.HasSuffix(body, []byte("}\n")):
		return errors.New("there is no end")
	case !bytes.Contains(body, []byte(`"degraded":false`)):
		return errors.New("a branch failed")
	case !decode:
		return nil
	}
	var answer struct {
		Results []struct {
			Rank  int
			ID    string
			Score float64
		}
		Total struct{ Value int }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	for i, r := range answer.Results {
		if r.Rank != i+1 || r.ID == "" || i > 0 && r.Score > answer.Results[i-1].Score {
			return fmt.Errorf("result %d out of order", i+1)
		}
	}
	if len(answer.Results) != min(answer.Total.Value, 10) {
		return fmt.Errorf("%d results of %d", len(answer.Results), answer.Total.Value)
	}
	return nil
}
