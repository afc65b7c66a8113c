package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
)

// schemaVersion is the version of the tables. A later program must convert the tables of earlier versions.
const schemaVersion = 1

// maxDims is the largest number of dimensions of a stored vector in pgvector. maxIndexed and maxIndexedHalf are
// pgvector's limits for an HNSW index in single and in half precision.
const (
	maxDims        = 16_000
	maxIndexed     = 2_000
	maxIndexedHalf = 4_000
	// maxPlain is the largest number of dimensions of a vector that is stored uncompressed in its row. With more, a row
	// may not fit into a page.
	maxPlain = 1_900
)

// tables creates the tables in the order of their references. IDs and texts in columns have the type bytea: they may
// be any bytes, and sort like rankings.
const tables = `
CREATE TABLE setting (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE total (chunks bigint NOT NULL, vectors bigint NOT NULL, generation bigint NOT NULL);
INSERT INTO total VALUES (0, 0, 0);

-- Text fields, with the number of chunks that have terms in them and of those terms.
CREATE TABLE field (id int PRIMARY KEY, name text NOT NULL UNIQUE, chunks bigint NOT NULL, tokens bigint NOT NULL);
-- Every term and, after a byte 1, every form that was ever written. Entries never change.
CREATE TABLE term (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text COLLATE "C" NOT NULL UNIQUE);

-- lens[i] is the number of terms in the field with id i; fields are names and texts in turn.
CREATE TABLE chunk (ord bigint PRIMARY KEY, id bytea NOT NULL, doc bytea NOT NULL, lens int[] NOT NULL,
	fields bytea[] NOT NULL);
CREATE SEQUENCE chunk_ord;
-- By hash, because an index takes no key above 2,704 bytes.
CREATE UNIQUE INDEX chunk_id ON chunk (sha256(id));
CREATE INDEX chunk_doc ON chunk (sha256(doc));

CREATE TABLE posting (term int NOT NULL, field int NOT NULL, chunk bigint NOT NULL, tf int NOT NULL, len int NOT NULL,
	pos int[],
	PRIMARY KEY (term, field, chunk) INCLUDE (tf, len));
CREATE INDEX posting_chunk ON posting (chunk);

-- kind is that of sheaf.Value: 1 text, 2 number, 3 date in milliseconds, 4 truth.
CREATE TABLE property (chunk bigint NOT NULL, name bytea NOT NULL, kind smallint NOT NULL, text bytea, number float8);
CREATE INDEX property_chunk ON property (chunk);
CREATE INDEX property_number ON property (substring(name for 256), number, chunk) WHERE kind <> 1;
CREATE INDEX property_text ON property (substring(name for 256), substring(text for 256), chunk) WHERE kind = 1;

-- The passages of vector field i are in the table vector_i.
CREATE TABLE vector_field (id int PRIMARY KEY, name text NOT NULL UNIQUE, dims int NOT NULL, model text NOT NULL);
`

// lock is a statement that takes the advisory lock of a schema, which excludes other writers.
const lock = "SELECT pg_advisory_xact_lock(hashtextextended('sheaf ' || $1, 0))"

// writeOptions has the options of a write transaction. Once the transaction has the lock, it sees all earlier changes,
// whatever the database's default isolation level is.
var writeOptions = pgx.TxOptions{IsoLevel: pgx.ReadCommitted}

// prepare checks the tables. If tables are missing and the options allow it, it creates them.
func (s *Store) prepare(ctx context.Context) error {
	what := "open the schema " + s.o.Schema
	made := false
	err := s.read(ctx, what, func(ctx context.Context, conn *pgxpool.Conn) (err error) {
		made, err = s.verify(ctx, conn.Conn())
		return err
	})
	switch {
	case err != nil:
		return err
	case made:
	case s.o.Access != store.Make:
		return fmt.Errorf("postgres: %s: %w: it has no tables of sheaf", what, sheaf.ErrNotFound)
	default:
		ctx, stop := s.withTimeout(ctx)
		defer stop()
		if err := pgx.BeginTxFunc(ctx, s.pool, writeOptions, func(tx pgx.Tx) error {
			return s.create(ctx,
				tx)
		}); err != nil {
			return fail(what, err)
		}
	}
	return nil
}

// create creates the tables, unless another process has created them meanwhile.
func (s *Store) create(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, lock, s.o.Schema); err != nil {
		return err
	}
	if made, err := s.verify(ctx, tx.Conn()); err != nil || made {
		return err
	}
	if err := s.extension(ctx, tx); err != nil {
		return err
	}
	var shared bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector' AND extnamespace = "+
		"to_regnamespace($1))", s.o.Schema).Scan(&shared); err != nil {
		return err
	}
	if shared || s.o.Schema == "public" { // the schema is in every search path
		return lookedThrough(s.o.Schema)
	}
	// Not IF NOT EXISTS: it requires the right to create schemas even where this schema exists.
	var there bool
	if err := tx.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", s.o.Schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.Exec(ctx, "CREATE SCHEMA "+quoted(s.o.Schema)); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, tables); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "INSERT INTO setting VALUES ('version', $1), ('analyzer', $2)", fmt.Sprint(schemaVersion),
		s.o.Analyzer.Name())
	if err != nil {
		return err
	}
	if s.o.RowSecurity {
		if _, err := tx.Exec(ctx, wallStatements()); err != nil {
			return err
		}
	}
	for _, v := range s.o.Vectors {
		if err := s.createVectors(ctx, tx, &vectorTable{VectorField: v}); err != nil {
			return err
		}
	}
	return nil
}

// lookedThrough returns the error for a schema that is in the search path of every connection. If another store lost
// its own schema, that store would use the tables in this schema.
func lookedThrough(schema string) error {
	return sheaf.Invalidf("postgres: all stores of the database also read the schema %s, so a removed store would "+
		"find its tables there: name another schema, as in ?schema=notes", schema)
}

// extension installs pgvector if the database lacks it. It returns an error if the server offers no version with
// iterative scans. It also returns an error if the user may not use or install pgvector. It does not check the version
// of an installed pgvector: each new connection does.
func (s *Store) extension(ctx context.Context, tx pgx.Tx) error {
	var installed, available, closed *string
	err := tx.QueryRow(ctx, "SELECT "+askExtension).Scan(&installed, &available, &closed)
	switch {
	case err != nil:
		return err
	case installed == nil && available == nil:
		return fmt.Errorf("postgres: %w: the server has no extension vector: install pgvector 0.8 or newer on it",
			sheaf.ErrUnsupported)
	case closed != nil:
		return notReached(*closed)
	case installed != nil:
		return nil
	case tooOld("available", available) != nil:
		return fmt.Errorf("postgres: %w", tooOld("available", available))
	}
	// After a savepoint this program can replace the server's message about a refusal.
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, createExtension)
		return err
	})
	if err != nil {
		return notInstalled(err)
	}
	return nil
}

// askExtension is a query for the installed and the available version of pgvector. If the user may not use the schema
// of the extension, the answer has the GRANT statement that changes this.
const askExtension = `(SELECT extversion FROM pg_extension WHERE extname = 'vector'),
	(SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
	(SELECT 'GRANT USAGE ON SCHEMA ' || quote_ident(nspname) || ' TO ' || quote_ident(current_user)
		FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
		WHERE extname = 'vector' AND NOT has_schema_privilege(n.oid, 'USAGE'))`

func notReached(grant string) error {
	return fmt.Errorf("postgres: %w: the extension vector is in a schema that this user may not use: run %s",
		sheaf.ErrInvalid, grant)
}

// reachExtension is a query that appends the schema of the extension vector to the search path.
const reachExtension = `SELECT
	set_config('search_path', current_setting('search_path') || ', ' || quote_ident(nspname), false)
	FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector' AND nspname <> 'public'`

func quoted(names ...string) string { return pgx.Identifier(names).Sanitize() }

const createExtension = "CREATE EXTENSION vector SCHEMA public"

func notInstalled(err error) error {
	return fmt.Errorf("postgres: %w: the extension vector is not installed in this database and could not be: let an "+
		"administrator run CREATE EXTENSION vector: %w", sheaf.ErrUnsupported, err)
}

// tooOld returns an error if this version of pgvector has no iterative scans. Such a version accepts the settings of
// iterative scans, but filtered searches lose hits. what names the version in the error, such as "installed".
func tooOld(what string, version *string) error {
	if version == nil {
		return nil
	}
	var major, minor int
	if _, err := fmt.Sscanf(*version, "%d.%d", &major, &minor); err != nil || major > 0 || minor >= 8 {
		return nil
	}
	return fmt.Errorf("%w: the extension vector that is %s is %s: 0.8 or newer is needed: install it on the server and "+
		"run ALTER EXTENSION vector UPDATE", sheaf.ErrUnsupported, what, *version)
}

// look reports whether a schema has the tables of a store. holds lists its tables and views, except those of
// extensions.
func look(ctx context.Context, conn *pgx.Conn, schema string) (ours bool, holds []string, err error) {
	err = conn.QueryRow(ctx, `SELECT to_regclass($1 || '.posting') IS NOT NULL AND 2 = (SELECT count(*) FROM pg_attribute
			WHERE attrelid = to_regclass($1 || '.setting') AND attname IN ('name', 'value') AND atttypid = 'text'::regtype),
		(SELECT coalesce(array_agg(relname::text ORDER BY relname), '{}')
			FROM pg_class c WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace = to_regnamespace($1)
			AND NOT EXISTS (SELECT FROM pg_depend
				WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e'))`, schema).Scan(&ours, &holds)
	return ours, holds, err
}

// verify reads the settings in the tables, and returns an error if they do not fit the options. It also refuses foreign
// tables. made is false if the schema has no tables.
func (s *Store) verify(ctx context.Context, conn *pgx.Conn) (made bool, err error) {
	ours, others, err := look(ctx, conn, s.o.Schema)
	switch {
	case err != nil:
		return false, err
	case !ours && len(others) == 0:
		return false, nil
	case !ours:
		return false, s.notOurs(others)
	}
	settings := map[string]string{}
	rows, _ := conn.Query(ctx, "SELECT coalesce(name, ''), coalesce(value, '') FROM setting")
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		settings[name] = value
		return nil
	}); err != nil {
		return false, err
	}
	if settings["version"] == "" {
		return false, s.notOurs(others)
	}
	if v := settings["version"]; v != fmt.Sprint(schemaVersion) {
		return false, fmt.Errorf("postgres: %w: the tables in schema %s have version %q, this program reads version %d: "+
			"use the program that made them, or another schema", sheaf.ErrUnsupported, s.o.Schema, v, schemaVersion)
	}
	if made := settings["analyzer"]; made != s.o.Analyzer.Name() && s.o.Access != store.ListOnly {
		return false, fmt.Errorf("postgres: %w: the store in schema %s was made with the analyzer %q, not with %q: "+
			"fill it again, or fill another schema", store.ErrMadeOtherwise, s.o.Schema, made, s.o.Analyzer.Name())
	}
	var wall bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass($1 || '.wall') IS NOT NULL", s.o.Schema).Scan(&wall); err != nil {
		return false, err
	}
	if s.o.Access == store.ListOnly {
		s.o.RowSecurity = wall
	}
	if wall != s.o.RowSecurity {
		return false, fmt.Errorf("postgres: %w: the store in schema %s was made with rls=%t, not rls=%t: set rls as "+
			"before, fill it again, or fill another schema", store.ErrMadeOtherwise, s.o.Schema, wall, s.o.RowSecurity)
	}
	return true, s.verifyVectors(ctx, conn)
}

// notOurs returns the error for a schema with foreign tables and views; names has their names.
func (s *Store) notOurs(names []string) error {
	const shown = 5
	list := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return sheaf.Invalidf("postgres: sheaf did not make the schema %s, which holds %s: name another schema",
		s.o.Schema, list)
}

func (s *Store) verifyVectors(ctx context.Context, conn *pgx.Conn) error {
	fields, err := vectorFields(ctx, conn)
	if err != nil {
		return err
	}
	for _, want := range s.o.Vectors {
		if err := fields[want.Name].Same(want, "schema"); err != nil {
			return fmt.Errorf("postgres: schema %s: %w", s.o.Schema, err)
		}
	}
	return nil
}

// vectorTable is a vector field with the number of its table.
type vectorTable struct {
	store.VectorField
	id int
}

func (v vectorTable) table() string { return fmt.Sprintf("vector_%d", v.id) }

// indexCast converts an SQL expression for a vector to the type of v's HNSW index: half precision for many dimensions.
func (v vectorTable) indexCast(expression string) string {
	if v.Dims > maxIndexed {
		return fmt.Sprintf("(%s::halfvec(%d))", expression, v.Dims)
	}
	return expression
}

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func vectorFields(ctx context.Context, q querier) (map[string]vectorTable, error) {
	rows, _ := q.Query(ctx, "SELECT id, name, dims, model FROM vector_field")
	out := map[string]vectorTable{}
	var v vectorTable
	_, err := pgx.ForEachRow(rows, []any{&v.id, &v.Name, &v.Dims, &v.Model}, func() error { out[v.Name] = v; return nil })
	return out, err
}

// createVectors creates the table of a vector field and gives v its number.
func (s *Store) createVectors(ctx context.Context, tx pgx.Tx, v *vectorTable) error {
	if s.o.HNSW > 0 && v.Dims > maxIndexedHalf {
		return fmt.Errorf("postgres: %w: vector field %q has %d dimensions, and pgvector's HNSW index takes %d at most: "+
			"open the store without hnsw", sheaf.ErrUnsupported, v.Name, v.Dims, maxIndexedHalf)
	}
	err := tx.QueryRow(ctx, `INSERT INTO vector_field SELECT coalesce(max(id), 0) + 1, $1, $2, $3 FROM vector_field `+
		`RETURNING id`, v.Name, v.Dims, v.Model).Scan(&v.id)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, s.o.vectorStatements(*v))
	return err
}

// vectorStatements returns the statements that create the table of a vector field and its index.
func (o *Options) vectorStatements(v vectorTable) string {
	sql := fmt.Sprintf("CREATE TABLE %s (chunk bigint NOT NULL, passage int NOT NULL, v vector(%d) NOT NULL, PRIMARY "+
		"KEY (chunk, passage));\n", v.table(), v.Dims)
	if v.Dims <= maxPlain {
		sql += fmt.Sprintf("ALTER TABLE %s ALTER v SET STORAGE PLAIN;\n", v.table())
	}
	if o.RowSecurity {
		sql += walled(v.table(), "chunk")
	}
	if o.HNSW > 0 {
		sql += o.indexStatement(v)
	}
	return sql
}

func (o *Options) indexStatement(v vectorTable) string {
	ops := "vector_ip_ops"
	if v.Dims > maxIndexed {
		ops = "halfvec_ip_ops"
	}
	return fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s_hnsw ON %s USING hnsw ((%s) %s) WITH (m = %d, "+
		"ef_construction = %d);\n",
		v.table(), v.table(), v.indexCast("v"), ops, o.HNSW, max(64, 2*o.HNSW))
}

// SQL returns the statements that create the tables of a store with these options. An administrator can run them;
// Open accepts the tables as a store.
func (o Options) SQL() (string, error) {
	if err := o.prepare(); err != nil {
		return "", err
	}
	if o.Schema == "public" {
		return "", lookedThrough(o.Schema)
	}
	literal := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
	out := fmt.Sprintf("BEGIN;\nCREATE EXTENSION IF NOT EXISTS vector SCHEMA public;\nCREATE SCHEMA %s;\nSET LOCAL "+
		"search_path = %[1]s, public;\n%s\nINSERT INTO setting VALUES ('version', '%d'), ('analyzer', %s);\n",
		quoted(o.Schema), strings.TrimSpace(tables), schemaVersion, literal(o.Analyzer.Name()))
	if o.RowSecurity {
		out += "\n" + wallStatements()
	}
	for i, field := range o.Vectors {
		v := vectorTable{VectorField: field, id: i + 1}
		out += fmt.Sprintf("\nINSERT INTO vector_field VALUES (%d, %s, %d, %s);\n%s", v.id, literal(v.Name), v.Dims,
			literal(v.Model), o.vectorStatements(v))
	}
	return out + "COMMIT;\n", nil
}

// ourTables are the tables that a store may have, besides the tables of its vector fields.
var ourTables = []string{"setting", "total", "field", "term", "chunk", "posting", "property", "wall", "vector_field"}

// connect opens one connection. It ignores options in the address that concern a pool.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, sheaf.WithCategory(sheaf.ErrInvalid, err)
	}
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// Drop removes the tables of a store. The schema stays, with its rights and with foreign functions, types and
// extensions. If the schema has foreign tables, or foreign objects need the store's tables, Drop fails with
// sheaf.ErrInvalid and removes nothing.
func Drop(ctx context.Context, url, schema string) error {
	if !schemaName().MatchString(schema) {
		return sheaf.Invalidf("drop schema %q: not a name that a store may have", schema)
	}
	conn, err := connect(ctx, url)
	if err != nil {
		return fail("connect", err)
	}
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return drop(ctx, tx, schema) })
	return fail("drop schema "+schema, errors.Join(err, conn.Close(ctx)))
}

func drop(ctx context.Context, tx pgx.Tx, schema string) error {
	made, holds, err := look(ctx, tx.Conn(), schema)
	if err == nil && made {
		err = tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+quoted(schema, "setting")+" WHERE name = 'version')").Scan(&made)
	}
	var tables []string
	if err == nil && made && slices.Contains(holds, "vector_field") {
		err = tx.QueryRow(ctx, "SELECT coalesce(array_agg('vector_' || id), '{}') FROM "+
			quoted(schema, "vector_field")).Scan(&tables)
	}
	if made {
		tables = append(tables, ourTables...)
	}
	if err != nil {
		return err
	}
	var ours, others []string
	for _, name := range holds {
		if slices.Contains(tables, name) {
			ours = append(ours, quoted(schema, name))
		} else {
			others = append(others, name)
		}
	}
	switch {
	case len(others) > 0:
		return sheaf.Invalidf("postgres: drop schema %s: it holds %s, which sheaf did not make: move that elsewhere, "+
			"or name another schema", schema, strings.Join(others, ", "))
	case len(ours) == 0:
		return nil
	}
	_, err = tx.Exec(ctx, "DROP TABLE "+strings.Join(ours, ", ")+"; DROP SEQUENCE IF EXISTS "+quoted(schema, "chunk_ord"))
	return err
}
