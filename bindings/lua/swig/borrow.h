/* Memory of userdata that tensors borrow; included by the wrapper alone. The
 * library reports the end of a loan on any thread, but only the thread of the
 * Lua state may release its userdata: it does so when a handle is closed, and
 * before the next loan. */
#ifndef RUNCIBLE_LUA_BORROW_H
#define RUNCIBLE_LUA_BORROW_H

#include <lauxlib.h>
#include <lua.h>
#include <runcible/runcible.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
  atomic_int ended;
} runcible_loan;

/* The key of a table in the registry: userdata by the addresses of their loans.
 */
static const char runcible_loans[] = "runcible.loans";

static void runcible_sweep_loans(lua_State* L) {
  if (!lua_checkstack(L, 4)) return;
  if (lua_getfield(L, LUA_REGISTRYINDEX, runcible_loans) != LUA_TTABLE) {
    lua_pop(L, 1);
    return;
  }
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    runcible_loan* loan = (runcible_loan*)lua_touserdata(L, -2);
    lua_pop(L, 1);
    if (!atomic_load(&loan->ended)) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, -4);
    free(loan);
  }
  lua_pop(L, 1);
}

/* An rc_tensor_borrow_callback. */
static void runcible_end_loan(void* user) {
  atomic_store(&((runcible_loan*)user)->ended, 1);
}

/* Borrows the memory of the userdata on top of the stack. */
static rc_status runcible_borrow(lua_State* L, rc_backend* backend,
                                 rc_dtype dtype, const int64_t* shape,
                                 int32_t rank, rc_tensor** tensor) {
  runcible_loan* loan;
  rc_status status;
  runcible_sweep_loans(L);
  luaL_checkstack(L, 4, NULL);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, runcible_loans);
  loan = (runcible_loan*)malloc(sizeof(*loan));
  if (loan == NULL) return RC_E_OUT_OF_MEMORY;
  atomic_init(&loan->ended, 0);
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, loan);
  status = rc_tensor_borrow(backend, dtype, shape, rank, lua_touserdata(L, -2),
                            (size_t)lua_rawlen(L, -2), runcible_end_loan, loan,
                            tensor);
  if (status != RC_OK) {
    lua_pushnil(L);
    lua_rawsetp(L, -2, loan);
    free(loan);
  }
  return status;
}

#endif /* RUNCIBLE_LUA_BORROW_H */
