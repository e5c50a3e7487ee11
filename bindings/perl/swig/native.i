%module "Runcible::Native"
%include "typemaps.i"
%ignore rc_model_load;
%ignore mailbox_wait;
%ignore rc_request_wait;
%include "runcible.i"
%include "pending.i"

/* Takes a limited number of events, which does not hold up an event loop; see
 * Mailbox.pm. */
mailbox_status mailbox_take_some(mailbox* box, size_t max,
                                 kept_events* events);

/* The handles that threads of Perl may share. Sessions and requests, for their
 * logits and events, and handles without a count of references belong to the
 * thread that made them. */
%{
#define runcible_not_shared(handle) NULL
runcible_proxies_of(rc_device_list, runcible_not_shared)
runcible_proxies_of(rc_backend, rc_backend_retain)
runcible_proxies_of(rc_tenant, rc_tenant_retain)
runcible_proxies_of(rc_model_info, rc_model_info_retain)
runcible_proxies_of(rc_tokenizer, rc_tokenizer_retain)
runcible_proxies_of(rc_chat_prompt, rc_chat_prompt_retain)
runcible_proxies_of(rc_chat, rc_chat_retain)
runcible_proxies_of(rc_plan, rc_plan_retain)
runcible_proxies_of(rc_model, rc_model_retain)
runcible_proxies_of(rc_session, runcible_not_shared)
runcible_proxies_of(rc_grammar, rc_grammar_retain)
runcible_proxies_of(rc_grammar_matcher, rc_grammar_matcher_retain)
runcible_proxies_of(rc_embedding, rc_embedding_retain)
runcible_proxies_of(rc_request, runcible_not_shared)
runcible_proxies_of(rc_tensor, rc_tensor_retain)
runcible_proxies_of(rc_pinned, rc_pinned_retain)
runcible_proxies_of(rc_graph, rc_graph_retain)
runcible_proxies_of(rc_custom_op, rc_custom_op_retain)
runcible_proxies_of(mailbox, runcible_not_shared)
runcible_proxies_of(pending_call, runcible_not_shared)
%}

/* Releases a handle before its proxy is collected; the proxy is unusable
 * then. */
%exception drop "$action"
%inline %{
static void drop(SV* proxy) {
  dTHX;
  runcible_drop(aTHX_ proxy);
}
%}

/* Makes a tensor of the memory of a scalar; see borrow.h. */
%{
#include "borrow.h"
%}
%inline %{
static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank, SV* bytes,
                               rc_tensor** tensor) {
  dTHX;
  return runcible_borrow(aTHX_ backend, dtype, shape, rank, bytes, tensor);
}
%}

/* Memory that was lent before, and pinned memory, which a variable shows
 * likewise. */
%typemap(in, numinputs=0) SV** SHOWN (SV* made = NULL) "$1 = &made;"
%typemap(argout) SV** SHOWN { runcible_result(sv_2mortal(*$1)) }
%inline %{
static rc_status pinned_show(rc_pinned* pinned, SV** SHOWN) {
  dTHX;
  return runcible_show_pinned(aTHX_ pinned, SHOWN);
}

static rc_status lent_write(SV* memory, int64_t first, const void* data,
                            size_t bytes) {
  dTHX;
  return runcible_lent_write(aTHX_ memory, first, data, bytes);
}

static rc_status tensor_of_lent(rc_backend* backend, rc_dtype dtype,
                                const int64_t* shape, int32_t rank, SV* memory,
                                rc_tensor** tensor) {
  dTHX;
  const runcible_lent* lent = runcible_lent_of(aTHX_ memory);
  if (lent == NULL) return RC_E_INVALID_ARGUMENT;
  return rc_tensor_from_data(backend, dtype, shape, rank, lent->bytes,
                             lent->size, tensor);
}

/* Writes a tensor to the beginning of lent memory. */
static rc_status tensor_read_into(rc_tensor* tensor, SV* memory) {
  dTHX;
  const runcible_lent* lent = runcible_lent_of(aTHX_ memory);
  size_t size = 0;
  rc_status status;
  if (lent == NULL) return RC_E_INVALID_ARGUMENT;
  status = rc_tensor_size(tensor, NULL, &size);
  if (status != RC_OK) return status;
  return rc_tensor_read(tensor, lent->bytes,
                        size < lent->size ? size : lent->size);
}
%}

/* Calls rc_model_load, which calls `progress`, if that is defined, with the
 * fraction done. If it dies, the load ends and dies with its exception. */
%inline %{
static rc_status load_model(rc_backend* backend, const char* path,
                            rc_model_options* options, SV* progress,
                            rc_model** model) {
  dTHX;
  return runcible_load(aTHX_ backend, path, options, progress, model);
}
%}

/* Custom ops with a function of Perl; see functions.h. */
%{
#include "functions.h"
%}
%typemap(in, numinputs=0) runcible_server server (runcible_waiting waiting) {
  waiting.exit = 0;
  $1 = &waiting;
}
%define runcible_serving(NAME)
%exception NAME {
  if (runcible_forked) {
    runcible_raise(RC_E_CLOSED, runcible_fork_message);
    RUNCIBLE_FAIL;
  }
  $action
  if (arg1->exit != 0) JMPENV_JUMP(arg1->exit);
}
%enddef
runcible_serving(custom_op_compute_serving)
runcible_serving(graph_compute_serving)
%include "served.i"
%inline %{
static rc_status custom_op_of_function(rc_custom_op_options* options,
                                       SV* function, rc_custom_op** op) {
  dTHX;
  return runcible_custom_op(aTHX_ options, function, op);
}
%}
