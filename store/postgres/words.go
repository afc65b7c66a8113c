package postgres

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"sheaf"
	"sheaf/store"
	"sheaf/store/storekit"
)

// A part of a word query is a relation (chunk, f, n, term, s): the chunk matches, and part n of the
// query adds s to its score in field f of the request. term is the term that scores. A matching
// chunk has at least one row, perhaps a row that adds 0.

// words builds the statement for a request by words.
type words struct {
	statement
	req   *store.TextRequest
	plan  storekit.Plan
	ids   map[string]int32   // terms in the dictionary
	grown map[string][]grown // by key of an Expand
	field map[string]int32   // ids of fields
	n     int                // parts so far
	// allowed is the relation of chunks that pass filter and bound; "" means all.
	allowed string
	// over is the relation of chunks over which statistics are counted. overNamed means that they
	// are among chunks that the request names.
	over      string
	overNamed bool
	// named means the same for allowed.
	named bool
	// buildOptions say what the statement is for.
	buildOptions
}

// buildOptions are the purpose of a word statement.
type buildOptions struct {
	// count leaves scores out.
	count bool
	// guess, if it is not nil, records unseen terms and fields instead of looking them up.
	guess *unseen
}

// grown is a term that an Expand accepts.
type grown struct {
	id     int32
	weight float64
}

func expandKey(e storekit.Expand) string {
	return fmt.Sprintf("%d %d %t %s", e.Distance, e.Same, e.Forms, e.Text)
}

// bound makes the relation of the chunks that a request allows, or returns "".
func (s *statement) bound(req *store.Request) string {
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
	return s.with("allowed", "SELECT c.ord, c.lens FROM chunk c WHERE "+strings.Join(conditions, " AND "))
}

// resolve looks up the plan's terms in the dictionary.
func (w *words) resolve(ctx context.Context, s *Store, conn *pgxpool.Conn) error {
	texts := map[string]bool{}
	var expands []storekit.Expand
	storekit.Walk(w.plan.Root, func(n storekit.Node) {
		switch n := n.(type) {
		case storekit.Term:
			texts[n.Text] = true
		case storekit.Phrase:
			for _, t := range n.Tokens {
				texts[t.Text] = true
			}
		case storekit.Expand:
			expands = append(expands, n)
		}
	})
	w.grown = map[string][]grown{}
	if w.guess == nil { // with guess, the answer contains them
		if _, err := s.findOut(ctx, conn); err != nil {
			return err
		}
	}
	var place uint32
	w.ids, place = s.known(texts)
	switch {
	case len(texts) == 0:
	case w.guess != nil:
		maps.Copy(w.guess.terms, texts)
	default:
		found := map[string]int32{}
		if err := lookUp(ctx, conn, slices.Sorted(maps.Keys(texts)), found); err != nil {
			return err
		}
		maps.Copy(w.ids, found)
		s.remember(place, found)
	}
	for _, e := range expands {
		key := expandKey(e)
		if _, ok := w.grown[key]; ok {
			continue
		}
		list, err := grow(ctx, conn, e)
		if err != nil {
			return err
		}
		w.grown[key] = list
	}
	return w.resolveFields(ctx, s, conn)
}

// resolveFields looks up the fields of the plan; it removes fields that no chunk has.
func (w *words) resolveFields(ctx context.Context, s *Store, conn *pgxpool.Conn) error {
	w.field = s.knownFields()
	if !slices.ContainsFunc(w.plan.Fields, func(f store.FieldWeight) bool { _, ok := w.field[f.Name]; return !ok }) {
		return nil
	}
	if w.guess != nil {
		if !w.guess.fields || len(w.field) < w.guess.known {
			w.guess.fields, w.guess.known = true, len(w.field)
		}
		return nil
	}
	rows, _ := conn.Query(ctx, fieldsByName)
	found, err := s.readFields(s.memory(), rows)
	w.field = found
	return err
}

const fieldsByName = "SELECT id, name FROM field"

// knownFields returns the ids of fields from the last read; the caller must not change the map.
func (s *Store) knownFields() map[string]int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fields
}

// readFields reads the ids of a place's fields and remembers them.
func (s *Store) readFields(place uint32, rows pgx.Rows) (map[string]int32, error) {
	found := map[string]int32{} // shared by requests, so never changed later
	var id int32
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { found[name] = id; return nil }); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if place == s.place {
		s.fields = found
	}
	return found, nil
}

// grow returns the terms that e accepts. For edits it reads only terms of nearly the right length
// that contain one of the word's pieces: d edits change at most 2d of 2d+1 pieces, because swapping
// neighbors changes two.
func grow(ctx context.Context, conn *pgxpool.Conn, e storekit.Expand) ([]grown, error) {
	sql, args := "", []any{}
	if e.Distance == 0 {
		sql = "SELECT id, text FROM term WHERE text >= $1 AND starts_with(text, $1)"
		args = append(args, e.Text)
		if end := after([]byte(e.Text)); end != nil && storable(string(end)) {
			sql += " AND text < $2"
			args = append(args, string(end))
		}
		if e.Forms {
			marked := storekit.FormMark + e.Text
			args = append(args, marked, storekit.FormMark+"\U0010ffff")
			sql += fmt.Sprintf(" UNION ALL SELECT id, text FROM term WHERE text >= $%d AND text <= $%d AND "+
				"starts_with(text, $%d)", len(args)-1, len(args), len(args)-1)
		}
	} else {
		letters := []rune(e.Text)
		n := 2*e.Distance + 1
		sql = "SELECT id, text FROM term WHERE char_length(text) BETWEEN $1 AND $2"
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
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []grown
	for rows.Next() {
		var id int32
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, err
		}
		if weight := e.Weight(text); weight > 0 {
			out = append(out, grown{id, weight})
		}
	}
	return out, rows.Err()
}

// node makes the relation of a part and returns its name.
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

// simple reports whether parts are terms and expansions over the same fields, so that one scan of
// the posting lists serves them all.
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
	return w.with("q", "SELECT 0::bigint AS chunk, 0 AS f, 0 AS n, 0 AS term, 0::float8 AS s WHERE false")
}

// looked has the arrays of terms for the look-up of a leaf.
type looked struct {
	term, field, f, n []int32
	factor            []float64
	several           bool // some n has several terms; the best counts
}

func (w *words) add(l *looked, fields []int, factor float64, terms ...grown) {
	w.n++
	l.several = l.several || len(terms) > 1
	for _, t := range terms {
		if w.req.Combine == store.CombineBM25F {
			l.term, l.n, l.factor = append(l.term, t.id), append(l.n, int32(w.n)), append(l.factor, factor*t.weight)
			continue
		}
		for _, f := range fields {
			id, ok := w.field[w.plan.Fields[f].Name]
			if !ok {
				continue
			}
			l.term, l.field, l.f, l.n = append(l.term, t.id), append(l.field, id), append(l.f, int32(f)), append(l.n, int32(w.n))
			l.factor = append(l.factor, factor*t.weight*w.plan.Fields[f].Weight)
		}
	}
}

// leaf makes the relation of terms and expansions; any of them may match. among, if it is not "",
// is a condition on posting p.
func (w *words) leaf(parts []storekit.Node, among string) string {
	var l looked
	var fields []int
	for _, p := range parts {
		switch p := p.(type) {
		case storekit.Term:
			fields = p.Fields
			if id, ok := w.ids[p.Text]; ok {
				w.add(&l, p.Fields, p.Factor, grown{id, 1})
			}
		case storekit.Expand:
			fields = p.Fields
			w.add(&l, p.Fields, p.Factor, w.grown[expandKey(p)]...)
		}
	}
	if len(l.term) == 0 {
		return w.nothing()
	}
	where := ""
	if w.allowed != "" {
		where = " WHERE " + w.let()
	}
	if among != "" {
		where += strings.Replace(" AND "+among, " AND", map[bool]string{true: " WHERE", false: " AND"}[where == ""], 1)
	}
	sql := ""
	if w.req.Combine == store.CombineBM25F {
		sql = w.virtual(l, fields, where)
	} else {
		sql = w.fielded(l, where)
	}
	if l.several && !w.count {
		sql = "SELECT DISTINCT ON (chunk, f, n) chunk, f, n, term, s FROM (" + sql + ") x ORDER BY chunk, f, n, s DESC, term"
	}
	return w.with("q", sql)
}

// counted restricts the document frequency of a term to the chunks of the statistics.
func (w *words) counted() string {
	if w.over == "" {
		return ""
	}
	return " AND " + in(w.over, w.overNamed)
}

// let returns the condition that a posting's chunk passes filter and bound. The server expects a
// filter to pass one chunk. A join would then read every posting of each chunk, or every chunk for
// each posting. IS TRUE forces a hash table. For named chunks the server's estimate is right.
func (w *words) let() string { return in(w.allowed, w.named) }

func in(relation string, named bool) string {
	let := "p.chunk IN (SELECT ord FROM " + relation + ")"
	if named {
		return let
	}
	return "(" + let + ") IS TRUE"
}

const idf = "ln(1 + (%s - d.df + 0.5) / (d.df + 0.5))"

// fielded scores every term in every field separately.
func (w *words) fielded(l looked, where string) string {
	if w.count {
		return fmt.Sprintf(`SELECT p.chunk, l.f, l.n, l.term, 0::float8 AS s
	FROM unnest(%s, %s, %s, %s) AS l(term, field, f, n)
	JOIN posting p ON p.term = l.term AND p.field = l.field%s`,
			w.arg(l.term, "int[]"), w.arg(l.field, "int[]"), w.arg(l.f, "int[]"), w.arg(l.n, "int[]"), where)
	}
	look := w.once("look", fmt.Sprintf(`SELECT l.term, l.field, l.f, l.n, l.factor * `+idf+` AS factor, st.average
	FROM unnest(%s, %s, %s, %s, %s) AS l(term, field, f, n, factor) JOIN stats st ON st.id = l.field
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = l.term AND p.field = l.field%s) d`,
		"st.chunks", w.arg(l.term, "int[]"), w.arg(l.field, "int[]"), w.arg(l.f, "int[]"), w.arg(l.n, "int[]"),
		w.arg(l.factor, "float8[]"), w.counted()))
	return fmt.Sprintf(`SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + %s * (1 - %s + %s * p.len / l.average))) AS s
	FROM %s l JOIN posting p ON p.term = l.term AND p.field = l.field%s`,
		w.arg(w.req.K1, "float8"), w.arg(w.req.B, "float8"), w.arg(w.req.B, "float8"), look, where)
}

// virtual scores every term in one virtual field that combines all of fields.
func (w *words) virtual(l looked, fields []int, where string) string {
	var ids []int32
	var weights []float64
	length, average := "0", "0"
	for _, f := range fields {
		id, ok := w.field[w.plan.Fields[f].Name]
		if !ok {
			continue
		}
		ids, weights = append(ids, id), append(weights, w.plan.Fields[f].Weight)
		weight := w.arg(w.plan.Fields[f].Weight, "float8")
		length += fmt.Sprintf(" + %s * coalesce(c.lens[%d], 0)", weight, id)
		average += fmt.Sprintf(" + %s * coalesce((SELECT tokens FROM stats WHERE id = %d), 0)", weight, id)
	}
	if len(ids) == 0 {
		return "SELECT 0::bigint AS chunk, 0 AS f, 0 AS n, 0 AS term, 0::float8 AS s WHERE false"
	}
	list := w.arg(ids, "int[]")
	all := w.with("every", "SELECT chunks::float8 AS chunks, CASE WHEN chunks = 0 OR "+average+" = 0 THEN 1 ELSE ("+
		average+") / chunks END AS average FROM counted")
	look := w.once("look", fmt.Sprintf(`SELECT l.term, l.n, l.factor * `+idf+` AS factor, e.average
	FROM unnest(%s, %s, %s) AS l(term, n, factor) CROSS JOIN %s e
	CROSS JOIN LATERAL (SELECT count(DISTINCT p.chunk)::float8 AS df
		FROM posting p WHERE p.term = l.term AND p.field = ANY(%s)%s) d`,
		"e.chunks", w.arg(l.term, "int[]"), w.arg(l.n, "int[]"), w.arg(l.factor, "float8[]"), all, list, w.counted()))
	return fmt.Sprintf(`SELECT x.chunk, 0 AS f, x.n, x.term,
	x.factor * (x.frequency / (x.frequency + %s * (1 - %s + %s * (%s) / x.average))) AS s
	FROM (SELECT p.chunk, l.n, l.term, l.factor, l.average, sum(w.weight * p.tf) AS frequency
		FROM %s l JOIN posting p ON p.term = l.term JOIN unnest(%s, %s) AS w(field, weight) ON w.field = p.field%s
		GROUP BY p.chunk, l.n, l.term, l.factor, l.average) x JOIN chunk c ON c.ord = x.chunk`,
		w.arg(w.req.K1, "float8"), w.arg(w.req.B, "float8"), w.arg(w.req.B, "float8"), length, look, list,
		w.arg(weights, "float8[]"), where)
}

// phrase makes the relation of a phrase: first the fields that contain it, then their terms.
func (w *words) phrase(p storekit.Phrase) string {
	terms, at := make([]int32, len(p.Tokens)), make([]int32, len(p.Tokens))
	var parts []storekit.Node
	where := map[string]int{}
	for i, t := range p.Tokens {
		id, ok := w.ids[t.Text]
		if !ok {
			return w.nothing()
		}
		terms[i], at[i] = id, int32(t.Position)
		if j, ok := where[t.Text]; ok {
			term := parts[j].(storekit.Term)
			term.Factor += p.Factor
			parts[j] = term
			continue
		}
		where[t.Text] = len(parts)
		parts = append(parts, storekit.Term{Text: t.Text, Fields: p.Fields, Factor: p.Factor})
	}
	var fields []int32
	for _, f := range p.Fields {
		if id, ok := w.field[w.plan.Fields[f].Name]; ok {
			fields = append(fields, id)
		}
	}
	held := w.holding(terms, at, fields, p.Slop, len(parts))
	if w.req.Combine == store.CombineBM25F {
		return w.leaf(parts, "p.chunk IN (SELECT chunk FROM "+held+")")
	}
	return w.leaf(parts, "(p.chunk, p.field) IN (SELECT chunk, field FROM "+held+")")
}

// holding makes the relation (chunk, field) of the fields that contain the tokens of a phrase;
// different is the number of distinct tokens. It first finds the fields with all tokens anywhere,
// then those with the tokens in order. A start is the position of a token less the token's own
// position; without slop the first token gives all starts.
func (w *words) holding(terms, at, fields []int32, slop, different int) string {
	all := w.with("all", fmt.Sprintf(`SELECT p.chunk, p.field 
	FROM posting p WHERE p.term = ANY(%s) AND p.field = ANY(%s)%s
	GROUP BY p.chunk, p.field HAVING count(*) = %s`,
		w.arg(terms, "int[]"), w.arg(fields, "int[]"), w.among(), w.arg(different, "int")))
	tokens := fmt.Sprintf("unnest(%s, %s)", w.arg(terms, "int[]"), w.arg(at, "int[]"))
	first := len(terms)
	if slop == 0 {
		first = 1
	}
	begin := fmt.Sprintf(`SELECT o - b.at AS low FROM unnest(%s, %s) b(term, at) JOIN posting p ON p.term = b.term AND `+
		`p.chunk = a.chunk AND p.field = a.field CROSS JOIN LATERAL unnest(p.pos) o`,
		w.arg(terms[:first], "int[]"), w.arg(at[:first], "int[]"))
	there := "low + t.at = ANY(p.pos)"
	if slop > 0 {
		there = fmt.Sprintf("EXISTS (SELECT 1 FROM unnest(p.pos) o WHERE o - t.at - low BETWEEN 0 AND %s)",
			w.arg(slop, "int"))
	}
	return w.with("held", fmt.Sprintf(`SELECT a.chunk, a.field FROM %s a
	WHERE EXISTS (SELECT 1 FROM (%s) starts WHERE NOT EXISTS (
	SELECT 1 FROM %s t(term, at) WHERE NOT EXISTS (SELECT 1 FROM posting p
	WHERE p.term = t.term AND p.chunk = a.chunk AND p.field = a.field AND %s)))`,
		all, begin, tokens, there))
}

func (w *words) among() string {
	if w.allowed == "" {
		return ""
	}
	return " AND " + w.let()
}

func (w *words) bool(q storekit.Bool) string {
	if q.All {
		from := "SELECT ord FROM chunk"
		if w.allowed != "" {
			from = "SELECT ord FROM " + w.allowed
		}
		all := w.with("q", "SELECT ord AS chunk, 0 AS f, 0 AS n, 0 AS term, 0::float8 AS s FROM ("+from+") a")
		return w.without(all, q.MustNot, nil)
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
	return w.without("("+strings.Join(names, " UNION ALL ")+")", q.MustNot, must)
}

// without restricts a relation to the chunks that are in every relation of must, and in none of
// not.
func (w *words) without(from string, not []storekit.Node, must []string) string {
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
	return w.with("q", sql)
}

// statistics adds the relations stats (by field) and counted (of all chunks).
func (w *words) statistics() {
	if w.count {
		return
	}
	if w.over != "" {
		w.parts = append(w.parts,
			"counted AS (SELECT count(*) AS chunks FROM "+w.over+")",
			`counts AS (SELECT f.id, count(*) FILTER (WHERE a.lens[f.id] > 0) AS chunks, coalesce(sum(a.lens[f.id]), 0) AS tokens
	FROM field f CROSS JOIN `+w.over+` a GROUP BY f.id)`)
	} else {
		w.parts = append(w.parts, "counted AS (SELECT chunks FROM total)", "counts AS (SELECT id, chunks, tokens FROM field)")
	}
	w.parts = append(w.parts, `stats AS (SELECT id, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts)`)
}

// Limits of one statement.
const (
	// MaxPhrase is the largest number of terms of a phrase. The time for checking their positions
	// in SQL grows with it.
	MaxPhrase = 500
	// maxParts is the largest number of parts of a query; each is a relation.
	maxParts = 2000
)

// build makes the relations of a request and returns the name of its root.
func (s *Store) build(ctx context.Context, conn *pgxpool.Conn, req *store.Request, o buildOptions) (*words, string,
	error) {
	text := *req.Text
	if o.count {
		text.Combine = store.CombineSum // scoring does not affect what matches
	}
	w := &words{req: &text, plan: storekit.Compile(s.o.Analyzer, &text), buildOptions: o}
	var err error
	parts := 0
	storekit.Walk(w.plan.Root, func(n storekit.Node) {
		if _, ok := n.(storekit.Term); !ok {
			parts++
		}
		if p, ok := n.(storekit.Phrase); ok && len(p.Tokens) > MaxPhrase {
			err = fmt.Errorf("postgres: %w: a phrase of %d terms: at most %d are looked for", sheaf.ErrUnsupported,
				len(p.Tokens), MaxPhrase)
		}
	})
	if parts > maxParts {
		err = fmt.Errorf("postgres: %w: a query of %d parts: at most %d are looked for", sheaf.ErrUnsupported, parts,
			maxParts)
	}
	if err != nil {
		return nil, "", err
	}
	if err := w.resolve(ctx, s, conn); err != nil {
		return nil, "", err
	}
	w.allowed, w.named = w.bound(req), req.Within != nil
	switch {
	case o.count || !req.CountsAmong():
	case text.Statistics == store.StatisticsCorpus && (w.named || !reflect.DeepEqual(req.Filter, text.Among)):
		w.over = w.bound(&store.Request{Filter: text.Among})
	default:
		w.over, w.overNamed = w.allowed, w.named
	}
	w.statistics()
	return w, w.node(w.plan.Root), nil
}

// scored makes the relation (chunk, score) of a root. It sums in a fixed order, so that equal texts
// have exactly equal scores.
func (w *words) scored(root string) string {
	if w.req.Combine != store.CombineBest {
		return w.with("scored", "SELECT chunk, sum(s ORDER BY f, n) AS score FROM "+root+" GROUP BY chunk")
	}
	tie := w.arg(w.req.TieBreaker, "float8")
	return w.with("scored", fmt.Sprintf(`SELECT chunk, max(s) + %s * (sum(s ORDER BY f) - max(s)) AS score
	FROM (SELECT chunk, f, sum(s ORDER BY n) AS s FROM %s GROUP BY chunk, f) x GROUP BY chunk`, tie, root))
}

// best cuts a relation (chunk, score, ...) to the first limit hits of a ranking.
func best(scored, columns string, limit string) string {
	return fmt.Sprintf(`SELECT c.id, r.score%s FROM (
		SELECT * FROM %s ORDER BY score DESC FETCH FIRST (%s) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT %s`, columns, scored, limit, limit)
}
