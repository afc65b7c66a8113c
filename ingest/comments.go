package ingest

import (
	"sheaf"
	"sheaf/index/catalog"
	"sheaf/text/chunk"
)

// Settings say under commentsKey that an index was read without comments.
const (
	commentsKey    = "comments"
	commentsHidden = "hidden"
)

// CommentsExtra is what the settings of an index say of comments beside what they say else.
func CommentsExtra(hidden bool) map[string]string {
	if !hidden {
		return nil
	}
	return map[string]string{commentsKey: commentsHidden}
}

// HidesComments reports whether documents are read without their comments.
func HidesComments(view *catalog.View) bool {
	return view.Settings().Extra[commentsKey] == commentsHidden
}

// Shown is the text of a document as it is searched: without comments where the index hides
// them. Bytes keep their places. Errors are those of the catalog.
func Shown(view *catalog.View, doc sheaf.ID) ([]byte, error) {
	text, err := view.Text(doc)
	if err != nil || !HidesComments(view) {
		return text, err
	}
	return chunk.WithoutComments(doc.Path(), text), nil
}

// hidesComments is what the options say now.
func (o *Options) hidesComments() bool { return o.HideComments != nil && o.HideComments() }
