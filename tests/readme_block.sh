# A block of code of a README, for tests that run it as it stands there; to be
# sourced.
#
# readme_block FILE BEFORE FIRST
#             prints the block that begins with the line FIRST, such as ```sh,
#             behind the line BEFORE (any if empty)
readme_block() {
  awk -v before="$2" -v first="$3" '
    on && $0 == "```" { exit }
    on { print; found = 1 }
    $0 == first && (before == "" || last == before) { on = 1 }
    { last = $0 }
    END { exit !found }' "$1" ||
    { echo "$1 has no block $2 $3" >&2; return 1; }
}
