# Shared by the scripts that set a machine up; to be sourced.
#
# need_packages PACKAGE...   installs the Debian packages that are missing, or,
#                            without the rights to, lists them and exits.
# stage TEXT                 announces a stage, with the time passed so far.

started=$(date +%s)

stage() {
  printf '\n== [%3d s] %s\n' $(($(date +%s) - started)) "$*"
}

need_packages() {
  missing=
  for package in "$@"; do
    status=$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)
    [ "$status" = "install ok installed" ] || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "These Debian packages, or what they are called on your system," \
         "are needed:$missing" >&2
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    echo "Packages are missing. Please run this, then start again:" >&2
    echo "  sudo apt-get install$missing" >&2
    exit 1
  fi
  echo "installing:$missing"
  log=${TMPDIR:-/tmp}/runcible-apt.log
  # The lists of packages may be there and current, or not.
  # shellcheck disable=SC2086
  { install_packages $missing ||
    { apt-get update -q -o Acquire::Languages=none >"$log" 2>&1 &&
      install_packages $missing; }; } || {
    cat "$log" >&2
    exit 1
  }
}

# Shows the progress on a terminal.
install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends "$@" >"$log" 2>&1 &
  installer=$!
  while [ -t 1 ] && kill -0 $installer 2>/dev/null; do
    total=$(sed -n 's/.* \([0-9]*\) newly installed.*/\1/p' "$log")
    [ -z "$total" ] || printf '\r%d of %d packages' \
      "$(grep -c '^Setting up' "$log")" "$total"
    sleep 1
  done
  wait $installer || return 1
  [ ! -t 1 ] || printf '\r\033[K'
}

# The packages to build the library and the command.
build_packages="g++ cmake ninja-build pkg-config libuv1-dev libpcre2-dev
  libutf8proc-dev nlohmann-json3-dev libtomlplusplus-dev libcli11-dev
  opencl-c-headers libcurl4-openssl-dev libedit-dev"
