#!/bin/sh
# Does what README.md and docs/install.md say, word for word, on a Debian 12 that has nothing but
# its smallest set of packages and sudo: as a user whom sudo obeys, from the
# quickstart to the first program. Needs root and the network.
#   tests/install/fresh_root.sh
#
# DEBIAN_MIRROR, if it is set, is where packages come from.
set -eu
if [ "${1-}" != inside ]; then
  # What is mounted is seen here alone, and gone at the end.
  exec unshare --mount --propagation private -- "$0" inside
fi
. "$(dirname "$0")/readme.sh"
work=$(mktemp -d)
fresh=$work/root
leave() {
  umount "$fresh/proc" 2>/dev/null || true
  # Nothing of the machine must lie below what is removed.
  grep -q " $fresh/" /proc/self/mounts || rm -rf "$work"
}
trap leave EXIT

echo "a fresh Debian"
# shellcheck disable=SC2086
debootstrap --variant=minbase --include=sudo bookworm "$fresh" \
  ${DEBIAN_MIRROR-} >"$work/log" 2>&1 ||
  { cat "$work/log" >&2; exit 1; }
cp /etc/resolv.conf "$fresh/etc/resolv.conf"
mount -t proc proc "$fresh/proc"
chroot "$fresh" useradd --create-home --shell /bin/sh newcomer
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >"$fresh/etc/sudoers.d/newcomer"
tree_into "$fresh/home/newcomer/runcible"
mkdir "$fresh/home/newcomer/program"
readme_program >"$fresh/home/newcomer/program/hello.c"
chroot "$fresh" chown -R newcomer: /home/newcomer

run() { # name of a block, folder
  echo "the documentation: $1"
  { echo "set -ex; cd $2" && readme_commands "$1"; } |
    chroot "$fresh" su - newcomer -c 'sh -s' </dev/stdin
}

# Without root the quickstart says what to install: that is done first here.
chroot "$fresh" apt-get update -q
if run quickstart runcible 2>"$work/said"; then
  echo "the quickstart missed no packages on a fresh Debian" >&2
  exit 1
fi
cat "$work/said"
sed -n 's/^ *sudo apt-get install/sudo apt-get install -y/p' "$work/said" \
  >"$work/packages"
grep -q g++ "$work/packages"
chroot "$fresh" su - newcomer -c 'sh -s' <"$work/packages"
run quickstart runcible
run install runcible
run program program
run static program
# At any place, as the user who has just logged in.
chroot "$fresh" su - newcomer -c 'cd / && runcible devices && ~/program/hello'
echo "what the documentation says works on a fresh Debian"
