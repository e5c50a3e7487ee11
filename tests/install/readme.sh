# The commands of README.md and docs/install.md, for tests that run them as they
# stand there; to be sourced.
#
# readme_commands NAME   those of the block behind <!-- tests/install: NAME -->
# readme_program         the first program
# tree_into FOLDER       a copy of the sources, as a clone would be
root=$(cd "$(dirname "$0")/../.." && pwd)

. "$root/tests/readme_block.sh"

readme_commands() {
  page=$root/docs/install.md
  [ "$1" != quickstart ] || page=$root/README.md
  readme_block "$page" "<!-- tests/install: $1 -->" '```sh'
}

readme_program() {
  readme_block "$root/README.md" "" '```c'
}

tree_into() {
  mkdir -p "$1"
  (
    cd "$root"
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
      # Also what is not yet committed, but not what has been deleted.
      git ls-files -z --cached --others --exclude-standard |
        xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' -
    else
      find . -path ./build -prune -o -type f -print0
    fi | tar -c --null -T -
  ) | tar -x -C "$1"
}
