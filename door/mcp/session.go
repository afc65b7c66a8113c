package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// These limit the time for running calls after the server has read the last message.
const (
	lastAnswers = 30 * time.Second // time for the last answers after the end of the input
	stopGrace   = 5 * time.Second  // time for the last answers after a stop
)

// stdio is a transport that makes sessions. A session ends when stop is canceled. The session calls onFinish after it
// has read the last message and every call has an answer.
type stdio struct {
	sdk.IOTransport
	stop     context.Context
	onFinish func()
}

func (t *stdio) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	s := newSession(c, t.stop)
	s.onFinish = t.onFinish
	return s, nil
}

func newSession(c sdk.Connection, stop context.Context) *session {
	return &session{Connection: c, stop: stop, onFinish: func() {}, openCalls: map[jsonrpc.ID]bool{},
		cancelled: map[jsonrpc.ID]bool{}, changed: make(chan struct{}, 1)}
}

// session passes messages to the SDK. It hides the end of the input from the SDK until every call has an answer. The
// SDK would otherwise drop these answers.
type session struct {
	sdk.Connection
	stop     context.Context
	onFinish func()

	mu        sync.Mutex
	openCalls map[jsonrpc.ID]bool // calls without an answer; true while the answer is written
	cancelled map[jsonrpc.ID]bool // calls that the client canceled; their answers are dropped
	ended     bool                // no more answers are written
	changed   chan struct{}       // receives a value after each answer
}

func (s *session) Read(ctx context.Context) (jsonrpc.Message, error) {
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.stop, cancel)()
	msg, err := s.Connection.Read(reading)
	if err != nil {
		s.finish(ctx)
		s.onFinish()
		if s.stop.Err() != nil {
			err = io.EOF
		}
		return nil, err
	}
	r, ok := msg.(*jsonrpc.Request)
	switch {
	case ok && r.IsCall():
		s.mu.Lock()
		if _, twice := s.openCalls[r.ID]; !twice {
			s.openCalls[r.ID] = false
		}
		s.mu.Unlock()
	case ok && r.Method == "notifications/cancelled":
		s.cancel(r.Params)
	}
	return msg, nil
}

// cancel makes Write drop the answer of a canceled call. The protocol forbids this answer, but the SDK sends it. params
// are the parameters of the notification, which name the call.
func (s *session) cancel(params json.RawMessage) {
	var given struct{ RequestID any }
	if json.Unmarshal(params, &given) != nil {
		return
	}
	id, err := jsonrpc.MakeID(given.RequestID)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if writing, due := s.openCalls[id]; due && !writing {
		delete(s.openCalls, id)
		s.cancelled[id] = true
	}
}

func (s *session) Write(ctx context.Context, msg jsonrpc.Message) error {
	r, ok := msg.(*jsonrpc.Response)
	if !ok {
		return s.Connection.Write(ctx, msg)
	}
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return io.ErrClosedPipe
	}
	if s.cancelled[r.ID] {
		delete(s.cancelled, r.ID)
		s.mu.Unlock()
		return nil
	}
	if _, known := s.openCalls[r.ID]; known {
		s.openCalls[r.ID] = true
	}
	s.mu.Unlock()
	var has *jsonrpc.Error
	if r.Error != nil && !errors.As(r.Error, &has) { // the SDK gives such errors the code 0
		r.Error = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: r.Error.Error()}
	}
	err := s.Connection.Write(ctx, r)
	s.mu.Lock()
	delete(s.openCalls, r.ID)
	s.mu.Unlock()
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return err
}

// finish waits until every call has an answer. If calls take too long, it answers them with an error.
func (s *session) finish(ctx context.Context) {
	late, why, stopped := time.After(lastAnswers), "the input ended, and the call took too long after it", s.stop.Done()
	for {
		s.mu.Lock()
		s.ended = len(s.openCalls) == 0
		done := s.ended
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-s.changed:
		case <-stopped:
			stopped, late, why = nil, time.After(stopGrace), "the server was stopped before the call ended: ask again "+
				"when it runs"
		case <-late:
			s.refuse(ctx, why)
			return
		}
	}
}

// refuse sends an error to every call that has no answer yet. why is the text of the error.
func (s *session) refuse(ctx context.Context, why string) {
	s.mu.Lock()
	s.ended = true
	var left []jsonrpc.ID
	for id, writing := range s.openCalls {
		if writing {
			s.mu.Unlock()
			return // the client does not read
		}
		left = append(left, id)
	}
	s.mu.Unlock()
	for _, id := range left {
		if s.Connection.Write(ctx, &jsonrpc.Response{ID: id,
			Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why}}) != nil {
			return
		}
	}
}
