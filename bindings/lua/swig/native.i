%module runcible_native
%include "typemaps.i"
%include "runcible.i"
%include "pending.i"

/* A tensor of the memory of full userdata; see borrow.h. */
%typemap(in) lua_State* STATE (int owner) {
  owner = $input;
  if (lua_type(L, owner) != LUA_TUSERDATA) {
    lua_pushfstring(L, "what is borrowed must be full userdata, not %s",
                    luaL_typename(L, owner));
    SWIG_fail;
  }
  lua_pushvalue(L, owner);
  $1 = L;
}
%inline %{
/* The userdata is on top of the stack. */
static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank,
                               lua_State* STATE, rc_tensor** tensor) {
  return runcible_borrow(STATE, backend, dtype, shape, rank, tensor);
}
%}

/* Custom ops whose function is one of Lua; see functions.h. */
%typemap(in, numinputs=0) runcible_server server { $1 = L; }
%include "served.i"
%typemap(in) lua_State* FUNCTION {
  if (!lua_isfunction(L, $input)) {
    lua_pushfstring(L, "the function of an op is a %s",
                    luaL_typename(L, $input));
    SWIG_fail;
  }
  lua_pushvalue(L, $input);
  $1 = L;
}
%inline %{
static rc_status custom_op_of_function(rc_custom_op_options* options,
                                       lua_State* FUNCTION, rc_custom_op** op) {
  return runcible_custom_op(FUNCTION, options, op);
}
%}
