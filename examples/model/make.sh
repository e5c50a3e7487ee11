#!/bin/sh
# Makes the fable model from nothing: packages, tokenizer, training text,
# weights, GGUF, held-out loss. A stopped run goes on where it was.
#
#   examples/model/make.sh [FOLDER [FABLE.gguf]]
#
# FOLDER (build/fable) contains intermediate files; the model is written to
# FABLE.gguf (FOLDER/fable.gguf). See packages.sh for the requirements.
set -eu
cd "$(dirname "$0")"
folder=${1:-../../build/fable}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
model=${2:-$folder/fable.gguf}

./packages.sh "$folder/venv"
python=$folder/venv/bin/python
echo "== training"
"$python" train.py "$folder"
echo "== $model"
"$python" convert.py "$folder" "$model"
echo "== held-out loss"
"$python" evaluate.py "$model" >"$folder/held_out.json"
cat "$folder/held_out.json"
