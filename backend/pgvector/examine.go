package pgvector

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"sheaf"
	"sheaf/backend"
)

// minServer is the oldest version of PostgreSQL that has what the statements use
// (FETCH FIRST WITH TIES, presorted aggregates are only faster).
const minServer = 130_000

// Examine looks at a server and the schema in it, and changes nothing: it goes on
// after a fault as far as it can.
func Examine(ctx context.Context, o Options) []backend.Finding {
	if err := o.prepare(); err != nil {
		return []backend.Finding{{Check: "settings", Err: err}}
	}
	ctx, stop := context.WithTimeout(ctx, o.Timeout)
	defer stop()
	began := time.Now()
	conn, err := connect(ctx, o.URL)
	if err != nil {
		return []backend.Finding{{Check: "connection", Err: fail("connect", err)}}
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing was changed
	out := []backend.Finding{{Check: "connection", Found: fmt.Sprintf("in %v", time.Since(began).Round(time.Millisecond))}}
	out = append(out, examineServer(ctx, conn)...)
	out = append(out, examineRights(ctx, conn, o.Schema))
	if o.RowSecurity {
		out = append(out, examineWall(ctx, conn))
	}
	return append(out, (&Store{o: o}).examineSchema(ctx))
}

func examineServer(ctx context.Context, conn *pgx.Conn) []backend.Finding {
	var version string
	var number int
	var now time.Time
	var installed, available, closed *string
	before := time.Now()
	err := conn.QueryRow(ctx, `SELECT current_setting('server_version'), current_setting('server_version_num')::int, clock_timestamp(), `+askExtension).Scan(&version, &number, &now, &installed, &available, &closed)
	if err != nil {
		return []backend.Finding{{Check: "version", Err: fail("ask for the version", err)}}
	}
	server := backend.Finding{Check: "version", Found: "PostgreSQL " + version}
	if number < minServer {
		server.Err = fmt.Errorf("%w: PostgreSQL 13 or newer is needed", sheaf.ErrUnsupported)
	}
	vector := backend.Finding{Check: "extension"}
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
		vector.Err = fmt.Errorf("%w: the server has no extension vector: install pgvector 0.8 or newer on it", sheaf.ErrUnsupported)
	}
	skew := now.Sub(before.Add(time.Since(before) / 2)).Abs()
	clock := backend.Finding{Check: "clock", Found: fmt.Sprintf("differs by %v", skew.Round(time.Millisecond))}
	if skew > backend.MaxSkew {
		clock.Err = fmt.Errorf("%w: more than %v: set the clocks of both machines from the network", sheaf.ErrInvalid, backend.MaxSkew)
	}
	return []backend.Finding{server, vector, clock}
}

// examineInstall installs the extension and undoes that, since who may do so differs
// between servers.
func examineInstall(ctx context.Context, conn *pgx.Conn, version string) (string, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", fail("begin", err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // the server does so when we leave
	if _, err := tx.Exec(ctx, createExtension); err != nil {
		return "", notInstalled(err)
	}
	return "vector " + version + " can be installed here", nil
}

// rightsOf are the names of what is in a schema that the user may not read and write.
const rightsOf = `SELECT coalesce(array_agg(relname::text ORDER BY relname), '{}') FROM pg_class WHERE relnamespace = to_regnamespace($1) AND CASE relkind
	WHEN 'r' THEN NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
	WHEN 'S' THEN NOT (has_sequence_privilege(oid, 'SELECT') AND has_sequence_privilege(oid, 'UPDATE')) ELSE false END`

func examineRights(ctx context.Context, conn *pgx.Conn, schema string) backend.Finding {
	var there, create, use, copied bool
	var user, database, place string // as statements name them
	err := conn.QueryRow(ctx, `SELECT quote_ident(current_user), quote_ident(current_database()), quote_ident($1), to_regnamespace($1) IS NOT NULL, has_database_privilege(current_database(), 'CREATE'),
		coalesce(has_schema_privilege(to_regnamespace($1), 'CREATE') AND has_schema_privilege(to_regnamespace($1), 'USAGE'), false),
		current_setting('transaction_read_only') = 'on'`, schema).Scan(&user, &database, &place, &there, &create, &use, &copied)
	var closed []string
	if err == nil {
		err = conn.QueryRow(ctx, rightsOf, schema).Scan(&closed)
	}
	out := backend.Finding{Check: "rights", Found: user + " may write", Err: fail("ask for rights", err)}
	if copied {
		out.Found += ", and the server takes no writes: it is a copy of another, or set to be read only"
	}
	switch {
	case err != nil:
	case there && !use:
		out.Found, out.Err = user, fmt.Errorf("%w: run GRANT USAGE, CREATE ON SCHEMA %s TO %s; %s", sheaf.ErrInvalid, place, user, grantAll(place, user))
	case !there && !create:
		out.Found, out.Err = user, fmt.Errorf("%w: run GRANT CREATE ON DATABASE %s TO %s, or make the schema %s for it", sheaf.ErrInvalid, database, user, place)
	case len(closed) > 0:
		out.Found, out.Err = user, fmt.Errorf("%w: the user may not read and write %s: run %s", sheaf.ErrInvalid, strings.Join(closed, ", "), grantAll(place, user))
	}
	return out
}

// grantAll are statements that give a user what a store does with the tables of a schema
// that another made.
func grantAll(schema, user string) string {
	return fmt.Sprintf("GRANT ALL ON ALL TABLES IN SCHEMA %s TO %s; GRANT ALL ON ALL SEQUENCES IN SCHEMA %[1]s TO %[2]s", schema, user)
}

// examineSchema connects again, with the settings that every other command sends, which
// not everything that lets somebody in takes.
func (s *Store) examineSchema(ctx context.Context) backend.Finding {
	out := backend.Finding{Check: "schema " + s.o.Schema, Found: "not made yet"}
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
		out.Found, out.Err = fmt.Sprintf("%d chunks, %d vectors, analyzer and models as configured", chunks, vectors), fail("count chunks", err)
	}
	return out
}
