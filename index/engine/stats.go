package engine

import "context"

// Stats describes the content of an index.
type Stats struct {
	Chunks     int
	Segments   int
	Deleted    int // deleted chunks that are not yet merged away
	Bytes      int64
	Parts      map[string]int64 // bytes by kind of section; see segment.Reader.Parts
	Vectors    int              // passages, including deleted ones
	Generation uint64
}

// Stats describes the content of the snapshot.
func (s *Snapshot) Stats() Stats {
	st := Stats{Segments: len(s.views), Parts: map[string]int64{}, Generation: s.generation}
	for _, v := range s.views {
		st.Chunks += v.live
		st.Deleted += v.reader.Chunks() - v.live
		st.Bytes += v.reader.Size()
		for name, n := range v.reader.Parts() {
			st.Parts[name] += n
		}
		for _, f := range v.reader.VectorFields() {
			st.Vectors += f.Field().Passages
		}
	}
	return st
}

// Check reads every file of the snapshot. It returns one error for each fault, each wrapping ErrCorrupt, or the error
// of ctx. If progress is not nil, it gets the number of bytes read.
func (s *Snapshot) Check(ctx context.Context, progress func(done, total int64)) []error {
	var faults []error
	var done, total int64
	for _, v := range s.views {
		total += v.reader.Size()
	}
	owners := map[string]string{}
	for _, v := range s.views {
		if progress != nil {
			progress(done, total)
		}
		faults = append(faults, v.reader.Check(ctx)...)
		if ctx.Err() != nil {
			return []error{ctx.Err()}
		}
		err := v.reader.EachID(func(id []byte, ordinal uint32) error {
			if v.deleted != nil && v.deleted.Has(ordinal) {
				return nil
			}
			if other, ok := owners[string(id)]; ok {
				faults = append(faults, corruptf("chunk %q is in %s and in %s", id, other, v.name))
			}
			if len(s.views) > 1 {
				owners[string(id)] = v.name
			}
			return nil
		})
		if err != nil && len(faults) == 0 {
			faults = append(faults, err)
		}
		done += v.reader.Size()
	}
	if progress != nil {
		progress(done, total)
	}
	return faults
}
