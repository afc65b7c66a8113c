package profile_test

import (
	"testing"

	"sheaf/profile"
)

// TestBuiltin loads every profile of the binary.
func TestBuiltin(t *testing.T) {
	infos, err := profile.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		if info.Err != nil {
			t.Errorf("%v", info.Err)
		}
		if info.About == "" {
			t.Errorf("%s says not what it is for", info.Name)
		}
	}
	if len(infos) < 7 {
		t.Errorf("%d profiles", len(infos))
	}
}
