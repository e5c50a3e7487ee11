/* Functions of custom ops for the tests of all languages: a shared library. */
#include <math.h>
#include <runcible/custom_op.h>
#include <stdio.h>
#include <time.h>

/* Computes y = x / (1 + |x| scale), item by item; "x F32 [...] -> y F32 [...]".
 */
rc_status softsign(void* user, const rc_custom_call* call, char* message) {
  const float* x = (const float*)call->inputs[0]->data;
  float* y = (float*)call->outputs[0]->data;
  const float scale = (float)call->attributes[0];
  int64_t i;
  if (user != NULL) {
    snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "`user` is not NULL");
    return RC_E_INVALID_ARGUMENT;
  }
  for (i = call->begin; i < call->end; ++i) {
    y[i] = x[i] / (1 + fabsf(x[i]) * scale);
  }
  return RC_OK;
}

/* Runs until it is asked to stop; "x F32 [n] -> y F32 [n]". */
rc_status endless(void* user, const rc_custom_call* call, char* message) {
  const struct timespec pause = {0, 1000000};
  (void)user;
  while (call->should_stop(call->stop_user) == 0) nanosleep(&pause, NULL);
  snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "asked to stop");
  return RC_E_CANCELLED;
}

/* Fails. */
rc_status refuses(void* user, const rc_custom_call* call, char* message) {
  (void)user;
  snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "%s will not", call->name);
  return RC_E_FORMAT;
}
