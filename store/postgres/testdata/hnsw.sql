# open
SELECT current_setting('search_path'), (SELECT extversion FROM pg_extension WHERE extname = 'vector');
SELECT
	set_config('search_path', current_setting('search_path') || ', ' || quote_ident(nspname), false)
	FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'vector' AND nspname <> 'public';
SELECT set_config($1, $2, false), set_config($3, $4, false);
SELECT to_regclass($1 || '.posting') IS NOT NULL AND 2 = (SELECT count(*) FROM pg_attribute
			WHERE attrelid = to_regclass($1 || '.setting') AND attname IN ('name', 'value') AND atttypid = 'text'::regtype),
		(SELECT coalesce(array_agg(relname::text ORDER BY relname), '{}')
			FROM pg_class c WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relnamespace = to_regnamespace($1)
			AND NOT EXISTS (SELECT FROM pg_depend
				WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e'));
begin isolation level read committed;
SELECT pg_advisory_xact_lock(hashtextextended('sheaf ' || $1, 0));
SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
	(SELECT default_version FROM pg_available_extensions WHERE name = 'vector'),
	(SELECT 'GRANT USAGE ON SCHEMA ' || quote_ident(nspname) || ' TO ' || quote_ident(current_user)
		FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace
		WHERE extname = 'vector' AND NOT has_schema_privilege(n.oid, 'USAGE'));
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector' AND extnamespace = to_regnamespace($1));
SELECT to_regnamespace($1) IS NOT NULL;
CREATE SCHEMA "golden";
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
CREATE TABLE vector_field (id int PRIMARY KEY, name text NOT NULL UNIQUE, dims int NOT NULL, model text NOT NULL);;
INSERT INTO setting VALUES ('version', $1), ('analyzer', $2);
CREATE TABLE wall (chunk bigint PRIMARY KEY, tenants text[] NOT NULL, access text[] NOT NULL);
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
ALTER TABLE chunk ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunk FORCE ROW LEVEL SECURITY;
CREATE POLICY chunk_read ON chunk FOR SELECT USING (ord IN (SELECT chunk FROM wall));
CREATE POLICY chunk_write ON chunk FOR ALL USING (
	current_setting('sheaf.tenant', true) = '*' AND current_setting('sheaf.access', true) = '*');
ALTER TABLE posting ENABLE ROW LEVEL SECURITY;
ALTER TABLE posting FORCE ROW LEVEL SECURITY;
CREATE POLICY posting_read ON posting FOR SELECT USING (chunk IN (SELECT chunk FROM wall));
CREATE POLICY posting_write ON posting FOR ALL USING (
	current_setting('sheaf.tenant', true) = '*' AND current_setting('sheaf.access', true) = '*');
ALTER TABLE property ENABLE ROW LEVEL SECURITY;
ALTER TABLE property FORCE ROW LEVEL SECURITY;
CREATE POLICY property_read ON property FOR SELECT USING (chunk IN (SELECT chunk FROM wall));
CREATE POLICY property_write ON property FOR ALL USING (
	current_setting('sheaf.tenant', true) = '*' AND current_setting('sheaf.access', true) = '*');;
commit;

# write
begin isolation level read committed;
SELECT id, name FROM field;
SELECT id, name, dims, model FROM vector_field;
DELETE FROM chunk WHERE ord IN (
	SELECT ord FROM unnest($1::bytea[]) AS gone JOIN chunk ON sha256(doc) = gone
	UNION ALL SELECT ord FROM unnest($2::bytea[]) AS gone JOIN chunk ON sha256(id) = gone) RETURNING ord, lens;
SELECT min(nextval('chunk_ord')) FROM generate_series(1, $1::int);
CREATE TEMP TABLE IF NOT EXISTS staged_property (LIKE property) ON COMMIT DROP;
select "chunk", "name", "kind", "text", "number" from "staged_property";
copy "staged_property" ( "chunk", "name", "kind", "text", "number" ) from stdin binary;;
INSERT INTO property SELECT * FROM staged_property;
TRUNCATE staged_property;
CREATE TEMP TABLE IF NOT EXISTS staged_wall (LIKE wall) ON COMMIT DROP;
select "chunk", "tenants", "access" from "staged_wall";
copy "staged_wall" ( "chunk", "tenants", "access" ) from stdin binary;;
INSERT INTO wall SELECT * FROM staged_wall;
TRUNCATE staged_wall;
INSERT INTO vector_field SELECT coalesce(max(id), 0) + 1, $1, $2, $3 FROM vector_field RETURNING id;
CREATE TABLE vector_1 (chunk bigint NOT NULL, passage int NOT NULL, v vector(3) NOT NULL, PRIMARY KEY (chunk, passage));
ALTER TABLE vector_1 ALTER v SET STORAGE PLAIN;
ALTER TABLE vector_1 ENABLE ROW LEVEL SECURITY;
ALTER TABLE vector_1 FORCE ROW LEVEL SECURITY;
CREATE POLICY vector_1_read ON vector_1 FOR SELECT USING (chunk IN (SELECT chunk FROM wall));
CREATE POLICY vector_1_write ON vector_1 FOR ALL USING (
	current_setting('sheaf.tenant', true) = '*' AND current_setting('sheaf.access', true) = '*');
CREATE INDEX IF NOT EXISTS vector_1_hnsw ON vector_1 USING hnsw ((v) vector_ip_ops) WITH (m = 16, ef_construction = 64);;
CREATE TEMP TABLE IF NOT EXISTS staged_vector_1 (LIKE vector_1) ON COMMIT DROP;
select "chunk", "passage", "v" from "staged_vector_1";
copy "staged_vector_1" ( "chunk", "passage", "v" ) from stdin binary;;
INSERT INTO vector_1 SELECT * FROM staged_vector_1;
TRUNCATE staged_vector_1;
CREATE TABLE vector_2 (chunk bigint NOT NULL, passage int NOT NULL, v vector(3) NOT NULL, PRIMARY KEY (chunk, passage));
ALTER TABLE vector_2 ALTER v SET STORAGE PLAIN;
ALTER TABLE vector_2 ENABLE ROW LEVEL SECURITY;
ALTER TABLE vector_2 FORCE ROW LEVEL SECURITY;
CREATE POLICY vector_2_read ON vector_2 FOR SELECT USING (chunk IN (SELECT chunk FROM wall));
CREATE POLICY vector_2_write ON vector_2 FOR ALL USING (
	current_setting('sheaf.tenant', true) = '*' AND current_setting('sheaf.access', true) = '*');
CREATE INDEX IF NOT EXISTS vector_2_hnsw ON vector_2 USING hnsw ((v) vector_ip_ops) WITH (m = 16, ef_construction = 64);;
CREATE TEMP TABLE IF NOT EXISTS staged_vector_2 (LIKE vector_2) ON COMMIT DROP;
select "chunk", "passage", "v" from "staged_vector_2";
copy "staged_vector_2" ( "chunk", "passage", "v" ) from stdin binary;;
INSERT INTO vector_2 SELECT * FROM staged_vector_2;
TRUNCATE staged_vector_2;
WITH known AS (SELECT id, text FROM unnest($1::text[]) AS word JOIN term ON text = word),
	fresh AS (INSERT INTO term (text) SELECT word FROM unnest($1::text[]) AS word
		WHERE word NOT IN (SELECT text FROM known) RETURNING id, text)
	SELECT id, text FROM known UNION ALL SELECT id, text FROM fresh;
CREATE TEMP TABLE IF NOT EXISTS staged_chunk (LIKE chunk) ON COMMIT DROP;
select "ord", "id", "doc", "lens", "fields" from "staged_chunk";
copy "staged_chunk" ( "ord", "id", "doc", "lens", "fields" ) from stdin binary;;
INSERT INTO chunk SELECT * FROM staged_chunk;
TRUNCATE staged_chunk;
CREATE TEMP TABLE IF NOT EXISTS staged_posting (LIKE posting) ON COMMIT DROP;
select "term", "field", "chunk", "tf", "len", "pos" from "staged_posting";
copy "staged_posting" ( "term", "field", "chunk", "tf", "len", "pos" ) from stdin binary;;
INSERT INTO posting SELECT * FROM staged_posting;
TRUNCATE staged_posting;
WITH fields AS (
	INSERT INTO field SELECT * FROM unnest($3::int[], $4::text[], $5::bigint[], $6::bigint[])
	ON CONFLICT (id) DO UPDATE SET chunks = field.chunks + excluded.chunks, tokens = field.tokens + excluded.tokens)
UPDATE total SET chunks = chunks + $1::bigint, vectors = vectors + $2::bigint, generation = generation + 1;
commit;

# words
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look3 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q4 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look3 l JOIN posting p ON p.term = l.term AND p.field = l.field),
scored5 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q4 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored5 ORDER BY score DESC FETCH FIRST ($9::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $9::bigint;

# best field
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look3 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q4 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look3 l JOIN posting p ON p.term = l.term AND p.field = l.field),
scored5 AS (SELECT chunk, max(s) + $10::float8 * (sum(s ORDER BY f) - max(s)) AS score
	FROM (SELECT chunk, f, sum(s ORDER BY n) AS s FROM q4 GROUP BY chunk, f) x GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored5 ORDER BY score DESC FETCH FIRST ($9::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $9::bigint;

# a virtual field
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
weighted3 AS MATERIALIZED (SELECT f.id AS field, w.weight FROM unnest($5::text[], $6::float8[]) AS w(name, weight) JOIN field f ON f.name = w.name),
every4 AS (SELECT chunks::float8 AS chunks, CASE WHEN chunks = 0 OR 0 + $1::float8 * coalesce((SELECT tokens FROM stats WHERE name = $2::text), 0) + $3::float8 * coalesce((SELECT tokens FROM stats WHERE name = $4::text), 0) = 0 THEN 1 ELSE (0 + $1::float8 * coalesce((SELECT tokens FROM stats WHERE name = $2::text), 0) + $3::float8 * coalesce((SELECT tokens FROM stats WHERE name = $4::text), 0)) / chunks END AS average FROM counted),
look5 AS MATERIALIZED (SELECT t.id AS term, l.n, l.factor * ln(1 + (e.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor, e.average
	FROM unnest($7::text[], $8::int[], $9::float8[]) AS l(text, n, factor) JOIN term t ON t.text = l.text CROSS JOIN every4 e
	CROSS JOIN LATERAL (SELECT count(DISTINCT p.chunk)::float8 AS df
		FROM posting p WHERE p.term = t.id AND p.field = ANY(ARRAY(SELECT field FROM weighted3))) d),
q6 AS (SELECT x.chunk, 0 AS f, x.n, x.term,
	x.factor * (x.frequency / (x.frequency + $10::float8 * (1 - $11::float8 + $12::float8 * (0 + $1::float8 * coalesce(c.lens[(SELECT id FROM field WHERE name = $2::text)], 0) + $3::float8 * coalesce(c.lens[(SELECT id FROM field WHERE name = $4::text)], 0)) / x.average))) AS s
	FROM (SELECT p.chunk, l.n, l.term, l.factor, l.average, sum(w.weight * p.tf) AS frequency
		FROM look5 l JOIN posting p ON p.term = l.term JOIN weighted3 w ON w.field = p.field
		GROUP BY p.chunk, l.n, l.term, l.factor, l.average) x JOIN chunk c ON c.ord = x.chunk),
scored7 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q6 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored7 ORDER BY score DESC FETCH FIRST ($13::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $13::bigint;

# statistics over candidates
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $1::bytea AND name = $2::bytea AND true)),
counted AS (SELECT count(*) AS chunks FROM allowed0),
counts AS (SELECT f.id, f.name, count(*) FILTER (WHERE a.lens[f.id] > 0) AS chunks,
		coalesce(sum(a.lens[f.id]), 0) AS tokens
	FROM field f CROSS JOIN allowed0 a GROUP BY f.id),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($3::text[], $4::text[], $5::int[], $6::int[], $7::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $8::float8 * (1 - $9::float8 + $10::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($11::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $11::bigint;

# a word twice and a boost
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look3 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q4 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look3 l JOIN posting p ON p.term = l.term AND p.field = l.field),
look5 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($9::text[], $10::text[], $11::int[], $12::int[], $13::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q6 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $14::float8 * (1 - $15::float8 + $16::float8 * p.len / l.average))) AS s
	FROM look5 l JOIN posting p ON p.term = l.term AND p.field = l.field),
q7 AS (SELECT chunk, f, n, term, s FROM (SELECT chunk, f, n, term, s FROM q4 UNION ALL SELECT chunk, f, n, term, s FROM q6) x),
scored8 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q7 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored8 ORDER BY score DESC FETCH FIRST ($17::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $17::bigint;

# must, should and must not
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look3 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q4 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look3 l JOIN posting p ON p.term = l.term AND p.field = l.field),
look5 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($9::text[], $10::text[], $11::int[], $12::int[], $13::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q6 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $14::float8 * (1 - $15::float8 + $16::float8 * p.len / l.average))) AS s
	FROM look5 l JOIN posting p ON p.term = l.term AND p.field = l.field),
look7 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($17::text[], $18::text[], $19::int[], $20::int[], $21::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q8 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $22::float8 * (1 - $23::float8 + $24::float8 * p.len / l.average))) AS s
	FROM look7 l JOIN posting p ON p.term = l.term AND p.field = l.field),
look9 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($25::text[], $26::text[], $27::int[], $28::int[], $29::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q10 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $30::float8 * (1 - $31::float8 + $32::float8 * p.len / l.average))) AS s
	FROM look9 l JOIN posting p ON p.term = l.term AND p.field = l.field),
q11 AS (SELECT chunk, f, n, term, s FROM (SELECT chunk, f, n, term, s FROM q4 UNION ALL SELECT chunk, f, n, term, s FROM q6 UNION ALL SELECT chunk, f, n, term, s FROM q8) x WHERE chunk IN (SELECT chunk FROM q4) AND chunk IN (SELECT chunk FROM q6) AND chunk NOT IN (SELECT chunk FROM q10)),
scored12 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q11 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored12 ORDER BY score DESC FETCH FIRST ($33::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $33::bigint;

# everything but
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
q3 AS (SELECT ord AS chunk, 0 AS f, 0 AS n, 0 AS term, 0::float8 AS s FROM (SELECT ord FROM chunk) a),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field),
q6 AS (SELECT chunk, f, n, term, s FROM q3 x WHERE chunk NOT IN (SELECT chunk FROM q5)),
scored7 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q6 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored7 ORDER BY score DESC FETCH FIRST ($9::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $9::bigint;

# a field

# terms of other characters

# phrase
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
tokens3 AS MATERIALIZED (SELECT t.id AS term, l.at, l.n FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS l(text, at, n) JOIN term t ON t.text = l.text),
all4 AS (SELECT p.chunk, p.field
	FROM posting p WHERE p.term = ANY(ARRAY(SELECT term FROM tokens3))
	AND p.field = ANY(ARRAY(SELECT id FROM field WHERE name = ANY($3::text[])))
	GROUP BY p.chunk, p.field HAVING count(*) = $4::int),
held5 AS (SELECT a.chunk, a.field FROM all4 a
	WHERE EXISTS (SELECT 1 FROM (SELECT o - b.at AS low FROM tokens3 b JOIN posting p ON p.term = b.term AND p.chunk = a.chunk
		AND p.field = a.field CROSS JOIN LATERAL unnest(p.pos) o) starts WHERE NOT EXISTS (
	SELECT 1 FROM tokens3 t WHERE NOT EXISTS (SELECT 1 FROM posting p
	WHERE p.term = t.term AND p.chunk = a.chunk AND p.field = a.field AND EXISTS (SELECT 1 FROM unnest(p.pos) o WHERE o - t.at - low BETWEEN 0 AND $5::int))))),
look6 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($6::text[], $7::text[], $8::int[], $9::int[], $10::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q7 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $11::float8 * (1 - $12::float8 + $13::float8 * p.len / l.average))) AS s
	FROM look6 l JOIN posting p ON p.term = l.term AND p.field = l.field AND ((p.chunk, p.field) IN (SELECT chunk, field FROM held5)) IS TRUE),
scored8 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q7 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored8 ORDER BY score DESC FETCH FIRST ($14::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $14::bigint;

# prefix
SELECT text FROM term WHERE text >= $1 AND starts_with(text, $1) AND text < $2 UNION ALL SELECT text FROM term WHERE text >= $3 AND text <= $4 AND starts_with(text, $3);
WITH counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look3 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q4 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look3 l JOIN posting p ON p.term = l.term AND p.field = l.field),
q5 AS (SELECT chunk, f, n, term, s FROM (SELECT chunk, f, n, term, s FROM q4) x WHERE chunk IN (SELECT chunk FROM q4)),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($9::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $9::bigint;

# fuzzy
SELECT text FROM term WHERE char_length(text) BETWEEN $1 AND $2 AND (false OR strpos(text, $3) > 0 OR strpos(text, $4) > 0 OR strpos(text, $5) > 0);

# vector
begin isolation level repeatable read read only;
SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = 40; SET LOCAL hnsw.max_scan_tuples = 1000000; SET LOCAL enable_seqscan = off;
WITH seen0 AS (SELECT v.chunk, -(v.v <#> $1::real[]::vector) AS score, v.passage FROM vector_1 v ORDER BY v.v <#> $1::real[]::vector LIMIT $2::bigint),
near1 AS (SELECT DISTINCT ON (chunk) chunk, score, passage FROM seen0 ORDER BY chunk, score DESC, passage)
SELECT count(*) FROM seen0;
WITH seen0 AS (SELECT v.chunk, -(v.v <#> $1::real[]::vector) AS score, v.passage FROM vector_1 v ORDER BY v.v <#> $1::real[]::vector LIMIT $2::bigint),
near1 AS (SELECT DISTINCT ON (chunk) chunk, score, passage FROM seen0 ORDER BY chunk, score DESC, passage)
SELECT c.id, r.score, r.passage FROM (
		SELECT * FROM near1 ORDER BY score DESC FETCH FIRST ($3::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $3::bigint;
rollback;

# vector with a filter
begin isolation level repeatable read read only;
SET LOCAL hnsw.iterative_scan = strict_order; SET LOCAL hnsw.ef_search = 500; SET LOCAL hnsw.max_scan_tuples = 1000000; SET LOCAL enable_seqscan = off;
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $1::bytea AND name = $2::bytea AND true)),
seen1 AS (SELECT v.chunk, -(v.v <#> $3::real[]::vector) AS score, v.passage FROM vector_2 v WHERE v.chunk = ANY(ARRAY(SELECT ord FROM allowed0)) ORDER BY v.v <#> $3::real[]::vector LIMIT $4::bigint),
near2 AS (SELECT DISTINCT ON (chunk) chunk, score, passage FROM seen1 ORDER BY chunk, score DESC, passage)
SELECT count(*) FROM seen1;
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $1::bytea AND name = $2::bytea AND true)),
seen1 AS (SELECT v.chunk, -(v.v <#> $3::real[]::vector) AS score, v.passage FROM vector_2 v WHERE v.chunk = ANY(ARRAY(SELECT ord FROM allowed0)) ORDER BY v.v <#> $3::real[]::vector LIMIT $4::bigint),
near2 AS (SELECT DISTINCT ON (chunk) chunk, score, passage FROM seen1 ORDER BY chunk, score DESC, passage)
SELECT c.id, r.score, r.passage FROM (
		SELECT * FROM near2 ORDER BY score DESC FETCH FIRST ($5::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $5::bigint;
rollback;

# within
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE sha256(c.id) = ANY($1::bytea[])),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $7::float8 * (1 - $8::float8 + $9::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND p.chunk IN (SELECT ord FROM allowed0)),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($10::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $10::bigint;

# access
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE (NOT (c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $2::bytea AND name = $3::bytea AND kind <> 1 AND kind = 4 AND number = ANY($1::float8[]))) AND (c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $6::bytea AND name = $7::bytea AND kind = 1 AND substring(text for 256) = ANY($4::bytea[]) AND text = ANY($5::bytea[]))) AND (c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $10::bytea AND name = $11::bytea AND kind = 1 AND substring(text for 256) = ANY($8::bytea[]) AND text = ANY($9::bytea[]))))),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($12::text[], $13::text[], $14::int[], $15::int[], $16::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $17::float8 * (1 - $18::float8 + $19::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($20::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $20::bigint;

# in
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE (c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $3::bytea AND name = $4::bytea AND kind = 1 AND substring(text for 256) = ANY($1::bytea[]) AND text = ANY($2::bytea[])) OR c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $6::bytea AND name = $7::bytea AND kind <> 1 AND kind = 2 AND number = ANY($5::float8[])))),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($8::text[], $9::text[], $10::int[], $11::int[], $12::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $13::float8 * (1 - $14::float8 + $15::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($16::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $16::bigint;

# in nothing
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE NOT false),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $6::float8 * (1 - $7::float8 + $8::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($9::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $9::bigint;

# dates
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $3::bytea AND name = $4::bytea AND kind = 3 AND kind <> 1 AND number >= $1::float8 AND number < $2::float8)),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($5::text[], $6::text[], $7::int[], $8::int[], $9::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $10::float8 * (1 - $11::float8 + $12::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($13::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $13::bigint;

# numbers below 0
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $2::bytea AND name = $3::bytea AND kind = 2 AND kind <> 1 AND number <= $1::float8)),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($4::text[], $5::text[], $6::int[], $7::int[], $8::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $9::float8 * (1 - $10::float8 + $11::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($12::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $12::bigint;

# texts in a range
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $3::bytea AND name = $4::bytea AND kind = 1 AND text >= $1::bytea AND text <= $2::bytea)),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($5::text[], $6::text[], $7::int[], $8::int[], $9::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $10::float8 * (1 - $11::float8 + $12::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($13::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $13::bigint;

# prefix of a column
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $5::bytea AND name = $6::bytea AND kind = 1 AND substring(text for $1::int) = $2::bytea AND substring(text for 256) >= $3::bytea AND substring(text for 256) < $4::bytea)),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($7::text[], $8::text[], $9::int[], $10::int[], $11::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $12::float8 * (1 - $13::float8 + $14::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($15::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $15::bigint;

# nested
WITH allowed0 AS (SELECT c.ord, c.lens FROM chunk c WHERE ((c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $1::bytea AND name = $2::bytea AND true) AND NOT (c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $3::bytea AND name = $4::bytea AND true) OR c.ord IN (SELECT chunk FROM property WHERE substring(name for 256) = $5::bytea AND name = $6::bytea AND true))) OR NOT true OR false)),
counted AS (SELECT chunks FROM total),
counts AS (SELECT id, name, chunks, tokens FROM field),
stats AS (SELECT id, name, chunks::float8 AS chunks, tokens::float8 AS tokens,
	CASE WHEN chunks = 0 OR tokens = 0 THEN 1 ELSE tokens::float8 / chunks END AS average FROM counts),
look4 AS MATERIALIZED (SELECT t.id AS term, st.id AS field, l.f, l.n, l.factor * ln(1 + (st.chunks - d.df + 0.5) / (d.df + 0.5)) AS factor,
		st.average
	FROM unnest($7::text[], $8::text[], $9::int[], $10::int[], $11::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN stats st ON st.name = l.name
	CROSS JOIN LATERAL (SELECT count(*)::float8 AS df FROM posting p WHERE p.term = t.id AND p.field = st.id) d),
q5 AS (SELECT p.chunk, l.f, l.n, l.term,
	l.factor * (p.tf / (p.tf + $12::float8 * (1 - $13::float8 + $14::float8 * p.len / l.average))) AS s
	FROM look4 l JOIN posting p ON p.term = l.term AND p.field = l.field AND (p.chunk IN (SELECT ord FROM allowed0)) IS TRUE),
scored6 AS (SELECT chunk, sum(s ORDER BY f, n) AS score FROM q5 GROUP BY chunk)
SELECT c.id, r.score, 0 AS passage FROM (
		SELECT * FROM scored6 ORDER BY score DESC FETCH FIRST ($15::bigint) ROWS WITH TIES) r
	JOIN chunk c ON c.ord = r.chunk ORDER BY r.score DESC, c.id LIMIT $15::bigint;

# count
WITH look0 AS MATERIALIZED (SELECT t.id AS term, f.id AS field, l.f, l.n FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::float8[]) AS l(text, name, f, n, factor) JOIN term t ON t.text = l.text JOIN field f ON f.name = l.name),
q1 AS (SELECT p.chunk, l.f, l.n, l.term, 0::float8 AS s
	FROM look0 l JOIN posting p ON p.term = l.term AND p.field = l.field)
SELECT count(DISTINCT chunk) FROM q1;

# delete
begin isolation level read committed;
DELETE FROM posting WHERE chunk = ANY($1);
DELETE FROM property WHERE chunk = ANY($1);
DELETE FROM wall WHERE chunk = ANY($1);
DELETE FROM vector_1 WHERE chunk = ANY($1);
DELETE FROM vector_2 WHERE chunk = ANY($1);
commit;

