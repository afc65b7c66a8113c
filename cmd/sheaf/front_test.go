package main

import (
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFrontExchanged: while a front's handler is exchanged over and over every request has an
// answer, and none is answered by one that was exchanged before.
func TestFrontExchanged(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	handler := func(over *atomic.Bool) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Millisecond)
			if over.Load() {
				t.Error("answered by what was exchanged before")
			}
			_, _ = io.WriteString(w, "answer")
		})
	}
	over := new(atomic.Bool)
	f := listenWith(listener, handler(over))
	stop := make(chan struct{})
	var clients sync.WaitGroup
	var answers atomic.Int64
	for range 8 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for {
				select {
				case <-stop:
					return
				default:
				}
				res, err := client.Get("http://" + listener.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(res.Body)
				if res.Body.Close(); err != nil || string(text) != "answer" {
					t.Errorf("%q, %v", text, err)
				}
				answers.Add(1)
			}
		})
	}
	for range 50 {
		for before := answers.Load(); answers.Load() < before+8 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		next := new(atomic.Bool)
		f.exchange(handler(next))
		over.Store(true)
		over = next
	}
	close(stop)
	clients.Wait()
	if err := f.close(); err != nil {
		t.Error(err)
	}
}
