/* How much faster tensor ops are as a graph than one by one, through the C ABI:
 * a chain of 20 elementwise ops over 10 MB of F32, and 1000 small ops.
 * README.md says how to read it.
 *
 *     build/release/bin/bench/graphs [--processor] [BACKEND]
 *
 * The two ways take turns, and medians are printed, with the time that it takes
 * to record a graph and to end it. Results are compared to the bit, and
 * released before the next are made. With --processor, which is for one thread
 * (RUNCIBLE_THREADS=1), the processor time of the calling thread is measured
 * instead of the clock: that is what it takes on a busy machine. */
#include <runcible/runcible.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kRounds = 25 };

typedef struct chain {
  const char* name;
  int64_t elements;
  int ops;
  /* An op of a chain by its number: y of x, a tensor of as many elements, and a
   * single number. */
  rc_status (*op)(int i, rc_tensor* x, rc_tensor* other, rc_tensor* number,
                  rc_tensor** y);
} chain;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static clockid_t the_clock = CLOCK_MONOTONIC;

static double microseconds(void) {
  struct timespec time;
  clock_gettime(the_clock, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Scaling, shifting, clipping: as cheap as ops are, so that memory counts. */
static rc_status plain(int i, rc_tensor* x, rc_tensor* other, rc_tensor* number,
                       rc_tensor** y) {
  (void)other;
  switch (i % 4) {
    case 0:
      return rc_op_mul(x, number, y);
    case 1:
      return rc_op_add(x, number, y);
    case 2:
      return rc_op_relu(x, y);
    default:
      return rc_op_sub(x, number, y);
  }
}

/* Every second op reads another tensor of the same size. */
static rc_status with_another(int i, rc_tensor* x, rc_tensor* other,
                              rc_tensor* number, rc_tensor** y) {
  switch (i % 4) {
    case 0:
      return rc_op_mul(x, other, y);
    case 1:
      return rc_op_add(x, number, y);
    case 2:
      return rc_op_relu(x, y);
    default:
      return rc_op_sub(x, other, y);
  }
}

/* Functions that take a processor longer than memory does. */
static rc_status with_functions(int i, rc_tensor* x, rc_tensor* other,
                                rc_tensor* number, rc_tensor** y) {
  (void)other;
  switch (i % 4) {
    case 0:
      return rc_op_mul(x, number, y);
    case 1:
      return rc_op_tanh(x, y);
    case 2:
      return rc_op_add(x, number, y);
    default:
      return rc_op_sigmoid(x, y);
  }
}

static rc_tensor* random_tensor(rc_backend* backend, int64_t elements,
                                uint64_t seed) {
  rc_random_options options = RC_RANDOM_OPTIONS_INIT;
  rc_tensor* tensor = NULL;
  options.seed = seed;
  check(rc_tensor_random(backend, &elements, 1, &options, &tensor));
  return tensor;
}

static rc_tensor* apply(const chain* what, rc_tensor* x, rc_tensor* other,
                        rc_tensor* number) {
  rc_tensor* last = rc_tensor_retain(x);
  int i;
  for (i = 0; i < what->ops; ++i) {
    rc_tensor* y = NULL;
    check(what->op(i, last, other, number, &y));
    rc_tensor_release(last);
    last = y;
  }
  return last;
}

static int less(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values) {
  qsort(values, kRounds, sizeof(*values), less);
  return values[kRounds / 2];
}

static void measure(rc_backend* backend, const chain* what) {
  const size_t bytes = (size_t)what->elements * sizeof(float);
  const int64_t one = 1;
  const float half = 0.5f;
  rc_tensor* inputs[2];
  rc_tensor* recorded[2];
  rc_tensor *number = NULL, *y = NULL;
  rc_graph* graph = NULL;
  double one_by_one[kRounds], as_graph[kRounds];
  double begin, record, end;
  int round;
  char* expected = (char*)malloc(bytes);
  char* found = (char*)malloc(bytes);
  if (expected == NULL || found == NULL) exit(EXIT_FAILURE);
  inputs[0] = random_tensor(backend, what->elements, 1);
  inputs[1] = random_tensor(backend, what->elements, 2);
  check(rc_tensor_from_data(backend, RC_DTYPE_F32, &one, 1, &half, sizeof half,
                            &number));

  begin = microseconds();
  check(rc_graph_begin(backend, &graph));
  for (round = 0; round < 2; ++round) {
    check(rc_graph_input(graph, RC_DTYPE_F32, &what->elements, 1,
                         &recorded[round]));
  }
  y = apply(what, recorded[0], recorded[1], number);
  record = microseconds() - begin;
  begin = microseconds();
  check(rc_graph_end(graph, &y, 1));
  end = microseconds() - begin;
  rc_tensor_release(y);

  for (round = 0; round < kRounds; ++round) {
    begin = microseconds();
    y = apply(what, inputs[0], inputs[1], number);
    one_by_one[round] = microseconds() - begin;
    check(rc_tensor_read(y, expected, bytes));
    rc_tensor_release(y);
    begin = microseconds();
    check(rc_graph_run(graph, inputs, 2, NULL, &y, 1));
    as_graph[round] = microseconds() - begin;
    check(rc_tensor_read(y, found, bytes));
    rc_tensor_release(y);
    if (memcmp(found, expected, bytes) != 0) {
      fprintf(stderr, "%s: the bits differ\n", what->name);
      exit(EXIT_FAILURE);
    }
  }
  {
    const double before = median(one_by_one);
    const double now = median(as_graph);
    printf("%-40s %12.1f %10.1f %6.1f %10.1f %10.1f\n", what->name, before, now,
           before / now, record, end);
  }
  for (round = 0; round < 2; ++round) {
    rc_tensor_release(inputs[round]);
    rc_tensor_release(recorded[round]);
  }
  rc_tensor_release(number);
  rc_graph_release(graph);
  free(expected);
  free(found);
}

int main(int argc, char** argv) {
  static const chain chains[] = {
      {"20 ops over 10 MB", 2621440, 20, plain},
      {"20 ops over 10 MB, with another tensor", 2621440, 20, with_another},
      {"20 ops over 10 MB, with functions", 2621440, 20, with_functions},
      {"1000 ops of 16 elements", 16, 1000, with_another},
      {"1000 ops of 256 elements", 256, 1000, with_another},
      {"1000 ops of 256 elements, with functions", 256, 1000, with_functions},
  };
  rc_backend* backend = NULL;
  size_t i;
  int first = 1;
  if (argc > first && strcmp(argv[first], "--processor") == 0) {
    the_clock = CLOCK_THREAD_CPUTIME_ID;
    ++first;
  }
  check(RC_ABI_CHECK());
  check(rc_backend_open(argc > first ? argv[first] : "cpu", NULL, &backend));
  printf("%-40s %12s %10s %6s %10s %10s\n", "us", "one by one", "graph",
         "ratio", "recording", "ending");
  for (i = 0; i < sizeof(chains) / sizeof(chains[0]); ++i) {
    measure(backend, &chains[i]);
  }
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
