package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// RetrieveAll implements [store.Batcher]: the statements of all word requests go to the server
// together.
func (s *Store) RetrieveAll(ctx context.Context, reqs []store.Request) ([]sheaf.Ranking, error) {
	out := make([]sheaf.Ranking, len(reqs))
	err := s.together(ctx, "search", reqs, func(i int) question { return ranked(&reqs[i], &out[i]) },
		func(ctx context.Context, conn *pgxpool.Conn, i int) (err error) {
			out[i], err = s.retrieveVectors(ctx, conn, &reqs[i])
			return err
		})
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Sort()
	}
	return out, nil
}

// CountAll implements [store.Batcher].
func (s *Store) CountAll(ctx context.Context, reqs []store.Request) ([]int, error) {
	out := make([]int, len(reqs))
	err := s.together(ctx, "count", reqs, func(i int) question { return counted(&reqs[i], &out[i]) },
		func(ctx context.Context, conn *pgxpool.Conn, i int) (err error) {
			out[i], err = s.countVectors(ctx, conn, &reqs[i])
			return err
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// together sends the questions of word requests in one round trip, and calls vectors for each other
// request.
func (s *Store) together(ctx context.Context, what string, reqs []store.Request, words func(i int) question,
	vectors func(ctx context.Context, conn *pgxpool.Conn, i int) error) error {
	for i := range reqs {
		if err := validate(&reqs[i]); err != nil {
			return err
		}
	}
	if len(reqs) == 0 {
		return nil
	}
	return s.read(ctx, what, func(ctx context.Context, conn *pgxpool.Conn) error {
		var list []question
		for i := range reqs {
			if reqs[i].Text != nil {
				list = append(list, words(i))
			} else if err := vectors(ctx, conn, i); err != nil {
				return err
			}
		}
		return s.answer(ctx, conn, list)
	})
}

// question is a word request, the end of its statement over the relation root, and the function
// that reads its rows. It may be asked twice.
type question struct {
	req   *store.Request
	count bool
	final func(w *words, root string) string
	read  func(rows pgx.Rows) error
}

// ranked returns the question for hits, which into receives.
func ranked(req *store.Request, into *sheaf.Ranking) question {
	return question{req: req, final: func(w *words, root string) string {
		limit := w.arg(req.Limit, "bigint")
		return best(w.scored(root), ", 0 AS passage", limit)
	}, read: func(rows pgx.Rows) (err error) {
		*into, err = hits(rows, nil)
		return err
	}}
}

// counted returns the question for the number of matching chunks, which into receives.
func counted(req *store.Request, into *int) question {
	return question{req: req, count: true, final: func(_ *words, root string) string {
		return "SELECT count(DISTINCT chunk) FROM " + root
	}, read: func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[int])
		return err
	}}
}

// unseen has the terms of requests that the store has not looked up. fields means that the known
// fields lack one; known is their number.
type unseen struct {
	terms  map[string]bool
	fields bool
	known  int
}

// answer sends questions in one round trip. It assumes that unseen terms and fields do not exist,
// and looks them up in the same round trip. If one exists, it sends everything again.
func (s *Store) answer(ctx context.Context, conn *pgxpool.Conn, list []question) error {
	if len(list) == 0 {
		return nil
	}
	guess := &unseen{terms: map[string]bool{}}
	again, err := s.ask(ctx, conn, list, guess)
	if err == nil && again {
		_, err = s.ask(ctx, conn, list, nil)
	}
	return err
}

// ask sends questions with the look-ups that guess needs. again means that a look-up found
// something.
func (s *Store) ask(ctx context.Context, conn *pgxpool.Conn, list []question, guess *unseen) (again bool, err error) {
	var statements []*words
	var texts []string
	place := s.memory()
	if place == 0 {
		if place, err = s.findOut(ctx, conn); err != nil {
			return false, err
		}
	}
	for _, q := range list {
		w, root, err := s.build(ctx, conn, q.req, buildOptions{guess: guess, count: q.count})
		if err != nil {
			return false, err
		}
		text, err := w.text(q.final(w, root))
		if err != nil {
			return false, err
		}
		statements, texts = append(statements, w), append(texts, text)
	}
	var b pgx.Batch
	if guess != nil {
		s.queueLookUps(&b, guess, place, &again)
	}
	for i, q := range list {
		b.Queue(texts[i], statements[i].args...).Query(q.read)
	}
	if guess != nil {
		b.Queue(findPlace).QueryRow(func(row pgx.Row) error { // last: it confirms the place of the earlier results
			var now uint32
			err := row.Scan(&now)
			if err == nil && now != place {
				again = true
				s.moved(now)
			}
			return err
		})
	}
	err = conn.SendBatch(ctx, &b).Close()
	return again, err
}

func (s *Store) queueLookUps(b *pgx.Batch, guess *unseen, place uint32, found *bool) {
	if len(guess.terms) > 0 {
		texts := make([]string, 0, len(guess.terms))
		for text := range guess.terms {
			texts = append(texts, text)
		}
		b.Queue(termsByText, texts).Query(func(rows pgx.Rows) error {
			ids := map[string]int32{}
			if err := readTerms(rows, ids); err != nil {
				return err
			}
			s.remember(place, ids)
			*found = *found || len(ids) > 0
			return nil
		})
	}
	if guess.fields {
		b.Queue(fieldsByName).Query(func(rows pgx.Rows) error {
			ids, err := s.readFields(place, rows)
			*found = *found || len(ids) > guess.known
			return err
		})
	}
}
