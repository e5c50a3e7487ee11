/* Exercises session.h. */
#include "runcible/session.h"

#include "check.h"

static const int32_t kTokens[] = {1, 128, 55, 255, 63, 96, 199, 117};
enum { kCount = 8 };

/* The last row of logits after evaluating what waits. */
static void last_logits(rc_session* session, float* row) {
  const float* logits = NULL;
  size_t rows = 0, vocabulary = 0;
  REQUIRE_OK(rc_session_decode(session, 0));
  REQUIRE_OK(rc_session_logits(session, &logits, &rows, &vocabulary));
  CHECK(rows == 1 && vocabulary == 272);
  memcpy(row, logits, 272 * sizeof(float));
}

int main(void) {
  rc_backend* backend = NULL;
  rc_model *model = NULL, *other_model = NULL;
  rc_session *session = NULL, *fork = NULL, *copy = NULL;
  rc_session_options options = RC_SESSION_OPTIONS_INIT;
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  const float* logits = NULL;
  size_t rows = 0, vocabulary = 0, count = 0, size = 0;
  int64_t position = -1;
  int32_t* tokens = NULL;
  int32_t beyond = 272;
  void* saved = NULL;
  static float first[272], second[272];

  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  model_options.context_length = 64;
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, &model_options, &model));
  options.context_length = 65;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_session_create(model, &options, &session));
  CHECK(strstr(rc_error_message(), "65") != NULL);
  options.context_length = 0;
  options.when_full = 7;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_session_create(model, &options, &session));
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  /* Children keep their parents. */
  rc_model_release(model);
  rc_backend_release(backend);

  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_decode(session, 0));
  CHECK_STATUS(RC_E_NOT_FOUND,
               rc_session_logits(session, &logits, &rows, &vocabulary));
  CHECK_STATUS(RC_OK, rc_session_tokens(session, &tokens, &count));
  CHECK(tokens == NULL && count == 0);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_append(session, &beyond, 1));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_append(session, NULL, 1));
  CHECK_STATUS(RC_OK, rc_session_append(session, NULL, 0));
  REQUIRE_OK(rc_session_append(session, kTokens, kCount));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_decode(session, 2));
  REQUIRE_OK(rc_session_decode(session, RC_DECODE_ALL_LOGITS));
  REQUIRE_OK(rc_session_logits(session, &logits, &rows, &vocabulary));
  CHECK(rows == kCount && vocabulary == 272);
  memcpy(first, logits + (kCount - 1) * 272, sizeof(first));
  last_logits(session, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);

  CHECK_STATUS(RC_OK, rc_session_position(session, &position));
  CHECK(position == kCount);
  CHECK_STATUS(RC_OK, rc_session_tokens(session, &tokens, &count));
  CHECK(count == kCount && memcmp(tokens, kTokens, sizeof(kTokens)) == 0);
  rc_free(tokens);

  REQUIRE_OK(rc_session_fork(session, &fork));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_truncate(session, kCount + 1));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_truncate(session, -1));
  REQUIRE_OK(rc_session_truncate(session, 4));
  REQUIRE_OK(rc_session_append(session, kTokens + 4, 4));
  last_logits(session, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);
  last_logits(fork, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);

  REQUIRE_OK(rc_session_save_memory(fork, &saved, &size));
  rc_session_release(fork);
  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  model_options.max_rows = 16;
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, &model_options, &other_model));
  REQUIRE_OK(rc_session_restore_memory(other_model, saved, size, NULL, &copy));
  last_logits(copy, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);
  rc_session_release(copy);
  CHECK_STATUS(RC_E_FORMAT, rc_session_restore_memory(other_model, saved,
                                                      size / 2, NULL, &copy));
  CHECK(copy == NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_session_restore_memory(other_model, NULL, size, NULL, &copy));
  rc_free(saved);
  CHECK_STATUS(RC_E_NOT_FOUND,
               rc_session_restore(other_model, "no/such/file", NULL, &copy));
  REQUIRE_OK(rc_session_save(session, "c_session.saved"));
  REQUIRE_OK(rc_session_restore(other_model, "c_session.saved", NULL, &copy));
  rc_session_release(copy);
  remove("c_session.saved");
  CHECK_STATUS(RC_E_NOT_FOUND, rc_session_save(session, "no/such/folder/file"));
  REQUIRE_OK(rc_session_migrate(session, other_model, &copy));
  last_logits(copy, second);
  CHECK(memcmp(first, second, sizeof(first)) == 0);
  rc_session_release(copy);

  rc_session_release(session);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_session_position(session, &position));
  rc_model_release(other_model);
  rc_backend_release(backend);
  return CHECK_RESULT();
}
