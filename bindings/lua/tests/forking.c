/* forking.run(f): calls f in the child of a fork, which then ends; the status
 * that it ended with, or the negated number of the signal. */
#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(lua_State* L) {
  int status = 0;
  pid_t child;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  fflush(NULL);
  child = fork();
  if (child < 0) return luaL_error(L, "no fork");
  if (child == 0) {
    const int failed = lua_pcall(L, 0, 0, 0) != LUA_OK;
    if (failed) fprintf(stderr, "%s\n", luaL_tolstring(L, -1, NULL));
    fflush(NULL);
    _exit(failed);
  }
  waitpid(child, &status, 0);
  lua_pushinteger(L,
                  WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  return 1;
}

int luaopen_forking(lua_State* L) {
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, run);
  lua_setfield(L, -2, "run");
  return 1;
}
