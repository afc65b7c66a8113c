// Command sqlite runs SQLite's FTS5 as a peer of sheaf bench: title and text are columns ranked by bm25.
package main

import (
	"context"
	"database/sql"
	"strings"

	_ "modernc.org/sqlite"

	"sheaf/eval/benchmark"
)

func main() {
	benchmark.Main(func(task benchmark.Task, _ benchmark.Meta) benchmark.Engine {
		if task != benchmark.TaskWords {
			return nil
		}
		return &engine{}
	})
}

type engine struct {
	db      *sql.DB
	version string
}

func (e *engine) Version() string {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return ""
	}
	defer db.Close()
	_ = db.QueryRow("select sqlite_version()").Scan(&e.version)
	return e.version
}

func (e *engine) Build(ctx context.Context, dir string, docs []benchmark.Document, _ [][]float32) error {
	if err := e.Open(dir); err != nil {
		return err
	}
	if _, err := e.db.ExecContext(ctx, `create table ids (n integer primary key, id text);
		create virtual table docs using fts5(title, text, content='', tokenize='porter unicode61')`); err != nil {
		return err
	}
	tx, err := e.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	id, err := tx.PrepareContext(ctx, "insert into ids values (?, ?)")
	if err != nil {
		return err
	}
	words, err := tx.PrepareContext(ctx, "insert into docs (rowid, title, text) values (?, ?, ?)")
	if err != nil {
		return err
	}
	for i, d := range docs {
		if _, err := id.ExecContext(ctx, i, d.ID); err != nil {
			return err
		}
		if _, err := words.ExecContext(ctx, i, d.Title, d.Text); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return e.db.Close()
}

func (e *engine) Open(dir string) (err error) {
	e.db, err = sql.Open("sqlite", dir+"/docs.db?_pragma=journal_mode(wal)&_pragma=mmap_size(1073741824)")
	return err
}

func (e *engine) Ask(ctx context.Context, text string, _ []float32) ([]string, error) {
	quoted := make([]string, 0, 8)
	for _, w := range strings.Fields(text) {
		quoted = append(quoted, `"`+strings.ReplaceAll(w, `"`, `""`)+`"`)
	}
	rows, err := e.db.QueryContext(ctx, "select id from docs join ids on n = docs.rowid where docs match ? order by "+
		"bm25(docs) limit ?", strings.Join(quoted, " OR "), benchmark.Top)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (e *engine) Close() error { return e.db.Close() }
