package pattern

import (
	"testing"

	"sheaf/internal/must"
)

func TestNew(t *testing.T) {
	digits := Lazy(`\d+`)
	must.That(t, digits().FindString("a12") == "12", "found %q", digits().FindString("a12"))
	defer func() { must.That(t, recover() != nil, "no panic for an expression that is not valid") }()
	Lazy(`(`)()
}
