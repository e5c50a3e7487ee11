/* Backends of objects of Python; see op_backend.h beside this. */
%{
#include "op_backend.h"
%}

%apply const char* NAME {
  const char* name, const char* description, const char* features
}

/* It is called by whoever ends, the child of a fork too. */
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
/* No function of Python is called after it, and none is running. */
static void op_backends_end(void) { runcible_op_backends_end(); }
/* None for a number that is no op. */
static PyObject* op_name(int32_t code) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* name = runcible_optional_text(rc_op_name(code));
  PyGILState_Release(state);
  return name;
}
%}
