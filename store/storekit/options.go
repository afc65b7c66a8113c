package storekit

import (
	"net/http"
	"strings"
	"time"

	"sheaf"
	"sheaf/store"
	"sheaf/text/analysis"
)

// DefaultTimeout bounds the calls of a store whose options set no timeout.
const DefaultTimeout = 30 * time.Second

// DefaultClient speaks HTTP, and trusts the certificates that the system trusts.
func DefaultClient() *http.Client { return &http.Client{Transport: Transport()} }

// BM25 returns BM25's parameters; both 0 are the defaults of package store.
func BM25(k1, b float64) (float64, float64) {
	if k1 == 0 && b == 0 {
		return store.DefaultK1, store.DefaultB
	}
	return k1, b
}

// Options are those that every server store checks. Server begins the messages.
type Options struct {
	Server    string
	Analyzer  *analysis.Analyzer
	Addresses []string // HTTP addresses
	K1, B     float64
	Vectors   []store.VectorField
	MaxDims   int
}

// Check fails with sheaf.ErrInvalid for options that no server accepts.
func (o Options) Check() error {
	if o.Analyzer == nil {
		return sheaf.Invalidf("open %s: no analyzer", o.Server)
	}
	for _, address := range o.Addresses {
		if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
			return sheaf.Invalidf("open %s: the address %q: must begin with http:// or https://", o.Server, address)
		}
	}
	if !(o.K1 >= 0 && o.K1 <= 1000 && o.B >= 0 && o.B <= 1) {
		return sheaf.Invalidf("open %s: k1 %v and b %v: must be within 0..1000 and 0..1", o.Server, o.K1, o.B)
	}
	return store.ValidateVectorFields(o.Server, o.Vectors, o.MaxDims)
}
