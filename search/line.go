package search

import "bytes"

// Line is the number, from 1, of the line that holds the byte at offset;
// lines end with LF, CR LF or a CR alone. An offset beyond the end is on the
// last line.
func Line(content []byte, offset int) int {
	offset = max(0, min(offset, len(content)))
	n := 1 + bytes.Count(content[:offset], []byte{'\n'})
	for i := 0; i < offset; i++ {
		next := bytes.IndexByte(content[i:offset], '\r')
		if next < 0 {
			break
		}
		i += next
		if i+1 == len(content) || content[i+1] != '\n' {
			n++
		}
	}
	return n
}
