#!/bin/sh
# Makes the fabulist model from nothing: packages, tokenizer, conversations,
# weights, GGUF, held-out questions. A stopped run goes on where it was.
#
#   examples/chat_model/make.sh [FOLDER [FABULIST.gguf]]
#
# FOLDER (build/fabulist) contains intermediate files; the model is written to
# FABULIST.gguf (FOLDER/fabulist.gguf). See ../model/packages.sh for the
# requirements.
set -eu
cd "$(dirname "$0")"
folder=${1:-../../build/fabulist}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
model=${2:-$folder/fabulist.gguf}

../model/packages.sh "$folder/venv"
python=$folder/venv/bin/python
# The settings of both models. One thread and one order of all sums give the same
# bytes again.
export PYTHONPATH=../model PYTHONHASHSEED=0 OMP_NUM_THREADS=1
echo "== training"
"$python" train.py "$folder"
echo "== $model"
"$python" convert.py "$folder" "$model"
echo "== held-out questions"
"$python" evaluate.py "$model" >"$folder/held_out.json"
cat "$folder/held_out.json"
