#!/bin/sh
# Builds the jar around a Runcible that was built before, and runs its tests
# with nothing else on the class path.
#
#   bindings/java/run.sh BUILD_FOLDER
#   bindings/java/run.sh --packages    prints the Debian packages it needs
#
# Everything is in build/bindings/java; the jar is runcible.jar there. The JDK
# is that of JAVA_HOME or of the javac on the path, of Java 17 or later.
set -eu
if [ "$1" = --packages ]; then
  command -v javac >/dev/null || echo openjdk-17-jdk-headless
  command -v curl >/dev/null || echo curl ca-certificates
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
include=$(cd "$here/../../include" && pwd)
home=${JAVA_HOME:-$(javac -J-XshowSettings:properties -version 2>&1 |
  sed -n 's/^ *java.home = //p')}
PATH=$home/bin:$PATH

# Jars that only the tests need, from Maven Central, kept once they are here.
fetch() { # path on Maven Central, SHA-256
  jar=$work/$(basename "$1")
  if ! printf '%s  %s\n' "$2" "$jar" | sha256sum -c --status 2>/dev/null; then
    echo "$(basename "$1")"
    curl -sSf -o "$jar" "https://repo1.maven.org/maven2/$1"
    printf '%s  %s\n' "$2" "$jar" | sha256sum -c --quiet
  fi
}
console=junit-platform-console-standalone
fetch org/junit/platform/$console/1.11.4/$console-1.11.4.jar \
  b016ef6b1c3454d6d7c2c88ce081dabf289699686af6622d6e4e2e1b54b4a2fc
junit=$jar
fetch com/google/code/gson/gson/2.11.0/gson-2.11.0.jar \
  57928d6e5a6edeb2abd3770a8f95ba44dce45f3b23b7a9dc2b309c581552a78b
gson=$jar

echo "native libraries"
rm -rf "$work/source" "$work/classes" "$work/jar" "$work/tests"
mkdir -p "$work/source/runcible" "$work/classes" "$work/jar" "$work/tests"
"$swig" -java -c++ -Wall -Werror -package runcible -I"$here/swig" -I"$shared" \
  -I"$include" -outdir "$work/source/runcible" -o "$work/native_wrap.cxx" \
  "$here/swig/native.i"
# SWIG has no setting that makes the interface private to the package.
sed -i 's/^public interface NativeConstants/interface NativeConstants/' \
  "$work/source/runcible/NativeConstants.java"
property() { # name
  java -XshowSettings:properties -version 2>&1 | sed -n "s/^ *$1 = //p" |
    tr '[:upper:]' '[:lower:]'
}
# Within the jar; see Library.java.
native=$work/jar/runcible/native/$(property os.name)-$(property os.arch)
runcible_into "$native"
${CC:-cc} -c -O2 -fPIC -Wall -Wextra -fvisibility=hidden -I"$include" \
  "$shared/mailbox.c" -o "$work/mailbox.o"
${CXX:-c++} -shared -std=c++17 -O2 -fPIC -Wall -Wextra -fvisibility=hidden \
  -fno-strict-aliasing -I"$include" -I"$shared" -I"$here/swig" \
  -I"$home/include" -I"$home/include/linux" \
  "$work/native_wrap.cxx" "$work/mailbox.o" "$native/lib/$soname" \
  -o "$native/lib/librunciblejava.so"
find "$native/lib" -name '*.so*' -exec strip {} +
(
  cd "$native"
  ls lib/libuv.* lib/libpcre2* lib/libutf8proc.* 2>/dev/null || true
  echo "lib/$soname"
  echo lib/librunciblejava.so
) >"$work/load"
mv "$work/load" "$native/load"
(
  cd "$native"
  find . -type f ! -name load | sed 's/^..//' | sort
  # The last: what is unpacked is whole once it is there.
  echo load
  find . -type f | sort | xargs sha256sum | sha256sum | cut -c1-16
) >"$work/files"
mv "$work/files" "$native/files"

echo "jar"
generate java "$here/src" "$work/source"
# Not all warnings: later compilers know more of them.
lint=cast,deprecation,fallthrough,finally,overrides,rawtypes,removal,serial
javac --release 17 -Xlint:$lint,static,try,unchecked,varargs -Werror \
  -d "$work/classes" \
  $(find "$work/source" -name '*.java')
jar --create --file "$work/runcible.jar" -C "$work/classes" . -C "$work/jar" .
javadoc -quiet -Xdoclint:all,-missing -d "$work/doc" \
  -sourcepath "$work/source" --module-path "$work" -public \
  "$work"/source/module-info.java "$work"/source/runcible/*.java
ls "$work/runcible.jar"

echo "tests"
javac --release 17 -Xlint:$lint,static,unchecked,varargs -Werror \
  -d "$work/tests" \
  -cp "$work/runcible.jar:$junit:$gson" $(find "$here/tests" -name '*.java')
# The home folder is empty, as on a machine that never ran Runcible.
rm -rf "$work/home"
mkdir "$work/home"
cd /
env -i PATH=/usr/bin:/bin HOME="$work/home" RUNCIBLE_CASES="$cases" \
  RUNCIBLE_CASES_REPORT="$RUNCIBLE_CASES_REPORT" \
  RUNCIBLE_CUSTOM_OP="$RUNCIBLE_CUSTOM_OP" \
  HF_ENDPOINT="$HF_ENDPOINT" HF_HOME="$HF_HOME" \
  RUNCIBLE_JAVA="$home/bin/java" RUNCIBLE_EXAMPLES="$here/examples" \
  "$home/bin/java" -Duser.home="$work/home" -Xcheck:jni -Xmx512m \
  -cp "$work/runcible.jar:$junit:$gson:$work/tests" \
  org.junit.platform.console.ConsoleLauncher execute --disable-banner \
  --disable-ansi-colors --fail-if-no-tests --details=verbose \
  --scan-classpath="$work/tests" >"$work/tests.log" 2>&1 ||
  { cat "$work/tests.log" >&2; exit 1; }
# Fails if -Xcheck:jni reports a fault of the wrapper.
if grep -A 5 -E 'in native method|FATAL ERROR' "$work/tests.log" >&2; then
  exit 1
fi
grep -E 'tests (successful|failed|skipped)' "$work/tests.log"
