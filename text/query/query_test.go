package query_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sheaf"
	"sheaf/internal/check"
	"sheaf/internal/must"
	"sheaf/text/query"
)

var now = time.Date(2024, 5, 31, 15, 4, 5, 0, time.UTC)

func parse(text string) sheaf.Query {
	return query.Parse(text, query.Options{Properties: []string{"Status", "rating", "path", "next step", "cafe\u0301"},
		Now: now, Limit: 5})
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want, note string }{
		{`oauth next.js`, `any of "oauth next.js"`, ""},
		{`"refresh token" oauth`, `the phrase "refresh token", better with any of "oauth"`, ""},
		{`heron +🐘`, `the phrase "🐘", better with any of "heron"`, ""},
		{`heron -🐘 -.NET -@ann`, `any of "heron", not the phrase "🐘", not the phrase ".NET", not the phrase "@ann"`, ""},
		{`a -> b +/- -.`, `any of "a -> b +/- -."`, ""},
		{`#️⃣`, `any of "#️⃣"`, ""},
		{`+oauth -draft setup`, `the phrase "oauth", better with any of "setup", not the phrase "draft"`, ""},
		{`-draft`, `not the phrase "draft"`, "only says what to leave out"},
		{`a OR b`, `any of "a" or any of "b"`, ""},
		{`-title:docker-compose body:版本控制`, `the phrase "版本控制" in body, not the phrase "docker-compose" in title`, ""},
		{`z -(docker-compose) +(what is 版本控制)`, `(any of "what is" or the phrase "版本控制"), better with any of "z", not the ` +
			`phrase "docker-compose"`, ""},
		{`docker-compose OR podman`, `the phrase "docker-compose" or any of "podman"`, ""},
		{`"a b" OR "c d" e`, `(the phrase "a b" or the phrase "c d"), better with any of "e"`, ""},
		{`side effects (nausea, (rash) or pain) of aspirin`, `any of "side effects nausea, rash or pain of aspirin"`, ""},
		{`a +(b c)`, `any of "b c", better with any of "a"`, ""},
		{`(a b) OR c`, `any of "a b" or any of "c"`, ""},
		{`x (a OR (b -c))`, `any of "x" or (any of "a" or (any of "b", not the phrase "c"))`, "an option"},
		{`zebra (missing -x)`, `any of "zebra missing", not the phrase "x"`, "an option"},
		{`zebra (missing "a b" -tag:c)`, `the phrase "a b", better with any of "zebra missing", where not tag is c`, ""},
		{`zebra +(missing -x)`, `(any of "missing", not the phrase "x"), better with any of "zebra"`, "an option"},
		{`zebra (missing -x) OR d`, `any of "zebra" or ((any of "missing", not the phrase "x") or any of "d")`, "an option"},
		{`zebra (missing "a b") OR d`, `((the phrase "a b", better with any of "missing") or any of "d"), better with ` +
			`any of "zebra"`, ""},
		{`zebra (stripes OR horse)`, `any of "zebra" or (any of "stripes" or any of "horse")`, ""},
		{`title:setup guide`, `the phrase "setup" in title, better with any of "guide"`, ""},
		{`„a b“ „c d” ”e f” «g h»`, `the phrase "a b" and the phrase "c d" and the phrase "e f" and the phrase "g h"`, ""},
		{`-«a b» title:„c d“ «e`, `the phrase "c d" in title, better with any of "e", not the phrase "a b"`, "not closed"},
		{`צה"ל "a b"`, `the phrase "a b", better with any of "צה\"ל"`, ""},
		{`title:"set up"`, `the phrase "set up" in title`, ""},
		{`heading:api`, `the phrase "api" in title or the phrase "api" in hierarchy`, ""},
		{`#Auth/sub`, `everything, where tag is auth/sub`, ""},
		{`tag:#x -tag:y z`, `any of "z", where (tag is x and not tag is y)`, ""},
		{`tag:a OR tag:b`, `everything, where (tag is a or tag is b)`, ""},
		{`path:guides/auth`, `everything, where (folder is guides/auth or path begins with guides/auth)`, ""},
		{`path:git2.md`, `everything, where (folder is git2.md or path begins with git2.md or file is git2.md)`, ""},
		{`path:/git2.md`, `everything, where (folder is git2.md or path begins with git2.md)`, ""},
		{`path:gui*`, `everything, where path begins with gui`, ""},
		{`path:guides`, `the phrase "guides" in path`, ""},
		{`ext:.MD x`, `any of "x", where ext is md`, ""},
		{`status:Draft`, `everything, where prop.status is draft`, ""},
		{`status:Dra*`, `everything, where prop.status begins with dra`, ""},
		{`status:"dra*"`, `everything, where prop.status is dra*`, ""},
		{`status:*`, `everything, where prop.status is given`, ""},
		{`status:a*b*`, `everything, where prop.status is a*b*`, ""},
		{`rating:>3`, `everything, where (prop.rating is after 3)`, ""},
		{`prop.due:<=2024-06`, `everything, where (prop.due is at most 2024-06-30T23:59:59Z)`, ""},
		{`prop.done:true`, `everything, where (prop.done is true or prop.done is true)`, ""},
		{`after:2024-05 before:7d`, `everything, where (date is at least 2024-05-01 and date is before 2024-05-24)`, ""},
		{`rating:<tomorrow`, "everything, where (prop.rating is before 2024-06-01)", ""},
		{`date:2024* rating:2.5*`, "everything, where (date is from 2024-01-01 to before 2025-01-01 and (prop.rating " +
			"begins with 2.5 or written.rating begins with 2.5 or ((prop.rating is from 2.5 to before 2.6) and not " +
			"written.rating is given)))", ""},
		{`rating::vector tag::new x`, `any of "rating::vector tag::new x"`, ""},
		{`date:2024-0*`, `everything, where date is from 2024-01-01 to before 2024-10-01`, ""},
		{`date:2024-1*`, `everything, where date is from 2024-10-01 to before 2025-01-01`, ""},
		{`date:2024-05-3*`, `everything, where date is from 2024-05-30 to before 2024-06-01`, ""},
		{`date:2024-05-*`, `everything, where date is from 2024-05-01 to before 2024-06-01`, ""},
		{`date:2024-0`, `any of "2024-0"`, "is no date"},
		{`rating:2024-0*`, `everything, where (prop.rating begins with 2024-0 or written.rating begins with 2024-0 or ` +
			`prop.rating is from 2024-01-01 to before 2024-10-01)`, ""},
		{`on:yesterday x`, `any of "x", where date is from 2024-05-30 to before 2024-05-31`, ""},
		{`authent* colour~ colr~2`, `words that begin with "authent" or words at most 2 letters from "colour" or words at ` +
			`most 2 letters from "colr"`, ""},
		{`http://x.org/a?b=c C++ a:b f(x) main() #1 :) -- -`, `any of "http://x.org/a?b=c C++ a:b f(x) main() #1 :) -- -"`,
			`"a:" is no field`},
		{`on:0000-02`, `everything, where date is from 0000-02-01 to before 0000-03-01`, ""},
		{`after:2024-05-01T12:30 before:"2024-05-01 12:31:15"`, "everything, where (date is at least " +
			"2024-05-01T12:30:00Z and date is before 2024-05-01T12:31:15Z)", ""},
		{`status:"2024-05-01 23:59:00 +0200"`, "everything, where (prop.status is 2024-05-01 23:59:00 +0200 or " +
			"prop.status is from 2024-05-01T23:59:00Z to before 2024-05-01T23:59:01Z)", ""},
		{`status:2024-05-01T23:59:00.5-08:00`, "everything, where (prop.status is 2024-05-01t23:59:00.5-08:00 or " +
			"prop.status is from 2024-05-01T23:59:00Z to before 2024-05-01T23:59:01Z)", ""},
		{`rating:>1,000`, `everything, where (prop.rating is after 1000)`, ""},
		{`[rating:>1 000.5]`, `everything, where (prop.rating is after 1000.5)`, ""},
		{`rating:>0,123`, `any of ">0,123"`, "neither a number nor a date"},
		{`rating:>2024-05-01T12:30Z`, "everything, where (prop.rating is after 2024-05-01T12:30:59Z)", ""},
		{`after:soon`, `any of "soon"`, "is no date"},
		{`[status:draft] x`, `any of "x", where prop.status is draft`, ""},
		{`x -[Status:Draft]`, `any of "x", where not prop.status is draft`, ""},
		{`[status:draft][rating:>3] x`, `any of "x", where (prop.status is draft and (prop.rating is after 3))`, ""},
		{`[status:draft]-[rating:3] x`, `any of "[status:draft]-[rating:3] x"`, ""},
		{`[status:draft]s`, `any of "[status:draft]s"`, ""},
		{`x ([status:draft][rating:>3])`, `any of "x", where (prop.status is draft and (prop.rating is after 3))`, ""},
		{`next-step:"call Ann"`, `everything, where prop.next step is call ann`, ""},
		{`[status:"In Review"] ["status":"dra*"]`, `everything, where (prop.status is in review and prop.status is dra*)`,
			""},
		{`[status: in review ] x`, `any of "x", where prop.status is in review`, ""},
		{`[status:“In Review” OR "x”]`, `everything, where (prop.status is in review or prop.status is x)`, ""},
		{`[next step:call Ann] ["next step":*]`, `everything, where (prop.next step is call ann and prop.next step is given)`,
			""},
		{`[status:Draft OR in review OR "x OR y"] z`, `any of "z", where (prop.status is draft or prop.status is in ` +
			`review or prop.status is x or y)`, ""},
		{`z -[status:draft OR done]`, `any of "z", where not (prop.status is draft or prop.status is done)`, ""},
		{`[status:draft OR ] z`, `any of "z" or (the phrase "[status:draft" or any of "]")`, ""},
		{`[path:guides/x]`, `everything, where prop.path is guides/x`, ""},
		{`[title:x] [tags:Howto] -[tag:a/b]`, `any of "[title:x]", where (tag is howto and not tag is a/b)`, ""},
		{`[prop.other:x]`, `everything, where prop.other is x`, ""},
		{`status:[[People/Ann.md#Top|A]]`, `everything, where prop.status is ann`, ""},
		{`[status:[[Ann B]]] -status:"[[Bob]]"`, `everything, where (prop.status is ann b and not prop.status is bob)`, ""},
		{`prop.due:>=[[2024-06-03]]`, `everything, where (prop.due is at least 2024-06-03)`, ""},
		{"caf\u00e9:JA [cafe\u0301:e\u0301*]", "everything, where (prop.caf\u00e9 is ja and prop.caf\u00e9 begins " +
			"with \u00e9)", ""},
		{"#cafe\u0301 tag:CAFE\u0301*", "everything, where (tag is caf\u00e9 and tag begins with caf\u00e9)", ""},
		{"path:caf\u00e9.md", "everything, where (folder is caf\u00e9.md or cafe\u0301.md or (path begins with " +
			"caf\u00e9.md or path begins with cafe\u0301.md) or file is caf\u00e9.md or cafe\u0301.md)", ""},
		{"path:caf\u00e9*", "everything, where (path begins with caf\u00e9 or path begins with cafe\u0301)", ""},
		{`[rating:>3] OR [status:draft]`, `everything, where ((prop.rating is after 3) or prop.status is draft)`, ""},
		{`[status] [x] -[x] [nosuch:thing] [status:`, `any of "[status] [x] -[x] [nosuch:thing] [status:"`, ""},
		{`content:zebra`, `the phrase "zebra" in body`, ""},
		{`cow NOT zebra`, `any of "cow NOT zebra"`, `"-" leaves out what`},
		{`cow AND zebra`, `any of "cow AND zebra"`, `"+" requires the word`},
		{`DO NOT ENTER`, `any of "DO NOT ENTER"`, ""},
		{`cow NOT`, `any of "cow NOT"`, ""},
		{`/migr.*n/ x`, `any of "/migr.*n/ x"`, "regular expression"},
		{`/[0-9]+ water/`, `any of "/[0-9]+ water/"`, "regular expression"},
		{`/usr/bin/ /a/b.c?x=1 /docs/`, `any of "/usr/bin/ /a/b.c?x=1 /docs/"`, ""},
		{`"a b"~4 c`, `the phrase "a b", better with any of "c"`, `"~4" behind a phrase was left out`},
		{`(title:"a b"* OR c^2)`, `the phrase "a b" in title or the phrase "c^2"`, `"*" behind a phrase was left out`},
		{`"a b"** "c d"~x "e f"4`, `the phrase "a b" and the phrase "c d" and the phrase "e f", better with any of ` +
			`"** ~x 4"`, ""},
		{`say "hello`, `any of "say hello"`, "not closed"},
		{`befor:2020`, `any of "befor:2020"`, `did you mean "before:"?`},
		{`task:open due:<=2026-04`, `everything, where (prop.task is open and (prop.due is at most ` +
			`2026-04-30T23:59:59Z))`, ""},
		{`task:build due:me`, `any of "task:build due:me"`, `is no field or property`},
		{`ls -la`, `any of "ls", not the phrase "la"`, "an option of a command"},
		{`ls "-la"`, `the phrase "-la", better with any of "ls"`, ""},
		{`next step:call`, `any of "next step:call"`, `did you mean "next-step:"?`},
		{`"next step":call`, `the phrase "next step", better with any of ":call"`, "is written two-words:"},
		{`nosuch:thing`, `any of "nosuch:thing"`, "is no field or property"},
		{`(((`, `any of "((("`, "no letter, digit or emoji"},
		{`a) b`, `any of "a) b"`, "closes nothing"},
		{`OR`, `any of "or"`, "between two alternatives"},
		{`a OR`, `any of "a or"`, "between two alternatives"},
		{`OR a`, `any of "or a"`, "between two alternatives"},
		{`a OR OR b`, `any of "a" or (any of "or" or any of "b")`, "between two alternatives"},
		{`title:note OR`, `the phrase "note" in title, better with any of "or"`, "between two alternatives"},
		{`((a)`, `any of "a"`, "is not closed"},
		{`(create`, `any of "(create"`, "is not closed"},
		{`tag:`, `any of "tag:"`, "has no value"},
		{`title: x`, `any of "title: x"`, "has no value"},
		{`path:"a*/b"`, `everything, where (folder is a*/b or path begins with a*/b)`, ""},
		{`path:a*/b`, `any of "a*/b" in path`, "only at the end of a path"},
		{`#`, `any of "#"`, "no letter, digit or emoji"},
		{`*`, `any of "*"`, "no letter, digit or emoji"},
		{`-`, `any of "-"`, "no letter, digit or emoji"},
		{`a OR tag:b`, `any of "a" or the phrase "b" in tags`, ""},
		{`a OR #b/c OR -tag:d`, `any of "a" or the phrase "b/c" in tags, where (not tag is d)`, "cannot stand between"},
		{`zebra OR -tag:draft`, `any of "zebra", where (not tag is draft)`, "cannot stand between"},
		{`zebra OR (-tag:draft)`, `any of "zebra", where (not tag is draft)`, "cannot stand between"},
		{`zebra OR -(tag:a OR tag:b)`, `any of "zebra", where (not (tag is a or tag is b))`, "cannot stand between"},
		{`zebra OR (tag:a OR -tag:b)`, `any of "zebra", where ((tag is a or not tag is b))`, "cannot stand between"},
		{`undo OR (tag:x)`, `any of "undo" or the phrase "x" in tags`, ""},
		{`cow -(zebra OR tag:barn)`, `any of "cow", not (any of "zebra"), where not (tag is barn)`, ""},
		{`cow -(zebra OR path:barn/ OR "a b" OR status:open)`, `any of "cow", not (any of "zebra" or the phrase "a b"), ` +
			`where not ((folder is barn or path begins with barn/) or prop.status is open)`, ""},
		{`cow -(zebra OR -tag:barn)`, `any of "cow", not (any of "zebra"), where not (not tag is barn)`, ""},
		{`cow -(zebra OR tag:barn calf)`, `any of "cow", not ((any of "zebra" or the phrase "barn" in tags), better with ` +
			`any of "calf")`, ""},
		{`cow -((zebra tag:a) OR tag:barn)`, `any of "cow", not (any of "zebra" or the phrase "barn" in tags), where ` +
			`not (tag is a)`, "cannot stand between"},
		{`cow -(-(zebra OR tag:barn))`, `any of "cow", not (not (any of "zebra" or the phrase "barn" in tags))`, ""},
		{`cow OR -(zebra OR tag:barn)`, `any of "cow" or (any of "zebra" or the phrase "barn" in tags)`,
			`"-" beside OR was left out`},
		{`cow -(zebra OR tag:a) OR calf`, `((any of "zebra" or the phrase "a" in tags) or any of "calf"), better with ` +
			`any of "cow"`, `"-" beside OR was left out`},
		{`cow -(-(zebra OR tag:barn) OR calf)`, `any of "cow", not ((any of "zebra" or the phrase "barn" in tags) or ` +
			`any of "calf")`, `"-" beside OR was left out`},
		{`cow OR (calf -(zebra OR tag:barn))`, `any of "cow" or (any of "calf", not (any of "zebra" or the phrase ` +
			`"barn" in tags))`, ""},
		{`cow (calf -(zebra OR tag:barn))`, `any of "cow calf", not (any of "zebra"), where not (tag is barn)`, ""},
		{`cow -(zebra tag:barn)`, `any of "cow", not any of "zebra", where not tag is barn`, "not only what has both"},
		{`"a b" OR tag:c*`, `the phrase "a b" or words that begin with "c" in tags`, ""},
		{`a OR tag:b/c*`, `any of "a", where (tag begins with b/c)`, "cannot stand between"},
		{`a OR path:guides/git/`, `any of "a" or the phrase "guides/git" in path`, ""},
		{`a OR path:git.md`, `any of "a", where ((folder is git.md or path begins with git.md or file is git.md))`,
			"cannot stand between"},
		{`a OR status:open OR tag:b`, `any of "a" or the phrase "b" in tags, where (prop.status is open)`,
			"cannot stand between"},
		{`(a tag:b) OR c`, `any of "a" or any of "c", where (tag is b)`, "cannot stand between"},
		{`(zebra path:sub/) OR cow`, `any of "zebra" or any of "cow", where ((folder is sub or path begins with sub/))`,
			"cannot stand between"},
		{`(tag:a tag:b) OR c`, `any of "c", where ((tag is a and tag is b))`, "cannot stand between"},
		{`(tag:a OR tag:b) OR c`, `(the phrase "a" in tags or the phrase "b" in tags) or any of "c"`, ""},
		{`(tag:a -tag:b) OR c`, `any of "c", where ((tag is a and not tag is b))`, "cannot stand between"},
		{`tag:a OR -tag:b`, `everything, where (tag is a or not tag is b)`, ""},
		{`""`, `nothing`, "nothing between"},
		{`say~~~`, `any of "say~~~"`, "searched as a word"},
		{`sync~9`, `any of "sync~9"`, "1, 2 or nothing"},
		{`ab*cd`, `any of "ab*cd"`, "a star counts only"},
		{`*cd`, `any of "*cd"`, "a star counts only"},
		{`title:a*d`, `the phrase "a*d" in title`, "a star counts only"},
		{`h?ron`, `any of "h?ron"`, "a question mark replaces no letter"},
		{`a?b=c`, `any of "a?b=c"`, ""},
		{`**so** why?`, `any of "**so** why?"`, ""},
		{`x title:*`, `any of "x", where path begins with `, ""},
		{`heading:*`, `everything, where path begins with `, ""},
		{`x alias:*`, `any of "x"`, `"alias:*" has no letter`},
		{`x alias:""`, `any of "x"`, `"alias:" has no letter`},
		{`~/notes ~ 5 * 3 *bold*`, `any of "~/notes ~ 5 * 3 *bold*"`, ""},
		{`status:>a`, `any of ">a"`, "neither a number nor a date"},
		{`rating:=>3`, `any of "=>3"`, "has a sign that compares nothing"},
		{`rating:=<3`, `any of "=<3"`, "has a sign that compares nothing"},
		{`status:<>done`, `any of "<>done"`, "has a sign that compares nothing"},
		{`status:!=done`, `any of "!=done"`, "has a sign that compares nothing"},
		{`-status:>a b`, `any of "b", not the phrase ">a"`, "neither a number nor a date"},
		{`tag:#`, `any of "#"`, "is no tag"},
		{`#-`, `any of "#-"`, "no letter, digit or emoji"},
		{`🙂`, `any of "🙂"`, ""},
		{"👨\u200d👩\u200d👧 ❤\ufe0f", "any of \"👨\\u200d👩\\u200d👧 ❤\ufe0f\"", ""},
		{`€ §`, `any of "€ §"`, "no letter, digit or emoji"},
		{`Ⓐ`, `any of "Ⓐ"`, ""},
		{`tag:howto*`, `everything, where tag begins with howto`, ""},
		{`-#Howto*`, `everything, where not tag begins with howto`, ""},
		{`tag:*`, `everything, where tag is given`, ""},
		{`ext:*`, `everything, where not ext is `, ""},
		{`tag:how*to`, `any of "how*to"`, "is no tag"},
		{`tag:a,b`, `any of "a,b"`, "is no tag"},
		{`tag:"a,b"`, `everything, where tag is a,b`, ""},
		{`date:>2024-01`, `everything, where date is after 2024-01-31T23:59:59Z`, ""},
		{`date:<=2024`, `everything, where date is at most 2024-12-31T23:59:59Z`, ""},
		{`date:>=2024-02-03 date:<2025`, `everything, where (date is at least 2024-02-03 and date is before 2025-01-01)`, ""},
		{`date:=2024-01`, `everything, where date is from 2024-01-01 to before 2024-02-01`, ""},
		{`date:20240131`, `everything, where date is from 2024-01-31 to before 2024-02-01`, ""},
		{`date:31.1.2024`, `everything, where date is from 2024-01-31 to before 2024-02-01`, ""},
		{`date:<>2024-01`, `any of "<>2024-01"`, "is no date"},
		{`"key with space":v`, `the phrase "key with space", better with any of ":v"`, "not a field"},
		{`foo"bar`, `any of "foo\"bar"`, "begins no phrase"},
		{`   `, `nothing`, ""},
		{`🚀 日本語`, `any of "🚀 日本語"`, ""},
		{`“curly quotes”`, `the phrase "curly quotes"`, ""},
	} {
		q := parse(c.text)
		check.Equal(t, describe(q), c.want, "%s", c.text)
		notes := strings.Join(q.Notes, "; ")
		check.That(t, (notes != "") == (c.note != "") && strings.Contains(notes, c.note),
			"%s: notes %q, want %q", c.text, notes, c.note)
		check.That(t, q.Text == c.text && q.Limit == 5, "%s: text %q, limit %d", c.text, q.Text, q.Limit)
	}
}

// TestBracketsAloneChangeNothing checks that brackets without a sign, outside of OR, change
// nothing.
func TestBracketsAloneChangeNothing(t *testing.T) {
	operands := rapid.SampledFrom([]string{"a", "b", "-c", "+d", `"e f"`, "title:g", "tag:h", "-tag:i", "j*", "k OR l",
		"tag:m OR n", "-(o OR p)", "(q -r) OR s", "+(t -u)"})
	list := func(least int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(operands, least, 4).Draw(t, "operands"), " ")
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		before, inside, behind := list(0).Draw(t, "before"), list(1).Draw(t, "inside"), list(0).Draw(t, "behind")
		with, without := parse(before+" ("+inside+") "+behind), parse(before+" "+inside+" "+behind)
		sameMeaning(t, with, without)
	})
}

// sameMeaning checks that two texts are read as the same query.
func sameMeaning(t *rapid.T, got, want sheaf.Query) {
	text := got.Text
	if got.Text = want.Text; !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n     %s; %q\nnot  %s; %q", text, describe(got), got.Notes, describe(want), want.Notes)
	}
}

// TestBracketsInBrackets checks that brackets around only brackets are read as the inner ones.
func TestBracketsInBrackets(t *testing.T) {
	operands := rapid.SampledFrom([]string{"a", "b", "-c", `"e f"`, "tag:h", "-tag:i", "k OR l", "tag:m OR n",
		"ext:md OR o", "-(o OR p)", "(q OR tag:r)"})
	rapid.Check(t, func(t *rapid.T) {
		inside := strings.Join(rapid.SliceOfN(operands, 1, 3).Draw(t, "operands"), " ")
		sign := rapid.SampledFrom([]string{"", "+", "-"}).Draw(t, "sign")
		twice, once := parse("z "+sign+"(("+inside+"))"), parse("z "+sign+"("+inside+")")
		sameMeaning(t, twice, once)
	})
}

// TestNotesAreBounded checks that a long query full of mistakes is parsed at once, with few notes.
func TestNotesAreBounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("( ", 1<<15), strings.Repeat("tag: ", 1<<13), manyFields(1 << 13),
		strings.Repeat("(a ", 1<<14),
		strings.Repeat("[", 1<<16), strings.Repeat("[a ", 1<<14), strings.Repeat("[status:a ", 1<<12), "[status:a" +
			strings.Repeat(" OR [status:a", 1<<12),
		strings.Repeat(`"`, 1<<16), strings.Repeat(`-"`, 1<<15), strings.Repeat("“", 1<<14),
		strings.Repeat(`title:"b"`, 1<<12), strings.Repeat("[“a ", 1<<13)} {
		start := time.Now()
		q := parse(text)
		if took := time.Since(start); took > 3*time.Second { // milliseconds on an idle machine
			t.Errorf("%v for %.20q", took, text)
		}
		total := 0
		for _, n := range q.Notes {
			total += len(n)
		}
		check.That(t, len(q.Notes) <= 10 && total <= 4000, "%d notes of %d bytes for %.20q", len(q.Notes), total, text)
	}
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%s:x ", strings.Repeat("y", i%90))
	}
	return b.String()
}

// FuzzParse checks that any text gives the same query each time, and loses no word without a note.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`a "b c" -d (e OR #f) title:g after:7d h* i~2`, `((((`, `"`, `x:"y`, "\xff\x00",
		strings.Repeat("(a ", 50) + strings.Repeat(")", 50), "status:>=3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := parse(text)
		a, b := describe(q), describe(parse(text))
		must.That(t, a == b, "%q is read as %s and as %s", text, a, b)
	})
}

// TestSpellings checks that a path filter uses the spelling of the collection.
func TestSpellings(t *testing.T) {
	o := query.Options{Now: now, Spellings: func(written string) []string {
		return map[string][]string{"my folder/": {"My Folder/", "MY folder/"}, "git.md": {"Git.md"}, "gui": {"Gui"}}[written]
	}}
	for text, want := range map[string]string{
		`path:"my folder/"`: "everything, where (folder is my folder or My Folder or MY folder or (path begins with my " +
			"folder/ or path begins with My Folder/ or path begins with MY folder/))",
		`-path:git.md x`: `any of "x", where not (folder is git.md or Git.md or (path begins with git.md or path begins ` +
			`with Git.md) or file is git.md or Git.md)`,
		`path:gui*`:   "everything, where (path begins with gui or path begins with Gui)",
		`path:other/`: "everything, where (folder is other or path begins with other/)",
	} {
		check.Equal(t, describe(query.Parse(text, o)), want, "%s", text)
	}
	asked := 0
	o.Spellings = func(string) []string { asked++; return nil }
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "path:a%d/ path:a0/ ", i)
	}
	q := query.Parse(text.String(), o)
	check.That(t, asked == 16 && len(q.Notes) == 1 && strings.Contains(q.Notes[0], "too many paths"),
		"%d paths asked for, notes %q", asked, q.Notes)
}

// TestNoteOfPropertyNotLookedUp checks that a note names a property beyond the limit of look-ups, also in brackets.
func TestNoteOfPropertyNotLookedUp(t *testing.T) {
	o := query.Options{Look: func(string) (is, known bool) { return false, false }}
	for text, near := range map[string]string{"a:b": `"prop.a:"`, "-[a:b]": `"-[prop.a:"`, `["a":b]`: `"[prop.a:"`} {
		notes := strings.Join(query.Parse(text, o).Notes, "\n")
		check.That(t, strings.Contains(notes, "was not looked up") && strings.Contains(notes, near), "%s: %s", text, notes)
	}
}

// TestNames checks that a query looks up all names that may be properties, once, and no names of fields.
func TestNames(t *testing.T) {
	const text = `a:b A:b title:x [z:y] [c:d][next step:e] -f:"g h" "i:j" prop.k:l (M:n path:o [path:p]) tag:q ` +
		`[tags:r] http://x a:s`
	want := []string{"a", "c", "next step", "f", "m", "path", "http"}
	var got []string
	query.Parse(text, query.Options{Look: func(name string) (is, known bool) {
		got = append(got, name)
		return name == "c", true // else the following brackets would belong to a word
	}})
	for _, name := range want {
		check.That(t, slices.Contains(got, name), "%s is not asked for: %q", name, got)
	}
	slices.Sort(got)
	check.That(t, len(slices.Compact(slices.Clone(got))) >= len(got), "one is asked for twice: %q", got)
	for _, name := range []string{"title", "i", "prop.k", "tag", "tags", "[z"} {
		check.That(t, !slices.Contains(got, name), "%s is asked for: %q", name, got)
	}
}

func ExampleParse() {
	q := query.Parse(`"refresh token" oauth -draft #auth`, query.Options{})
	fmt.Println(describe(q))
	// Output: the phrase "refresh token", better with any of "oauth", not the phrase "draft", where tag is auth
}
