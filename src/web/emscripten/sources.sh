#!/bin/sh
# Fetches the sources of Debian packages and unpacks them, with Debian's patches:
#
#   sources.sh FOLDER PACKAGE...    FOLDER/PACKAGE/ for each
#
# Needs neither root nor a `deb-src` line: it uses the mirrors that apt knows, with
# separate lists, against which apt checks the downloads.
set -eu
folder=$1
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d "$folder/fetching.XXXXXX")
trap 'rm -rf "$work"' EXIT

mkdir -p "$work/lists/partial" "$work/sources.list.d" "$work/packages"
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -f "$list" ] || continue
  to=$work/sources.list.d/${list##*/}
  case $list in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$to" ;;
    *.list) sed -n 's/^deb\([[:space:]]\)/deb-src\1/p' "$list" >"$to" ;;
  esac
done

# Asks apt about sources.
of_sources() {
  "$@" -o Dir::Etc::SourceList=/dev/null \
    -o "Dir::Etc::SourceParts=$work/sources.list.d" \
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work" \
    -o APT::Sandbox::User= 2>>"$work/log"
}
failed() {
  cat "$work/log" >&2
  echo "sources.sh: $*" >&2
  exit 1
}
of_sources apt-get -q update >>"$work/log" ||
  failed "the lists of sources cannot be fetched"
cd "$work/packages"
for package in "$@"; do
  # The newest available version: a mirror may not have the source of an update.
  found=
  for version in $(of_sources apt-cache showsrc --only-source "$package" |
    sed -n 's/^Version: //p' | sort -rVu); do
    if of_sources apt-get -q source --download-only "$package=$version" \
      >>"$work/log"; then
      found=${package}_${version#*:}.dsc
      break
    fi
  done
  [ -n "$found" ] || failed "no mirror has the source of $package"
  # apt has checked what dpkg-source would want the keys of maintainers for.
  dpkg-source --no-check -x "$found" "$work/unpacked" >>"$work/log" 2>&1 ||
    failed "$found cannot be unpacked"
  rm -rf "${folder:?}/$package"
  mv "$work/unpacked" "$folder/$package"
done
