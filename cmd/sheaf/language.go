package main

import (
	"context"

	"sheaf/analysis"
	"sheaf/ingest"
)

// littleText is the size of a collection, in bytes, up to which a detected
// language is looked at again: a few lines may not tell, and the first note of a
// vault must not decide for all that follow.
const littleText = 16 << 10

// languageOutgrown reports whether the language that was detected from little
// text is another one now. Only what lies in folders can be indexed again.
func (s *session) languageOutgrown(ctx context.Context) bool {
	settings := s.view.Settings()
	if !settings.LanguageDetected || s.config.Language != "auto" || s.view.SourceBytes() > littleText || s.view.Docs() == 0 {
		return false
	}
	for _, t := range settings.Trees {
		if t.Root == "" {
			return false
		}
	}
	now, err := s.detectLanguage(ctx)
	return err == nil && now != "" && now != settings.Language
}

// Bounds of what is read to find out the language of a folder.
const (
	sampleFiles = 40
	sampleBytes = 4 << 10
)

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
	return analysis.Detect(s.walk.Sample(sampleFiles, sampleBytes)), nil
}
