/* Conversions between values of C and of Python; included by the wrapper alone.
 * The interpreter's lock is held unless a comment states otherwise. Functions
 * that make an object return NULL with an exception set if they cannot. */
#ifndef RUNCIBLE_PYTHON_VALUES_H
#define RUNCIBLE_PYTHON_VALUES_H

#include <Python.h>
#include <runcible/runcible.h>
#include <string.h>

#include "mailbox.h"
#define RUNCIBLE_ONE_PROMPT
#include "own_words.h"
#include "retry_after.h"

/* Raises the exception of a status, made by runcible.errors. An exception that
 * is set already, by a Python function that the call ran, stays. */
static void runcible_raise(rc_status status, const char* message) {
  PyObject* text;
  PyObject* module;
  PyObject* error = NULL;
  const int64_t retry_after = runcible_retry_after(status);
  if (PyErr_Occurred()) return;
  /* Copied first, because the code below may call the library. */
  text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "replace");
  if (text == NULL) return;
  module = PyImport_ImportModule("runcible.errors");
  if (module != NULL) {
    error = PyObject_CallMethod(module, "of_status", "iOL", (int)status, text,
                                (long long)retry_after);
    Py_DECREF(module);
  }
  Py_DECREF(text);
  if (error == NULL) return;
  PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_DECREF(error);
}

/* Appends a value to a result: the first is the result, more make a tuple.
 * Takes both references; NULL if either is NULL. */
static PyObject* runcible_append(PyObject* result, PyObject* value) {
  PyObject* tuple;
  Py_ssize_t count, i;
  if (result == NULL || value == NULL) {
    Py_XDECREF(result);
    Py_XDECREF(value);
    return NULL;
  }
  if (result == Py_None) {
    Py_DECREF(result);
    return value;
  }
  count = PyTuple_Check(result) ? PyTuple_Size(result) : 1;
  tuple = PyTuple_New(count + 1);
  if (tuple != NULL) {
    for (i = 0; i < count; ++i) {
      PyObject* item =
          PyTuple_Check(result) ? PyTuple_GetItem(result, i) : result;
      Py_INCREF(item);
      PyTuple_SetItem(tuple, i, item);
    }
    PyTuple_SetItem(tuple, count, value);
  } else {
    Py_DECREF(value);
  }
  Py_DECREF(result);
  return tuple;
}

/* Returns the UTF-8 of a str as new bytes, or the bytes themselves. */
static PyObject* runcible_bytes(PyObject* value, const char* name) {
  if (PyUnicode_Check(value)) return PyUnicode_AsUTF8String(value);
  if (PyBytes_Check(value)) {
    Py_INCREF(value);
    return value;
  }
  PyErr_Format(PyExc_TypeError, "%s must be str or bytes, not %S", name,
               (PyObject*)Py_TYPE(value));
  return NULL;
}

static PyObject* runcible_text(const char* text, size_t length) {
  return PyUnicode_DecodeUTF8(length == 0 ? "" : text, (Py_ssize_t)length,
                              "replace");
}

static PyObject* runcible_tokens(const int32_t* tokens, size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  size_t i;
  if (list == NULL) return NULL;
  for (i = 0; i < count; ++i) {
    PyObject* token = PyLong_FromLong(tokens[i]);
    if (token == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, (Py_ssize_t)i, token);
  }
  return list;
}

/* Converts an int within bounds; -1 with an exception set if it is not one. */
static int runcible_whole(PyObject* value, const char* name, long long least,
                          long long most, long long* number) {
  PyObject* index = PyNumber_Index(value);
  if (index == NULL) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Format(PyExc_TypeError, "%s must be integers, not %S", name,
                   (PyObject*)Py_TYPE(value));
    }
    return -1;
  }
  *number = PyLong_AsLongLong(index);
  if (*number == -1 && PyErr_Occurred()) {
    Py_DECREF(index);
    return -1;
  }
  if (*number < least || *number > most) {
    PyErr_Format(PyExc_OverflowError, "%s must be from %lld to %lld, not %S",
                 name, least, most, index);
    Py_DECREF(index);
    return -1;
  }
  Py_DECREF(index);
  return 0;
}

/* Copies a sequence of tokens; PyMem_Free frees them. */
static int runcible_tokens_in(PyObject* value, const char* name,
                              int32_t** tokens, size_t* count) {
  PyObject* sequence = PySequence_Tuple(value);
  Py_ssize_t size, i;
  if (sequence == NULL) return -1;
  size = PyTuple_Size(sequence);
  *tokens = (int32_t*)PyMem_Malloc((size_t)size * sizeof(int32_t));
  if (*tokens == NULL) {
    Py_DECREF(sequence);
    PyErr_NoMemory();
    return -1;
  }
  for (i = 0; i < size; ++i) {
    long long number = 0;
    if (runcible_whole(PyTuple_GetItem(sequence, i), name, INT32_MIN, INT32_MAX,
                       &number) != 0) {
      Py_DECREF(sequence);
      return -1;
    }
    (*tokens)[i] = (int32_t)number;
  }
  *count = (size_t)size;
  Py_DECREF(sequence);
  return 0;
}

/* Accepts bytes, or the tuple (address, size). */
static int runcible_memory_in(PyObject* value, const char* name,
                              const void** data, size_t* size) {
  if (PyBytes_Check(value)) {
    *data = PyBytes_AsString(value);
    *size = (size_t)PyBytes_Size(value);
    return 0;
  }
  if (PyTuple_Check(value) && PyTuple_Size(value) == 2) {
    *data = PyLong_AsVoidPtr(PyTuple_GetItem(value, 0));
    if (PyErr_Occurred()) return -1;
    *size = PyLong_AsSize_t(PyTuple_GetItem(value, 1));
    return PyErr_Occurred() ? -1 : 0;
  }
  PyErr_Format(PyExc_TypeError, "%s must be bytes, not %S", name,
               (PyObject*)Py_TYPE(value));
  return -1;
}

static int runcible_shape_in(PyObject* value, const char* name, int64_t* shape,
                             int32_t* rank) {
  PyObject* sequence = PySequence_Tuple(value);
  Py_ssize_t size, i;
  if (sequence == NULL) return -1;
  size = PyTuple_Size(sequence);
  if (size > RC_TENSOR_MAX_RANK) {
    PyErr_Format(PyExc_ValueError,
                 "%s has %zd dimensions, at most %d are known", name, size,
                 RC_TENSOR_MAX_RANK);
    Py_DECREF(sequence);
    return -1;
  }
  for (i = 0; i < size; ++i) {
    long long number = 0;
    if (runcible_whole(PyTuple_GetItem(sequence, i), name, INT64_MIN, INT64_MAX,
                       &number) != 0) {
      Py_DECREF(sequence);
      return -1;
    }
    shape[i] = number;
  }
  *rank = (int32_t)size;
  Py_DECREF(sequence);
  return 0;
}

static PyObject* runcible_shape(const int64_t* shape, int32_t rank) {
  PyObject* tuple = PyTuple_New(rank);
  int32_t i;
  if (tuple == NULL) return NULL;
  for (i = 0; i < rank; ++i) {
    PyObject* size = PyLong_FromLongLong(shape[i]);
    if (size == NULL) {
      Py_DECREF(tuple);
      return NULL;
    }
    PyTuple_SetItem(tuple, i, size);
  }
  return tuple;
}

static PyObject* runcible_logprobs(const int32_t* tokens, const float* logprobs,
                                   size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  size_t i;
  if (list == NULL) return NULL;
  for (i = 0; i < count; ++i) {
    PyObject* pair = Py_BuildValue("(id)", (int)tokens[i], (double)logprobs[i]);
    if (pair == NULL) {
      Py_DECREF(list);
      return NULL;
    }
    PyList_SetItem(list, (Py_ssize_t)i, pair);
  }
  return list;
}

/* Lists of (token, logprob): of each token, and of the most probable ones at
 * its position. (None, None) if they were not requested. */
static PyObject* runcible_piece_logprobs(const rc_event* event) {
  PyObject* own;
  PyObject* top;
  size_t i;
  if (event->logprobs == NULL) return Py_BuildValue("(OO)", Py_None, Py_None);
  own = runcible_logprobs(event->tokens, event->logprobs, event->token_count);
  top = PyList_New((Py_ssize_t)event->token_count);
  for (i = 0; own != NULL && top != NULL && i < event->token_count; ++i) {
    const size_t first = i * event->top_count;
    PyObject* best =
        runcible_logprobs(event->top_tokens + first,
                          event->top_logprobs + first, event->top_count);
    if (best == NULL) {
      Py_DECREF(own);
      own = NULL;
      break;
    }
    PyList_SetItem(top, (Py_ssize_t)i, best);
  }
  if (own == NULL || top == NULL) {
    Py_XDECREF(own);
    Py_XDECREF(top);
    return NULL;
  }
  return Py_BuildValue("(NN)", own, top);
}

static PyObject* runcible_optional_text(const char* text) {
  if (text == NULL) return Py_BuildValue("O", Py_None);
  return runcible_text(text, strlen(text));
}

/* Returns the kind of a piece of text in a conversation. */
static const char* runcible_what_piece_is(const rc_event* event) {
  switch (event->type) {
    case RC_EVENT_REASONING:
      return "reasoning";
    case RC_EVENT_CALL:
      return "call";
    default:
      return "text";
  }
}

/* (key, text, tokens, logprobs, kind, name and id of a call), or for an end
 * (key, None, status, message, numbers of the report in their order from
 * `reason` on). */
static PyObject* runcible_event(uint64_t key, const rc_event* event) {
  PyObject* text;
  PyObject* tokens;
  PyObject* logprobs = NULL;
  if (event->type == RC_EVENT_END) {
    const rc_generate_report* report = event->report;
    const char* message = runcible_own_words(event->message);
    text = runcible_text(message, strlen(message));
    if (text == NULL) return NULL;
#define RUNCIBLE_FORMAT(NAME) "L"
#define RUNCIBLE_NUMBER(NAME) , (long long)report->NAME
    return Py_BuildValue(
        "(KOiN(iK" RUNCIBLE_END_NUMBERS(RUNCIBLE_FORMAT) "))",
        (unsigned long long)key, Py_None, (int)report->status, text,
        (int)report->reason,
        (unsigned long long)report->seed RUNCIBLE_END_NUMBERS(RUNCIBLE_NUMBER));
#undef RUNCIBLE_FORMAT
#undef RUNCIBLE_NUMBER
  }
  text = runcible_text(event->text, event->text_length);
  tokens = runcible_tokens(event->tokens, event->token_count);
  if (text != NULL && tokens != NULL) {
    logprobs = runcible_piece_logprobs(event);
  }
  if (logprobs == NULL) {
    Py_XDECREF(text);
    Py_XDECREF(tokens);
    return NULL;
  }
  return Py_BuildValue("(KNNNsNN)", (unsigned long long)key, text, tokens,
                       logprobs, runcible_what_piece_is(event),
                       runcible_optional_text(event->call_name),
                       runcible_optional_text(event->call_id));
}

static PyObject* runcible_events(const kept_events* events) {
  PyObject* list = PyList_New(0);
  const kept_event* kept;
  if (list == NULL) return NULL;
  for (kept = events->first; kept != NULL; kept = kept->next) {
    PyObject* event = runcible_event(kept->key, &kept->event);
    if (event == NULL || PyList_Append(list, event) != 0) {
      Py_XDECREF(event);
      Py_DECREF(list);
      return NULL;
    }
    Py_DECREF(event);
  }
  return list;
}

/* An rc_progress_callback; `user` is a Python function, or NULL. Called without
 * the interpreter's lock, on a thread that released it for opening or loading.
 */
static int32_t runcible_progress(void* user, double fraction) {
  const PyGILState_STATE state = PyGILState_Ensure();
  int32_t stop = PyErr_CheckSignals() != 0;
  if (!stop && user != NULL) {
    PyObject* result = PyObject_CallFunction((PyObject*)user, "d", fraction);
    stop = result == NULL;
    Py_XDECREF(result);
  }
  PyGILState_Release(state);
  return stop;
}

#endif /* RUNCIBLE_PYTHON_VALUES_H */
