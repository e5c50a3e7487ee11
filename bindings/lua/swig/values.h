/* Conversions between values of C and of Lua; included by the wrapper alone.
 * Functions named *_in return 0 with a message on the stack if a value does not
 * fit. */
#ifndef RUNCIBLE_LUA_VALUES_H
#define RUNCIBLE_LUA_VALUES_H

#include <lauxlib.h>
#include <lua.h>
#include <runcible/runcible.h>
#include <stdint.h>
#include <string.h>

#include "mailbox.h"
#define RUNCIBLE_ONE_PROMPT
#include "own_words.h"
#include "retry_after.h"
#include "system_errors.h"

/* Pushes the error of a status, made by runcible.errors. */
static void runcible_push_error(lua_State* L, rc_status status,
                                const char* message) {
  const int number = runcible_system_error(status, message);
  const int64_t retry_after = runcible_retry_after(status);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushstring(L, message);
  if (lua_getfield(L, -2, "runcible.errors") != LUA_TTABLE) {
    lua_pop(L, 1); /* the module was not loaded: the message is the error */
    return;
  }
  lua_getfield(L, -1, "of_status");
  lua_pushinteger(L, status);
  lua_pushvalue(L, -4);
  if (number != 0) {
    lua_pushinteger(L, number);
  } else {
    lua_pushnil(L);
  }
  if (retry_after >= 0) {
    lua_pushnumber(L, (lua_Number)retry_after / 1000);
  } else {
    lua_pushnil(L);
  }
  lua_call(L, 4, 1);
}

static int runcible_whole_in(lua_State* L, int index, const char* name,
                             int64_t least, int64_t most, lua_Integer* number) {
  int is_whole = 0;
  *number = 0;
  if (lua_type(L, index) == LUA_TNUMBER) {
    *number = lua_tointegerx(L, index, &is_whole);
  }
  if (!is_whole) {
    lua_pushfstring(L, "%s must be a whole number, not %s", name,
                    luaL_tolstring(L, index, NULL));
    return 0;
  }
  if (*number < least || *number > most) {
    lua_pushfstring(L, "%s must be from %I to %I, not %I", name,
                    (LUAI_UACINT)least, (LUAI_UACINT)most,
                    (LUAI_UACINT)*number);
    return 0;
  }
  return 1;
}

static int runcible_bytes_in(lua_State* L, int index, const char* name,
                             const char** text, size_t* length) {
  if (lua_type(L, index) != LUA_TSTRING) {
    lua_pushfstring(L, "%s must be a string, not %s", name,
                    luaL_typename(L, index));
    return 0;
  }
  *text = lua_tolstring(L, index, length);
  return 1;
}

/* Converts a string; nil becomes NULL. */
static int runcible_name_in(lua_State* L, int index, const char* name,
                            const char** text) {
  size_t length = 0;
  *text = NULL;
  if (lua_isnoneornil(L, index)) return 1;
  if (!runcible_bytes_in(L, index, name, text, &length)) return 0;
  if (strlen(*text) == length) return 1;
  lua_pushfstring(L, "%s must not hold a NUL character", name);
  return 0;
}

/* Copies the numbers of a table to userdata, which is left on the stack. */
static int runcible_tokens_in(lua_State* L, int index, const char* name,
                              const int32_t** tokens, size_t* count) {
  int32_t* copy;
  size_t i;
  if (lua_type(L, index) != LUA_TTABLE) {
    lua_pushfstring(L, "%s must be a table, not %s", name,
                    luaL_typename(L, index));
    return 0;
  }
  *count = (size_t)lua_rawlen(L, index);
  copy = (int32_t*)lua_newuserdatauv(L, *count * sizeof(int32_t), 0);
  for (i = 0; i < *count; ++i) {
    lua_Integer number;
    lua_rawgeti(L, index, (lua_Integer)i + 1);
    if (!runcible_whole_in(L, lua_gettop(L), name, INT32_MIN, INT32_MAX,
                           &number)) {
      return 0;
    }
    lua_pop(L, 1);
    copy[i] = (int32_t)number;
  }
  *tokens = copy;
  return 1;
}

static void runcible_push_tokens(lua_State* L, const int32_t* tokens,
                                 size_t count) {
  size_t i;
  lua_createtable(L, (int)count, 0);
  for (i = 0; i < count; ++i) {
    lua_pushinteger(L, tokens[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static int runcible_shape_in(lua_State* L, int index, const char* name,
                             int64_t* shape, int32_t* rank) {
  size_t size, i;
  if (lua_type(L, index) != LUA_TTABLE) {
    lua_pushfstring(L, "%s must be a table, not %s", name,
                    luaL_typename(L, index));
    return 0;
  }
  size = (size_t)lua_rawlen(L, index);
  if (size > RC_TENSOR_MAX_RANK) {
    lua_pushfstring(L, "%s has %I dimensions, at most %d are known", name,
                    (LUAI_UACINT)size, RC_TENSOR_MAX_RANK);
    return 0;
  }
  for (i = 0; i < size; ++i) {
    lua_Integer number;
    lua_rawgeti(L, index, (lua_Integer)i + 1);
    if (!runcible_whole_in(L, lua_gettop(L), name, INT64_MIN, INT64_MAX,
                           &number)) {
      return 0;
    }
    lua_pop(L, 1);
    shape[i] = number;
  }
  *rank = (int32_t)size;
  return 1;
}

static void runcible_push_shape(lua_State* L, const int64_t* shape,
                                int32_t rank) {
  int32_t i;
  lua_createtable(L, rank, 0);
  for (i = 0; i < rank; ++i) {
    lua_pushinteger(L, shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

static void runcible_set_integer(lua_State* L, const char* name,
                                 int64_t number) {
  lua_pushinteger(L, number);
  lua_setfield(L, -2, name);
}

static void runcible_push_logprobs(lua_State* L, const int32_t* tokens,
                                   const float* logprobs, size_t count) {
  size_t i;
  lua_createtable(L, (int)count, 0);
  for (i = 0; i < count; ++i) {
    lua_createtable(L, 0, 2);
    runcible_set_integer(L, "token", tokens[i]);
    lua_pushnumber(L, logprobs[i]);
    lua_setfield(L, -2, "logprob");
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

static void runcible_push_report(lua_State* L,
                                 const rc_generate_report* report) {
  lua_createtable(L, 0, 8);
  lua_pushstring(L, rc_end_reason_name(report->reason));
  lua_setfield(L, -2, "reason");
  runcible_set_integer(L, "seed", (int64_t)report->seed);
#define RUNCIBLE_SET(NAME) runcible_set_integer(L, #NAME, report->NAME);
  RUNCIBLE_END_NUMBERS(RUNCIBLE_SET)
#undef RUNCIBLE_SET
}

static void runcible_set_text(lua_State* L, const char* name,
                              const char* text) {
  lua_pushstring(L, text); /* NULL becomes nil */
  lua_setfield(L, -2, name);
}

/* Returns the kind of an event that is not an end. */
static const char* runcible_kind(const rc_event* event) {
  switch (event->type) {
    case RC_EVENT_REASONING:
      return "reasoning";
    case RC_EVENT_CALL:
      return "call";
    default:
      return "text";
  }
}

/* Pushes {key, text, kind, name, id, tokens, logprobs, top_logprobs}, with name
 * and id for calls; or for an end {key, status, message, report}. */
static void runcible_push_event(lua_State* L, uint64_t key,
                                const rc_event* event) {
  luaL_checkstack(L, 6, NULL);
  lua_createtable(L, 0, 5);
  runcible_set_integer(L, "key", (int64_t)key);
  if (event->type == RC_EVENT_END) {
    runcible_set_integer(L, "status", event->report->status);
    lua_pushstring(L, runcible_own_words(event->message));
    lua_setfield(L, -2, "message");
    runcible_push_report(L, event->report);
    lua_setfield(L, -2, "report");
    return;
  }
  lua_pushlstring(L, event->text_length == 0 ? "" : event->text,
                  event->text_length);
  lua_setfield(L, -2, "text");
  runcible_set_text(L, "kind", runcible_kind(event));
  runcible_set_text(L, "name", event->call_name);
  runcible_set_text(L, "id", event->call_id);
  runcible_push_tokens(L, event->tokens, event->token_count);
  lua_setfield(L, -2, "tokens");
  if (event->logprobs != NULL) {
    size_t i;
    runcible_push_logprobs(L, event->tokens, event->logprobs,
                           event->token_count);
    lua_setfield(L, -2, "logprobs");
    lua_createtable(L, (int)event->token_count, 0);
    for (i = 0; i < event->token_count; ++i) {
      const size_t first = i * event->top_count;
      runcible_push_logprobs(L, event->top_tokens + first,
                             event->top_logprobs + first, event->top_count);
      lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    lua_setfield(L, -2, "top_logprobs");
  }
}

static void runcible_push_events(lua_State* L, const kept_events* events) {
  const kept_event* kept;
  lua_Integer i = 0;
  lua_newtable(L);
  for (kept = events->first; kept != NULL; kept = kept->next) {
    runcible_push_event(L, kept->key, &kept->event);
    lua_rawseti(L, -2, ++i);
  }
}

/* An rc_progress_callback: calls the function at the bottom of a coroutine that
 * was never begun with the fraction; the function returns whether to cancel. */
static int32_t runcible_progress(void* user, double fraction) {
  lua_State* thread = (lua_State*)user;
  int32_t cancel;
  if (!lua_checkstack(thread, 2)) return 1;
  lua_pushvalue(thread, 1);
  lua_pushnumber(thread, fraction);
  cancel = lua_pcall(thread, 1, 1, 0) != LUA_OK || lua_toboolean(thread, -1);
  lua_pop(thread, 1);
  return cancel;
}

#endif /* RUNCIBLE_LUA_VALUES_H */
