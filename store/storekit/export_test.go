package storekit

import "testing"

// LimitAnswers has no more than so many bytes of an answer read until t ends.
func LimitAnswers(t *testing.T, most int64) {
	before := maxAnswer
	t.Cleanup(func() { maxAnswer = before })
	maxAnswer = most
}
