package segment

import (
	"context"

	"sheaf/index/engine/postings"
)

// Check reads every byte of the segment. It verifies that no byte has changed and that the sections agree. It returns
// one error for each fault, each wrapping vfs.ErrCorrupt, or the error of ctx.
func (r *Reader) Check(ctx context.Context) []error {
	faults := r.file.Check()
	if len(faults) > 0 {
		return faults
	}
	for _, step := range []func(context.Context) error{r.checkTerms, r.checkIdentifiers, r.checkColumns, r.checkVectors} {
		if err := step(ctx); err != nil {
			faults = append(faults, err)
		}
		if ctx.Err() != nil {
			return []error{ctx.Err()}
		}
	}
	return faults
}

// checkTerms walks every posting list, and compares lengths with frequencies.
func (r *Reader) checkTerms(ctx context.Context) error {
	var c postings.Cursor
	var p postings.PositionReader
	var positions []uint32
	counts := make([][]uint32, len(r.meta.fields))
	lengths := make([]Lengths, len(r.meta.fields))
	for f := range counts {
		counts[f] = make([]uint32, r.meta.chunks)
		var err error
		if lengths[f], err = r.Lengths(f); err != nil {
			return err
		}
	}
	terms := r.Terms()
	for terms.Next() && ctx.Err() == nil {
		form := len(terms.Key()) > 0 && terms.Key()[0] == FormMark
		for f := range r.meta.fields {
			list, err := r.List(terms.Term(), f, true)
			if err != nil {
				return err
			}
			c.Reset(list, uint32(r.meta.chunks))
			p.Reset(lengths[f].Of)
			n := 0
			for ordinal := c.Seek(0); ordinal != postings.End; ordinal = c.Next() {
				n++
				if form {
					continue
				}
				counts[f][ordinal] += c.Frequency()
				if positions = p.Append(positions[:0], &c); len(positions) != int(c.Frequency()) {
					break
				}
			}
			if err := c.Err(); err != nil {
				return r.file.Corrupt(sectionPostings, terms.Term().list(f).at, "%q in %s: %v", terms.Key(), r.meta.fields[f].Name,
					err)
			}
			if n != list.DF {
				return r.file.Corrupt(sectionPostings, terms.Term().list(f).at, "%q in %s has %d postings, not %d", terms.Key(),
					r.meta.fields[f].Name, n, list.DF)
			}
		}
	}
	if terms.Err() != nil || ctx.Err() != nil {
		return terms.Err()
	}
	for f, field := range r.meta.fields {
		for i, n := range counts[f] {
			if got := lengths[f].Of(uint32(i)); got != n {
				return r.file.Corrupt(sectionLengths+field.Name, i, "chunk %d has %d terms, its length says %d", i, n, got)
			}
		}
	}
	return nil
}

// checkIdentifiers compares the identifiers in the table with the ranks. It also verifies that every chunk has a
// document.
func (r *Reader) checkIdentifiers(ctx context.Context) error {
	var c tableCursor
	for c.reset(r.ids); c.next(); {
		ordinal, err := r.ordinalAt(&c)
		if err != nil {
			return err
		}
		if rank, err := r.Rank(ordinal); err != nil || int(rank) != c.at {
			return r.file.Corrupt(sectionRanks, int(ordinal)/rankBlock*rankHeader, "chunk %d has rank %d, not %d", ordinal, rank,
				c.at)
		}
	}
	if c.err != nil {
		return c.err
	}
	set := NewBitset(r.meta.chunks)
	for c.reset(r.documents()); c.next(); {
		if !c.eachRun(r.meta.chunks, set.setRange) {
			return r.file.Corrupt(sectionDocs, 0, "the chunks of entry %d", c.at)
		}
	}
	if n := set.Count(); c.err == nil && n != r.meta.chunks {
		return r.file.Corrupt(sectionDocs, 0, "documents have %d chunks of %d", n, r.meta.chunks)
	}
	return c.err
}

func (r *Reader) checkColumns(context.Context) error {
	return r.columnPrefix(NewBitset(r.meta.chunks), nil)
}

func (r *Reader) checkVectors(context.Context) error {
	for _, v := range r.vectors {
		if _, err := v.rows.All(); err != nil {
			return err
		}
		if _, err := v.Set(); err != nil {
			return err
		}
	}
	return nil
}
