/* Exercises base.h. */
#include "runcible/base.h"

#include "check.h"

static int messages = 0;

static void on_log(void* user, rc_log_level level, const char* message) {
  CHECK(user == &messages);
  CHECK(level >= RC_LOG_ERROR && level <= RC_LOG_DEBUG);
  CHECK(strchr(message, '\n') == NULL);
  ++messages;
}

int main(void) {
  char version[32];
  rc_status status;

  CHECK(strcmp(rc_error_message(), "") == 0);
  CHECK_STATUS(RC_OK, RC_ABI_CHECK());
  CHECK_STATUS(RC_E_ABI, rc_abi_check(RC_VERSION_MAJOR + 1, 0));
  CHECK_STATUS(RC_E_ABI, rc_abi_check(RC_VERSION_MAJOR, RC_VERSION_MINOR + 1));
  CHECK(strstr(rc_error_message(), rc_version_string()) != NULL);
  /* A success leaves the message alone. */
  CHECK_STATUS(RC_OK, RC_ABI_CHECK());
  CHECK(strstr(rc_error_message(), rc_version_string()) != NULL);

  snprintf(version, sizeof(version), "%d.%d.%d", RC_VERSION_MAJOR,
           RC_VERSION_MINOR, RC_VERSION_PATCH);
  CHECK(strcmp(version, rc_version_string()) == 0);
  CHECK(rc_version() == RC_VERSION_MAJOR * 1000000u + RC_VERSION_MINOR * 1000u +
                            RC_VERSION_PATCH);

  for (status = 0; status >= RC_E_INTERNAL; --status) {
    CHECK(strncmp(rc_status_name(status), "RC_", 3) == 0);
  }
  CHECK(strcmp(rc_status_name(RC_E_INTERNAL - 1), "unknown status") == 0);
  CHECK(strcmp(rc_status_name(1), "unknown status") == 0);

  CHECK(rc_build_info()[0] == '{');
  CHECK(strstr(rc_build_info(), "\"reference\"") != NULL);
  rc_free(NULL);
  rc_log_set(on_log, &messages, RC_LOG_DEBUG);
  rc_log_set(NULL, NULL, RC_LOG_NONE);
  return CHECK_RESULT();
}
