/* A program outside the tree: prints the backends that it finds, loads the
 * model that comes with Runcible and prints where. */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(void) {
  fprintf(stderr, "%s\n", rc_error_message());
  return 1;
}

static int by_name(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

/* "backends: cpu opencl ...": each once, whether it has devices or not. */
static rc_status tell_backends(void) {
  rc_device_list* list = NULL;
  const char* names[64];
  size_t i, count = 0;
  rc_status status = rc_discover(&list);
  for (i = 0; status == RC_OK && i < rc_device_list_count(list); ++i) {
    rc_device_report device = RC_DEVICE_REPORT_INIT;
    status = rc_device_list_get(list, i, &device);
    if (status == RC_OK && count < 64) names[count++] = device.backend;
  }
  if (status == RC_OK) {
    qsort((void*)names, count, sizeof names[0], by_name);
    printf("backends:");
    for (i = 0; i < count; ++i) {
      if (i == 0 || strcmp(names[i], names[i - 1]) != 0) {
        printf(" %s", names[i]);
      }
    }
    printf("\n");
  }
  rc_device_list_release(list);
  return status;
}

int main(void) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_model_report report = RC_MODEL_REPORT_INIT;
  if (RC_ABI_CHECK() != RC_OK) return failed();
  if (tell_backends() != RC_OK) return failed();
  if (rc_backend_open("auto", NULL, &backend) != RC_OK) return failed();
  if (rc_model_load(backend, "builtin:fable", NULL, &model) != RC_OK) {
    return failed();
  }
  if (rc_model_describe(model, &report) != RC_OK) return failed();
  printf("runcible %s: %s of %lld tokens on %s\n", rc_version_string(),
         report.architecture, (long long)report.vocabulary, report.device);
  rc_model_release(model);
  rc_backend_release(backend);
  return 0;
}
