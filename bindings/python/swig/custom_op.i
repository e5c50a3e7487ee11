/* Custom ops; see custom_op.h in this folder. */
%{
#include "custom_op.h"
%}

%apply const char* NAME {
  const char* signature, const char* attributes, const char* opencl_c,
  const char* opencl_c_head, const char* glsl, const char* glsl_head,
  const char* grid, const char* group, const char* items
}

/* A sequence of numbers. */
%typemap(in) (const double* numbers, size_t number_count)
    (double* kept = NULL) {
  const Py_ssize_t count = PySequence_Size($input);
  Py_ssize_t i;
  if (count < 0) SWIG_fail;
  kept = (double*)PyMem_Malloc(((size_t)count + 1) * sizeof(*kept));
  if (kept == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
  for (i = 0; i < count; ++i) {
    PyObject* item = PySequence_GetItem($input, i);
    if (item == NULL) SWIG_fail;
    kept[i] = PyFloat_AsDouble(item);
    Py_DECREF(item);
    if (PyErr_Occurred()) SWIG_fail;
  }
  $1 = kept;
  $2 = (size_t)count;
}
%typemap(freearg) (const double* numbers, size_t number_count) {
  PyMem_Free(kept$argnum);
}

%inline %{
/* `function` is None or has the method that custom_op.h calls; if it is None,
 * `address` is that of a C function, or 0. */
static rc_status custom_op_create(const char* name, const char* signature,
                                  const char* attributes, PyObject* function,
                                  const char* opencl_c,
                                  const char* opencl_c_head, const char* glsl,
                                  const char* glsl_head, const char* grid,
                                  const char* group, const char* items,
                                  uint64_t address, rc_custom_op** op) {
  const uintptr_t of_c = (uintptr_t)address;
  rc_custom_op_options options = RC_CUSTOM_OP_OPTIONS_INIT;
  options.name = name;
  options.signature = signature;
  options.attributes = attributes;
  options.opencl_c = opencl_c;
  options.opencl_c_head = opencl_c_head;
  options.glsl = glsl;
  options.glsl_head = glsl_head;
  options.grid = grid;
  options.group = group;
  options.items = items;
  memcpy(&options.function, &of_c, sizeof(of_c));
  return runcible_custom_op_create(&options, function, op);
}
static rc_status custom_op_compute(rc_custom_op* op, rc_tensor* const* inputs,
                                   size_t input_count, const double* numbers,
                                   size_t number_count, rc_tensor** made,
                                   size_t made_count) {
  return rc_custom_op_compute(op, inputs, input_count, numbers, number_count,
                              made, made_count);
}
%}
