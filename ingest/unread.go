package ingest

// unreadPaths are those of a tree of which it is not known what is there, as walked has them.
type unreadPaths map[string]bool

func unreadOf(paths []string) unreadPaths {
	u := make(unreadPaths, len(paths))
	for _, path := range paths {
		u[path] = true
	}
	return u
}

// holds reports whether a file may be there: it, or a folder above it, could not be read.
func (u unreadPaths) holds(path string) bool {
	if len(u) == 0 {
		return false
	}
	for i := range len(path) {
		if path[i] == '/' && u[path[:i+1]] {
			return true
		}
	}
	return u[""] || u[path]
}
