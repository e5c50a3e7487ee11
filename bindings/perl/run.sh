#!/bin/sh
# Puts together a CPAN distribution around a Runcible that was built before,
# installs it in a clean place and runs the tests there, without compilers on the
# path.
#
#   bindings/perl/run.sh BUILD_FOLDER
#   bindings/perl/run.sh --packages    prints the Debian packages it needs
#
# Everything is in build/bindings/perl. PERL (perl) is Perl 5.26 or later, with
# its headers, ExtUtils::MakeMaker, Test::More and IO::Async; Future::AsyncAwait is
# tested if it is there.
set -eu
if [ "$1" = --packages ]; then
  command -v make >/dev/null || echo make
  perl -MExtUtils::MakeMaker -MTest::More -e 0 2>/dev/null || echo perl
  perl -MConfig -e 'exit(!-e "$Config{archlibexp}/CORE/perl.h")' ||
    echo libperl-dev
  perl -MIO::Async -e 0 2>/dev/null || echo libio-async-perl
  perl -MFuture::AsyncAwait -e 0 2>/dev/null || echo libfuture-asyncawait-perl
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
perl=$(command -v "${PERL:-perl}")
version=$(sed -n 's/^#define RC_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' \
  "$prefix/include/runcible/base.h" | paste -sd.)

echo "distribution"
name=Runcible-$version
dist=$work/$name
rm -rf "$dist"
mkdir -p "$dist/runtime/lib"
generate perl "$here/lib" "$dist/lib"
sed -i "s/^our .VERSION = .*/our \$VERSION = '$version';/" "$dist/lib/Runcible.pm"
cp -r "$here/Makefile.PL" "$here/README.md" "$here/examples" "$here/t" \
  "$here/../../LICENSE" "$here"/swig/*.h "$shared"/mailbox.[ch] \
  "$shared/own_words.h" "$shared/retry_after.h" "$shared/served.h" "$dist"
"$swig" -perl5 -noproxy -nopm -Wall -Werror -I"$here/swig" -I"$shared" \
  -I"$prefix/include" -o "$dist/native_wrap.c" "$here/swig/native.i"
# Next to the module Runcible is laid out as in any prefix, and finds its files.
cp -r "$prefix/include" "$prefix/libexec" "$prefix/share" "$dist/runtime"
cp "$prefix/lib/$soname" "$dist/runtime/lib"
cp -r "$prefix/lib/runcible" "$dist/runtime/lib"
(cd "$dist" && find . -type f | sed 's,^\./,,' | sort >MANIFEST)
tar -C "$work" -czf "$work/$name.tar.gz" "$name"
echo "$name.tar.gz"

echo "clean place"
clean=$work/clean
rm -rf "$clean" "$work/unpacked"
mkdir -p "$clean/bin" "$work/unpacked"
tar -C "$work/unpacked" -xzf "$work/$name.tar.gz"
(
  cd "$work/unpacked/$name"
  "$perl" Makefile.PL INSTALL_BASE="$clean" && make && make install
) >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }
rm -rf "$work/unpacked"
ln -s "$perl" "$clean/bin/perl"
# Drivers of OpenCL call the linker.
ln -s "$(command -v ld)" "$clean/bin/ld"

echo "tests"
cd /
env -i PATH="$clean/bin" HOME="$work" PERL5LIB="$clean/lib/perl5" \
  RUNCIBLE_CASES="$cases" RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  perl -MTest::Harness -e 'runtests(@ARGV)' "$here"/t/*.t
