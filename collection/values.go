package collection

// MaxValues is the most values and names that a parser finds in a JSON text, its
// brackets and commas counted: no fewer than there are, also when the text is none.
func MaxValues(text []byte) int64 {
	n := int64(1)
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',', ':', '[', '{':
			n++
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}
