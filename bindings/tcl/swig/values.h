/* Conversions between values of C and of Tcl; included by the wrapper alone.
 * Functions named *_in return 0 with an error in the interpreter if a value
 * does not fit. */
#ifndef RUNCIBLE_TCL_VALUES_H
#define RUNCIBLE_TCL_VALUES_H

#include <errno.h>
#include <limits.h>
#include <runcible/runcible.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tcl.h>
#include <unistd.h>

#include "mailbox.h"
#include "own_words.h"
#include "retry_after.h"
#include "system_errors.h"

static Tcl_Encoding runcible_encoding(void) {
  return Tcl_GetEncoding(NULL, "utf-8"); /* always there */
}

/* Converts UTF-8 to a text. Tcl's own strings differ from UTF-8 in NUL, and in
 * characters after the first 65536. */
static Tcl_Obj* runcible_text(const char* text, size_t length) {
  Tcl_Encoding encoding = runcible_encoding();
  Tcl_DString buffer;
  Tcl_Obj* made;
  Tcl_ExternalToUtfDString(encoding, length == 0 ? "" : text, (int)length,
                           &buffer);
  made =
      Tcl_NewStringObj(Tcl_DStringValue(&buffer), Tcl_DStringLength(&buffer));
  Tcl_DStringFree(&buffer);
  Tcl_FreeEncoding(encoding);
  return made;
}

/* Converts a text to UTF-8, which Tcl_DStringFree frees. */
static void runcible_utf8(Tcl_Obj* value, Tcl_DString* utf8) {
  Tcl_Encoding encoding = runcible_encoding();
  int length;
  const char* text = Tcl_GetStringFromObj(value, &length);
  Tcl_UtfToExternalDString(encoding, text, length, utf8);
  Tcl_FreeEncoding(encoding);
}

/* -errorcode {RUNCIBLE DEADLINE -13}, or with more elements that follow. */
static void runcible_set_error(Tcl_Interp* interp, rc_status status,
                               const char* message) {
  const char* name = rc_status_name(status);
  const char* prefix = "RC_E_";
  const int number = runcible_system_error(status, message);
  const int64_t retry_after = runcible_retry_after(status);
  int count = 3;
  Tcl_Obj* code[6];
  Tcl_SetObjResult(interp, runcible_text(message, strlen(message)));
  if (strncmp(name, prefix, strlen(prefix)) == 0) name += strlen(prefix);
  code[0] = Tcl_NewStringObj("RUNCIBLE", -1);
  code[1] = Tcl_NewStringObj(name, -1);
  code[2] = Tcl_NewIntObj(status);
  if (number != 0) {
    /* The system's code follows ours, as in Tcl's own commands. */
    errno = number;
    code[count++] = Tcl_NewStringObj("POSIX", -1);
    code[count++] = Tcl_NewStringObj(Tcl_ErrnoId(), -1);
    code[count++] = Tcl_NewStringObj(Tcl_ErrnoMsg(number), -1);
  } else if (retry_after >= 0) {
    /* The seconds after which to try again. */
    code[count++] = Tcl_NewStringObj("RETRY_AFTER", -1);
    code[count++] = Tcl_NewDoubleObj((double)retry_after / 1000);
  }
  Tcl_SetObjErrorCode(interp, Tcl_NewListObj(count, code));
}

static int runcible_whole_in(Tcl_Interp* interp, Tcl_Obj* value,
                             Tcl_WideInt least, Tcl_WideInt most,
                             Tcl_WideInt* number) {
  if (Tcl_GetWideIntFromObj(interp, value, number) != TCL_OK) return 0;
  /* Tcl wraps unsigned numbers of 64 bits. */
  if (*number < least || *number > most ||
      (*number < 0 && *Tcl_GetString(value) != '-')) {
    char limits[64];
    snprintf(limits, sizeof(limits), "%lld to %lld", (long long)least,
             (long long)most);
    Tcl_SetObjResult(interp, Tcl_ObjPrintf("it must be from %s, not %s", limits,
                                           Tcl_GetString(value)));
    return 0;
  }
  return 1;
}

/* All 64 bits; -1 is RC_SEED_RANDOM. */
static int runcible_seed_in(Tcl_Interp* interp, Tcl_Obj* value,
                            uint64_t* seed) {
  Tcl_WideInt number;
  if (Tcl_GetWideIntFromObj(interp, value, &number) != TCL_OK) return 0;
  *seed = (uint64_t)number;
  return 1;
}

static Tcl_Obj* runcible_seed(uint64_t seed) {
  char digits[32];
  snprintf(digits, sizeof(digits), "%llu", (unsigned long long)seed);
  return Tcl_NewStringObj(digits, -1);
}

/* Copies a list of tokens, which ckfree frees. */
static int runcible_tokens_in(Tcl_Interp* interp, Tcl_Obj* value,
                              int32_t** tokens, size_t* count) {
  Tcl_Obj** items;
  int size, i;
  if (Tcl_ListObjGetElements(interp, value, &size, &items) != TCL_OK) return 0;
  *tokens = (int32_t*)ckalloc((size_t)size * sizeof(int32_t) + 1);
  for (i = 0; i < size; ++i) {
    Tcl_WideInt number;
    if (!runcible_whole_in(interp, items[i], INT32_MIN, INT32_MAX, &number)) {
      return 0;
    }
    (*tokens)[i] = (int32_t)number;
  }
  *count = (size_t)size;
  return 1;
}

static Tcl_Obj* runcible_tokens(const int32_t* tokens, size_t count) {
  Tcl_Obj* list = Tcl_NewListObj(0, NULL);
  size_t i;
  for (i = 0; i < count; ++i) {
    Tcl_ListObjAppendElement(NULL, list, Tcl_NewIntObj(tokens[i]));
  }
  return list;
}

static int runcible_shape_in(Tcl_Interp* interp, Tcl_Obj* value, int64_t* shape,
                             int32_t* rank) {
  Tcl_Obj** items;
  int size, i;
  if (Tcl_ListObjGetElements(interp, value, &size, &items) != TCL_OK) return 0;
  if (size > RC_TENSOR_MAX_RANK) {
    Tcl_SetObjResult(
        interp,
        Tcl_ObjPrintf("a shape of %d dimensions, where at most %d are known",
                      size, RC_TENSOR_MAX_RANK));
    return 0;
  }
  for (i = 0; i < size; ++i) {
    Tcl_WideInt number;
    if (!runcible_whole_in(interp, items[i], INT64_MIN, INT64_MAX, &number)) {
      return 0;
    }
    shape[i] = number;
  }
  *rank = size;
  return 1;
}

static Tcl_Obj* runcible_shape(const int64_t* shape, int32_t rank) {
  Tcl_Obj* list = Tcl_NewListObj(0, NULL);
  int32_t i;
  for (i = 0; i < rank; ++i) {
    Tcl_ListObjAppendElement(NULL, list, Tcl_NewWideIntObj(shape[i]));
  }
  return list;
}

static int runcible_set_bytes(Tcl_Interp* interp, const void* data,
                              size_t size) {
  if (size > INT_MAX) {
    runcible_set_error(interp, RC_E_OUT_OF_MEMORY,
                       "Tcl has no values of more than 2147483647 bytes");
    return 0;
  }
  Tcl_SetObjResult(interp,
                   Tcl_NewByteArrayObj((const unsigned char*)data, (int)size));
  return 1;
}

static void runcible_put(Tcl_Obj* dict, const char* name, Tcl_Obj* value) {
  Tcl_DictObjPut(NULL, dict, Tcl_NewStringObj(name, -1), value);
}

/* A flat list of tokens and the natural logarithms of their probabilities. */
static Tcl_Obj* runcible_logprobs(const int32_t* tokens, const float* logprobs,
                                  size_t count) {
  Tcl_Obj* list = Tcl_NewListObj(0, NULL);
  size_t i;
  for (i = 0; i < count; ++i) {
    Tcl_ListObjAppendElement(NULL, list, Tcl_NewIntObj(tokens[i]));
    Tcl_ListObjAppendElement(NULL, list, Tcl_NewDoubleObj(logprobs[i]));
  }
  return list;
}

static Tcl_Obj* runcible_report(const rc_generate_report* report) {
  const char* reason = rc_end_reason_name(report->reason);
  Tcl_Obj* dict = Tcl_NewDictObj();
  runcible_put(dict, "reason", Tcl_NewStringObj(reason, -1));
  runcible_put(dict, "seed", runcible_seed(report->seed));
#define RUNCIBLE_PUT(NAME) \
  runcible_put(dict, #NAME, Tcl_NewWideIntObj(report->NAME));
  RUNCIBLE_END_NUMBERS(RUNCIBLE_PUT)
#undef RUNCIBLE_PUT
  return dict;
}

/* Returns the kind of an event that is not an end. */
static const char* runcible_kind(const rc_event* event) {
  switch (event->type) {
    case RC_EVENT_REASONING:
      return "reasoning";
    case RC_EVENT_CALL:
      return "call";
    default:
      return "text";
  }
}

/* Makes a dict of key, kind, text, tokens, logprobs and top_logprobs, with name
 * and id for calls; or for an end of key, status, message and report. */
static Tcl_Obj* runcible_event(uint64_t key, const rc_event* event) {
  Tcl_Obj* dict = Tcl_NewDictObj();
  runcible_put(dict, "key", Tcl_NewWideIntObj((Tcl_WideInt)key));
  if (event->type == RC_EVENT_END) {
    const char* message = runcible_own_words(event->message);
    runcible_put(dict, "status", Tcl_NewIntObj(event->report->status));
    runcible_put(dict, "message", runcible_text(message, strlen(message)));
    runcible_put(dict, "report", runcible_report(event->report));
    return dict;
  }
  runcible_put(dict, "text", runcible_text(event->text, event->text_length));
  runcible_put(
      dict, "kind",
      runcible_text(runcible_kind(event), strlen(runcible_kind(event))));
  if (event->type == RC_EVENT_CALL) {
    runcible_put(dict, "name",
                 runcible_text(event->call_name, strlen(event->call_name)));
    runcible_put(dict, "id",
                 runcible_text(event->call_id, strlen(event->call_id)));
  }
  runcible_put(dict, "tokens",
               runcible_tokens(event->tokens, event->token_count));
  if (event->logprobs != NULL) {
    Tcl_Obj* top = Tcl_NewListObj(0, NULL);
    size_t i;
    for (i = 0; i < event->token_count; ++i) {
      const size_t first = i * event->top_count;
      Tcl_ListObjAppendElement(
          NULL, top,
          runcible_logprobs(event->top_tokens + first,
                            event->top_logprobs + first, event->top_count));
    }
    runcible_put(
        dict, "logprobs",
        runcible_logprobs(event->tokens, event->logprobs, event->token_count));
    runcible_put(dict, "top_logprobs", top);
  }
  return dict;
}

static Tcl_Obj* runcible_events(const kept_events* events) {
  Tcl_Obj* list = Tcl_NewListObj(0, NULL);
  const kept_event* kept;
  for (kept = events->first; kept != NULL; kept = kept->next) {
    Tcl_ListObjAppendElement(NULL, list,
                             runcible_event(kept->key, &kept->event));
  }
  return list;
}

/* Makes a channel of a duplicate of the descriptor, because Tcl closes it with
 * the channel. */
static int runcible_set_channel(Tcl_Interp* interp, mailbox* box) {
  int32_t watched = -1;
  int own;
  Tcl_Channel channel;
  const rc_status status = mailbox_descriptor(box, &watched);
  if (status != RC_OK) {
    runcible_set_error(interp, status, mailbox_error_message());
    return TCL_ERROR;
  }
  own = dup(watched);
  if (own < 0) {
    runcible_set_error(interp, RC_E_IO, strerror(errno));
    return TCL_ERROR;
  }
  channel = Tcl_MakeFileChannel((ClientData)(intptr_t)own, TCL_READABLE);
  Tcl_RegisterChannel(interp, channel);
  Tcl_SetObjResult(interp, Tcl_NewStringObj(Tcl_GetChannelName(channel), -1));
  return TCL_OK;
}

/* An rc_progress_callback: an error of the command cancels. */
static int32_t runcible_progress(void* user, double fraction) {
  Tcl_Interp* interp = (Tcl_Interp*)user;
  Tcl_Obj* words[2];
  Tcl_Obj* command;
  int code;
  words[0] = Tcl_NewStringObj("::runcible::ReportProgress", -1);
  words[1] = Tcl_NewDoubleObj(fraction);
  command = Tcl_NewListObj(2, words);
  Tcl_IncrRefCount(command);
  code = Tcl_EvalObjEx(interp, command, TCL_EVAL_GLOBAL);
  Tcl_DecrRefCount(command);
  Tcl_ResetResult(interp);
  return code != TCL_OK;
}

#endif /* RUNCIBLE_TCL_VALUES_H */
