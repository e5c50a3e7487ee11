/* Part of each program of these tests: gives the library the module of the
 * level `relaxed`, which RUNCIBLE_RELAXED names, as a page does before it opens
 * a backend. */
#include <stdio.h>
#include <stdlib.h>

void rc_web_relaxed(const unsigned char* module, size_t size);

static void fail(const char* what, const char* path) {
  fprintf(stderr, "RUNCIBLE_RELAXED: %s %s\n", what, path);
  exit(EXIT_FAILURE);
}

__attribute__((constructor)) static void give(void) {
  const char* path = getenv("RUNCIBLE_RELAXED");
  FILE* file;
  long size;
  unsigned char* module;
  if (path == NULL || *path == '\0') return;
  file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("there is no", path);
  size = ftell(file);
  module = malloc((size_t)size);
  rewind(file);
  if (module == NULL || fread(module, 1, (size_t)size, file) != (size_t)size) {
    fail("cannot read", path);
  }
  fclose(file);
  rc_web_relaxed(module, (size_t)size);
}
