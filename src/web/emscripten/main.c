/* LLVM 15 calls a main that has arguments __main_argc_argv; this Emscripten
 * looks for one of its own name. Part of each program with such a main. */
int __main_argc_argv(int argc, char** argv);

int called_by_name(int argc, char** argv) __asm__("main");

int called_by_name(int argc, char** argv) {
  return __main_argc_argv(argc, argv);
}
