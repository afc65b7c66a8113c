package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Stdio reads requests from in and writes answers to out, one message per line. It returns when in ends or ctx is done.
// Before that, calls that still run get some more time, and then an error. If a line is not a message, Stdio answers
// with an error; the SDK alone would end the session. Stdio does not close out.
func Stdio(ctx context.Context, server *sdk.Server, in io.ReadCloser, out io.Writer) error {
	said := &output{w: out}
	reading, finished := context.WithCancel(ctx)
	defer finished()
	t := &stdio{IOTransport: sdk.IOTransport{Reader: &lines{in: in, buffered: bufio.NewReader(in), out: said},
		Writer: said}, stop: ctx, onFinish: finished}
	ended := make(chan error, 1)
	// The SDK drops the answers of a session when its context ends.
	go func() { ended <- server.Run(context.WithoutCancel(ctx), t) }()
	select {
	case err := <-ended:
		return errors.Join(err, ctx.Err())
	case <-reading.Done():
	}
	select {
	case err := <-ended:
		return errors.Join(err, ctx.Err())
	case <-time.After(stopGrace + time.Second): // the client does not read, or a store ignores its context
		return ctx.Err()
	}
}

// output writes one line at a time. It is safe for concurrent use.
type output struct {
	mu sync.Mutex
	w  io.Writer
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(line)
}

func (*output) Close() error { return nil }

// lines reads lines from in. It passes messages on, and answers other lines with an error.
type lines struct {
	in       io.ReadCloser
	buffered *bufio.Reader
	out      io.Writer
	rest     []byte
}

func (l *lines) Close() error { return l.in.Close() }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil && !errors.Is(err, errLine) {
			return 0, err
		}
		if err == nil {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			err = checkMessage(line)
		}
		if err != nil {
			if _, err := l.out.Write(refusal(line, err)); err != nil {
				return 0, err
			}
			continue
		}
		l.rest = append(line, '\n')
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

var errLine = fmt.Errorf("a line has more than %d bytes", sdk.DefaultMaxLineLength)

// line returns the next line, or errLine if the line is too long.
func (l *lines) line() ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := l.buffered.ReadSlice('\n')
		if long = long || len(line)+len(part) > sdk.DefaultMaxLineLength; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0):
			return nil, err
		case long:
			return nil, errLine
		default:
			return line, nil
		}
	}
}
