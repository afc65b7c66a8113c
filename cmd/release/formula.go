package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// makeFormula writes a Homebrew formula for the archives of sums. Without a url
// they are taken from the folder of the formula.
func makeFormula(src source, sums map[target]string, url, name string) error {
	if url == "" {
		url = "file://#{__dir__}"
	}
	var b strings.Builder
	b.WriteString("class Sheaf < Formula\n  desc \"Hybrid search engine for documents\"\n")
	if src.home != "" {
		fmt.Fprintf(&b, "  homepage %q\n", src.home)
	}
	fmt.Fprintf(&b, "  version %q\n  license \"Apache-2.0\"\n", src.version)
	for _, system := range []struct{ on, os string }{{"on_macos", "darwin"}, {"on_linux", "linux"}} {
		fmt.Fprintf(&b, "\n  %s do\n", system.on)
		for _, cpu := range []struct{ on, arch string }{{"on_arm", "arm64"}, {"on_intel", "amd64"}} {
			if sum := sums[target{system.os, cpu.arch}]; sum != "" {
				fmt.Fprintf(&b, "    %s do\n      url \"%s/sheaf-%s-%s-%s.tar.gz\"\n      sha256 %q\n    end\n", cpu.on,
					strings.TrimRight(url, "/"), src.version, system.os, cpu.arch, sum)
			}
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "sheaf"
    man1.install Dir["man/man1/*.1"]
    doc.install Dir["doc/*"]
    bash_completion.install "completions/sheaf.bash" => "sheaf"
    zsh_completion.install "completions/_sheaf"
    fish_completion.install "completions/sheaf.fish"
  end

  test do
    (testpath/"git.md").write "# Undo a commit\n\nUse reset.\n"
    assert_match "git.md", shell_output("#{bin}/sheaf search undo")
  end
end
`)
	return os.WriteFile(name, []byte(b.String()), 0o644)
}

// containerfile makes an image of nothing but the program and an empty folder for
// its data, which belongs to the user it runs as.
const containerfile = `# Build in this folder: podman build -t sheaf:%[1]s .    (or docker build -f Containerfile; --platform linux/arm64 for such a machine)
# Run:  podman run --rm -v ~/notes:/notes:ro -v sheaf-data:/data sheaf:%[1]s search undo
# HTTP: podman run --rm -p 127.0.0.1:7333:7333 -v ~/notes:/notes:ro -v sheaf-data:/data sheaf:%[1]s serve --addr 0.0.0.0:7333
#       (needs a key, made with "key add NAME" on the same volume)
FROM scratch
ARG TARGETARCH
LABEL org.opencontainers.image.title="sheaf" org.opencontainers.image.version="%[1]s" org.opencontainers.image.revision="%[2]s" org.opencontainers.image.licenses="Apache-2.0"
COPY --chown=65532:65532 container/data /data
COPY bin/linux_${TARGETARCH:-amd64}/sheaf /sheaf
USER 65532:65532
ENV HOME=/data XDG_DATA_HOME=/data XDG_CONFIG_HOME=/data/config XDG_STATE_HOME=/data/state XDG_CACHE_HOME=/data/cache TMPDIR=/data
VOLUME /data
WORKDIR /notes
EXPOSE 7333
ENTRYPOINT ["/sheaf"]
CMD ["help"]
`

func makeContainer(src source, dir string) error {
	text := fmt.Sprintf(containerfile, src.version, src.commit)
	if src.home != "" {
		text += fmt.Sprintf("LABEL org.opencontainers.image.source=%q\n", src.home)
	}
	data := filepath.Join(dir, "container", "data")
	return errors.Join(os.MkdirAll(data, 0o755), os.WriteFile(filepath.Join(data, ".keep"), nil, 0o644),
		os.WriteFile(filepath.Join(dir, "Containerfile"), []byte(text), 0o644))
}
