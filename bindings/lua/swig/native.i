%module runcible_native
%include "typemaps.i"
%include "runcible.i"
%include "pending.i"

/* A tensor of the memory of full userdata; see borrow.h. */
%typemap(in) lua_State* STATE (int owner) {
  owner = $input;
  if (lua_type(L, owner) != LUA_TUSERDATA) {
    lua_pushfstring(L, "borrowed memory must be full userdata, not %s",
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

/* Pinned memory: its address, strings of its bytes, and tensors. The numbers of
 * bytes were checked before. */
%typemap(in, numinputs=0) void** PLACE (void* place = NULL) "$1 = &place;"
%typemap(argout) void** PLACE {
  lua_pushlightuserdata(L, *$1);
  SWIG_arg++;
}
%inline %{
static rc_status pinned_place(rc_pinned* pinned, void** PLACE, size_t* bytes) {
  return rc_pinned_memory(pinned, PLACE, bytes);
}

static rc_status pinned_write(rc_pinned* pinned, int64_t first,
                              const void* data, size_t bytes) {
  void* to = NULL;
  const rc_status status = rc_pinned_memory(pinned, &to, NULL);
  if (status == RC_OK) memcpy((char*)to + first, data, bytes);
  return status;
}

static rc_status pinned_read(rc_pinned* pinned, int64_t first, void* data,
                             size_t bytes) {
  void* from = NULL;
  const rc_status status = rc_pinned_memory(pinned, &from, NULL);
  if (status == RC_OK) memcpy(data, (const char*)from + first, bytes);
  return status;
}

static rc_status tensor_of_pinned(rc_backend* backend, rc_dtype dtype,
                                  const int64_t* shape, int32_t rank,
                                  rc_pinned* pinned, rc_tensor** tensor) {
  void* from = NULL;
  size_t size = 0;
  const rc_status status = rc_pinned_memory(pinned, &from, &size);
  if (status != RC_OK) return status;
  return rc_tensor_from_data(backend, dtype, shape, rank, from, size, tensor);
}

/* Reads the numbers to the beginning of the memory. */
static rc_status tensor_read_into(rc_tensor* tensor, rc_pinned* pinned) {
  void* to = NULL;
  size_t room = 0;
  size_t size = 0;
  rc_status status = rc_pinned_memory(pinned, &to, &room);
  if (status == RC_OK) status = rc_tensor_size(tensor, NULL, &size);
  if (status != RC_OK) return status;
  return rc_tensor_read(tensor, to, size < room ? size : room);
}
%}

/* Custom ops whose function is a Lua function; see functions.h. */
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
