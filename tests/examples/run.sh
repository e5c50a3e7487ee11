#!/bin/sh
# Runs an example as a user would and checks what it prints.
#   tests/examples/run.sh PROGRAM_FOLDER NAME
set -eu
folder=$1
name=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$name: $*" >&2
  cat "$work"/* >&2
  exit 1
}
# run FILE PROGRAM [ARGUMENT...]: its output into FILE, what it notes into notes.
run() {
  file=$work/$1
  shift
  "$folder/$@" >"$file" 2>"$work/notes" || fail "exit status $?"
}

run text "$name"
[ "$(wc -w <"$work/text")" -ge 60 ] || fail "hardly any text"
run prompted "$name" builtin:fable "A fox and"
grep -q '^A fox and' "$work/prompted" || fail "no prompt"
case $name in
  hello)
    run again hello
    cmp "$work/text" "$work/again" || fail "the seed does not hold"
    ;;
  stream_*)
    grep -Eq 'ticked [0-9]+ times' "$work/notes" || fail "no timer"
    run whole hello
    cmp "$work/text" "$work/whole" || fail "not the text of hello"
    ;;
  many_backends)
    grep -q '^== cpu:0, ' "$work/text" || fail "no text of the cpu"
    grep -q '^== reference:0, ' "$work/text" || fail "no text of reference"
    turns=$(sed -n 's/.* in \([0-9]*\) turns$/\1/p' "$work/notes")
    [ "${turns:-0}" -gt 2 ] || fail "one text came after the other"
    ;;
  own_sampler)
    run again own_sampler
    cmp "$work/text" "$work/again" || fail "the seed does not hold"
    ;;
esac

# A failure is told, with what it is about, and is no success.
if "$folder/$name" "$work/none.gguf" >"$work/text" 2>"$work/notes"; then
  fail "no failure without a model"
fi
grep -q 'none\.gguf' "$work/notes" || fail "the failure is not told"
