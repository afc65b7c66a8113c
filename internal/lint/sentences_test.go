package lint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"sheaf/internal/must"
)

// longestSentence is the largest number of words in a sentence of a comment.
const longestSentence = 20

var (
	// source matches the source of an idea in parentheses. Its words do not count.
	source = regexp.MustCompile(`\([^()]*\b(18|19|20)\d\d\b[^()]*\)`)
	// sentenceEnd matches the white space after a sentence.
	sentenceEnd = regexp.MustCompile(`([.?!]\)?)\s+`)
	// spokenWord matches a word that has a letter or a digit.
	spokenWord = regexp.MustCompile(`\S*[\pL\pN_]\S*`)
	// listItem matches the beginning of an item in a list.
	listItem = regexp.MustCompile(`^\s*([-*]|\d+\.) `)
)

// TestSentences checks that the sentences of comments are short. Indented lines do not count: code, tables, formulas.
func TestSentences(t *testing.T) {
	for name, content := range goFiles(t) {
		fset := token.NewFileSet()
		file := must.Get(parser.ParseFile(fset, name, content, parser.ParseComments|parser.SkipObjectResolution))
		for _, group := range file.Comments {
			for _, s := range longSentences(group) {
				t.Errorf("%s: a sentence has more than %d words: %s", fset.Position(group.Pos()), longestSentence, s)
			}
		}
	}
}

// longSentences returns the sentences of a comment that are too long.
func longSentences(group *ast.CommentGroup) (long []string) {
	text := group.Text()
	if strings.HasPrefix(text, "Output:") {
		return nil
	}
	var paragraph []string
	end := func() {
		text := source.ReplaceAllString(strings.Join(paragraph, " "), "")
		for s := range strings.SplitSeq(sentenceEnd.ReplaceAllString(text, "$1\n"), "\n") {
			if len(spokenWord.FindAllString(s, -1)) > longestSentence {
				long = append(long, s)
			}
		}
		paragraph = nil
	}
	for line := range strings.Lines(text) {
		indented := strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ")
		if indented || strings.TrimSpace(line) == "" || listItem.MatchString(line) {
			end()
		}
		if !indented {
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	end()
	return long
}
