package engine

// prefetch asks for the bytes of b to come near from memory, and waits for none of them;
// nil where a machine has no way of doing that.
var prefetch func(b []byte)
