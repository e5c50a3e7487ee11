/* Functions for the tests that Lua does not have. forking.run(f): calls f in
 * the child of a fork, which then ends; returns its exit status, or the negated
 * number of the signal. */
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

/* forking.block(...): makes full userdata of F32 numbers. */
static int block(lua_State* L) {
  const int count = lua_gettop(L);
  float* numbers =
      (float*)lua_newuserdatauv(L, (size_t)count * sizeof(float), 0);
  int i;
  for (i = 0; i < count; ++i) numbers[i] = (float)luaL_checknumber(L, i + 1);
  return 1;
}

/* forking.numbers(block): returns the numbers of a block. */
static int numbers(lua_State* L) {
  const float* numbers = (const float*)lua_touserdata(L, 1);
  const int count = (int)(lua_rawlen(L, 1) / sizeof(float));
  int i;
  for (i = 0; i < count; ++i) lua_pushnumber(L, numbers[i]);
  return count;
}

int luaopen_forking(lua_State* L) {
  lua_createtable(L, 0, 3);
  lua_pushcfunction(L, run);
  lua_setfield(L, -2, "run");
  lua_pushcfunction(L, block);
  lua_setfield(L, -2, "block");
  lua_pushcfunction(L, numbers);
  lua_setfield(L, -2, "numbers");
  return 1;
}
