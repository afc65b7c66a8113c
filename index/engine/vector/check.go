package vector

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Check returns an error if the parts of s do not agree: sizes, owners and first rows. It also refuses scales that are
// negative or not finite. Only damage causes such faults, never this program. Check reads no rows and codes, because
// every value of their bytes is valid.
func (s *Set) Check() error {
	dims := s.Encoder.Dims()
	if s.Count < 0 || len(s.Rows) != s.Count*s.Encoder.RowBytes() || len(s.Codes) != CodeBytes(dims, s.Count) ||
		len(s.Scales) != ScaleBytes*s.Count || len(s.Owners) != OwnerBytes*s.Count {
		return fmt.Errorf("%d vectors of %d dimensions: %d bytes of rows, %d of codes, %d of scales, %d of owners",
			s.Count, dims, len(s.Rows), len(s.Codes), len(s.Scales), len(s.Owners))
	}
	owned, firsts := 0, 0
	last := uint32(0)
	for row := range s.Count {
		owner := s.Owner(row)
		if int(owner) >= s.Chunks || owner < last {
			return fmt.Errorf("row %d is owned by chunk %d of %d, the one before by %d", row, owner, s.Chunks, last)
		}
		if row == 0 || owner != last {
			owned++
		}
		last = owner
		for ; firsts <= int(owner)/FirstEvery; firsts++ {
			if FirstBytes*(firsts+1) > len(s.Firsts) || binary.LittleEndian.Uint32(s.Firsts[FirstBytes*firsts:]) != uint32(row) {
				return fmt.Errorf("row %d is not named as the first of chunks from %d on", row, FirstEvery*firsts)
			}
		}
		if x := s.scale(row); !(x >= 0 && x <= math.MaxFloat32) {
			return fmt.Errorf("scale of row %d is %v", row, x)
		}
	}
	if owned != s.Owned || FirstBytes*firsts != len(s.Firsts) {
		return fmt.Errorf("%d chunks own rows, not %d; %d bytes of first rows", owned, s.Owned, len(s.Firsts))
	}
	return nil
}
