package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sheaf"
)

// TestParameters checks that a filter that needs more parameters than the protocol allows is
// unsupported.
func TestParameters(t *testing.T) {
	kinds := sheaf.In{Column: "c", Values: []sheaf.Value{sheaf.TextValue("a"), sheaf.NumberValue(1), sheaf.BoolValue(true),
		sheaf.DateValue(time.Unix(1, 0))}}
	for _, c := range []struct {
		part sheaf.Filter
		n    int
		fits bool
	}{
		{kinds, maxArgs / 13, true}, {kinds, maxArgs/13 + 1, false}, {kinds, maxFilters, false},
		{sheaf.HasPrefix{Column: "c", Prefix: "p"}, maxArgs / 6, true},
		{sheaf.HasPrefix{Column: "c", Prefix: "p"}, maxArgs/6 + 1, false},
	} {
		list := make(sheaf.Or, c.n)
		for i := range list {
			list[i] = c.part
		}
		var st statement
		sql, err := st.text("SELECT " + st.filter(list))
		if c.fits && (err != nil || sql == "") ||
			!c.fits && (!errors.Is(err, sheaf.ErrUnsupported) || !strings.Contains(err.Error(), "65535")) {
			t.Errorf("%d of %T, %d parameters: %v", c.n, c.part, len(st.args), err)
		}
	}
}
