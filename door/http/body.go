package http

import (
	"fmt"
	"io"

	"golang.org/x/sync/semaphore"

	"sheaf"
)

// sharedBody is the body of a request while it is read. All bodies share a limit of memory. A body takes its share only
// as bytes arrive. So a client that sends a large body slowly does not stop other clients.
type sharedBody struct {
	io.ReadCloser
	shares     *semaphore.Weighted
	read, held int64
}

// A body of at most smallBody bytes takes no share of the memory. Each connection has as much memory anyway, so such a
// body adds little.
const smallBody = 8 << 10

// errCrowded means that the bodies of other requests use all shared memory. The client may retry.
var errCrowded = fmt.Errorf("%w: too many bodies are being read", sheaf.ErrUnavailable)

func (b *sharedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if more := b.read - smallBody - b.held; more > 0 {
		if !b.shares.TryAcquire(more) {
			return n, errCrowded
		}
		b.held += more
	}
	return n, err
}

func (b *sharedBody) free() { b.shares.Release(b.held) }
