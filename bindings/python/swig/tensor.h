/* The base class of runcible.Tensor: an object that holds a tensor, and its
 * operators. Included by the wrapper alone.
 *
 * Small ops take less time than a call of Python, so the frequent ones run here
 * if all operands are tensors outside of graphs. The Python functions in
 * tensor.py do everything else, including every error of use.
 *
 * The interpreter's lock is held during a small op, which takes less time than
 * releasing the lock. To keep other threads from waiting, the lock is released
 * if the op might have to wait: on a device other than a CPU of this process,
 * when other calls are in the library, and always once there has been a model,
 * whose engine has separate threads. */
#ifndef RUNCIBLE_PYTHON_TENSOR_H
#define RUNCIBLE_PYTHON_TENSOR_H

#include <Python.h>
#include <runcible/runcible.h>
#include <stddef.h>
#include <structmember.h>

#include "values.h"

typedef struct runcible_tensor {
  PyObject_HEAD rc_tensor* tensor; /* NULL: closed, or never opened */
  PyObject* proxy; /* SWIG's, which owns the reference; NULL: this owns it */
  PyObject* backend;
  PyObject* recording; /* see tensor.py */
  PyObject* weak;
  int64_t size;                      /* elements; -1: not known yet */
  int64_t shape[RC_TENSOR_MAX_RANK]; /* known with it; missing ones are 1 */
  int on_plain; /* whether the lock may be held; -1: not known yet */
} runcible_tensor;

/* Set by runcible_tensor_ready. */
static PyTypeObject* runcible_tensor_class = NULL; /* runcible.Tensor */
static PyObject* runcible_is_plain = NULL;         /* of a tensor: a bool */
static PyObject* runcible_with_number = NULL;      /* name of a method, a, b */

/* Graphs that are being recorded, by any thread or task. */
static int runcible_recordings = 0;
/* Calls that run in the library without the interpreter's lock. */
static int runcible_outside = 0;
/* Whether there has been a model. */
static int runcible_engines = 0;

/* Surround calls for which SWIG releases the lock. */
#undef SWIG_PYTHON_THREAD_BEGIN_ALLOW
#undef SWIG_PYTHON_THREAD_END_ALLOW
#define SWIG_PYTHON_THREAD_BEGIN_ALLOW \
  PyThreadState* swig_thread_allow = runcible_give_up_lock()
#define SWIG_PYTHON_THREAD_END_ALLOW runcible_take_lock(swig_thread_allow)

static PyThreadState* runcible_give_up_lock(void) {
  ++runcible_outside;
  return PyEval_SaveThread();
}
static void runcible_take_lock(PyThreadState* state) {
  PyEval_RestoreThread(state);
  --runcible_outside;
}

/* ---- The object */

static void runcible_tensor_drop(runcible_tensor* self) {
  rc_tensor* const tensor = self->tensor;
  PyObject* const proxy = self->proxy;
  self->tensor = NULL;
  self->proxy = NULL;
  self->size = -1;
  if (proxy != NULL) {
    Py_DECREF(proxy);
  } else if (tensor != NULL && !runcible_forked) {
    /* The last reference closes a device, for which others may need the lock.
     */
    if (self->on_plain > 0) {
      rc_tensor_release(tensor);
    } else {
      PyThreadState* const state = runcible_give_up_lock();
      rc_tensor_release(tensor);
      runcible_take_lock(state);
    }
  }
}

static void runcible_tensor_dealloc(PyObject* object) {
  runcible_tensor* const self = (runcible_tensor*)object;
  PyTypeObject* const type = Py_TYPE(object);
  if (self->weak != NULL) PyObject_ClearWeakRefs(object);
  runcible_tensor_drop(self);
  Py_XDECREF(self->backend);
  Py_XDECREF(self->recording);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static PyObject* runcible_tensor_get_proxy(PyObject* object, void* unused) {
  runcible_tensor* const self = (runcible_tensor*)object;
  (void)unused;
  if (self->tensor == NULL) Py_RETURN_NONE;
  if (self->proxy == NULL) {
    self->proxy = SWIG_NewPointerObj((void*)self->tensor, SWIGTYPE_p_rc_tensor,
                                     SWIG_POINTER_OWN);
    if (self->proxy == NULL) return NULL;
  }
  Py_INCREF(self->proxy);
  return self->proxy;
}

static int runcible_tensor_set_proxy(PyObject* object, PyObject* value,
                                     void* unused) {
  runcible_tensor* const self = (runcible_tensor*)object;
  void* pointer = NULL;
  (void)unused;
  if (value == Py_None) value = NULL;
  if (value != NULL &&
      !SWIG_IsOK(SWIG_ConvertPtr(value, &pointer, SWIGTYPE_p_rc_tensor, 0))) {
    PyErr_SetString(PyExc_TypeError, "_proxy must be a tensor of the library");
    return -1;
  }
  Py_XINCREF(value);
  runcible_tensor_drop(self);
  self->proxy = value;
  self->tensor = (rc_tensor*)pointer;
  self->on_plain = -1;
  return 0;
}

static Py_hash_t runcible_tensor_hash(PyObject* object) {
  /* The lowest bits of addresses are all the same. */
  const size_t address = (size_t)object;
  const Py_hash_t hash =
      (Py_hash_t)(address >> 4 | address << (8 * sizeof(address) - 4));
  return hash == -1 ? -2 : hash;
}

/* ---- Ops */

/* Returns a tensor that an op can use here, or NULL. */
static runcible_tensor* runcible_operand(PyObject* object) {
  runcible_tensor* const self = (runcible_tensor*)object;
  return Py_TYPE(object) == runcible_tensor_class && self->tensor != NULL &&
                 (self->recording == NULL || self->recording == Py_None) &&
                 runcible_recordings == 0 && !runcible_forked
             ? self
             : NULL;
}

/* Returns the number of elements, or -1. */
static int64_t runcible_size(runcible_tensor* self) {
  int64_t shape[RC_TENSOR_MAX_RANK];
  int32_t rank = 0;
  int i;
  if (self->size >= 0) return self->size;
  if (rc_tensor_shape(self->tensor, shape, &rank) != RC_OK) return -1;
  self->size = 1;
  for (i = 0; i < RC_TENSOR_MAX_RANK; ++i) {
    const int from = i - RC_TENSOR_MAX_RANK + (int)rank;
    self->shape[i] = from < 0 ? 1 : shape[from];
    self->size *= self->shape[i];
  }
  return self->size;
}

/* Returns whether the lock may be held while an op of about this much work runs
 * on the tensor; -1 with an exception set. */
static int runcible_hold(runcible_tensor* self, int64_t work) {
  if (self->on_plain < 0) {
    PyObject* const plain =
        PyObject_CallFunctionObjArgs(runcible_is_plain, (PyObject*)self, NULL);
    if (plain == NULL) return -1;
    self->on_plain = plain == Py_True;
    Py_DECREF(plain);
  }
  /* This takes some microseconds. */
  return self->on_plain && work >= 0 && work <= 32768 &&
         runcible_outside == 0 && !runcible_engines;
}

/* Makes the result of an op on a tensor; takes the reference to `made`. */
static PyObject* runcible_made(const runcible_tensor* of, rc_status status,
                               rc_tensor* made) {
  runcible_tensor* result;
  if (status != RC_OK) {
    runcible_raise(status, runcible_own_words(rc_error_message()));
    return NULL;
  }
  result = (runcible_tensor*)PyType_GenericAlloc(runcible_tensor_class, 0);
  if (result == NULL) {
    rc_tensor_release(made);
    return NULL;
  }
  result->tensor = made;
  result->size = -1;
  result->on_plain = of->on_plain;
  result->backend = of->backend;
  Py_XINCREF(result->backend);
  return (PyObject*)result;
}

typedef rc_status (*runcible_unary_op)(rc_tensor* x, rc_tensor** result);
typedef rc_status (*runcible_binary_op)(rc_tensor* a, rc_tensor* b,
                                        rc_tensor** result);
/* An op on a tensor and up to two numbers. */
typedef rc_status (*runcible_numbers_op)(rc_tensor* x, int32_t first,
                                         int32_t second, rc_tensor** result);

/* Returns NULL without an exception if the op cannot run here. */
static PyObject* runcible_do_unary(PyObject* object, runcible_unary_op op) {
  runcible_tensor* const x = runcible_operand(object);
  rc_tensor* made = NULL;
  rc_status status;
  int hold;
  if (x == NULL) return NULL;
  hold = runcible_hold(x, runcible_size(x));
  if (hold < 0 || x->tensor == NULL) return NULL;
  if (hold) {
    status = op(x->tensor, &made);
  } else {
    rc_tensor* const kept = rc_tensor_retain(x->tensor);
    PyThreadState* const state = runcible_give_up_lock();
    status = op(kept, &made);
    rc_tensor_release(kept);
    runcible_take_lock(state);
  }
  return runcible_made(x, status, made);
}

static PyObject* runcible_do_numbers(PyObject* object, runcible_numbers_op op,
                                     int32_t first, int32_t second) {
  runcible_tensor* const x = runcible_operand(object);
  rc_tensor* made = NULL;
  rc_status status;
  int hold;
  if (x == NULL) return NULL;
  hold = runcible_hold(x, runcible_size(x));
  if (hold < 0 || x->tensor == NULL) return NULL;
  if (hold) {
    status = op(x->tensor, first, second, &made);
  } else {
    rc_tensor* const kept = rc_tensor_retain(x->tensor);
    PyThreadState* const state = runcible_give_up_lock();
    status = op(kept, first, second, &made);
    rc_tensor_release(kept);
    runcible_take_lock(state);
  }
  return runcible_made(x, status, made);
}

/* Returns the elements of the result of two tensors that are broadcast; for a
 * product those of both. -1: many. */
static int64_t runcible_work(runcible_tensor* a, runcible_tensor* b,
                             int product) {
  int64_t work = 1;
  int i;
  if (runcible_size(a) < 0 || runcible_size(b) < 0) return -1;
  if (product) {
    const int64_t both = a->size + b->size;
    /* Of m * k and k * n there are at most (m k) (k n) products. */
    return both > 512 ? -1 : both;
  }
  for (i = 0; i < RC_TENSOR_MAX_RANK; ++i) {
    const int64_t most = a->shape[i] > b->shape[i] ? a->shape[i] : b->shape[i];
    if (most > 1 << 16) return -1;
    work *= most;
    if (work > 1 << 16) return -1;
  }
  return work;
}

static PyObject* runcible_do_binary(PyObject* left, PyObject* right,
                                    runcible_binary_op op) {
  runcible_tensor* const a = runcible_operand(left);
  runcible_tensor* const b = runcible_operand(right);
  rc_tensor* made = NULL;
  rc_status status;
  int hold;
  if (a == NULL || b == NULL) return NULL;
  hold = runcible_hold(
      a,
      runcible_work(a, b, op == rc_op_matmul || op == rc_op_matmul_transposed));
  if (hold > 0 && a->backend != b->backend) hold = runcible_hold(b, 1);
  if (hold < 0 || a->tensor == NULL || b->tensor == NULL) return NULL;
  if (hold) {
    status = op(a->tensor, b->tensor, &made);
  } else {
    rc_tensor* const kept_a = rc_tensor_retain(a->tensor);
    rc_tensor* const kept_b = rc_tensor_retain(b->tensor);
    PyThreadState* const state = runcible_give_up_lock();
    status = op(kept_a, kept_b, &made);
    rc_tensor_release(kept_a);
    rc_tensor_release(kept_b);
    runcible_take_lock(state);
  }
  return runcible_made(a, status, made);
}

/* ---- Operators */

static int runcible_is_tensor(PyObject* object) {
  return PyObject_TypeCheck(object, runcible_tensor_class);
}
static int runcible_is_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object);
}

static PyObject* runcible_not_implemented(void) {
  Py_INCREF(Py_NotImplemented);
  return Py_NotImplemented;
}

/* Runs an op, or else calls `method` of runcible.Tensor. */
static PyObject* runcible_operator(PyObject* left, PyObject* right,
                                   runcible_binary_op op, const char* method,
                                   int numbers) {
  PyObject* const result = runcible_do_binary(left, right, op);
  if (result != NULL || PyErr_Occurred()) return result;
  if (runcible_is_tensor(left) && runcible_is_tensor(right)) {
    return PyObject_CallMethod(left, method, "O", right);
  }
  if (numbers && (runcible_is_number(left) || runcible_is_number(right))) {
    return PyObject_CallFunction(runcible_with_number, "sOO", method, left,
                                 right);
  }
  return runcible_not_implemented();
}

#define RUNCIBLE_OPERATOR(NAME, NUMBERS)                                       \
  static PyObject* runcible_operator_##NAME(PyObject* left, PyObject* right) { \
    return runcible_operator(left, right, rc_op_##NAME, #NAME, NUMBERS);       \
  }
RUNCIBLE_OPERATOR(add, 1)
RUNCIBLE_OPERATOR(sub, 1)
RUNCIBLE_OPERATOR(mul, 1)
RUNCIBLE_OPERATOR(div, 1)
RUNCIBLE_OPERATOR(matmul, 0)
#undef RUNCIBLE_OPERATOR

static PyObject* runcible_operator_pow(PyObject* left, PyObject* right,
                                       PyObject* modulus) {
  if (modulus != Py_None) return runcible_not_implemented();
  return runcible_operator(left, right, rc_op_pow, "pow", 1);
}

static PyObject* runcible_operator_neg(PyObject* object) {
  PyObject* const result = runcible_do_unary(object, rc_op_neg);
  if (result != NULL || PyErr_Occurred()) return result;
  return PyObject_CallMethod(object, "neg", NULL);
}
static PyObject* runcible_operator_abs(PyObject* object) {
  PyObject* const result = runcible_do_unary(object, rc_op_abs);
  if (result != NULL || PyErr_Occurred()) return result;
  return PyObject_CallMethod(object, "abs", NULL);
}

/* Python implements == and != as identity, because tensors are keys of
 * dictionaries. */
static PyObject* runcible_compare(PyObject* left, PyObject* right, int how) {
  switch (how) {
    case Py_LT:
      return runcible_operator(left, right, rc_op_less, "less", 1);
    case Py_LE:
      return runcible_operator(left, right, rc_op_less_equal, "less_equal", 1);
    case Py_GT:
      return runcible_operator(left, right, rc_op_greater, "greater", 1);
    case Py_GE:
      return runcible_operator(left, right, rc_op_greater_equal,
                               "greater_equal", 1);
    default:
      return runcible_not_implemented();
  }
}

static PyGetSetDef runcible_tensor_properties[] = {
    {"_proxy", runcible_tensor_get_proxy, runcible_tensor_set_proxy, NULL,
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef runcible_tensor_members[] = {
    {"_backend", T_OBJECT_EX, offsetof(runcible_tensor, backend), 0, NULL},
    {"_recording", T_OBJECT, offsetof(runcible_tensor, recording), 0, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(runcible_tensor, weak),
     READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* ISO C has no conversion of functions to void*. */
#define RUNCIBLE_SLOT(ID, FUNCTION) \
  { ID, (void*)(size_t)(FUNCTION) }
static PyType_Slot runcible_tensor_slots[] = {
    RUNCIBLE_SLOT(Py_tp_dealloc, runcible_tensor_dealloc),
    RUNCIBLE_SLOT(Py_tp_hash, runcible_tensor_hash),
    RUNCIBLE_SLOT(Py_tp_richcompare, runcible_compare),
    {Py_tp_getset, runcible_tensor_properties},
    {Py_tp_members, runcible_tensor_members},
    RUNCIBLE_SLOT(Py_nb_add, runcible_operator_add),
    RUNCIBLE_SLOT(Py_nb_subtract, runcible_operator_sub),
    RUNCIBLE_SLOT(Py_nb_multiply, runcible_operator_mul),
    RUNCIBLE_SLOT(Py_nb_true_divide, runcible_operator_div),
    RUNCIBLE_SLOT(Py_nb_power, runcible_operator_pow),
    RUNCIBLE_SLOT(Py_nb_matrix_multiply, runcible_operator_matmul),
    RUNCIBLE_SLOT(Py_nb_negative, runcible_operator_neg),
    RUNCIBLE_SLOT(Py_nb_absolute, runcible_operator_abs),
    {0, NULL}};
#undef RUNCIBLE_SLOT

static PyType_Spec runcible_tensor_spec = {
    "runcible._native.TensorBase", sizeof(runcible_tensor), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, runcible_tensor_slots};

#endif /* RUNCIBLE_PYTHON_TENSOR_H */
