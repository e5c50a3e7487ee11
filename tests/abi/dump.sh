# The ABI of a library as abidw describes it, without what differs from machine
# to machine. Only types that the public headers declare are described.
dump_abi() {
  abidw --headers-dir "$folder/../../include/runcible" \
    --drop-private-types --no-corpus-path --no-comp-dir-path \
    --no-show-locs --no-elf-needed --type-id-style hash \
    "$1"
}
