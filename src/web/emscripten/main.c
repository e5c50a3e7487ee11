/* LLVM 15 names a main with arguments __main_argc_argv; this Emscripten looks
 * for the name main. Part of each program with such a main. */
int __main_argc_argv(int argc, char** argv);

int called_by_name(int argc, char** argv) __asm__("main");

int called_by_name(int argc, char** argv) {
  return __main_argc_argv(argc, argv);
}
