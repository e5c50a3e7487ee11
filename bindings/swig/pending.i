/* Calls that are not generations, in threads of the library: the mailbox
 * delivers their end like that of a request, with a key, a status and a
 * message, and then the caller asks for the result. The progress of an opening
 * can be asked for at any time. For languages whose event loops watch the
 * mailbox's descriptor; included after runcible.i. */
%{
#include <stdatomic.h>

/* A call with two references: the proxy's, and its own while it is in flight. */
typedef struct pending_call {
  atomic_int references;
  atomic_int cancelled;
  _Atomic double fraction;
  mailbox_receiver* to;
  rc_graph* graph; /* in a run; NULL: no graph */
  rc_backend* backend;
  rc_device_list* devices;
  tensor_list* tensors;
} pending_call;

static void pending_call_release(pending_call* call) {
  if (call == NULL || atomic_fetch_sub(&call->references, 1) > 1) return;
  rc_graph_release(call->graph);
  rc_backend_release(call->backend);
  rc_device_list_release(call->devices);
  free_tensor_list(call->tensors);
  free(call);
}

/* Begins a call whose end goes to the mailbox; NULL after a failure. */
static pending_call* begin_call(mailbox* box, uint64_t key,
                                mailbox_status* status) {
  mailbox_receiver* to = NULL;
  pending_call* call;
  *status = mailbox_begin(box, key, &to);
  if (*status != RC_OK) return NULL;
  call = (pending_call*)calloc(1, sizeof(*call));
  if (call == NULL) {
    *status = mailbox_begun(to, RC_E_OUT_OF_MEMORY);
    return NULL;
  }
  atomic_init(&call->references, 2);
  call->to = to;
  return call;
}

/* Completes starting a call; after a failure frees it and sets NULL. */
static mailbox_status call_begun(pending_call* begun, rc_status status,
                                 pending_call** call) {
  const mailbox_status result = mailbox_begun(begun->to, status);
  *call = begun;
  if (status == RC_OK) return result;
  *call = NULL;
  atomic_store(&begun->references, 1);
  pending_call_release(begun);
  return result;
}

static void call_ended(pending_call* call, rc_status status,
                       const char* message) {
  mailbox_end(call->to, status, message);
  pending_call_release(call);
}

/* An rc_progress_callback, in the thread of the call. */
static int32_t on_call_progress(void* user, double fraction) {
  pending_call* call = (pending_call*)user;
  atomic_store(&call->fraction, fraction);
  return atomic_load(&call->cancelled);
}

static void on_call_backend(void* user, rc_status status, const char* message,
                            rc_backend* backend) {
  pending_call* call = (pending_call*)user;
  call->backend = backend;
  call_ended(call, status, message);
}

static void on_call_switched(void* user, rc_status status,
                             const char* message) {
  call_ended((pending_call*)user, status, message);
}

static void on_call_devices(void* user, rc_status status, const char* message,
                            rc_device_list* list) {
  pending_call* call = (pending_call*)user;
  call->devices = list;
  call_ended(call, status, message);
}

static void on_call_tensors(void* user, rc_status status, const char* message,
                            rc_tensor* const* outputs, size_t output_count) {
  pending_call* call = (pending_call*)user;
  size_t i;
  for (i = 0; i < output_count; ++i) {
    /* The list's reference replaces the receiver's. */
    if (status == RC_OK && !add_tensor(call->tensors, outputs[i])) {
      status = RC_E_OUT_OF_MEMORY;
      message = "no memory for the results of a graph";
    }
    rc_tensor_release(outputs[i]);
  }
  call_ended(call, status, message);
}
%}

typedef struct pending_call pending_call;
runcible_handle(pending_call)

%inline %{
static mailbox_status backend_open_start(mailbox* box, uint64_t key,
                                         const char* spec,
                                         const rc_backend_options* options,
                                         pending_call** call) {
  mailbox_status status;
  rc_backend_options own = *options;
  pending_call* begun = begin_call(box, key, &status);
  *call = NULL;
  if (begun == NULL) return status;
  own.progress = on_call_progress;
  own.progress_user = begun;
  return call_begun(begun,
                    rc_backend_open_async(spec, &own, mailbox_loop(box),
                                          on_call_backend, begun),
                    call);
}

static mailbox_status backend_switch_start(
    mailbox* box, uint64_t key, rc_backend* backend, const char* spec,
    const rc_backend_switch_options* options, pending_call** call) {
  mailbox_status status;
  rc_backend_switch_options own = *options;
  pending_call* begun = begin_call(box, key, &status);
  *call = NULL;
  if (begun == NULL) return status;
  own.progress = on_call_progress;
  own.progress_user = begun;
  return call_begun(
      begun,
      rc_backend_switch_async(backend, spec, &own, mailbox_loop(box),
                              on_call_switched, begun),
      call);
}

static mailbox_status discover_start(mailbox* box, uint64_t key,
                                     pending_call** call) {
  mailbox_status status;
  pending_call* begun = begin_call(box, key, &status);
  *call = NULL;
  if (begun == NULL) return status;
  return call_begun(
      begun,
      rc_discover_async(on_call_progress, begun, mailbox_loop(box),
                        on_call_devices, begun),
      call);
}

static mailbox_status graph_run_start(mailbox* box, uint64_t key,
                                      rc_graph* graph,
                                      const tensor_list* inputs,
                                      int64_t deadline_ms,
                                      pending_call** call) {
  rc_graph_run_options options = RC_GRAPH_RUN_OPTIONS_INIT;
  mailbox_status status;
  pending_call* begun = begin_call(box, key, &status);
  *call = NULL;
  if (begun == NULL) return status;
  options.deadline_ms = deadline_ms;
  begun->graph = rc_graph_retain(graph);
  begun->tensors = (tensor_list*)calloc(1, sizeof(tensor_list));
  if (begun->tensors == NULL) {
    return call_begun(begun, RC_E_OUT_OF_MEMORY, call);
  }
  return call_begun(
      begun,
      rc_graph_run_async(graph, (rc_tensor* const*)inputs->tensors,
                         inputs->count, &options, mailbox_loop(box),
                         on_call_tensors, begun),
      call);
}

/* Asks a call to end with RC_E_CANCELLED; for a graph cancels all its runs. */
static rc_status pending_call_cancel(pending_call* call) {
  atomic_store(&call->cancelled, 1);
  return call->graph == NULL ? RC_OK : rc_graph_cancel(call->graph);
}

static double pending_call_fraction(pending_call* call) {
  return atomic_load(&call->fraction);
}

/* Takes the result of a call that succeeded; call it once. */
static rc_status pending_call_backend(pending_call* call,
                                      rc_backend** backend) {
  *backend = call->backend;
  call->backend = NULL;
  return RC_OK;
}
static rc_status pending_call_devices(pending_call* call,
                                      rc_device_list** list) {
  *list = call->devices;
  call->devices = NULL;
  return RC_OK;
}
static rc_status pending_call_tensor(pending_call* call, int64_t i,
                                     rc_tensor** tensor) {
  return tensor_of_list(call->tensors, i, tensor);
}
%}
