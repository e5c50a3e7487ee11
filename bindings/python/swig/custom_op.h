/* Custom ops with a Python function; included by the wrapper alone, after
 * op_backend.h. custom.py makes an object with
 *
 *   compute(inputs, outputs, attributes)      (status, text)
 *
 * that raises no exceptions, except when there is no memory to return them as a
 * text; values are those of op_backend.h. */
#ifndef RUNCIBLE_PYTHON_CUSTOM_OP_H
#define RUNCIBLE_PYTHON_CUSTOM_OP_H

#include <runcible/custom_op.h>

#include "op_backend.h"

static PyObject* runcible_custom_numbers(const double* numbers, size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  size_t i;
  for (i = 0; list != NULL && i < count; ++i) {
    PyObject* number = PyFloat_FromDouble(numbers[i]);
    if (number == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, (Py_ssize_t)i, number);
  }
  return list;
}

static rc_status runcible_custom_compute(void* user, const rc_custom_call* call,
                                         char* message) {
  PyGILState_STATE state;
  PyObject *inputs, *outputs, *attributes;
  PyObject* result = NULL;
  rc_status status;
  if (!runcible_ops_enter(&state)) return runcible_ops_gone(message);
  inputs = runcible_op_values(call->inputs, call->input_count);
  outputs = runcible_op_values(call->outputs, call->output_count);
  attributes = runcible_custom_numbers(call->attributes, call->attribute_count);
  if (inputs != NULL && outputs != NULL && attributes != NULL) {
    result = PyObject_CallMethod((PyObject*)user, "compute", "(OOO)", inputs,
                                 outputs, attributes);
  }
  Py_XDECREF(inputs);
  Py_XDECREF(outputs);
  Py_XDECREF(attributes);
  status = runcible_ops_result(result, message);
  runcible_ops_leave(state);
  return status;
}

/* Called without the interpreter's lock. `function` may be None. */
static rc_status runcible_custom_op_create(rc_custom_op_options* options,
                                           PyObject* function,
                                           rc_custom_op** op) {
  PyGILState_STATE state;
  rc_status status;
  if (function == Py_None) return rc_custom_op_create(options, op);
  options->function = runcible_custom_compute;
  options->user = function;
  options->release = runcible_ops_release;
  state = PyGILState_Ensure();
  Py_INCREF(function);
  PyGILState_Release(state);
  status = rc_custom_op_create(options, op);
  if (status != RC_OK) {
    state = PyGILState_Ensure();
    Py_DECREF(function);
    PyGILState_Release(state);
  }
  return status;
}

#endif /* RUNCIBLE_PYTHON_CUSTOM_OP_H */
