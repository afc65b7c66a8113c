package main

import (
	"context"
	"errors"
	"slices"

	"sheaf/collection"
	"sheaf/index/catalog"
	"sheaf/ingest"
	"sheaf/text/analysis"
)

// languageOutgrown is why the index must be made again when the language that was
// detected from little text is another one now; else nil. Only what lies in folders
// can be indexed again. A server takes no other language before it is emptied, and
// others may search there: there only a person is told.
func (s *session) languageOutgrown(ctx context.Context) error {
	if !s.languageGuessed(s.view) {
		return nil
	}
	now, err := s.detectLanguage(ctx)
	outgrown, little := err == nil && now != "" && now != s.view.Settings().Language,
		s.view.SourceBytes() <= collection.LittleText
	if outgrown && s.target != nil {
		s.notice("the language of the index was guessed from little text and is %q now that there is more: to fill %s "+
			"again: sheaf index --rebuild", now, s.target)
		return nil
	}
	s.settled = err == nil && !little
	if !outgrown {
		return nil
	}
	return errors.New("the language of the index was guessed from little text and is another now that there is more")
}

// languageGuessed reports whether the language of an index was detected from so little text
// that it is to be looked at again, and the index could be made again with another one: all
// that it holds comes from folders that are there.
func (s *session) languageGuessed(view *catalog.View) bool {
	settings := view.Settings()
	little, guessed := view.SourceBytes() <= collection.LittleText, settings.Extra[collection.GuessedKey] != ""
	if !settings.LanguageDetected || s.config.Language != "auto" || !little && !guessed || view.Docs() == 0 {
		return false
	}
	given := func(t catalog.Tree) bool { return t.Root == "" }
	return !slices.ContainsFunc(settings.Trees, given) && foldersExist(s.placed(settings.Trees)) == nil
}

// languageGrows looks after a run of a program that watches whether the language is another
// now that there is more text: then the index is to be opened again, which makes it anew.
func (s *session) languageGrows(ctx context.Context) bool {
	view := s.catalog.View()
	defer view.Close()
	if s.target != nil || s.grown || !s.config.Refresh || !s.languageGuessed(view) {
		return false
	}
	s.grown = view.SourceBytes() > collection.LittleText
	walk, err := ingest.NewWalk(ctx, s.where.Root, s.walkOptions())
	if err != nil {
		return false
	}
	now := analysis.Detect(walk.LanguageSample())
	return now != "" && now != view.Settings().Language
}

// recordLanguage puts what is known of the language into the settings.
func (s *session) recordLanguage(settings *catalog.Settings) {
	if s.settled {
		delete(settings.Extra, collection.GuessedKey)
	}
	if s.view.Settings().Analyzer != "" {
		return
	}
	settings.Language, settings.LanguageDetected = s.language, s.detected
	collection.RecordGuess(settings, s.sampled)
}

// detectLanguage finds out the language of the folder from the beginnings of some
// of its documents; "" when they do not tell. The walk is kept for the run that
// indexes what it found.
func (s *session) detectLanguage(ctx context.Context) (string, error) {
	if s.walk == nil {
		walk, err := ingest.NewWalk(ctx, s.where.Root, s.walkOptions())
		if err != nil {
			return "", err
		}
		s.walk = walk
	}
	sample := s.walk.LanguageSample()
	s.sampled = len(sample)
	return analysis.Detect(sample), nil
}
