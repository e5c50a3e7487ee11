#!/bin/sh
# Builds the gem for a Runcible that was built before, installs it in a clean
# place, without compilers on the path, and runs the tests there.
#
#   bindings/ruby/run.sh BUILD_FOLDER
#   bindings/ruby/run.sh --packages    prints the Debian packages it needs
#
# All output is in build/bindings/ruby. RUBY (ruby) is Ruby 3.1 or later, with its
# headers, RubyGems and minitest.
set -eu
if [ "$1" = --packages ]; then
  command -v make >/dev/null || echo make
  ruby -rmkmf -e 0 2>/dev/null || echo ruby ruby-dev
  ruby -e 'require "minitest"' 2>/dev/null || echo ruby-minitest
  ruby -e 'require "async"' 2>/dev/null || echo ruby-async
  command -v rubocop >/dev/null || echo rubocop
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
ruby=${RUBY:-ruby}

echo "module"
module=$work/module
mkdir -p "$module"
cp -p "$here"/ext/extconf.rb "$here"/swig/*.h "$shared"/mailbox.[ch] \
  "$shared/own_words.h" "$shared/retry_after.h" "$shared/served.h" "$module"
# Classes begin with a capital letter, as Ruby requires (801). No rc_event is
# returned (453): events come from mailboxes.
"$swig" -ruby -c++ -Werror -w801 -w453 -I"$here/swig" -I"$shared" \
  -I"$prefix/include" -o "$module/native_wrap.new" "$here/swig/native.i"
cmp -s "$module/native_wrap.new" "$module/native_wrap.cc" ||
  mv "$module/native_wrap.new" "$module/native_wrap.cc"
(
  cd "$module"
  "$ruby" extconf.rb --with-runcible-dir="$prefix" >extconf.log &&
    make -s V=0
) >"$work/module.log" 2>&1 || { cat "$work/module.log" >&2; exit 1; }

echo "gem"
# Runcible is installed in the gem as in any prefix, and finds its files there.
gem=$work/gem
inside=$gem/lib/runcible
rm -rf "$gem"
mkdir -p "$inside/lib" "$inside/libexec" "$inside/share"
generate ruby "$here/lib" "$gem/lib"
version=$(sed -n 's/^#define RC_VERSION_\(MAJOR\|MINOR\|PATCH\) //p' \
  "$prefix/include/runcible/base.h" | paste -sd.)
printf 'module Runcible\n  VERSION = "%s"\nend\n' "$version" \
  >"$inside/version.rb"
cp -r "$here/examples" "$here/README.md" "$here/runcible.gemspec" \
  "$here/../../LICENSE" "$gem"
cp "$module/native.so" "$inside"
cp "$prefix/lib/$soname" "$inside/lib"
cp -r "$prefix/lib/runcible" "$inside/lib"
cp -r "$prefix/libexec/runcible" "$inside/libexec"
cp -r "$prefix/share/runcible" "$inside/share"
(cd "$gem" && "$ruby" -S gem build -q runcible.gemspec) \
  >"$work/gem.log" 2>&1 || { cat "$work/gem.log" >&2; exit 1; }
# The name of the file is the one that RubyGems chose: it has version and
# platform.
rm -f "$work"/*.gem
mv "$gem"/runcible-*.gem "$work"
made=$(echo "$work"/runcible-*.gem)
echo "$made"
# The README names the file to install.
named=$(sed -n 's|^ *gem install ||p' "$here/README.md")
case $named in
  "build/bindings/ruby/runcible-$version-"*.gem) ;;
  *)
    echo "README.md installs $named, made was $made" >&2
    exit 1
    ;;
esac

echo "rubocop"
rubocop -c "$here/.rubocop.yml" --cache false --format quiet "$gem" \
  "$here/tests" "$here/examples"

echo "clean place"
clean=$work/clean
rm -rf "$clean"
mkdir -p "$clean/bin"
ln -s "$(command -v "$ruby")" "$clean/bin/ruby"
ln -s "$(command -v gem)" "$clean/bin/gem"
# Drivers of OpenCL call the linker.
ln -s "$(command -v ld)" "$clean/bin/ld"
env -i PATH="$clean/bin" HOME="$work" GEM_HOME="$clean/gems" \
  ruby -S gem install --local --no-document "$made" \
  >>"$work/gem.log"

echo "tests"
cd /
for test in "$here"/tests/test_*.rb; do
  env -i PATH="$clean/bin" HOME="$work" GEM_HOME="$clean/gems" \
    RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
    ruby -w "$test"
done
