#!/bin/sh
# Installs the Python packages that make the models into a separate folder.
#
#   examples/model/packages.sh FOLDER
#
# PYTHON (python3) is Python 3.10 or later, with its venv module (python3-venv
# in Debian).
set -eu
[ ! -f "$1/installed" ] || exit 0
echo "== Python packages"
"${PYTHON:-python3}" -m venv "$1"
"$1/bin/pip" install -q -r "$(dirname "$0")/requirements.txt"
touch "$1/installed"
