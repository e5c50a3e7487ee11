/* Frequent methods of runcible.Tensor. They replace those of Python, which they
 * call for cases that are not handled here. Included by the wrapper alone. */
#ifndef RUNCIBLE_PYTHON_TENSOR_METHODS_H
#define RUNCIBLE_PYTHON_TENSOR_METHODS_H

#include "tensor.h"

/* clang-format off */
#define RUNCIBLE_UNARY(F) \
  F(relu) F(sigmoid) F(silu) F(gelu) F(gelu_tanh) F(gelu_quick) F(tanh) \
  F(exp) F(log) F(sqrt) F(abs) F(neg)
#define RUNCIBLE_BINARY(F) \
  F(matmul) F(matmul_transposed) F(add) F(sub) F(mul) F(div) F(pow) \
  F(minimum) F(maximum) F(equal) F(not_equal) F(less) F(less_equal) \
  F(greater) F(greater_equal)
/* Over one dimension or all; name in Python, C function. */
#define RUNCIBLE_REDUCTION(F) \
  F(sum, rc_op_reduce_sum) F(mean, rc_op_reduce_mean) \
  F(max, rc_op_reduce_max) F(argmax, rc_op_argmax)

enum {
#define RUNCIBLE_NUMBER(NAME) runcible_method_##NAME,
#define RUNCIBLE_NUMBER_OF(NAME, OP) runcible_method_##NAME,
  RUNCIBLE_UNARY(RUNCIBLE_NUMBER)
  RUNCIBLE_BINARY(RUNCIBLE_NUMBER)
  RUNCIBLE_REDUCTION(RUNCIBLE_NUMBER_OF)
  runcible_method_softmax,
  runcible_method_transpose,
#undef RUNCIBLE_NUMBER
#undef RUNCIBLE_NUMBER_OF
  runcible_method_count
};
/* clang-format on */

/* The Python functions, by number. */
static PyObject* runcible_methods_of_python[runcible_method_count];

/* Calls the Python function; `args` and `keywords` may be NULL. */
static PyObject* runcible_by_python(int number, PyObject* self, PyObject* args,
                                    PyObject* keywords) {
  const Py_ssize_t count = args == NULL ? 0 : PyTuple_Size(args);
  PyObject* const whole = PyTuple_New(count + 1);
  PyObject* result;
  Py_ssize_t i;
  if (whole == NULL) return NULL;
  Py_INCREF(self);
  PyTuple_SetItem(whole, 0, self);
  for (i = 0; i < count; ++i) {
    PyObject* const each = PyTuple_GetItem(args, i);
    Py_INCREF(each);
    PyTuple_SetItem(whole, i + 1, each);
  }
  result = PyObject_Call(runcible_methods_of_python[number], whole, keywords);
  Py_DECREF(whole);
  return result;
}

/* Converts an int of exactly that class; returns 0 for another object. */
static int runcible_plain_int(PyObject* object, int32_t* number) {
  long value;
  if (!PyLong_CheckExact(object)) return 0;
  value = PyLong_AsLong(object);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear(); /* the Python function reports the error */
    return 0;
  }
  *number = (int32_t)value;
  return *number == value;
}

static rc_status runcible_op_softmax(rc_tensor* x, int32_t dimension,
                                     int32_t unused, rc_tensor** result) {
  (void)unused;
  return rc_op_softmax(x, dimension, result);
}

#define RUNCIBLE_METHOD(NAME)                                               \
  static PyObject* runcible_call_##NAME(PyObject* self, PyObject* unused) { \
    PyObject* const result = runcible_do_unary(self, rc_op_##NAME);         \
    (void)unused;                                                           \
    if (result != NULL || PyErr_Occurred()) return result;                  \
    return runcible_by_python(runcible_method_##NAME, self, NULL, NULL);    \
  }
RUNCIBLE_UNARY(RUNCIBLE_METHOD)
#undef RUNCIBLE_METHOD

#define RUNCIBLE_METHOD(NAME)                                                \
  static PyObject* runcible_call_##NAME(PyObject* self, PyObject* args,      \
                                        PyObject* keywords) {                \
    if (keywords == NULL && PyTuple_Size(args) == 1) {                       \
      PyObject* const result =                                               \
          runcible_do_binary(self, PyTuple_GetItem(args, 0), rc_op_##NAME);  \
      if (result != NULL || PyErr_Occurred()) return result;                 \
    }                                                                        \
    return runcible_by_python(runcible_method_##NAME, self, args, keywords); \
  }
RUNCIBLE_BINARY(RUNCIBLE_METHOD)
#undef RUNCIBLE_METHOD

#define RUNCIBLE_METHOD(NAME, OP)                                            \
  static PyObject* runcible_call_##NAME(PyObject* self, PyObject* args,      \
                                        PyObject* keywords) {                \
    const Py_ssize_t count = PyTuple_Size(args);                             \
    int32_t dimension = RC_ALL_DIMENSIONS;                                   \
    if (keywords == NULL &&                                                  \
        (count == 0 ||                                                       \
         (count == 1 &&                                                      \
          runcible_plain_int(PyTuple_GetItem(args, 0), &dimension)))) {      \
      PyObject* const result = runcible_do_numbers(self, OP, dimension, 0);  \
      if (result != NULL || PyErr_Occurred()) return result;                 \
    }                                                                        \
    return runcible_by_python(runcible_method_##NAME, self, args, keywords); \
  }
RUNCIBLE_REDUCTION(RUNCIBLE_METHOD)
#undef RUNCIBLE_METHOD

static PyObject* runcible_call_softmax(PyObject* self, PyObject* args,
                                       PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Size(args);
  int32_t dimension = -1;
  if (keywords == NULL &&
      (count == 0 || (count == 1 && runcible_plain_int(PyTuple_GetItem(args, 0),
                                                       &dimension)))) {
    PyObject* const result =
        runcible_do_numbers(self, runcible_op_softmax, dimension, 0);
    if (result != NULL || PyErr_Occurred()) return result;
  }
  return runcible_by_python(runcible_method_softmax, self, args, keywords);
}

static PyObject* runcible_call_transpose(PyObject* self, PyObject* args,
                                         PyObject* keywords) {
  const Py_ssize_t count = PyTuple_Size(args);
  int32_t dimension = -2;
  int32_t other = -1;
  if (keywords == NULL &&
      (count == 0 ||
       (count == 2 &&
        runcible_plain_int(PyTuple_GetItem(args, 0), &dimension) &&
        runcible_plain_int(PyTuple_GetItem(args, 1), &other)))) {
    PyObject* const result =
        runcible_do_numbers(self, rc_tensor_transpose, dimension, other);
    if (result != NULL || PyErr_Occurred()) return result;
  }
  return runcible_by_python(runcible_method_transpose, self, args, keywords);
}

/* Their documentation is copied from the Python functions that they replace. */
static PyMethodDef runcible_methods[runcible_method_count] = {
#define RUNCIBLE_KEYWORDS(NAME, SIGNATURE)                   \
  {#NAME, (PyCFunction)(void (*)(void))runcible_call_##NAME, \
   METH_VARARGS | METH_KEYWORDS, SIGNATURE},
#define RUNCIBLE_OF_NONE(NAME) \
  {#NAME, runcible_call_##NAME, METH_NOARGS, "($self)"},
#define RUNCIBLE_OF_ONE(NAME) RUNCIBLE_KEYWORDS(NAME, "($self, b)")
#define RUNCIBLE_OF_DIMENSION(NAME, OP) \
  RUNCIBLE_KEYWORDS(NAME, "($self, dimension=None, *, keep=False)")
    RUNCIBLE_UNARY(RUNCIBLE_OF_NONE) RUNCIBLE_BINARY(RUNCIBLE_OF_ONE)
        RUNCIBLE_REDUCTION(RUNCIBLE_OF_DIMENSION)
            RUNCIBLE_KEYWORDS(softmax, "($self, dimension=-1)")
                RUNCIBLE_KEYWORDS(transpose, "($self, dimension=-2, other=-1)")
#undef RUNCIBLE_KEYWORDS
#undef RUNCIBLE_OF_NONE
#undef RUNCIBLE_OF_ONE
#undef RUNCIBLE_OF_DIMENSION
};

/* Returns the signature and documentation of a method, which are never freed.
 * NULL with an exception set. */
static char* runcible_words(const PyMethodDef* method, PyObject* function) {
  PyObject* const words = PyObject_GetAttrString(function, "__doc__");
  PyObject* text;
  PyObject* bytes;
  char* kept = NULL;
  if (words == NULL) return NULL;
  text = words == Py_None
             ? PyUnicode_FromFormat("%s%s\n--\n\n", method->ml_name,
                                    method->ml_doc)
             : PyUnicode_FromFormat("%s%s\n--\n\n%U", method->ml_name,
                                    method->ml_doc, words);
  Py_DECREF(words);
  bytes = text == NULL ? NULL : PyUnicode_AsUTF8String(text);
  if (bytes != NULL) {
    const size_t size = (size_t)PyBytes_Size(bytes) + 1;
    kept = (char*)PyMem_Malloc(size);
    if (kept == NULL) {
      PyErr_NoMemory();
    } else {
      memcpy(kept, PyBytes_AsString(bytes), size);
    }
  }
  Py_XDECREF(bytes);
  Py_XDECREF(text);
  return kept;
}

/* tensor_ready(class, is_plain, with_number), called once: the class is
 * runcible.Tensor, and the methods here replace those of the class. */
static PyObject* runcible_tensor_ready(PyObject* module, PyObject* args) {
  PyObject* kind;
  int i;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOO", &kind, &runcible_is_plain,
                        &runcible_with_number)) {
    return NULL;
  }
  Py_INCREF(kind);
  Py_INCREF(runcible_is_plain);
  Py_INCREF(runcible_with_number);
  runcible_tensor_class = (PyTypeObject*)kind;
  for (i = 0; i < runcible_method_count; ++i) {
    PyMethodDef* const method = &runcible_methods[i];
    PyObject* const function = PyObject_GetAttrString(kind, method->ml_name);
    PyObject* descriptor;
    if (function == NULL) return NULL;
    runcible_methods_of_python[i] = function;
    method->ml_doc = runcible_words(method, function);
    if (method->ml_doc == NULL) return NULL;
    descriptor = PyDescr_NewMethod(runcible_tensor_class, method);
    if (descriptor == NULL ||
        PyObject_SetAttrString(kind, method->ml_name, descriptor) != 0) {
      Py_XDECREF(descriptor);
      return NULL;
    }
    Py_DECREF(descriptor);
  }
  Py_RETURN_NONE;
}

/* A graph starts recording, or (-1) ends recording. */
static PyObject* runcible_recording_changed(PyObject* module, PyObject* by) {
  const long change = PyLong_AsLong(by);
  (void)module;
  if (change == -1 && PyErr_Occurred()) return NULL;
  runcible_recordings += (int)change;
  Py_RETURN_NONE;
}

/* Called when a model is loaded. */
static PyObject* runcible_engine_begins(PyObject* module, PyObject* unused) {
  (void)module;
  (void)unused;
  runcible_engines = 1;
  Py_RETURN_NONE;
}

static PyMethodDef runcible_tensor_functions[] = {
    {"tensor_ready", runcible_tensor_ready, METH_VARARGS, NULL},
    {"recording_changed", runcible_recording_changed, METH_O, NULL},
    {"engine_begins", runcible_engine_begins, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

/* Adds the class to the module. */
static int runcible_add_tensor(PyObject* module) {
  PyObject* const type = PyType_FromSpec(&runcible_tensor_spec);
  if (type == NULL) return -1;
  if (PyModule_AddObject(module, "TensorBase", type) != 0) {
    Py_DECREF(type);
    return -1;
  }
  return PyModule_AddFunctions(module, runcible_tensor_functions);
}

#endif /* RUNCIBLE_PYTHON_TENSOR_METHODS_H */
