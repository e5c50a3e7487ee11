/* A program outside the tree: opens a backend and tells what it is. */
#include <runcible/runcible.h>
#include <stdio.h>

static int failed(void) {
  fprintf(stderr, "%s\n", rc_error_message());
  return 1;
}

int main(void) {
  rc_backend* backend = NULL;
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  if (RC_ABI_CHECK() != RC_OK) return failed();
  if (rc_backend_open("auto", NULL, &backend) != RC_OK) return failed();
  if (rc_backend_device(backend, &device) != RC_OK) return failed();
  printf("runcible %s on %s\n", rc_version_string(), device.id);
  rc_backend_release(backend);
  return 0;
}
