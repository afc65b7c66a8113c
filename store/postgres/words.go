package postgres

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// A part of a word query is a relation (chunk, f, n, term, s). The chunk matches, and part n of the query adds s to
// its score in field f of the request. term is the term that scores. A matching chunk has at least one row, perhaps a
// row that adds 0.

// words builds the SQL statement for a request by words. Its methods return conditions or names of relations.
type words struct {
	statement
	req        *store.TextRequest
	plan       storekit.Plan
	expansions map[string][]storekit.Grown // by the key of an Expand
	n          int                         // parts so far
	count      bool                        // whether to leave out scores
	// allowedChunks is the relation of the chunks that pass Filter and Within; "" means all chunks. allowedWithin says
	// that the request has a list Within.
	allowedChunks string
	allowedWithin bool
	// countedChunks is the relation of the chunks over which statistics are computed; "" means all. countedWithin says
	// that the list Within restricts these chunks.
	countedChunks string
	countedWithin bool
}

// allowedRelation makes the relation of the chunks that pass Filter and Within. It is "" if the request has neither.
func (s *statement) allowedRelation(req *store.Request) string {
	var conditions []string
	if req.Filter != nil {
		conditions = append(conditions, s.filter(req.Filter))
	}
	if req.Within != nil {
		conditions = append(conditions, "sha256(c.id) = ANY("+s.arg(hashes(req.Within), "bytea[]")+")")
	}
	if len(conditions) == 0 {
		return ""
	}
	return s.withTable("allowed", "SELECT c.ord, c.lens FROM chunk c WHERE "+strings.Join(conditions, " AND "))
}

// grow returns the terms of the dictionary that e accepts. If e allows edits, grow reads only terms of about the right
// length that contain a piece of the word. There are 2*Distance+1 pieces, and the edits change at most 2*Distance
// pieces: a swap of neighbors may change two. So at least one piece stays.
func grow(ctx context.Context, conn *pgxpool.Conn, e storekit.Expand) ([]storekit.Grown, error) {
	sql, args := "", []any{}
	if e.Distance == 0 {
		sql = "SELECT text FROM term WHERE text >= $1 AND starts_with(text, $1)"
		args = append(args, e.Text)
		if end := prefixEnd([]byte(e.Text)); end != nil && storable(string(end)) {
			sql += " AND text < $2"
			args = append(args, string(end))
		}
		if e.Forms {
			marked := storekit.FormMark + e.Text
			args = append(args, marked, storekit.FormMark+"\U0010ffff")
			sql += fmt.Sprintf(" UNION ALL SELECT text FROM term WHERE text >= $%d AND text <= $%d AND "+
				"starts_with(text, $%d)", len(args)-1, len(args), len(args)-1)
		}
	} else {
		letters := []rune(e.Text)
		n := 2*e.Distance + 1
		sql = "SELECT text FROM term WHERE char_length(text) BETWEEN $1 AND $2"
		args = append(args, len(letters)-e.Distance, len(letters)+e.Distance+1) // a form's mark counts too
		if len(letters) >= n {
			sql += " AND (false"
			for i := range n {
				args = append(args, string(letters[i*len(letters)/n:(i+1)*len(letters)/n]))
				sql += fmt.Sprintf(" OR strpos(text, $%d) > 0", len(args))
			}
			sql += ")"
		}
	}
	rows, _ := conn.Query(ctx, sql, args...)
	var out []storekit.Grown
	var text string
	_, err := pgx.ForEachRow(rows, []any{&text}, func() error {
		if weight := e.Weight(text); weight > 0 {
			out = append(out, storekit.Grown{Term: text, Weight: weight})
		}
		return nil
	})
	return out, err
}

// node adds the relation of the part n of a query, and returns the relation's name.
func (w *words) node(n storekit.Node) string {
	switch n := n.(type) {
	case storekit.Term, storekit.Expand:
		return w.leaf([]storekit.Node{n}, "")
	case storekit.Phrase:
		return w.phrase(n)
	case storekit.Bool:
		if len(n.Must)+len(n.MustNot) == 0 && !n.All && simple(n.Should) {
			return w.leaf(n.Should, "")
		}
		return w.bool(n)
	}
	return w.nothing()
}

// simple reports whether all parts are terms or expansions over the same fields. One scan then finds all of them.
func simple(parts []storekit.Node) bool {
	var fields []int
	for i, p := range parts {
		var own []int
		switch p := p.(type) {
		case storekit.Term:
			own = p.Fields
		case storekit.Expand:
			own = p.Fields
		default:
			return false
		}
		if i > 0 && !slices.Equal(fields, own) {
			return false
		}
		fields = own
	}
	return true
}

func (w *words) nothing() string {
	return w.withTable("q", "SELECT 0::bigint AS chunk, 0 AS f, 0 AS n, 0 AS term, 0::float8 AS s WHERE false")
}

// lookup has the arrays that the statement needs to look up the terms of some parts. Index i of each array is for one
// term in one field. field and f are the name and the number of this field. n is the number of the part with the term.
// With BM25F, a term has one index for all fields, and field and f are empty.
type lookup struct {
	term, field []string
	f, n        []int32
	factor      []float64
	several     bool // some n has several terms; the best counts
}

func (w *words) add(l *lookup, fields []int, factor float64, terms ...storekit.Grown) {
	w.n++
	l.several = l.several || len(terms) > 1
	for _, t := range terms {
		if w.req.Combine == store.CombineBM25F {
			l.term, l.n, l.factor = append(l.term, t.Term), append(l.n, int32(w.n)), append(l.factor, factor*t.Weight)
			continue
		}
		for _, f := range fields {
			l.term, l.field = append(l.term, t.Term), append(l.field, w.plan.Fields[f].Name)
			l.f, l.n = append(l.f, int32(f)), append(l.n, int32(w.n))
			l.factor = append(l.factor, factor*t.Weight*w.plan.Fields[f].Weight)
		}
	}
}

// leaf adds the relation of the chunks that match at least one of the parts, which are terms and expansions. among is
// one more condition on the posting p, or "".
func (w *words) leaf(parts []storekit.Node, among string) string {
	var l lookup
	var fields []int
	for _, p := range parts {
		switch p := p.(type) {
		case storekit.Term:
			fields = p.Fields
			w.add(&l, p.Fields, p.Factor, storekit.Grown{Term: p.Text, Weight: 1})
		case storekit.Expand:
			fields = p.Fields
			w.add(&l, p.Fields, p.Factor, w.expansions[p.Key()]...)
		}
	}
	if len(l.term) == 0 {
		return w.nothing()
	}
	where := w.among() + among
	sql := ""
	if w.req.Combine == store.CombineBM25F {
		sql = w.virtual(l, fields, where)
	} else {
		sql = w.fieldScores(l, where)
	}
	if l.several && !w.count {
		sql = "SELECT DISTINCT ON (chunk, f, n) chunk, f, n, term, s FROM (" + sql + ") x ORDER BY chunk, f, n, s DESC, term"
	}
	return w.withTable("q", sql)
}

// ifCounted returns the condition that a chunk counts in document frequencies, or "" if all chunks count.
func (w *words) ifCounted() string {
	if w.countedChunks == "" {
		return ""
	}
	return " AND " + in(w.countedChunks, w.countedWithin)
}

// ifAllowed returns the condition that a posting's chunk passes Filter and Within. The server underestimates how many
// chunks pass a filter, and would read all postings of each of these chunks. So the condition has IS TRUE, which forces
// a hash table. If the request names the chunks, the server's estimate is right, and the condition lacks IS TRUE.
func (w *words) ifAllowed() string { return in(w.allowedChunks, w.allowedWithin) }

func in(relation string, named bool) string {
	let := "p.chunk IN (SELECT ord FROM " + relation + ")"
	if named {
		return let
	}
	return "(" + let + ") IS TRUE"
}

const idf = "ln(1 + (%s - d.df + 0.5) / (d.df + 0.5))"

// fieldScores returns the query that scores every term in each field separately.
func (w *words) fieldScores(l lookup, where string) string {
	list := fmt.Sprintf("unnest(%s, %s, %s, %s, %s) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text",
		w.arg(l.term, "text[]"), w.arg(l.field, "text[]"), w.arg(l.f, "int[]"), w.arg(l.n, "int[]"),
		w.arg(l.factor, "float8[]"))
	if w.count {
		look := w.withOnce("look", "SELECT t.id AS term, f.id AS field, l.f, l.n FROM "+list+
			" JOIN field f ON f.name = l.name")
		return fmt.Sprintf(`SELECT p.chunk, l.f, l.n, l.term, 0::float8 AS s
	FROM %s l JOIN posting p ON p.term = l.term AND p.field = l.field%s`, look, where)
	}
	look := w.withOnce("look", fmt.Sprintf(`SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * `+idf+` AS factor,
		st.average
	FROM %s JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id%s) d`,
		"st.chunks", list, w.ifCounted()))
	return fmt.Sprintf(`SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + %s * (1 - %s + %s * p.len / l.average))) AS s
	FROM %s l JOIN posting p ON p.term = l.term AND p.field = l.field%s`,
		w.arg(w.req.K1, "float8"), w.arg(w.req.B, "float8"), w.arg(w.req.B, "float8"), look, where)
}

// virtual returns the query that scores every term in one virtual field. The virtual field combines those in fields.
func (w *words) virtual(l lookup, fields []int, where string) string {
	var names []string
	var weights []float64
	length, average := "0", "0"
	for _, f := range fields {
		field := w.plan.Fields[f]
		names, weights = append(names, field.Name), append(weights, field.Weight)
		weight, name := w.arg(field.Weight, "float8"), w.arg(field.Name, "text")
		length += fmt.Sprintf(" + %s * coalesce(c.lens[(SELECT id FROM field WHERE name = %s)], 0)", weight, name)
		average += fmt.Sprintf(" + %s * coalesce((SELECT tokens FROM stats WHERE name = %s), 0)", weight, name)
	}
	weighted := w.withOnce("weighted", fmt.Sprintf(
		"SELECT f.id AS field, w.weight FROM unnest(%s, %s) AS w(name, weight) JOIN field f ON f.name = w.name",
		w.arg(names, "text[]"), w.arg(weights, "float8[]")))
	all := w.withTable("every", "SELECT chunks::float8 AS chunks, CASE WHEN chunks = 0 OR "+average+" = 0 THEN 1 ELSE ("+
		average+") / chunks END AS average FROM counted")
	look := w.withOnce("look", fmt.Sprintf(`SELECT t.id AS term, l.n, l.factor * `+idf+` AS factor, e.average
	FROM unnest(%s, %s, %s) AS l(text, n, factor) JOIN term t ON t.text = l.text CROSS JOIN %s e
	CROSS JOIN LATERAL (SELECT count(DISTINCT p.chunk)::float8 AS df
		FROM posting p WHERE p.term = t.id AND p.field = ANY(ARRAY(SELECT field FROM %s))%s) d`,
		"e.chunks", w.arg(l.term, "text[]"), w.arg(l.n, "int[]"), w.arg(l.factor, "float8[]"), all, weighted, w.ifCounted()))
	return fmt.Sprintf(`SELECT x.chunk, 0 AS f, x.n, x.term,
	x.factor * (x.frequency / (x.frequency + %s * (1 - %s + %s * (%s) / x.average))) AS s
	FROM (SELECT p.chunk, l.n, l.term, l.factor, l.average, sum(w.weight * p.tf) AS frequency
		FROM %s l JOIN posting p ON p.term = l.term JOIN %s w ON w.field = p.field%s
		GROUP BY p.chunk, l.n, l.term, l.factor, l.average) x JOIN chunk c ON c.ord = x.chunk`,
		w.arg(w.req.K1, "float8"), w.arg(w.req.B, "float8"), w.arg(w.req.B, "float8"), length, look, weighted, where)
}

// phrase makes the relation of a phrase. It finds the fields that contain the phrase, then scores the terms in these
// fields. The start of a token is its position in the field minus its position in the phrase. Without slop all tokens
// have the same start, so the first token gives all possible starts.
func (w *words) phrase(p storekit.Phrase) string {
	var texts, names []string
	var at []int32
	var parts []storekit.Node
	for _, t := range p.Tokens {
		texts, at = append(texts, t.Text), append(at, int32(t.Position))
	}
	for _, term := range p.Terms() {
		parts = append(parts, term)
	}
	for _, f := range p.Fields {
		names = append(names, w.plan.Fields[f].Name)
	}
	tokens := w.withOnce("tokens", fmt.Sprintf(
		"SELECT t.id AS term, l.at, l.n FROM unnest(%s, %s) WITH ORDINALITY AS l(text, at, n) JOIN term t ON t.text = l.text",
		w.arg(texts, "text[]"), w.arg(at, "int[]")))
	all := w.withTable("all", fmt.Sprintf(`SELECT p.chunk, p.field
	FROM posting p WHERE p.term = ANY(ARRAY(SELECT term FROM %s))
	AND p.field = ANY(ARRAY(SELECT id FROM field WHERE name = ANY(%s)))%s
	GROUP BY p.chunk, p.field HAVING count(*) = %s`, tokens, w.arg(names, "text[]"), w.among(), w.arg(len(parts), "int")))
	first, there := "b.n = 1 AND ", "low + t.at = ANY(p.pos)"
	if p.Slop > 0 {
		first = ""
		there = fmt.Sprintf("EXISTS (SELECT 1 FROM unnest(p.pos) o WHERE o - t.at - low BETWEEN 0 AND %s)",
			w.arg(p.Slop, "int"))
	}
	held := w.withTable("held", fmt.Sprintf(`SELECT a.chunk, a.field FROM %s a
	WHERE EXISTS (SELECT 1 FROM (SELECT o - b.at AS low FROM %s b JOIN posting p ON %sp.term = b.term AND p.chunk = a.chunk
		AND p.field = a.field CROSS JOIN LATERAL unnest(p.pos) o) starts WHERE NOT EXISTS (
	SELECT 1 FROM %s t WHERE NOT EXISTS (SELECT 1 FROM posting p
	WHERE p.term = t.term AND p.chunk = a.chunk AND p.field = a.field AND %s)))`, all, tokens, first, tokens, there))
	// IS TRUE forces a hash table: see ifAllowed.
	if w.req.Combine == store.CombineBM25F {
		return w.leaf(parts, " AND (p.chunk IN (SELECT chunk FROM "+held+")) IS TRUE")
	}
	return w.leaf(parts, " AND ((p.chunk, p.field) IN (SELECT chunk, field FROM "+held+")) IS TRUE")
}

func (w *words) among() string {
	if w.allowedChunks == "" {
		return ""
	}
	return " AND " + w.ifAllowed()
}

func (w *words) bool(q storekit.Bool) string {
	if q.All {
		from := "SELECT ord FROM chunk"
		if w.allowedChunks != "" {
			from = "SELECT ord FROM " + w.allowedChunks
		}
		all := w.withTable("q", "SELECT ord AS chunk, 0 AS f, 0 AS n, 0 AS term, 0::float8 AS s FROM ("+from+") a")
		return w.restrict(all, q.MustNot, nil)
	}
	var names, must []string
	for _, part := range q.Must {
		name := w.node(part)
		names, must = append(names, name), append(must, name)
	}
	for _, part := range q.Should {
		names = append(names, w.node(part))
	}
	if len(names) == 0 {
		return w.nothing()
	}
	for i, name := range names {
		names[i] = "SELECT chunk, f, n, term, s FROM " + name
	}
	return w.restrict("("+strings.Join(names, " UNION ALL ")+")", q.MustNot, must)
}

// restrict adds a relation and returns its name. The relation has the rows of another relation, from, whose chunks meet
// two conditions. The chunk is in every relation of the list must, and matches no part of the list not.
func (w *words) restrict(from string, not []storekit.Node, must []string) string {
	var conditions []string
	for _, name := range must {
		conditions = append(conditions, "chunk IN (SELECT chunk FROM "+name+")")
	}
	for _, part := range not {
		conditions = append(conditions, "chunk NOT IN (SELECT chunk FROM "+w.node(part)+")")
	}
	sql := "SELECT chunk, f, n, term, s FROM " + from + " x"
	if len(conditions) > 0 {
		sql += " WHERE " + strings.Join(conditions, " AND ")
	}
	return w.withTable("q", sql)
}

// statistics adds two relations: stats has the statistics of each field, and counted the number of counted chunks.
func (w *words) statistics() {
	if w.count {
		return
	}
	if w.countedChunks != "" {
		w.parts = append(w.parts,
			"counted AS (SELECT count(*) AS chunks FROM "+w.countedChunks+")",
			`counts AS (SELECT f.id, f.name, count(*) FILTER (WHERE a.lens[f.id] > 0) AS chunks,
		coalesce(sum(a.lens[f.id]), 0) AS tokens
	FROM field f CROSS JOIN `+w.countedChunks+` a GROUP BY f.id)`)
	} else {
		w.parts = append(w.parts, "counted AS (SELECT chunks FROM total)",
			"counts AS (SELECT id, name, chunks, tokens FROM field)")
	}
	w.parts = append(w.parts, `stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts)`)
}

// These are limits of one statement.
const (
	// MaxPhrase is the largest number of terms of a phrase. The time for checking their positions in SQL grows with it.
	MaxPhrase = 500
	// maxParts is the largest number of parts of a query; each is a relation.
	maxParts = 2000
)

// build adds the relations of a request by words, and returns the name of the relation for the whole query. If count is
// true, the relations have no scores.
func (s *Store) build(ctx context.Context, conn *pgxpool.Conn, req *store.Request, count bool) (*words, string, error) {
	text := *req.Text
	if count {
		text.Combine = store.CombineSum // scoring does not affect what matches
	}
	w := &words{req: &text, plan: storekit.Compile(s.o.Analyzer, &text), count: count}
	for _, f := range w.plan.Fields {
		if !storable(f.Name) {
			return nil, "", sheaf.Invalidf("request: field %q: names of fields must be UTF-8 without zero bytes", f.Name)
		}
	}
	parts, longest := 0, 0
	storekit.Walk(w.plan.Root, func(n storekit.Node) {
		switch n := n.(type) {
		case storekit.Term:
			return
		case storekit.Phrase:
			longest = max(longest, len(n.Tokens))
		}
		parts++
	})
	switch {
	case parts > maxParts:
		return nil, "", fmt.Errorf("postgres: %w: a query of %d parts: at most %d are looked for", sheaf.ErrUnsupported,
			parts, maxParts)
	case longest > MaxPhrase:
		return nil, "", fmt.Errorf("postgres: %w: a phrase of %d terms: at most %d are looked for", sheaf.ErrUnsupported,
			longest, MaxPhrase)
	}
	var err error
	w.expansions, err = w.plan.Grow(func(e storekit.Expand) ([]storekit.Grown, error) { return grow(ctx, conn, e) })
	if err != nil {
		return nil, "", err
	}
	w.allowedChunks, w.allowedWithin = w.allowedRelation(req), req.Within != nil
	switch {
	case count || !req.CountsAmong():
	case text.Statistics == store.StatisticsCorpus && (w.allowedWithin || !reflect.DeepEqual(req.Filter, text.Among)):
		w.countedChunks = w.allowedRelation(&store.Request{Filter: text.Among})
	default:
		w.countedChunks, w.countedWithin = w.allowedChunks, w.allowedWithin
	}
	w.statistics()
	return w, w.node(w.plan.Root), nil
}

// scoreRelation makes the relation (chunk, score) from the relation of the whole query. It adds scores in a fixed
// order, so that equal texts have exactly equal scores.
func (w *words) scoreRelation(root string) string {
	if w.req.Combine != store.CombineBest {
		return w.withTable("scored", "SELECT chunk, sum(s ORDER BY f, n) AS score FROM "+root+" GROUP BY chunk")
	}
	tie := w.arg(w.req.TieBreaker, "float8")
	return w.withTable("scored", fmt.Sprintf(`SELECT chunk, max(s) + %s * (sum(s ORDER BY f) - max(s)) AS score
	FROM (SELECT chunk, f, sum(s ORDER BY n) AS s FROM %s GROUP BY chunk, f) x GROUP BY chunk`, tie, root))
}

// best returns the statement for the best hits; limit is the placeholder of their number. scored is a relation (chunk,
// score, ...). columns is empty or adds columns to the result, such as ", r.passage".
func best(scored, columns string, limit string) string {
	return fmt.Sprintf(`SELECT c.id, r.score%s FROM (
		SELECT * FROM %s ORDER BY score DESC FETCH FIRST (%s) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT %s`, columns, scored, limit, limit)
}
