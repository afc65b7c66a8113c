package scan

import "errors"

// maxRead limits a file that grows while it is read.
const maxRead = 64 << 20

var errTooLarge = errors.New("the file grew while it was read")

// roomFor returns buffer, or a larger buffer, for a file of about size bytes plus one byte. The extra byte lets
// the first read reach the end of the file.
func roomFor(buffer []byte, size int) []byte {
	if cap(buffer) <= size {
		buffer = make([]byte, size+size/4+512)
	}
	return buffer[:cap(buffer)]
}
