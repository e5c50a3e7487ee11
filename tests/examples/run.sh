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

# text_of DEVICE FILE: its part of the output of many_backends.
text_of() {
  awk -v device="$1," '/^== / { on = $2 == device } on' "$2"
}

# No model: the same pictures on every backend.
if [ "$name" = tensors ]; then
  run text tensors reference
  grep -q '####' "$work/text" || fail "no ring"
  run cpu tensors cpu
  cmp "$work/text" "$work/cpu" || fail "cpu draws another picture"
  if "$folder/tensors" none >"$work/text" 2>"$work/notes"; then
    fail "no failure without a backend"
  fi
  grep -q 'none' "$work/notes" || fail "the failure is not told"
  exit 0
fi

# Two questions, with a seed whose answers are long, and what a template that does
# not exist gives.
if [ "$name" = chat ]; then
  printf 'Tell me a fable.\n\nAnd "another" \\ one?\n' >"$work/questions"
  RUNCIBLE_GENERATE_SEED=1 \
    "$folder/chat" builtin:fable zephyr <"$work/questions" >"$work/text" \
    2>"$work/notes" || fail "exit status $?"
  [ "$(wc -w <"$work/text")" -ge 60 ] || fail "hardly any text"
  # Of itself it talks to the model that knows how.
  echo 'Tell me the fox and the well.' | "$folder/chat" >"$work/text" \
    2>"$work/notes" || fail "exit status $?"
  grep -q 'fox.*goat' "$work/text" || fail "not the fable"
  if "$folder/chat" builtin:fable none >"$work/text" 2>"$work/notes"; then
    fail "no failure without a template"
  fi
  grep -q "'none'" "$work/notes" || fail "the failure is not told"
  exit 0
fi

# A sum and the time, by functions of the program.
if [ "$name" = tools_uv ]; then
  run text tools_uv
  grep -q '^add {"a": 17, "b": 25} = 42$' "$work/notes" || fail "no call"
  grep -q '42' "$work/text" || fail "the answer lacks the result"
  run text tools_uv builtin:fabulist "What time is it?"
  grep -q '^get_time {} = [0-2][0-9]:[0-5][0-9]$' "$work/notes" ||
    fail "no call"
  # A model that knows no tools has no template for them.
  if "$folder/tools_uv" builtin:fable >"$work/text" 2>"$work/notes"; then
    fail "no failure without a template"
  fi
  grep -q 'tokenizer.chat_template' "$work/notes" ||
    fail "the failure is not told"
  exit 0
fi

# Three answers that share the prompt, each the one of its seed.
if [ "$name" = answers ]; then
  run text answers builtin:fable "A fox and" 3
  [ "$(grep -c '^== [123]$' "$work/text")" = 3 ] || fail "not three answers"
  [ "$(grep -c '^A fox and' "$work/text")" = 3 ] || fail "no prompt"
  [ "$(sort "$work/text" | uniq -d | grep -c .)" = 0 ] || fail "the same twice"
  grep -q ' once, and 0 again$' "$work/notes" || fail "evaluated again"
  run again answers builtin:fable "A fox and" 3
  cmp "$work/text" "$work/again" || fail "the seeds do not hold"
  exit 0
fi

# Two tenants, each with a request refused, its tokens and its bill.
if [ "$name" = tenants ]; then
  run text tenants
  for tenant in one three; do
    grep -q "^refused: the tenant '$tenant' has 4 requests in flight" \
      "$work/text" || fail "$tenant had no limit"
    grep -q "^{\"tenant\":\"$tenant\",\"currency\":\"USD\"" "$work/text" ||
      fail "$tenant got no bill"
  done
  [ "$(grep -c '^800 tokens in ' "$work/text")" = 2 ] || fail "other tokens"
  exit 0
fi

# Three objects, each of its own seed.
if [ "$name" = schema ]; then
  run text schema
  for member in '"animal":"(fox|crow|goose|mouse)"' '"brave":(true|false)' \
    '"friends":[1-3]'; do
    [ "$(grep -Ec "^\{.*$member.*\}\$" "$work/text")" = 3 ] ||
      fail "not in each of three objects: $member"
  done
  exit 0
fi

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
    # Each device writes what it writes alone.
    for device in $(sed -n 's/^== \([a-z0-9_:]*\), .*/\1/p' "$work/text"); do
      run alone many_backends builtin:fable "" "$device"
      text_of "$device" "$work/text" >"$work/together"
      text_of "$device" "$work/alone" | cmp - "$work/together" ||
        fail "$device is disturbed by the others"
    done
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
