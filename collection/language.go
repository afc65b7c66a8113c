package collection

import "sheaf/index/catalog"

// LittleText is the size of a collection, in bytes, up to which a detected language is looked at again: a few lines
// may not tell, and the first note of a vault must not decide for all that follow.
const LittleText = 16 << 10

// GuessedKey is the name in the settings that says that the language was detected from little text.
const GuessedKey = "language_guessed"

// RecordGuess notes in the settings of a new index that its language was detected from little text.
func RecordGuess(settings *catalog.Settings, sample int) {
	if settings.LanguageDetected && sample <= LittleText {
		settings.Extra[GuessedKey] = "little"
	}
}
