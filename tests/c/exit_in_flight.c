/* The process ends with requests and loads in flight and nothing released. */
#define _POSIX_C_SOURCE 200809L
#include "many.h"

static void on_loaded(void* user, rc_status status, const char* message,
                      rc_model* model) {
  (void)user;
  (void)status;
  (void)message;
  (void)model;
}

int main(void) {
  rc_backend* backend = NULL;
  start_jobs(NULL); /* on the library's own loop */
  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  REQUIRE_OK(
      rc_model_load_async(backend, RC_MODEL, NULL, NULL, on_loaded, NULL));
  return CHECK_RESULT();
}
