/* Backends whose ops a Python object computes; included by the wrapper alone.
 * ops.py makes an object with
 *
 *   health()                 (status, text)
 *   supports(call)           (status, text)
 *   compute(call)            (status, text)
 *   forget(number)           of a weight
 *
 * that raises no exceptions, except when there is no memory to return them as a
 * text. A call is (op, parameters as JSON, inputs, outputs, whether it is of
 * tensors), a value is None or (type, shape, memory, number of the weight,
 * whether it is one). */
#ifndef RUNCIBLE_PYTHON_OP_BACKEND_H
#define RUNCIBLE_PYTHON_OP_BACKEND_H

#include <runcible/op_backend.h>
#include <stdio.h>
#include <time.h>

#include "values.h"

/* The limited API of 3.9 has functions that take these, but not their names. */
#ifndef PyBUF_READ
#define PyBUF_READ 0x100
#define PyBUF_WRITE 0x200
#endif

/* The number of threads that run Python or are about to, and whether the
 * interpreter ends; from then on no thread may enter it. */
static pthread_mutex_t runcible_ops_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t runcible_ops_left = PTHREAD_COND_INITIALIZER;
static int runcible_ops_callers = 0;
static int runcible_ops_ended = 0;

static int runcible_ops_enter(PyGILState_STATE* state) {
  int entered;
  pthread_mutex_lock(&runcible_ops_mutex);
  entered = !runcible_ops_ended && !runcible_forked;
  if (entered) ++runcible_ops_callers;
  pthread_mutex_unlock(&runcible_ops_mutex);
  if (entered) *state = PyGILState_Ensure();
  return entered;
}

static void runcible_ops_leave(PyGILState_STATE state) {
  PyGILState_Release(state);
  pthread_mutex_lock(&runcible_ops_mutex);
  if (--runcible_ops_callers == 0) pthread_cond_broadcast(&runcible_ops_left);
  pthread_mutex_unlock(&runcible_ops_mutex);
}

/* Called without the interpreter's lock, which the threads in Python need. An
 * op that takes longer than five seconds is abandoned. */
static void runcible_op_backends_end(void) {
  struct timespec until;
  if (runcible_forked) return;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 5;
  pthread_mutex_lock(&runcible_ops_mutex);
  runcible_ops_ended = 1;
  while (runcible_ops_callers > 0 &&
         pthread_cond_timedwait(&runcible_ops_left, &runcible_ops_mutex,
                                &until) == 0) {
  }
  pthread_mutex_unlock(&runcible_ops_mutex);
}

static rc_status runcible_ops_gone(char* message) {
  snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES,
           "the interpreter that computes it has ended");
  return RC_E_DEVICE_LOST;
}

static PyObject* runcible_op_value(const rc_op_value* value) {
  PyObject* shape;
  PyObject* memory;
  if (value == NULL) return Py_BuildValue("O", Py_None);
  shape = runcible_shape(value->shape, value->rank);
  if (shape == NULL) return NULL;
  memory = value->data == NULL || value->bytes == 0
               ? PyBytes_FromStringAndSize("", 0)
               : PyMemoryView_FromMemory(
                     (char*)value->data, (Py_ssize_t)value->bytes,
                     value->writable ? PyBUF_WRITE : PyBUF_READ);
  if (memory == NULL) {
    Py_DECREF(shape);
    return NULL;
  }
  return Py_BuildValue("(iNNKi)", (int)value->dtype, shape, memory,
                       (unsigned long long)value->weight,
                       (int)(value->storage == RC_STORAGE_WEIGHT));
}

static PyObject* runcible_op_values(const rc_op_value* const* values,
                                    size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  size_t i;
  for (i = 0; list != NULL && i < count; ++i) {
    PyObject* value = runcible_op_value(values[i]);
    if (value == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, (Py_ssize_t)i, value);
  }
  return list;
}

static PyObject* runcible_op_call(const rc_op_call* call) {
  PyObject* inputs = runcible_op_values(call->inputs, call->input_count);
  PyObject* outputs = runcible_op_values(call->outputs, call->output_count);
  if (inputs == NULL || outputs == NULL) {
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    return NULL;
  }
  return Py_BuildValue("(ssNNi)", call->name, call->params_json, inputs,
                       outputs, (int)call->of_tensors);
}

/* Converts (status, text); takes the reference. NULL: an exception is set. */
static rc_status runcible_ops_result(PyObject* result, char* message) {
  const char* text = NULL;
  PyObject* bytes = NULL;
  rc_status status = RC_E_OUT_OF_MEMORY;
  if (result != NULL && PyTuple_Check(result) && PyTuple_Size(result) == 2) {
    status = (rc_status)PyLong_AsLong(PyTuple_GetItem(result, 0));
    bytes = PyUnicode_AsEncodedString(PyTuple_GetItem(result, 1), "utf-8",
                                      "replace");
    if (bytes != NULL) text = PyBytes_AsString(bytes);
  }
  if (PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_MemoryError)) status = RC_E_DEVICE;
    PyErr_Clear();
  }
  if (text == NULL) text = "Python could not report the result";
  snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", text);
  Py_XDECREF(bytes);
  Py_XDECREF(result);
  return status;
}

static rc_status runcible_ops_ask(void* user, const char* method,
                                  const rc_op_call* call, char* message) {
  PyGILState_STATE state;
  PyObject* argument = NULL;
  PyObject* result = NULL;
  rc_status status;
  if (!runcible_ops_enter(&state)) return runcible_ops_gone(message);
  if (call == NULL) {
    result = PyObject_CallMethod((PyObject*)user, method, NULL);
  } else {
    argument = runcible_op_call(call);
    if (argument != NULL) {
      result = PyObject_CallMethod((PyObject*)user, method, "(O)", argument);
      Py_DECREF(argument);
    }
  }
  status = runcible_ops_result(result, message);
  runcible_ops_leave(state);
  return status;
}

static rc_status runcible_ops_health(void* user, char* message) {
  return runcible_ops_ask(user, "health", NULL, message);
}

static rc_status runcible_ops_supports(void* user, const rc_op_call* call,
                                       char* message) {
  return runcible_ops_ask(user, "supports", call, message);
}

static rc_status runcible_ops_compute(void* user, const rc_op_call* call,
                                      char* message) {
  return runcible_ops_ask(user, "compute", call, message);
}

/* May run while an exception is set, as when objects are collected. */
static void runcible_ops_forget(void* user, uint64_t weight) {
  PyGILState_STATE state;
  PyObject *type, *value, *trace, *result;
  if (!runcible_ops_enter(&state)) return;
  PyErr_Fetch(&type, &value, &trace);
  result = PyObject_CallMethod((PyObject*)user, "forget", "K",
                               (unsigned long long)weight);
  Py_XDECREF(result);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
  runcible_ops_leave(state);
}

static void runcible_ops_release(void* user) {
  PyGILState_STATE state;
  if (!runcible_ops_enter(&state)) return;
  Py_DECREF((PyObject*)user);
  runcible_ops_leave(state);
}

/* Called without the interpreter's lock. */
static rc_status runcible_op_backend_register(const char* name,
                                              const char* description,
                                              const char* features,
                                              PyObject* functions) {
  rc_op_backend backend = RC_OP_BACKEND_INIT;
  PyGILState_STATE state;
  rc_status status;
  backend.name = name;
  backend.description = description;
  backend.features = features;
  backend.user = functions;
  backend.health = runcible_ops_health;
  backend.supports = runcible_ops_supports;
  backend.compute = runcible_ops_compute;
  backend.forget_weight = runcible_ops_forget;
  backend.release = runcible_ops_release;
  state = PyGILState_Ensure();
  Py_INCREF(functions);
  PyGILState_Release(state);
  status = rc_op_backend_register(&backend);
  if (status != RC_OK) {
    state = PyGILState_Ensure();
    Py_DECREF(functions);
    PyGILState_Release(state);
  }
  return status;
}

#endif /* RUNCIBLE_PYTHON_OP_BACKEND_H */
