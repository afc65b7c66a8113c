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
	"slices"
	"strconv"
	"time"
)

// connection sends the requests of one client, one at a time. It uses far less processor time than
// an http.Client, which passes each request through two goroutines. A server on the same machine
// would lack the processor time of the clients.
type connection struct {
	options
	conn   net.Conn
	in     *bufio.Reader
	header []byte // part of every request
	body   []byte // of the last answer
	// asked counts queries.
	asked int
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
	return &connection{options: o, conn: conn, in: bufio.NewReaderSize(conn, 32<<10),
		header: fmt.Appendf(nil, "Host: %s\r\n", u.Host)}, nil
}

// search sends a query and checks the answer. The time is from the request to the last byte of the answer.
func (c *connection) search(query string) (time.Duration, error) {
	request := "GET /v1/search?query=" + url.QueryEscape(query) + "&profile=" + url.QueryEscape(c.profile) +
		" HTTP/1.1\r\n" + string(c.header)
	if c.key != "" {
		request += "Authorization: Bearer " + c.key + "\r\n"
	}
	began := time.Now()
	if err := c.conn.SetDeadline(began.Add(time.Minute)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c.conn, request+"\r\n"); err != nil {
		return 0, err
	}
	status, err := c.readAnswer()
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	if status != http.StatusOK {
		return 0, fmt.Errorf("query %q: %d %s", query, status, c.body)
	}
	c.asked++
	if err := right(c.body, query, c.asked%decodedEach == 1); err != nil {
		return 0, fmt.Errorf("query %q: %w: %.300s", query, err, c.body)
	}
	return took, nil
}

// readAnswer reads an answer into c.body. The server sends the length, because it does not compress.
func (c *connection) readAnswer() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	first, _ := bytes.CutPrefix(line, []byte("HTTP/1.1 "))
	if status, err = strconv.Atoi(string(first[:min(3, len(first))])); err != nil {
		return 0, fmt.Errorf("the answer begins with %q", line)
	}
	length := -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 || length > maxAnswer {
		return 0, fmt.Errorf("the answer is %d bytes long", length)
	}
	c.body = slices.Grow(c.body[:0], length)[:length]
	_, err = io.ReadFull(c.in, c.body)
	return status, err
}

// maxAnswer is longer than any answer to a search.
const maxAnswer = 16 << 20

// One of decodedEach answers is decoded.
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
