package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// minServer is the oldest supported version of PostgreSQL: the first with FETCH FIRST WITH TIES.
const minServer = 130_000

// Examine checks a server and its schema and changes nothing. If a check fails, it still makes the other possible
// checks.
func Examine(ctx context.Context, o Options) []store.Finding {
	if err := o.prepare(); err != nil {
		return []store.Finding{{Check: "settings", Err: err}}
	}
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	began := time.Now()
	conn, err := connect(ctx, o.URL)
	if err != nil {
		return []store.Finding{{Check: "connection", Err: fail("connect", err)}}
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was changed
	out := []store.Finding{storekit.Connected(began)}
	out = append(out, examineServer(ctx, conn)...)
	out = append(out, examineRights(ctx, conn, o.Schema))
	if o.RowSecurity {
		out = append(out, examineWall(ctx, conn))
	}
	return append(out, (&Store{o: o}).examineSchema(ctx))
}

func examineServer(ctx context.Context, conn *pgx.Conn) []store.Finding {
	var version string
	var number int
	var now time.Time
	var installed, available, closed *string
	before := time.Now()
	err := conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int, `+
		`clock_timestamp(), `+askExtension).Scan(&version, &number, &now, &installed, &available, &closed)
	if err != nil {
		return []store.Finding{{Check: "version", Err: fail("ask for the version", err)}}
	}
	server := store.Finding{Check: "version", Found: "PostgreSQL " + version}
	if number < minServer {
		server.Err = fmt.Errorf("%w: PostgreSQL 13 or newer is needed", sheaf.ErrUnsupported)
	}
	vector := store.Finding{Check: "extension"}
	switch {
	case tooOld("installed", installed) != nil:
		vector.Found, vector.Err = "vector "+*installed, tooOld("installed", installed)
	case installed == nil && tooOld("available", available) != nil:
		vector.Found, vector.Err = "vector "+*available, tooOld("available", available)
	case closed != nil:
		vector.Found, vector.Err = "vector "+*installed, notReached(*closed)
	case installed != nil:
		vector.Found = "vector " + *installed
	case available != nil:
		vector.Found, vector.Err = examineInstall(ctx, conn, *available)
	default:
		vector.Err = fmt.Errorf("%w: the server has no extension vector: install pgvector 0.8 or newer on it",
			sheaf.ErrUnsupported)
	}
	skew := now.Sub(before.Add(time.Since(before) / 2)).Abs()
	clock := store.Finding{Check: "clock", Found: fmt.Sprintf("differs by %v", skew.Round(time.Millisecond))}
	if skew > store.MaxSkew {
		clock.Err = fmt.Errorf("%w: more than %v: set the clocks of both machines from the network", sheaf.ErrInvalid,
			store.MaxSkew)
	}
	return []store.Finding{server, vector, clock}
}

// examineInstall installs the extension and rolls back. Only this test shows whether the user can install it.
func examineInstall(ctx context.Context, conn *pgx.Conn, version string) (string, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", fail("begin", err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // the server rolls back when the connection ends
	if _, err := tx.Exec(ctx, createExtension); err != nil {
		return "", notInstalled(err)
	}
	return "vector " + version + " can be installed here", nil
}

// rightsOf is a query that counts the tables in a schema. It lists tables that the user may not read, and tables and
// sequences that the user may not write.
const rightsOf = `SELECT count(*) FILTER (WHERE relkind = 'r'),
	coalesce(array_agg(relname::text ORDER BY relname) 
		FILTER (WHERE relkind = 'r' AND NOT has_table_privilege(oid, 'SELECT')), '{}'),
	coalesce(array_agg(relname::text ORDER BY relname) FILTER (WHERE CASE relkind
		WHEN 'r' THEN NOT (has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE')
			AND has_table_privilege(oid, 'DELETE') AND has_table_privilege(oid, 'TRUNCATE'))
		ELSE NOT has_sequence_privilege(oid, 'UPDATE') END), '{}')
	FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'S')`

func examineRights(ctx context.Context, conn *pgx.Conn, schema string) store.Finding {
	var there, makeSchema, makeTables, use, copied bool
	var user, database, place string // quoted for use in statements
	err := conn.QueryRow(ctx, `SELECT quote_ident(current_user), quote_ident(current_database()), quote_ident($1),
		to_regnamespace($1) IS NOT NULL, has_database_privilege(current_database(), 'CREATE'),
		coalesce(has_schema_privilege(to_regnamespace($1), 'CREATE'), false),
		coalesce(has_schema_privilege(to_regnamespace($1), 'USAGE'), false),
		current_setting('transaction_read_only') = 'on'`, schema).Scan(&user, &database, &place, &there, &makeSchema,
		&makeTables, &use, &copied)
	var tables int
	var unread, unwritten []string
	if err == nil {
		err = conn.QueryRow(ctx, rightsOf, schema).Scan(&tables, &unread, &unwritten)
	}
	out := store.Finding{Check: "rights", Found: user + " may write", Err: fail("ask for rights", err)}
	if copied {
		out.Found += ", and the server takes no writes: it is a copy of another, or set to be read only"
	}
	missing := func(format string, args ...any) {
		out.Found, out.Err = user, fmt.Errorf("%w: "+format, append([]any{sheaf.ErrInvalid}, args...)...)
	}
	reading, writing := grants(place, user)
	switch {
	case err != nil:
	case !there && !makeSchema:
		missing("run GRANT CREATE ON DATABASE %s TO %s, or make the schema %s for it", database, user, place)
	case there && tables == 0 && !(use && makeTables):
		missing("run GRANT USAGE, CREATE ON SCHEMA %s TO %s", place, user)
	case there && (!use || len(unread) > 0):
		missing("the user may not read the tables: to search run %s; to index also run %s", reading, writing)
	case len(unwritten) > 0:
		missing("the user may search, and may not write %s: to index run %s", strings.Join(unwritten, ", "), writing)
	}
	return out
}

// grants returns SQL statements for a user who does not own the tables. The statements in reading let the user search.
// To index, the user also needs the statements in writing.
func grants(schema, user string) (reading, writing string) {
	reading = fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s; GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s TO %[2]s", schema,
		user)
	writing = fmt.Sprintf("GRANT INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA %s TO %s; GRANT UPDATE ON ALL "+
		"SEQUENCES IN SCHEMA %[1]s TO %[2]s", schema, user)
	return reading, writing
}

// examineSchema checks the schema. It opens a second connection with the settings that all other commands use, because
// some proxies refuse these settings.
func (s *Store) examineSchema(ctx context.Context) store.Finding {
	out := store.Finding{Check: "schema " + s.o.Schema, Found: "not made yet"}
	config, err := s.o.connection()
	var conn *pgx.Conn
	if err == nil {
		conn, err = pgx.ConnectConfig(ctx, config.ConnConfig)
	}
	made := false
	if err == nil {
		defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was changed
		if err = config.AfterConnect(ctx, conn); err == nil {
			made, err = s.verify(ctx, conn)
		}
	}
	if err != nil {
		out.Found, out.Err = "", fail("look at the schema", err)
		return out
	}
	if made {
		var chunks, vectors int
		err := conn.QueryRow(ctx, "SELECT chunks, vectors FROM total").Scan(&chunks, &vectors)
		out.Found, out.Err = fmt.Sprintf("%d chunks, %d vectors, analyzer and models as configured", chunks, vectors),
			fail("count chunks", err)
	}
	return out
}
