/* Calls that may need functions of the interpreter, which its thread runs
 * meanwhile; see served.h. Before including this a wrapper defines a type
 * runcible_server, for its state of the interpreter, with a typemap without
 * arguments for `server`, and
 *
 *   runcible_served* runcible_served_of(runcible_server server)   NULL: none
 *   void runcible_run_wanted(void* server, runcible_wanted* wanted)
 */
%{
typedef rc_status served_status;
static __thread char runcible_served_message[1024];

typedef struct {
  rc_custom_op* op;
  const tensor_list* inputs;
  const number_list* numbers;
  int32_t count;
  tensor_list* made;
} runcible_compute_call;

static rc_status runcible_run_compute(void* data) {
  const runcible_compute_call* call = (const runcible_compute_call*)data;
  return custom_op_compute(call->op, call->inputs, call->numbers, call->count,
                           call->made);
}

typedef struct {
  rc_graph* graph;
  const tensor_list* inputs;
  int64_t deadline_ms;
  tensor_list* made;
} runcible_graph_call;

static rc_status runcible_run_graph(void* data) {
  const runcible_graph_call* call = (const runcible_graph_call*)data;
  return graph_compute(call->graph, call->inputs, call->deadline_ms,
                       call->made);
}
%}
%typemap(out) served_status {
  if ($1 != RC_OK) {
    runcible_raise($1, runcible_own_words(runcible_served_message));
    RUNCIBLE_FAIL;
  }
  RUNCIBLE_NOTHING;
}
%inline %{
static served_status custom_op_compute_serving(runcible_server server,
                                               rc_custom_op* op,
                                               const tensor_list* inputs,
                                               const number_list* numbers,
                                               int32_t count,
                                               tensor_list* made) {
  runcible_compute_call call = {op, inputs, numbers, count, made};
  return runcible_serve(runcible_served_of(server), runcible_run_compute, &call,
                        runcible_run_wanted, (void*)server,
                        runcible_served_message);
}

static served_status graph_compute_serving(runcible_server server,
                                           rc_graph* graph,
                                           const tensor_list* inputs,
                                           int64_t deadline_ms,
                                           tensor_list* made) {
  runcible_graph_call call = {graph, inputs, deadline_ms, made};
  return runcible_serve(runcible_served_of(server), runcible_run_graph, &call,
                        runcible_run_wanted, (void*)server,
                        runcible_served_message);
}
%}
