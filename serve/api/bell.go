package api

import (
	"os"
	"runtime"
	"time"
)

// bell puts off what is done until what came over the network meanwhile has been seen.
//
// Go looks at the network when a processor has nothing else to do, or after 10 ms. While
// searches work on every processor and each hands its turn to the next, none ever has:
// requests lie unread for longer than others that came after them take. So a turn is
// handed on by a byte in a pipe. The processor that was given back runs dry, sees the
// byte together with all requests that have come, and whoever hands the turn on lets them
// go first. A processor more that Go's scheduler is told of sees them too, but takes a
// fifth of the others' time: it looks for work whenever somebody may go on, and what
// searches is moved to and fro.
//
// Who holds the gate's lock may use it; a nil bell is never heard.
type bell struct {
	in, out *os.File
	rang    time.Time // zero when it was heard
	late    int       // how often in a row it was heard late
	deaf    time.Time // until when it does not ring
}

// Where processors have other work, a build of the index maybe, none runs dry, and the
// bell is heard when Go looks by itself. That often in a row it may be; then turns are
// handed on at once for a while.
const (
	bellLate  = 5 * time.Millisecond
	bellOften = 3
	bellDeaf  = time.Second
)

// newBell is nil where pipes are not looked at as the network is.
func newBell() *bell {
	if !pollsPipes {
		return nil
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil // out of files; others will say so
	}
	return &bell{in: in, out: out}
}

// ring makes it be heard soon, once however often it rings until then. False means
// that it will not be.
func (b *bell) ring() bool {
	switch now := time.Now(); {
	case b == nil || now.Before(b.deaf):
		return false
	case !b.rang.IsZero():
	default:
		if _, err := b.out.Write([]byte{0}); err != nil {
			return false
		}
		b.rang = now
	}
	return true
}

// wait waits without the lock until the bell has rung and all that came before that has
// been seen. False means that it was closed.
func (b *bell) wait() bool {
	var one [1]byte
	if _, err := b.in.Read(one[:]); err != nil {
		return false
	}
	// Behind the requests that were seen with it. Once in 61 times Go takes who yields
	// before them.
	runtime.Gosched()
	runtime.Gosched()
	return true
}

// heard says that it was.
func (b *bell) heard() {
	if time.Since(b.rang) < bellLate {
		b.late = 0
	} else if b.late++; b.late >= bellOften {
		b.late, b.deaf = 0, time.Now().Add(bellDeaf)
	}
	b.rang = time.Time{}
}

// close ends waiting.
func (b *bell) close() {
	if b != nil {
		_, _ = b.in.Close(), b.out.Close()
	}
}
