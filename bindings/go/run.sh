#!/bin/sh
# Writes the Go module for a Runcible that was built before, and runs its tests.
# Runs its examples as a program of another module.
#
#   bindings/go/run.sh BUILD_FOLDER
#   bindings/go/run.sh --packages    prints the Debian packages it needs
#
# All output is in build/bindings/go.
set -eu
go=$(command -v go || echo /usr/local/go/bin/go)
if [ "$1" = --packages ]; then
  [ -x "$go" ] || echo golang-go
  command -v pkg-config >/dev/null || echo pkg-config
  command -v python3 >/dev/null && python3 -c 'import ensurepip' 2>/dev/null ||
    echo python3-venv
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../prepare.sh"
PATH=$(dirname "$go"):$PATH
export PATH
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
export CGO_LDFLAGS="-Wl,-rpath,$prefix/lib"
# Nothing is downloaded: the module needs no other module.
export GOFLAGS="-mod=mod -buildvcs=false" GOPROXY=off GOTOOLCHAIN=local GOWORK=off

echo "format"
rm -rf "$work/source"
mkdir -p "$work/source/readme"
readme_program >"$work/source/readme/main.go"
unformatted=$(gofmt -l "$here/src" "$here/examples" "$work/source")
[ -z "$unformatted" ] || { echo "gofmt would change $unformatted" >&2; exit 1; }

echo "module"
SWIG=$swig "$here/module.sh" "$work/module"

echo "vet"
cd "$work/module"
go vet .
go vet -unsafeptr=false ./internal/native # SWIG's way to copy text

echo "tests"
RUNCIBLE_CASES=$cases go test -count=1 .
go test -race -count=1 \
  -run 'Generation|Context|Deadline|Clos|Exit|Logits|Goroutine|Collect|Load' .
RUNCIBLE_CASES=$cases RUNCIBLE_CASES_REPORT='' go test -race -count=1 \
  -run 'TestCases/(closed|order|at_once)' .
# Calls that wait must not hold up other goroutines, even with one processor.
GOMAXPROCS=1 go test -count=1 -run 'Generation|Context|Clos|Exit' .
RUNCIBLE_CASES=$cases RUNCIBLE_CASES_REPORT='' GOMAXPROCS=1 go test -count=1 \
  -run 'TestCases/(closed|order|at_once)' .

echo "a module that is fetched"
# Fetched from a proxy that is a folder, by the module's path there.
path=example.org/you/runcible
SWIG=$swig "$here/module.sh" "$work/named" $path
rm -rf "$work/proxy"
python3 "$here/proxy.py" "$work/named" $path v0.1.0 "$work/proxy"
rm -rf "$work/fetching" "$work/cache"
mkdir "$work/fetching"
# A new cache each time: Go assumes that a cached version never changes.
cache=$work/cache/$$
cd "$work/fetching"
sed "s|\"runcible\"|\"$path\"|" "$here/examples/hello/main.go" >main.go
go mod init fetching 2>/dev/null
GOPROXY=file://$work/proxy GONOSUMDB=* GOMODCACHE=$cache GOFLAGS=-modcacherw \
  go get $path@v0.1.0 2>"$work/fetching.log" || { cat "$work/fetching.log" >&2; exit 1; }
GOPROXY=off GOMODCACHE=$cache go build -o "$work/fetched" .
[ -n "$(cd / && "$work/fetched")" ] || { echo "the program wrote nothing" >&2; exit 1; }

echo "examples"
rm -rf "$work/examples"
cp -R "$here/examples" "$work/examples"
cp -R "$work/source/readme" "$work/examples"
cd "$work/examples"
go mod init examples 2>/dev/null
go mod edit -require=runcible@v0.0.0 -replace=runcible="$work/module"
go vet ./...
for example in hello many silugate readme; do
  go build -o "$work/$example" "./$example"
  (cd / && "$work/$example" >"$work/$example.txt")
  [ -s "$work/$example.txt" ] || { echo "$example wrote nothing" >&2; exit 1; }
done
printf '%s\n' -1.5379 0.0000 2.4621 2.8808 | diff - "$work/silugate.txt"
printf '%s\n' 'Who will not let go is held.' 'In it there is a bear and a bee.' |
  diff - "$work/readme.txt"
