package collection

import (
	"context"
	"errors"
	"slices"

	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/text/analysis"
)

// littleText is the size of a collection, in bytes, up to which its language is detected again. A
// few lines may mislead: the first note of a vault must not decide for all later notes.
const littleText = 16 << 10

// guessedKey is the setting that marks a language as detected from little text.
const guessedKey = "language_guessed"

// languageOutgrown returns why the index must be remade: its language was guessed from little text and is now
// another. Only indexes of files are remade. For a server, where others may search, it prints a notice instead.
func (x *Index) languageOutgrown(ctx context.Context) error {
	if !x.languageGuessed(x.View) {
		return nil
	}
	now, err := x.detectLanguage(ctx)
	outgrown, little := err == nil && now != "" && now != x.View.Settings().Language,
		x.View.SourceBytes() <= littleText
	if outgrown && x.Target != nil {
		x.Notice("the language of the index was guessed from little text and is %q now that there is more: to fill %s "+
			"again: sheaf index --rebuild", now, x.Target)
		return nil
	}
	if outgrown && x.losesDocuments(x.View) {
		return nil
	}
	x.settled = err == nil && !little
	if !outgrown {
		return nil
	}
	return errors.New("the language of the index was guessed from little text, and more text shows another")
}

// languageGuessed reports whether the language was detected from little text and the index can be
// remade, which needs all its folders.
func (x *Index) languageGuessed(view *catalog.View) bool {
	settings := view.Settings()
	little, guessed := view.SourceBytes() <= littleText, settings.Extra[guessedKey] != ""
	if !settings.LanguageDetected || x.Making.Language != "auto" || !little && !guessed || view.Docs() == 0 {
		return false
	}
	given := func(t catalog.Tree) bool { return t.Root == "" }
	return !slices.ContainsFunc(settings.Trees, given) && foldersExist(x.placed(settings.Trees)) == nil
}

// LanguageGrows reports, after a run of a watching program, whether more text changed the language.
// Reopening then remakes the index.
func (x *Index) LanguageGrows(ctx context.Context) bool {
	view := x.Catalog.View()
	defer view.Close()
	if x.Target != nil || x.grown || !x.Update || !x.languageGuessed(view) {
		return false
	}
	x.grown = view.SourceBytes() > littleText
	walk, err := ingest.NewWalk(ctx, x.Where.Root, x.Making.Walk)
	if err != nil {
		return false
	}
	now := analysis.Detect(walk.LanguageSample())
	return now != "" && now != view.Settings().Language && !x.losesDocuments(view)
}

// losesDocuments reports whether remaking the index would lose documents, because a file cannot be read now.
func (x *Index) losesDocuments(view *catalog.View) bool {
	return len(unreachable(view, x.placed(view.Settings().Trees))) > 0
}

// recordLanguage writes the language to the settings.
func (x *Index) recordLanguage(settings *catalog.Settings) {
	if x.settled {
		delete(settings.Extra, guessedKey)
	}
	if x.View.Settings().Analyzer != "" {
		return
	}
	settings.Language, settings.LanguageDetected = x.code, x.detected
	if x.detected && x.sampled <= littleText {
		settings.Extra[guessedKey] = "little"
	}
}

// detectLanguage detects the language from the beginnings of some documents, or returns "". It
// keeps its walk for the next indexing run.
func (x *Index) detectLanguage(ctx context.Context) (string, error) {
	if x.walk == nil {
		walk, err := ingest.NewWalk(ctx, x.Where.Root, x.Making.Walk)
		if err != nil {
			return "", err
		}
		x.walk = walk
	}
	sample := x.walk.LanguageSample()
	x.sampled = len(sample)
	return analysis.Detect(sample), nil
}
