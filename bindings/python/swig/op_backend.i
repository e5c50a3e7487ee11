/* Backends of Python objects; see op_backend.h in this folder. */
%{
#include "op_backend.h"
%}

%apply const char* NAME {
  const char* name, const char* description, const char* features
}

/* Every process calls it at its end, also the child of a fork. */
%exception op_backends_end "$action"

%inline %{
/* `functions` has the methods that op_backend.h calls. */
static rc_status op_backend_register(const char* name, const char* description,
                                     const char* features,
                                     PyObject* functions) {
  return runcible_op_backend_register(name, description, features, functions);
}
static rc_status op_backend_unregister(const char* name) {
  return rc_op_backend_unregister(name);
}
/* After this no Python function is called or running. */
static void op_backends_end(void) { runcible_op_backends_end(); }
/* Returns None for a number that is not an op. */
static PyObject* op_name(int32_t code) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* name = runcible_optional_text(rc_op_name(code));
  PyGILState_Release(state);
  return name;
}
%}
