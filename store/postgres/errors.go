package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"sheaf"
	"sheaf/store"
)

// fail adds to err the operation (the parameter what) and, for most errors, a category of package sheaf. If err is nil,
// or has a category already, fail returns err unchanged.
func fail(what string, err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{sheaf.ErrInvalid, sheaf.ErrUnsupported, sheaf.ErrUnavailable, sheaf.ErrNotFound,
		sheaf.ErrCorrupt} {
		if errors.Is(err, known) {
			return err
		}
	}
	var server *pgconn.PgError
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("postgres: %s: %w", what, err)
	case errors.As(err, &server):
		if c := category(server.Code); c != nil {
			return fmt.Errorf("postgres: %s: %w%s: %w", what, c, remedy(server), err)
		}
		return fmt.Errorf("postgres: %s: %w", what, err)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("postgres: %s: %w", what, store.Late(err))
	}
	return fmt.Errorf("postgres: %s: %w%s: %w", what, sheaf.ErrUnavailable, unreached(err), distinctLines{err})
}

// distinctLines is an error without repeated lines. A driver that tries TLS first reports a fault of the network twice.
type distinctLines struct{ error }

func (d distinctLines) Error() string {
	return strings.Join(slices.Compact(strings.Split(d.error.Error(), "\n")), "\n")
}

func (d distinctLines) Unwrap() error { return d.error }

// unreached returns advice about a server that does not answer.
func unreached(err error) string {
	switch message := err.Error(); {
	case strings.Contains(message, "server refused TLS"):
		return " (let the server speak TLS, or add sslmode=disable to the address)"
	case strings.Contains(message, "hostname resolving error"):
		return " (no server is known by this name: look at the host in the address)"
	case strings.Contains(message, "dial error"):
		return " (does a server run there?)"
	case strings.Contains(message, "use of closed network connection"), strings.Contains(message, "connection reset"),
		strings.Contains(message, "broken pipe"), strings.Contains(message, "unexpected EOF"):
		return " (the connection ended: when the server is there again, repeat this; what was not committed is not written)"
	case strings.Contains(message, "failed to receive message"), strings.Contains(message, "unexpected message"):
		return " (is that PostgreSQL?)"
	}
	return ""
}

// category returns the category of package sheaf for an SQLSTATE code, or nil for an unknown code.
func category(code string) error {
	switch {
	case code == "53100", code == "53200", code == "53300", code == "55P03", code == "25P03", code == "25P04",
		strings.HasPrefix(code, "57"), strings.HasPrefix(code, "08"), strings.HasPrefix(code, "40"):
		return sheaf.ErrUnavailable
	case code == "42501", code == "25006":
		return store.ErrForbidden
	case code == "42P01": // a table that existed when the store was opened
		return sheaf.ErrNotFound
	case strings.HasPrefix(code, "28"), code == "3D000":
		return store.ErrKeptOut
	case code == "58P01", code == "0A000", code == "42P05", code == "26000":
		return sheaf.ErrUnsupported
	case code == "2BP01", code == "42939", strings.HasPrefix(code, "42P"), code == "42703", code == "42704",
		strings.HasPrefix(code, "22"), strings.HasPrefix(code, "54"):
		return sheaf.ErrInvalid
	case strings.HasPrefix(code, "XX001"), strings.HasPrefix(code, "XX002"):
		return sheaf.ErrCorrupt
	}
	return nil
}

// remedy returns advice about an error of the server.
func remedy(e *pgconn.PgError) string {
	switch {
	case e.Code == "28000" && strings.HasSuffix(e.Message, "no encryption"):
		return " (the server wants TLS: put sslmode=require into the address, or better sslmode=verify-full; or let " +
			"pg_hba.conf of the server allow this user without)"
	case e.Code == "28000" && strings.HasPrefix(e.Message, "no pg_hba.conf entry"):
		return " (pg_hba.conf of the server does not let this user into this database from here: add a line there, or " +
			"name another user, or another sslmode)"
	case e.Code == "28000" && strings.HasSuffix(e.Message, "client certificate"):
		return " (name a certificate that the server trusts, and its key, in store_cert_file and store_cert_key_file)"
	case strings.HasPrefix(e.Code, "28"):
		return " (check user and password: the user in the address, the password in store_key_env, store_key_file, " +
			"PGPASSWORD or the password file of PostgreSQL)"
	case e.Code == "42501" && (strings.Contains(e.Message, "for table ") || strings.Contains(e.Message, "for sequence ")):
		return " (the tables belong to another user: sheaf doctor says which rights to grant)"
	case e.Code == "42501" && strings.HasPrefix(e.Message, "must be owner of "):
		return " (only the owner of the tables may do that: name that user in the address)"
	case e.Code == "42501":
		return " (the user needs the right to create a schema in this database, or to use the one that is there)"
	case e.Code == "25006":
		return " (the server is a copy of another, or the database is set to be read only: name the one that takes writes)"
	case e.Code == "42704" && strings.HasPrefix(e.Message, "unrecognized configuration parameter"):
		return " (options of the address are schema, hnsw, rls, timeout and those of PostgreSQL, which must be 13 or newer)"
	case e.Code == "42939":
		return " (PostgreSQL keeps names that begin with pg_ for itself: name another schema)"
	case e.Code == "2BP01": // the detail names the dependent objects, one on each line
		return " (" + strings.ReplaceAll(e.Detail, "\n", "; ") + ": remove that first, or name another schema)"
	case e.Code == "42P05", e.Code == "26000":
		return " (a pooler before the server gives every transaction another connection: name the server itself in the " +
			"address, or let the pooler keep one for each session)"
	case strings.HasPrefix(e.Code, "42"):
		return " (what is there is not as this program makes it: fill it again, or name another schema)"
	case e.Code == "3D000":
		return " (make the database first, or name another one in the URL)"
	case e.Code == "53100":
		return " (the server's disk is full; nothing of this write is there, it can be repeated)"
	case e.Code == "53300":
		return " (the server has no connections left: raise max_connections or lower pool_max_conns in the URL)"
	case e.Code == "08P01":
		return " (the server, or a pooler before it, does not take what was sent: name the server itself in the address, " +
			"or let the pooler pass search_path and options on)"
	case e.Code == "57P04":
		return " (make the database again, or name another one in the URL)"
	case strings.HasPrefix(e.Code, "57P"), strings.HasPrefix(e.Code, "08"):
		return " (the server stops or starts, or ended the connection: when it is there again, repeat this; what was not " +
			"committed is not written)"
	case e.Code == "55P03":
		return " (somebody else writes there for longer than lock_timeout of the server lets anybody wait: repeat this " +
			"later, or raise it for this user)"
	case e.Code == "25P03", e.Code == "25P04":
		return " (a write took longer than idle_in_transaction_session_timeout or transaction_timeout of the server " +
			"allows: raise it for this user; what was not committed is not written)"
	case e.Code == "57014":
		return " (the statement took longer than the server or the timeout allows)"
	}
	return ""
}
