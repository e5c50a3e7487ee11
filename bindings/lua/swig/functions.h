/* Custom ops whose function is a Lua function; included by the wrapper alone.
 * The function, which custom.lua makes, has the form
 *
 *   function(inputs, outputs, attributes)
 *
 * where values are tables {dtype, shape, bytes} with numbers of the library;
 * for outputs, bytes is their number. It returns a list of strings, the bytes
 * of the outputs. */
#ifndef RUNCIBLE_LUA_FUNCTIONS_H
#define RUNCIBLE_LUA_FUNCTIONS_H

#include <lauxlib.h>
#include <lua.h>
#include <runcible/runcible.h>
#include <stdlib.h>
#include <string.h>

#include "served.h"
#include "values.h"

typedef lua_State* runcible_server;

/* Keys in the registry: the object that stands for the state, and a table of
 * its functions by the addresses of the objects that ops hold. */
static const char runcible_served_key[] = "runcible.served";
static const char runcible_functions[] = "runcible.functions";

static int runcible_end_served(lua_State* L) {
  runcible_leave_served(*(runcible_served**)lua_touserdata(L, 1));
  *(runcible_served**)lua_touserdata(L, 1) = NULL;
  return 0;
}

static runcible_served* runcible_served_of(lua_State* L) {
  runcible_served** box;
  lua_getfield(L, LUA_REGISTRYINDEX, runcible_served_key);
  box = (runcible_served**)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return box == NULL ? NULL : *box;
}

/* Returns the object of the state, and makes it if there is none; NULL without
 * memory. */
static runcible_served* runcible_make_served(lua_State* L) {
  runcible_served** box;
  if (runcible_served_of(L) != NULL) return runcible_served_of(L);
  box = (runcible_served**)lua_newuserdatauv(L, sizeof(*box), 0);
  *box = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, runcible_end_served);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *box = runcible_new_served();
  lua_setfield(L, LUA_REGISTRYINDEX, runcible_served_key);
  return runcible_served_of(L);
}

static void runcible_push_value(lua_State* L, const rc_op_value* value,
                                int with_bytes) {
  lua_createtable(L, 0, 3);
  runcible_set_integer(L, "dtype", value->dtype);
  runcible_push_shape(L, value->shape, value->rank);
  lua_setfield(L, -2, "shape");
  if (with_bytes) {
    lua_pushlstring(L, value->bytes == 0 ? "" : (const char*)value->data,
                    (size_t)value->bytes);
  } else {
    lua_pushinteger(L, (lua_Integer)value->bytes);
  }
  lua_setfield(L, -2, "bytes");
}

static void runcible_push_values(lua_State* L, const rc_op_value* const* values,
                                 size_t count, int with_bytes) {
  size_t i;
  lua_createtable(L, (int)count, 0);
  for (i = 0; i < count; ++i) {
    runcible_push_value(L, values[i], with_bytes);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
}

/* Calls the function of a wanted call, which is light userdata. */
static int runcible_call_protected(lua_State* L) {
  const runcible_wanted* wanted = (const runcible_wanted*)lua_touserdata(L, 1);
  const rc_custom_call* call = wanted->call;
  size_t i;
  lua_getfield(L, LUA_REGISTRYINDEX, runcible_functions);
  lua_rawgetp(L, -1, wanted->object);
  runcible_push_values(L, call->inputs, call->input_count, 1);
  runcible_push_values(L, call->outputs, call->output_count, 0);
  lua_createtable(L, (int)call->attribute_count, 0);
  for (i = 0; i < call->attribute_count; ++i) {
    lua_pushnumber(L, call->attributes[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_call(L, 3, 1);
  for (i = 0; i < call->output_count; ++i) {
    const rc_op_value* output = call->outputs[i];
    size_t size = 0;
    const char* bytes;
    lua_rawgeti(L, -1, (lua_Integer)i + 1);
    bytes = luaL_checklstring(L, -1, &size);
    if (size != output->bytes) {
      return luaL_error(L, "an output of %I bytes was given %I",
                        (LUAI_UACINT)output->bytes, (LUAI_UACINT)size);
    }
    if (size > 0) memcpy(output->data, bytes, size);
    lua_pop(L, 1);
  }
  return 0;
}

static void runcible_run_wanted(void* server, runcible_wanted* wanted) {
  lua_State* L = (lua_State*)server;
  const int top = lua_gettop(L);
  wanted->status = RC_E_DEVICE;
  strcpy(wanted->message, "Lua has no room for the call");
  if (!lua_checkstack(L, LUA_MINSTACK)) return;
  lua_pushcfunction(L, runcible_call_protected);
  lua_pushlightuserdata(L, wanted);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) {
    wanted->status = RC_OK;
  } else {
    const char* text = lua_tostring(L, -1);
    snprintf(wanted->message, RC_OP_BACKEND_MESSAGE_BYTES, "%s",
             text == NULL ? "its error is not a string" : text);
  }
  lua_settop(L, top);
}

static void runcible_let_functions_go(lua_State* L, runcible_served* served) {
  runcible_function* released = runcible_take_released(served);
  lua_getfield(L, LUA_REGISTRYINDEX, runcible_functions);
  while (released != NULL) {
    runcible_function* next = released->next;
    if (lua_istable(L, -1)) {
      lua_pushnil(L);
      lua_rawsetp(L, -2, released->object);
    }
    free(released);
    released = next;
  }
  lua_pop(L, 1);
}

/* Makes an op of the options and the function on top of the stack. */
static rc_status runcible_custom_op(lua_State* L, rc_custom_op_options* options,
                                    rc_custom_op** op) {
  runcible_served* served = runcible_make_served(L);
  runcible_function* function;
  rc_status status;
  if (served == NULL) return RC_E_OUT_OF_MEMORY;
  runcible_let_functions_go(L, served);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, runcible_functions);
  if (!runcible_set_function(options, served, NULL)) return RC_E_OUT_OF_MEMORY;
  function = (runcible_function*)options->user;
  function->object = function;
  lua_pushvalue(L, -2);
  lua_rawsetp(L, -2, function);
  status = rc_custom_op_create(options, op);
  if (status != RC_OK) {
    /* Releases the function, as the op would have done. */
    options->release(options->user);
  }
  return status;
}

#endif /* RUNCIBLE_LUA_FUNCTIONS_H */
