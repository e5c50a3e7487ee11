/* Graphs: tensors in lists that are filled one by one, because arrays of
 * handles have no typemap, and a plain number in place of options. Python
 * passes them as sequences; see python/swig/graph.i. */
%ignore rc_graph_end;
%ignore rc_graph_run;
%ignore rc_graph_run_async;
%ignore rc_graph_run_options;

%{
/* Tensors, with a reference to each. */
typedef struct tensor_list {
  rc_tensor** tensors;
  size_t count;
} tensor_list;

static int add_tensor(tensor_list* list, rc_tensor* tensor) {
  rc_tensor** more =
      (rc_tensor**)realloc(list->tensors, (list->count + 1) * sizeof(*more));
  if (more == NULL) return 0;
  list->tensors = more;
  more[list->count++] = tensor == NULL ? NULL : rc_tensor_retain(tensor);
  return 1;
}

static void free_tensor_list(tensor_list* list) {
  size_t i;
  if (list == NULL || runcible_forked) return;
  for (i = 0; i < list->count; ++i) rc_tensor_release(list->tensors[i]);
  free(list->tensors);
  free(list);
}

/* Allocates an array for the outputs of a run; NULL after a failure. */
static rc_tensor** room_of_outputs(rc_graph* graph, size_t* count,
                                   rc_status* status) {
  rc_graph_report report = RC_GRAPH_REPORT_INIT;
  rc_tensor** room;
  *status = rc_graph_info(graph, &report);
  if (*status != RC_OK) return NULL;
  *count = (size_t)report.outputs;
  room = (rc_tensor**)calloc(*count + 1, sizeof(*room));
  if (room == NULL) *status = RC_E_OUT_OF_MEMORY;
  return room;
}
%}

%exception tensor_list::~tensor_list "$action"
typedef struct tensor_list tensor_list;
struct tensor_list {};
%extend tensor_list {
  tensor_list() { return (tensor_list*)calloc(1, sizeof(tensor_list)); }
  ~tensor_list() { free_tensor_list($self); }

  runcible_kept add(rc_tensor* tensor) { return add_tensor($self, tensor); }
}

%include "runcible/graph.h"

%inline %{
/* Returns the i-th tensor of a list. */
static rc_status tensor_of_list(const tensor_list* list, int64_t i,
                                rc_tensor** tensor) {
  *tensor = NULL;
  if (i < 0 || (uint64_t)i >= list->count) return RC_E_INVALID_ARGUMENT;
  *tensor = rc_tensor_retain(list->tensors[i]);
  return RC_OK;
}

static rc_status graph_finish(rc_graph* graph, const tensor_list* outputs) {
  return rc_graph_end(graph, (rc_tensor* const*)outputs->tensors,
                      outputs->count);
}

/* Adds the results to `made`, which is empty. deadline_ms 0: no deadline. */
static rc_status graph_compute(rc_graph* graph, const tensor_list* inputs,
                               int64_t deadline_ms, tensor_list* made) {
  rc_graph_run_options options = RC_GRAPH_RUN_OPTIONS_INIT;
  size_t count = 0;
  rc_status status;
  rc_tensor** room = room_of_outputs(graph, &count, &status);
  options.deadline_ms = deadline_ms;
  if (room == NULL) return status;
  status = rc_graph_run(graph, (rc_tensor* const*)inputs->tensors,
                        inputs->count, &options, room, count);
  if (status != RC_OK) {
    free(room);
    return status;
  }
  free(made->tensors);
  made->tensors = room;
  made->count = count;
  return RC_OK;
}
%}
