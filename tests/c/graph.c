/* Exercises graph.h: every function once, on each of reference and cpu, on a
 * loop of the program's and on the library's own. */
#include "runcible/graph.h"

#include <pthread.h>

#include "check.h"

static rc_tensor* make(rc_backend* backend, float a, float b, float c) {
  const int64_t shape[] = {3};
  const float data[] = {a, b, c};
  rc_tensor* tensor = NULL;
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 1, data,
                                 sizeof data, &tensor));
  return tensor;
}

/* Of y = relu(x + x): it is released. */
static void expect(rc_tensor* y, float a, float b, float c) {
  float found[3] = {0, 0, 0};
  REQUIRE_OK(rc_tensor_read(y, found, sizeof found));
  CHECK(found[0] == a && found[1] == b && found[2] == c);
  rc_tensor_release(y);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

typedef struct end {
  int count;
  rc_status status;
  rc_tensor* y;
} end;

static void on_end(void* user, rc_status status, const char* message,
                   rc_tensor* const* outputs, size_t output_count) {
  end* here = (end*)user;
  pthread_mutex_lock(&mutex);
  ++here->count;
  here->status = status;
  if (status == RC_OK) {
    CHECK(output_count == 1);
    here->y = outputs[0];
  } else {
    CHECK(output_count == 0 && outputs == NULL && message[0] != '\0');
  }
  pthread_cond_signal(&ended);
  pthread_mutex_unlock(&mutex);
}

static void check_backend(const char* spec) {
  const int64_t shape[] = {3};
  rc_backend* backend = NULL;
  rc_graph* graph = NULL;
  rc_loop* loop = NULL;
  rc_tensor *x = NULL, *sum = NULL, *recorded = NULL, *y = NULL;
  rc_tensor *first, *second;
  rc_graph_run_options options = RC_GRAPH_RUN_OPTIONS_INIT;
  rc_graph_report report = RC_GRAPH_REPORT_INIT;
  float numbers[3];
  end here = {0, RC_E_INTERNAL, NULL};

  REQUIRE_OK(rc_backend_open(spec, NULL, &backend));
  first = make(backend, 1, -2, 3);
  second = make(backend, -1, 0.5f, 0);
  REQUIRE_OK(rc_graph_begin(backend, &graph));
  REQUIRE_OK(rc_graph_input(graph, RC_DTYPE_F32, shape, 1, &x));
  REQUIRE_OK(rc_op_add(x, x, &sum));
  REQUIRE_OK(rc_op_relu(sum, &recorded));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tensor_read(recorded, numbers, sizeof numbers));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_graph_run(graph, &first, 1, NULL, &y, 1));
  REQUIRE_OK(rc_graph_end(graph, &recorded, 1));
  rc_tensor_release(recorded);
  rc_tensor_release(sum);
  rc_tensor_release(x);
  REQUIRE_OK(rc_graph_info(graph, &report));
  CHECK(report.inputs == 1 && report.outputs == 1 && report.ops == 2);

  REQUIRE_OK(rc_graph_run(graph, &first, 1, NULL, &y, 1));
  expect(y, 2, 0, 6);
  rc_graph_run_options_init(&options, sizeof options);
  options.deadline_ms = 600000;
  REQUIRE_OK(rc_graph_run(graph, &second, 1, &options, &y, 1));
  expect(y, 0, 1, 0);

  /* On a separate loop; the run keeps its inputs. */
  REQUIRE_OK(rc_loop_create(&loop));
  REQUIRE_OK(rc_graph_run_async(graph, &first, 1, NULL, loop, on_end, &here));
  CHECK(here.count == 0);
  REQUIRE_OK(rc_loop_wait(loop, 60000));
  REQUIRE_OK(rc_loop_dispatch(loop, 0, NULL));
  CHECK(here.count == 1 && here.status == RC_OK);
  expect(here.y, 2, 0, 6);
  rc_loop_release(loop);

  /* On the library's thread. */
  REQUIRE_OK(rc_graph_run_async(graph, &second, 1, NULL, NULL, on_end, &here));
  CHECK_STATUS(RC_OK, rc_graph_cancel(rc_graph_retain(graph)));
  rc_graph_release(graph);
  rc_graph_release(graph);
  rc_tensor_release(second);
  pthread_mutex_lock(&mutex);
  while (here.count < 2) pthread_cond_wait(&ended, &mutex);
  pthread_mutex_unlock(&mutex);
  /* Cancelled, or over by then. */
  CHECK(here.count == 2 &&
        (here.status == RC_OK || here.status == RC_E_CANCELLED));
  if (here.status == RC_OK) expect(here.y, 0, 1, 0);

  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_graph_begin(NULL, &graph));
  CHECK(graph == NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_graph_cancel(NULL));
  rc_graph_report_init(&report, sizeof report);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_graph_info(NULL, &report));
  rc_graph_release(NULL);
  rc_tensor_release(first);
  rc_backend_release(backend);
}

int main(void) {
  check_backend("reference");
  check_backend("cpu");
  return CHECK_RESULT();
}
