package collection

import (
	"context"
	"errors"
	"slices"

	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/text/analysis"
)

// littleText is the largest size of a collection, in bytes, at which each update detects the language again. So the
// first few notes do not determine the language of all later notes.
const littleText = 16 << 10

// guessedKey is the setting that records that the language was detected from little text.
const guessedKey = "language_guessed"

// languageOutgrown returns an error that is a reason to remake the index, or nil. The reason is that the language was
// detected from little text, and more text now shows another language. If a server stores the chunks, languageOutgrown
// only prints a notice and returns nil.
func (x *Index) languageOutgrown(ctx context.Context) error {
	if !x.languageGuessed(x.View) {
		return nil
	}
	now, err := x.detectLanguage(ctx)
	much := x.View.SourceBytes() > littleText
	switch {
	case err != nil || now == "" || now == x.View.Settings().Language:
		x.settled = err == nil && much
		return nil
	case x.Target != nil:
		x.Notice("the language of the index was guessed from little text and is %q now that there is more: to fill %s "+
			"again: sheaf index --rebuild", now, x.Target)
		return nil
	case x.losesDocuments(x.View):
		return nil
	}
	x.settled = much
	return errors.New("the language of the index was guessed from little text, and more text shows another")
}

// languageGuessed reports whether the language was detected from little text and can still change. It cannot change
// while a folder is missing, because a change remakes the index from all folders.
func (x *Index) languageGuessed(view *catalog.View) bool {
	settings := view.Settings()
	little, guessed := view.SourceBytes() <= littleText, settings.Extra[guessedKey] != ""
	if !settings.LanguageDetected || x.Making.Language != "auto" || !little && !guessed || view.Docs() == 0 {
		return false
	}
	given := func(t catalog.Tree) bool { return t.Root == "" }
	return !slices.ContainsFunc(settings.Trees, given) && foldersExist(x.currentTrees(settings.Trees)) == nil
}

// languageGrows reports whether the text of the index now shows another language than the recorded one. If it returns
// true, reopen the index: Open then remakes it.
func (x *Index) languageGrows(ctx context.Context) bool {
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

// losesDocuments reports whether remaking the index would lose documents because their files cannot be read now.
func (x *Index) losesDocuments(view *catalog.View) bool {
	return len(unreachable(view, x.currentTrees(view.Settings().Trees))) > 0
}

// detectLanguage detects the language from the beginnings of some documents. If it detects none, it returns "". The
// next indexing run uses the same walk of the folder.
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
