package postgres

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"sheaf"
	"sheaf/store"
)

// With Options.RowSecurity, the server itself hides the documents that the viewer may not see, in every query. Two
// settings of the session describe the viewer. A connection without these settings sees no document. The names are in
// hexadecimal, so that a list of names needs no quotes.
const (
	tenantSetting = "sheaf.tenant" // "*", or "=" and the name; "=" alone means no tenant
	accessSetting = "sheaf.access" // "*", or "=" and names between commas
)

// wallTable creates the table with the tenants and the access list of each chunk. Its policy compares them with the
// settings of the session. The policies of the other tables read this table.
const wallTable = `CREATE TABLE wall (chunk bigint PRIMARY KEY, tenants text[] NOT NULL, access text[] NOT NULL);
ALTER TABLE wall ENABLE ROW LEVEL SECURITY;
ALTER TABLE wall FORCE ROW LEVEL SECURITY;
CREATE POLICY wall_read ON wall FOR SELECT USING (
	(current_setting('sheaf.tenant', true) = '*'
		OR current_setting('sheaf.tenant', true) = '=' AND tenants = '{}'
		OR length(current_setting('sheaf.tenant', true)) > 1
			AND substr(current_setting('sheaf.tenant', true), 2) = ANY (tenants))
	AND (current_setting('sheaf.access', true) = '*'
		OR left(current_setting('sheaf.access', true), 1) = '='
			AND access && string_to_array(substr(current_setting('sheaf.access', true), 2), ',')));
CREATE POLICY wall_write ON wall FOR ALL USING (
	current_setting('sheaf.tenant', true) = '*' AND current_setting('sheaf.access', true) = '*');
`

// walled returns the statements that protect a table by row-level security. column is the column of chunk numbers.
func walled(table, column string) string {
	return fmt.Sprintf(`ALTER TABLE %s ENABLE ROW LEVEL SECURITY;
ALTER TABLE %[1]s FORCE ROW LEVEL SECURITY;
CREATE POLICY %[1]s_read ON %[1]s FOR SELECT USING (%[2]s IN (SELECT chunk FROM wall));
CREATE POLICY %[1]s_write ON %[1]s FOR ALL USING (
	current_setting('%[3]s', true) = '*' AND current_setting('%[4]s', true) = '*');
`, table, column, tenantSetting, accessSetting)
}

// wallStatements returns the statements for row-level security on the tables of a schema.
func wallStatements() string {
	return wallTable + walled("chunk", "ord") + walled("posting", "chunk") + walled("property", "chunk")
}

// executor runs SQL statements: a connection, a pool or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// show sets the viewer of a session. Every use of a connection calls show first, as connections keep settings.
func (s *Store) show(ctx context.Context, conn executor) error {
	if !s.o.RowSecurity {
		return nil
	}
	v := store.ViewerOf(ctx)
	tenant, access := "*", "*"
	if !v.AnyTenant {
		tenant = "=" + hex.EncodeToString([]byte(v.Tenant))
	}
	if !v.AnyAccess {
		names := []string{}
		for _, name := range append([]string{sheaf.AccessPublic}, v.Access...) {
			names = append(names, hex.EncodeToString([]byte(name)))
		}
		access = "=" + strings.Join(names, ",")
	}
	_, err := conn.Exec(ctx, "SELECT set_config($1, $2, false), set_config($3, $4, false)", tenantSetting, tenant,
		accessSetting, access)
	return err
}

// wallNames returns the texts in a column of a chunk, in hexadecimal, as in the table wall.
func wallNames(c *store.Chunk, column string) []string {
	list := []string{}
	for _, v := range c.Values(column) {
		if v.Kind == sheaf.KindText {
			list = append(list, hex.EncodeToString([]byte(v.Text)))
		}
	}
	return list
}

// examineWall checks whether row-level security applies to this user.
func examineWall(ctx context.Context, conn *pgx.Conn) store.Finding {
	out := store.Finding{Check: "row security"}
	var user string
	var bypass bool
	err := conn.QueryRow(ctx,
		"SELECT current_user, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user").Scan(&user, &bypass)
	switch {
	case err != nil:
		out.Err = fail("ask for the rights of the user", err)
	case bypass:
		out.Err = fmt.Errorf("%w: the user %s bypasses it: connect as a user without SUPERUSER and BYPASSRLS",
			sheaf.ErrInvalid, user)
	default:
		out.Found = "holds for the user " + user
	}
	return out
}
