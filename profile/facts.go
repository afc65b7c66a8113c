package profile

import (
	"time"

	"sheaf"
	"sheaf/rank"
)

// nothing implements rank.Facts without any document.
type nothing struct{}

func (nothing) Chunk(sheaf.ID) (sheaf.Chunk, bool)       { return sheaf.Chunk{}, false }
func (nothing) Document(sheaf.ID) (sheaf.Document, bool) { return sheaf.Document{}, false }
func (nothing) Date(sheaf.ID) (sheaf.Dated, bool)        { return sheaf.Dated{}, false }
func (nothing) FolderSize(string, string) int            { return 0 }
func (nothing) Links(sheaf.ID) []sheaf.ID                { return nil }
func (nothing) Backlinks(sheaf.ID) []sheaf.ID            { return nil }

// checkEnv is for testing the settings of stages.
var checkEnv = rank.Env{Facts: nothing{}, Now: time.Unix(0, 0)}
