package store

import (
	"context"

	"sheaf"
)

// Fuser is met by backends whose server can rank two branches and join them by
// itself, in one request.
type Fuser interface {
	// Fuse answers both legs of req and joins them as req.Method says: what
	// two calls of Retrieve and a fusion of package rank give, as far as
	// Fused.Differs says nothing else. A fusion that the server does not know,
	// and with req.Equal one that differs, is sheaf.ErrUnsupported with the
	// reason.
	Fuse(ctx context.Context, req FuseRequest) (Fused, error)
}

// FuseRequest is two branches of a query and how they are joined.
type FuseRequest struct {
	Legs [2]FuseLeg
	// Filter and Within bound both legs, as in Request.
	Filter sheaf.Filter
	Within []sheaf.ID
	Method FuseMethod
	// K is the constant of FuseRRF, 1..1000.
	K int
	// Limit is the most hits wanted, at most the sum of the legs' limits; a
	// server may end after as many as the longer leg has.
	Limit int
	// Equal refuses what differs from the plain path.
	Equal bool
}

// FuseLeg is one branch: words or a vector, the number of hits that are ranked, and
// what it weighs, 0 or more.
type FuseLeg struct {
	Text   *TextRequest
	Vector *VectorRequest
	Limit  int
	Weight float64
}

// FuseMethod is how two legs are joined.
type FuseMethod uint8

// The methods, with r and s the rank and the score of a hit in a leg of weight w:
const (
	// FuseRRF: the sum of w/(K + r).
	FuseRRF FuseMethod = iota
	// FuseMinMax: the mean, weighted by w, of (s - lowest)/(highest - lowest),
	// which is 1 where all are equal and 0 for what the leg did not find.
	FuseMinMax
	// FuseMinMaxOpenSearch: the same, but the lowest has 0.001.
	FuseMinMaxOpenSearch
)

// String is the method as messages name it.
func (m FuseMethod) String() string {
	return [...]string{"reciprocal ranks", "min-max", "min-max of OpenSearch"}[m]
}

// Fused is what a server answered to a FuseRequest.
type Fused struct {
	// Hits are best first. Their Legs are rank and raw score in each of the
	// request's legs where the server tells them, else nil.
	Hits sheaf.Ranking
	// By names what joined them: "OpenSearch's hybrid query".
	By string
	// Differs names every property in which the answer may differ from the
	// plain path, but for Ties.
	Differs []string
	// Ties says that the server ranks equal scores of a leg, and equal sums,
	// in an order of its own instead of that of IDs.
	Ties bool
}

// Kinds tells which of the legs searches words and which a vector; ok is false when
// both are of one kind.
func (req *FuseRequest) Kinds() (words, vector int, ok bool) {
	switch {
	case req.Legs[0].Text != nil && req.Legs[1].Vector != nil:
		return 0, 1, true
	case req.Legs[0].Vector != nil && req.Legs[1].Text != nil:
		return 1, 0, true
	}
	return 0, 0, false
}

// Requests are those of the legs on the plain path.
func (req *FuseRequest) Requests() [2]Request {
	var out [2]Request
	for i, leg := range req.Legs {
		out[i] = Request{Text: leg.Text, Vector: leg.Vector, Filter: req.Filter, Within: req.Within, Limit: leg.Limit}
	}
	return out
}

// Validate returns an error that wraps sheaf.ErrInvalid when req is no request that
// any server could answer.
func (req *FuseRequest) Validate() error {
	total := 0.0
	for i, one := range req.Requests() {
		if err := one.Validate(); err != nil {
			return err
		}
		w := req.Legs[i].Weight
		if !(w >= 0 && w <= 1e6) {
			return sheaf.Invalidf("fuse: weight is %v: must be within 0..1000000", w)
		}
		total += w
	}
	switch {
	case total == 0:
		return sheaf.Invalidf("fuse: both weights are 0: one must be above 0")
	case req.Method > FuseMinMaxOpenSearch:
		return sheaf.Invalidf("fuse: there is no method %d", req.Method)
	case req.Method == FuseRRF && (req.K < 1 || req.K > 1000):
		return sheaf.Invalidf("fuse: k is %d: must be within 1..1000", req.K)
	case req.Limit < 1 || req.Limit > req.Legs[0].Limit+req.Legs[1].Limit:
		return sheaf.Invalidf("fuse: limit is %d: must be within 1..%d, what both legs rank", req.Limit, req.Legs[0].Limit+req.Legs[1].Limit)
	}
	return nil
}
