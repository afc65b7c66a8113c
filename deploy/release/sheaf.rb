class Sheaf < Formula
  desc "Hybrid search engine for documents"
  homepage "@HOME@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL@/sheaf-@VERSION@-darwin-arm64.tar.gz"
      sha256 "@darwin-arm64@"
    end
    on_intel do
      url "@URL@/sheaf-@VERSION@-darwin-amd64.tar.gz"
      sha256 "@darwin-amd64@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/sheaf-@VERSION@-linux-arm64.tar.gz"
      sha256 "@linux-arm64@"
    end
    on_intel do
      url "@URL@/sheaf-@VERSION@-linux-amd64.tar.gz"
      sha256 "@linux-amd64@"
    end
  end

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
