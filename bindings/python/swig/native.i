%module(package="runcible", threads="1") native
%include "typemaps.i"
%include "runcible.i"
%include "graph.i"
%include "op_backend.i"
%include "custom_op.i"
%include "borrow.i"
%include "tensor.i"

/* A model in memory of a Python object, which is not copied: the model keeps
 * the object. Any thread may release it. */
%{
static void runcible_let_go(void* object) {
  PyGILState_STATE state;
  if (!Py_IsInitialized()) return;
  state = PyGILState_Ensure();
  Py_DECREF((PyObject*)object);
  PyGILState_Release(state);
}
%}
%typemap(in) PyObject* LENT {
  Py_INCREF($input);
  $1 = $input;
}
%apply PyObject* LENT { PyObject* holder }
%inline %{
static rc_status model_load_lent(rc_backend* backend, const void* data,
                                 size_t size, const char* called,
                                 const rc_model_options* options,
                                 PyObject* holder, rc_model** model) {
  rc_model_memory memory = memory_of_bytes(data, size, called);
  memory.release = runcible_let_go;
  memory.user = holder;
  return rc_model_load_memory(backend, &memory, options, model);
}
%}

/* Limits the events, so that an event loop is not blocked; see streaming.py. */
mailbox_status mailbox_take_some(mailbox* box, size_t max,
                                 kept_events* events);
