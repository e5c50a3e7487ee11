# The SONAME that the version in base.h asks for: see rc_abi_check there.
soname() {
  awk '/^#define RC_VERSION_MAJOR / { major = $3 }
       /^#define RC_VERSION_MINOR / { minor = $3 }
       END { print "libruncible.so." (major > 0 ? major : major "." minor) }' \
    "$folder/../../include/runcible/base.h"
}

# The ABI that the public headers declare, as abidw describes it: for functions
# whose declarations are turned into empty definitions and compiled. So it is
# the same for every build of the library, and holds none of its inner types.
dump_abi() {
  include=$(cd "$folder/../../include" && pwd)
  name=$(soname)
  work=$(mktemp -d)
  {
    for header in "$include"/runcible/*.h; do
      echo "#include \"runcible/$(basename "$header")\""
    done
    # A declaration runs from RC_API at the start of a line to a semicolon.
    awk '/^RC_API/ { on = 1 }
         on && sub(/;/, " { __builtin_trap(); }") { print; on = 0 }
         on' "$include"/runcible/*.h
  } > "$work/abi.c"
  # Compiled where it lies: the dump holds the path as it was given.
  (cd "$work" && "${CC:-cc}" -std=c99 -O0 -g -shared -fPIC -w -I"$include" \
    -Wl,-soname,"$name" -o abi.so abi.c)
  abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
    --no-architecture --type-id-style hash "$work/abi.so"
  rm -r "$work"
}
