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
