package storekit

import "testing"

// LimitAnswers limits an answer to most bytes until t ends.
func LimitAnswers(t *testing.T, most int64) {
	before := maxAnswer
	t.Cleanup(func() { maxAnswer = before })
	maxAnswer = most
}
