package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	botName = regexp.MustCompile(`(?i)\bbot\b|-bot$|renovate|github-actions|crowdin|weblate|transifex|gitlocalize`)
	// subjectPrefix matches a prefix of a commit's subject: "[area]", "(area)", ":emoji:", "area(part)!:" or "docs -".
	subjectPrefix = regexp.MustCompile(`^(?:\[[^\]]*\]|\([^)]*\)|:[a-z_]+:|` +
		`[a-zA-Z][\w./ ,-]{0,60}(?:\([^)]*\))?!?:(?:[ \t]|$)|[a-z]+\([^)]*\)[ \t]|` +
		`(?i)(?:docs?|documentation|en)[ \t]*[-/|:][ \t])\s*`)
	subjectNumber = regexp.MustCompile(`\s*\(?(?:[\w.-]+/[\w.-]+)?#\d+\)?|\s*\bgh-\d+\b`)
	subjectTail   = regexp.MustCompile(`(?i)[.,;]?\s*(?:\[(?:ci skip|skip ci|skip netlify)\]|` +
		`\(\s*(?:closes|fixe[sd]|resolves|refs?|see|issue|pr)?\s*\)?|` +
		`\b(?:closes|fixes|resolves|refs?|see))$|[\s.]+$`)
	mentionName = regexp.MustCompile(`\S+\.(?:mdx?|markdown|html?|ya?ml|json|toml|js|ts|go|py|rs)\b|` +
		`https?://\S+|\b[0-9a-f]{7,40}\b|@[\w-]+|^s/`)
	junkSubject = anyWord(`
		typos? spelling misspell\w* grammar grammatical\w* wording punctuation whitespaces? formatting prettier
		lint\w* markdownlint vale markup toc table.of.contents html.tags? code.(?:blocks?|snippets?|fences?)
		backticks? quotes? colons? comma apostrophes? characters italics? bold bullets? numbering anchors? emoji
		line.breaks? newlines? trailing indent\w* syntax.highlight\w* highlighting capitali[sz]\w* case alphabet\w*
		sentences? prose english headings? titles? front.?matter metadata badges? screenshots? images? listings?
		merge[ds]? revert(?:s|ed)? bump\w* sync\w* backport\w* cherry.pick squash fixup amend initial.commit
		release.notes? changelog release.[\w.]+ v?\d+\.\d+\.\d+ version.number auto.?generat\w+ regenerat\w+
		(?:hyper)?links? linked linking urls? redirects? sidebar nav navigation landing.page file.?names?
		status review(?:s|ed|er|ers)? code.review review.dates? reviewed.on last_reviewed\w* feedback requested
		apply.suggestions? suggestions?.from edits.from proofread\w* copy.?edit\w* editorial style.?guide
		translat\w+ renam\w+ move[ds]? moving cop(?:y|ies).from clean.?up tweaks? nits? wip minor
		small.(?:fix|edit|change)\w* first.draft redundant unused duplicated? consisten\w+ variable.names?
		obsolete.paragraph publish(?:ing)? embargo\w* rfc.\d+ co.?authored tracking.issue team.page`)
)

// anyWord returns an expression that finds each of the words in list. A dot in a word matches any character.
func anyWord(list string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.Join(strings.Fields(list), "|") + `)\b`)
}

// changeWords say that something changed, not what. They do not count as content of a subject.
var changeWords = wordSet(`add adds added adding update updates updated updating fix fixes fixed fixing change changes
changed changing remove removes removed removing improve improves improved improving improvement improvements create
created edit edits edited delete deleted use using make makes new page pages file files doc docs documentation readme
document documented documents section sections article example examples content clarify clarifies clarification
clarifications correct corrects corrected correction corrections mention mentions note notes explain describe rewrite
reword rephrase rework replace replaces refactor simplify expand include includes link links post blog entry better
missing incorrect wrong outdated text description descriptions information info details instructions tutorial guide
guides reference references chapter some few bit little small several various more feat feature rule rules markdown
md tip tips paragraph sentence word words line lines english proper properly tldr address comments comment pr ref fr
draft step wip misc put get set chore set`)

// cleanSubject removes prefixes, numbers of issues and other marks from the subject of a commit.
func cleanSubject(s string) string {
	s = strings.TrimSpace(s)
	for range 3 {
		s = strings.TrimSpace(strings.TrimPrefix(s, subjectPrefix.FindString(s)))
		s = strings.TrimSpace(subjectNumber.ReplaceAllString(s, ""))
		s = strings.TrimSpace(subjectTail.ReplaceAllString(s, ""))
	}
	return plain(s)
}

// usefulSubject reports whether the subject of a commit, after cleanSubject, says what the page is about.
func usefulSubject(s string) bool {
	if junkSubject.MatchString(s) || mentionName.MatchString(s) || strings.HasSuffix(s, "…") ||
		strings.HasSuffix(s, "...") {
		return false
	}
	return weight(topic(s)) >= 3
}

// topic returns the content words of a subject, without words that only say that something changed.
func topic(s string) string {
	var rest []string
	for _, w := range content(s) {
		if !changeWords[w] {
			rest = append(rest, w)
		}
	}
	return strings.Join(rest, " ")
}

// answers reports whether a page still has at least half of the words of a topic. A page that was rewritten after the
// commit usually has fewer words of the topic.
func answers(p *page, topic string) bool {
	held := stems(p.title + " " + nameOf(p.path) + " " + p.text)
	wanted := stems(topic)
	n := 0
	for _, w := range wanted {
		if _, ok := slices.BinarySearch(held, w); ok {
			n++
		}
	}
	return 2*n >= len(wanted)
}

// change is a commit that changes one page. page is the path that the page has now.
type change struct {
	subject string
	page    string
}

// readChanges returns the commits that change exactly one Markdown page and at most four other files, newest first. It
// leaves out renames and bots. It returns none for a shallow clone.
func readChanges(o *options) ([]change, error) {
	shallow, err := gitOutput(o.git, nil, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(string(shallow)) == "true" {
		return nil, err
	}
	log := []string{"log", "--no-merges", "--name-status", "-l400", "-z", "--format=%x01%an%x02%s%x03"}
	out, err := gitOutput(o.git, nil, append(log, "-M")...)
	if err != nil { // a snapshot without large files cannot compare contents
		if out, err = gitOutput(o.git, nil, append(log, "-M100%")...); err != nil {
			return nil, err
		}
	}
	now := map[string]string{} // the current path, by a path that was renamed later
	today := func(name string) string {
		if to, ok := now[name]; ok {
			return to
		}
		return name
	}
	var changes []change
	for commit := range strings.SplitSeq(string(out), "\x01") {
		head, body, ok := strings.Cut(commit, "\x03")
		author, subject, _ := strings.Cut(head, "\x02")
		if !ok {
			continue
		}
		fields := strings.Split(strings.Trim(body, "\x00\n"), "\x00")
		var touched []string
		renamed := map[string]string{}
		others := 0
		for i := 0; i+1 < len(fields); i += 2 {
			name := fields[i+1]
			if status := strings.TrimSpace(fields[i]); strings.HasPrefix(status, "R") && i+2 < len(fields) {
				to := fields[i+2]
				renamed[name] = today(to)
				name = to
				i++
			}
			if isMarkdown(name) {
				touched = append(touched, today(name))
			} else {
				others++
			}
		}
		for from, to := range renamed {
			now[from] = to
		}
		if len(touched) == 1 && len(renamed) == 0 && others <= 4 && !botName.MatchString(author) {
			changes = append(changes, change{subject, touched[0]})
		}
	}
	return changes, nil
}

const aboutSubjects = `
Query = the subject line of a commit that touches exactly one Markdown page. Relevant = that page, under the path
it has at the snapshot. The records are the raw Markdown. _id is the path, so "collect tree" can write the files
back to disk.

Dropped: prefixes such as "docs:", numbers of issues, subjects about typos, wording, formatting, links or releases,
fewer than three content words besides words such as "add" and "update", subjects that name files, subjects of
more than one page, pages that hold fewer than half of the subject's words today,
programs as authors, renames. At most three queries are about one page.

metadata.class says how far the words are those of the page's title or file name: title, overlap (at least half),
low or none. Only the changed page counts as right, so absolute figures are low bounds.
`

func makeSubjects(o *options) (*collection, error) {
	pages, err := readPages(o)
	if err != nil {
		return nil, err
	}
	changes, err := readChanges(o)
	if err != nil {
		return nil, err
	}
	byPath := map[string]*page{}
	c := &collection{about: aboutSubjects}
	for _, p := range pages {
		byPath[p.path] = p
		c.records = append(c.records, record{p.path, p.title, p.text})
	}
	type use struct {
		text  string
		pages []string
	}
	uses := map[string]*use{}
	for _, change := range changes {
		s := cleanSubject(change.subject)
		k := key(s)
		if uses[k] == nil {
			uses[k] = &use{text: s}
		}
		if !slices.Contains(uses[k].pages, change.page) {
			uses[k].pages = append(uses[k].pages, change.page)
		}
	}
	var queries []query
	for _, u := range uses {
		if len(u.pages) != 1 || !usefulSubject(u.text) || len(u.text) > 200 {
			continue
		}
		name, ok := strings.CutPrefix(u.pages[0], o.under)
		p := byPath[name]
		if !ok || p == nil || strings.Contains(strings.ToLower(p.text), strings.ToLower(u.text)) ||
			!answers(p, topic(u.text)) {
			continue
		}
		class := classOf(u.text, p.title, nameOf(p.path))
		queries = append(queries, query{Text: u.text, Metadata: metadata{Class: class}, relevant: []string{p.path}})
	}
	c.queries = choose(queries, o.queries, 3, nil)
	c.limit(o.records)
	return c, nil
}
