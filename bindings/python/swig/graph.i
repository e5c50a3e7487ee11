/* Graphs: tensors in sequences, and a plain number in place of options. */
%ignore rc_graph_run;
%ignore rc_graph_run_async;
%ignore rc_graph_run_options;

/* A sequence of proxies, which the caller keeps. */
%typemap(in) (rc_tensor* const* TENSORS, size_t COUNT)
    (rc_tensor** kept = NULL) {
  const Py_ssize_t count = PySequence_Size($input);
  Py_ssize_t i;
  if (count < 0) SWIG_fail;
  kept = (rc_tensor**)PyMem_Malloc(((size_t)count + 1) * sizeof(*kept));
  if (kept == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
  for (i = 0; i < count; ++i) {
    void* pointer = NULL;
    PyObject* item = PySequence_GetItem($input, i);
    const int found = item == NULL
                          ? SWIG_ERROR
                          : SWIG_ConvertPtr(item, &pointer,
                                            $descriptor(rc_tensor*), 0);
    Py_XDECREF(item);
    if (!SWIG_IsOK(found) || pointer == NULL) {
      if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "$1_name must be tensors");
      }
      SWIG_fail;
    }
    kept[i] = (rc_tensor*)pointer;
  }
  $1 = kept;
  $2 = (size_t)count;
}
/* Replaces the conversion of a result of rc_tensor**, which would apply. */
%typemap(argout) (rc_tensor* const* TENSORS, size_t COUNT) ""
%typemap(freearg) (rc_tensor* const* TENSORS, size_t COUNT) {
  PyMem_Free(kept$argnum);
}
%apply (rc_tensor* const* TENSORS, size_t COUNT) {
  (rc_tensor* const* inputs, size_t input_count),
  (rc_tensor* const* outputs, size_t output_count)
}

/* A list of new proxies; the argument is their count. */
%typemap(in) (rc_tensor** MADE, size_t COUNT) (rc_tensor** made = NULL) {
  const size_t count = PyLong_AsSize_t($input);
  if (count == (size_t)-1 && PyErr_Occurred()) SWIG_fail;
  made = (rc_tensor**)PyMem_Calloc(count + 1, sizeof(*made));
  if (made == NULL) {
    PyErr_NoMemory();
    SWIG_fail;
  }
  $1 = made;
  $2 = count;
}
%typemap(argout) (rc_tensor** MADE, size_t COUNT) {
  PyObject* list = PyList_New((Py_ssize_t)$2);
  size_t i;
  for (i = 0; i < $2; ++i) {
    PyObject* proxy = list == NULL
                          ? NULL
                          : SWIG_NewPointerObj((void*)$1[i],
                                               $descriptor(rc_tensor*),
                                               SWIG_POINTER_OWN);
    if (proxy == NULL) {
      Py_XDECREF(list);
      list = NULL;
      rc_tensor_release($1[i]);
    } else {
      PyList_SetItem(list, (Py_ssize_t)i, proxy);
    }
  }
  runcible_result(list)
}
%typemap(freearg) (rc_tensor** MADE, size_t COUNT) { PyMem_Free(made$argnum); }
%apply (rc_tensor** MADE, size_t COUNT) {
  (rc_tensor** made, size_t made_count)
}

%include "runcible/graph.h"

%inline %{
static rc_status concat(rc_tensor* const* inputs, size_t input_count,
                        int32_t dimension, rc_tensor** result) {
  return rc_op_concat(inputs, input_count, dimension, result);
}
%}

%inline %{
/* deadline_ms 0: no deadline. */
static rc_status graph_compute(rc_graph* graph, rc_tensor* const* inputs,
                               size_t input_count, int64_t deadline_ms,
                               rc_tensor** made, size_t made_count) {
  rc_graph_run_options options = RC_GRAPH_RUN_OPTIONS_INIT;
  options.deadline_ms = deadline_ms;
  return rc_graph_run(graph, inputs, input_count, &options, made, made_count);
}
%}
