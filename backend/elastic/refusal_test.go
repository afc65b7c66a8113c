package elastic

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"sheaf"
	"sheaf/backend"
)

// TestLicenseRefuses: what the license does not cover is unsupported, and not for want
// of a right, so that branches are joined here and no profile is at fault.
func TestLicenseRefuses(t *testing.T) {
	const cause = `{"type":"security_exception","reason":"current license is non-compliant for [Reciprocal Rank Fusion (RRF)]","license.expired.feature":"Reciprocal Rank Fusion (RRF)"}`
	err := refusal(http.StatusForbidden, []byte(`{"error":{"root_cause":[`+cause+`],`+cause[1:len(cause)-1]+`},"status":403}`))
	if !errors.Is(err, sheaf.ErrUnsupported) || errors.Is(err, backend.ErrForbidden) || !strings.Contains(err.Error(), "let sheaf join the branches") {
		t.Error(err)
	}
}
