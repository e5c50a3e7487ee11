/* Tensors over memory of a Python object, pinned memory that an object exposes,
 * and reading into memory. */
%header %{
/* May run on any thread, within a call of the library or outside. */
static void runcible_give_back(void* object) {
  PyGILState_STATE state;
  /* At the end of the interpreter all memory is freed anyway. */
  if (!Py_IsInitialized()) return;
  state = PyGILState_Ensure();
  Py_DECREF((PyObject*)object);
  PyGILState_Release(state);
}
%}

/* The object; after a success the library owns the added reference. */
%typemap(in) PyObject* OWNER {
  Py_INCREF($input);
  $1 = $input;
}
%typemap(argout) PyObject* OWNER "$1 = NULL;"
%typemap(freearg) PyObject* OWNER { Py_XDECREF($1); }
%apply PyObject* OWNER { PyObject* owner }

%inline %{
/* Returns the address; 0: there are no numbers. */
static rc_status tensor_address(rc_tensor* tensor, size_t* bytes) {
  void* data = NULL;
  const rc_status status = rc_tensor_memory(tensor, &data);
  *bytes = (size_t)data;
  return status;
}

static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank,
                               const void* data, size_t bytes, PyObject* owner,
                               rc_tensor** tensor) {
  return rc_tensor_borrow(backend, dtype, shape, rank, (void*)data, bytes,
                          runcible_give_back, owner, tensor);
}

static rc_status pinned_address(rc_pinned* pinned, size_t* bytes) {
  void* data = NULL;
  const rc_status status = rc_pinned_memory(pinned, &data, NULL);
  *bytes = (size_t)data;
  return status;
}

/* `data` is (address, size) of writable memory. */
static rc_status tensor_read_into(rc_tensor* tensor, const void* data,
                                  size_t bytes) {
  return rc_tensor_read(tensor, (void*)data, bytes);
}
%}
