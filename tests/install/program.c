/* A program outside the tree: loads the model that comes with Runcible and
 * tells where. */
#include <runcible/runcible.h>
#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "%s\n", rc_error_message());
  return 1;
}

int main(void) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_model_report report = RC_MODEL_REPORT_INIT;
  if (RC_ABI_CHECK() != RC_OK) return failed();
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
