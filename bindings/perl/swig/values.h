/* Between the values of C and of Perl; included by the wrapper alone. Functions
 * that take an argument return 0 with an exception in $@ if they cannot. */
#ifndef RUNCIBLE_PERL_VALUES_H
#define RUNCIBLE_PERL_VALUES_H

#include <math.h>
#include <runcible/runcible.h>
#include <string.h>

#include "mailbox.h"

/* A mortal scalar of UTF-8; what is not becomes U+FFFD. */
static SV* runcible_text(pTHX_ const char* text, size_t length) {
  const U8* at = (const U8*)text;
  const U8* const end = at + length;
  SV* made = newSVpvn_flags("", 0, SVs_TEMP);
  while (at < end) {
    const U8* wrong = NULL;
    is_strict_utf8_string_loc(at, (STRLEN)(end - at), &wrong);
    sv_catpvn(made, (const char*)at, (STRLEN)(wrong - at));
    at = wrong;
    if (at < end) {
      sv_catpvs(made, "\xEF\xBF\xBD");
      ++at;
    }
  }
  SvUTF8_on(made);
  return made;
}

/* Puts the exception of a status, made by Runcible::Error, into $@. One that is
 * there because a function of Perl died within the call stays. */
static void runcible_raise_sv(pTHX_ rc_status status, SV* message) {
  dSP;
  SV* error;
  ENTER;
  SAVETMPS;
  PUSHMARK(SP);
  EXTEND(SP, 3);
  PUSHs(newSVpvs_flags("Runcible::Error", SVs_TEMP));
  PUSHs(sv_2mortal(newSViv(status)));
  PUSHs(message);
  PUTBACK;
  call_method("of_status", G_SCALAR);
  SPAGAIN;
  error = newSVsv(POPs);
  PUTBACK;
  FREETMPS;
  LEAVE;
  sv_setsv(ERRSV, sv_2mortal(error));
}

/* Set while an exception of Perl's own is in $@, to be thrown on. */
static __thread int runcible_dying = 0;

static void runcible_raise(rc_status status, const char* message) {
  dTHX;
  if (runcible_dying) {
    runcible_dying = 0;
    return;
  }
  /* Copied first, for what follows may call the library. */
  runcible_raise_sv(aTHX_ status,
                    runcible_text(aTHX_ message, strlen(message)));
}

/* Refuses an argument; 0. */
static int runcible_refuse(pTHX_ const char* format, ...) {
  va_list arguments;
  SV* message = sv_2mortal(newSVpvs(""));
  va_start(arguments, format);
  sv_vsetpvf(message, format, &arguments);
  va_end(arguments);
  runcible_raise_sv(aTHX_ RC_E_INVALID_ARGUMENT, message);
  return 0;
}

/* ---- Proxies ------------------------------------------------------------
 *
 * A proxy is a reference to a scalar whose magic owns a handle. Magic is freed
 * in global destruction too, when methods may be gone. A thread of Perl begins
 * with copies of all proxies, which own a reference each if threads may share
 * the handle, and else nothing. */

typedef struct {
  const char* name;
  MGVTBL table;
} runcible_kind;

#define runcible_kind_of(TYPE)                                       \
  static int TYPE##_mg_free(pTHX_ SV* scalar, MAGIC* magic);         \
  static int TYPE##_mg_dup(pTHX_ MAGIC* magic, CLONE_PARAMS* param); \
  static const runcible_kind TYPE##_kind = {                         \
      #TYPE,                                                         \
      {NULL, NULL, NULL, NULL, TYPE##_mg_free, NULL, TYPE##_mg_dup, NULL}};

#define runcible_proxies_of(TYPE, RETAIN)                             \
  static int TYPE##_mg_free(pTHX_ SV* scalar, MAGIC* magic) {         \
    PERL_UNUSED_CONTEXT;                                              \
    PERL_UNUSED_ARG(scalar);                                          \
    if (!runcible_forked) TYPE##_release((TYPE*)magic->mg_ptr);       \
    magic->mg_ptr = NULL;                                             \
    return 0;                                                         \
  }                                                                   \
  static int TYPE##_mg_dup(pTHX_ MAGIC* magic, CLONE_PARAMS* param) { \
    PERL_UNUSED_CONTEXT;                                              \
    PERL_UNUSED_ARG(param);                                           \
    if (magic->mg_ptr != NULL) {                                      \
      magic->mg_ptr = (char*)RETAIN((TYPE*)magic->mg_ptr);            \
    }                                                                 \
    return 0;                                                         \
  }

/* A mortal proxy that owns the handle. */
static SV* runcible_proxy(pTHX_ const runcible_kind* kind, void* handle) {
  SV* scalar = newSV(0);
  SV* proxy = sv_2mortal(newRV_noinc(scalar));
  MAGIC* magic = sv_magicext(scalar, NULL, PERL_MAGIC_ext, &kind->table,
                             (const char*)handle, 0);
  magic->mg_flags |= MGf_DUP;
  sv_bless(proxy, gv_stashpvs("Runcible::Native::Proxy", GV_ADD));
  return proxy;
}

static MAGIC* runcible_magic(pTHX_ SV* proxy, const runcible_kind* kind) {
  MAGIC* magic;
  if (!SvROK(proxy) || SvTYPE(SvRV(proxy)) < SVt_PVMG) return NULL;
  if (kind != NULL) {
    return mg_findext(SvRV(proxy), PERL_MAGIC_ext, &kind->table);
  }
  if (!sv_derived_from(proxy, "Runcible::Native::Proxy")) return NULL;
  magic = mg_find(SvRV(proxy), PERL_MAGIC_ext);
  return magic;
}

/* undef is NULL. */
static int runcible_handle_in(pTHX_ SV* proxy, const runcible_kind* kind,
                              const char* name, void** handle) {
  const MAGIC* magic;
  *handle = NULL;
  SvGETMAGIC(proxy);
  if (!SvOK(proxy)) return 1;
  magic = runcible_magic(aTHX_ proxy, kind);
  if (magic == NULL) {
    return runcible_refuse(aTHX_ "%s must be a proxy of %s", name, kind->name);
  }
  if (magic->mg_ptr == NULL) {
    runcible_raise_sv(aTHX_ RC_E_CLOSED,
                      sv_2mortal(newSVpvf(
                          "%s is closed, or belongs to another thread", name)));
    return 0;
  }
  *handle = magic->mg_ptr;
  return 1;
}

static void runcible_drop(pTHX_ SV* proxy) {
  MAGIC* magic = runcible_magic(aTHX_ proxy, NULL);
  if (magic != NULL) magic->mg_virtual->svt_free(aTHX_ SvRV(proxy), magic);
}

/* ---- Arguments --------------------------------------------------------- */

/* What messages show of a value that was refused. */
static SV* runcible_shown(pTHX_ SV* value) {
  return SvOK(value) ? sv_2mortal(newSVpvf("'%" SVf "'", SVfARG(value)))
                     : newSVpvs_flags("undef", SVs_TEMP);
}

/* A number; those of strings too, as everywhere in Perl, and of objects that
 * become such strings. NULL for none. */
static SV* runcible_numeric(pTHX_ SV* value) {
  SvGETMAGIC(value);
  if (SvROK(value) && SvAMAGIC(value)) {
    STRLEN length = 0;
    const char* text = SvPV_nomg(value, length);
    value = newSVpvn_flags(text, length, SVs_TEMP);
  }
  return looks_like_number(value) ? value : NULL;
}

static int runcible_whole_in(pTHX_ SV* value, const char* name, IV least,
                             IV most, IV* whole) {
  SV* number = runcible_numeric(aTHX_ value);
  if (number == NULL || floor(SvNV_nomg(number)) != SvNV_nomg(number)) {
    return runcible_refuse(aTHX_ "%s must be a whole number, not %" SVf, name,
                           SVfARG(runcible_shown(aTHX_ value)));
  }
  value = number;
  *whole = SvIV_nomg(value);
  if (SvNV_nomg(value) < (NV)least || SvNV_nomg(value) > (NV)most ||
      *whole < least || *whole > most || (SvIsUV(value) && *whole < 0)) {
    return runcible_refuse(aTHX_ "%s must be from %" IVdf " to %" IVdf
                                 ", not %" SVf,
                           name, least, most, SVfARG(value));
  }
  return 1;
}

static int runcible_unsigned_in(pTHX_ SV* value, const char* name, UV most,
                                UV* whole) {
  SV* number = runcible_numeric(aTHX_ value);
  if (number == NULL || floor(SvNV_nomg(number)) != SvNV_nomg(number)) {
    return runcible_refuse(aTHX_ "%s must be a whole number, not %" SVf, name,
                           SVfARG(runcible_shown(aTHX_ value)));
  }
  value = number;
  *whole = SvUV_nomg(value);
  if (SvNV_nomg(value) < 0 || SvNV_nomg(value) > (NV)most || *whole > most) {
    return runcible_refuse(aTHX_ "%s must be from 0 to %" UVuf ", not %" SVf,
                           name, most, SVfARG(value));
  }
  return 1;
}

static int runcible_float_in(pTHX_ SV* value, const char* name, float* number) {
  SV* found = runcible_numeric(aTHX_ value);
  if (found == NULL) {
    return runcible_refuse(aTHX_ "%s must be a number, not %" SVf, name,
                           SVfARG(runcible_shown(aTHX_ value)));
  }
  *number = (float)SvNV_nomg(found);
  return 1;
}

/* Bytes: a string without characters above 255. */
static int runcible_bytes_in(pTHX_ SV* value, const char* name,
                             const char** bytes, size_t* size) {
  STRLEN length = 0;
  SV* kept;
  SvGETMAGIC(value);
  if (!SvOK(value) || (SvROK(value) && !SvAMAGIC(value))) {
    return runcible_refuse(aTHX_ "%s must be a string of bytes, not %" SVf,
                           name, SVfARG(runcible_shown(aTHX_ value)));
  }
  kept = sv_mortalcopy(value);
  (void)SvPV_force_nolen(kept);
  if (!sv_utf8_downgrade(kept, TRUE)) {
    return runcible_refuse(aTHX_ "%s has characters that are no bytes", name);
  }
  *bytes = SvPV(kept, length);
  *size = length;
  return 1;
}

/* A string of characters, as UTF-8; or a reference to one of bytes. */
static int runcible_text_in(pTHX_ SV* value, const char* name,
                            const char** text, size_t* length) {
  STRLEN bytes = 0;
  SV* kept;
  SvGETMAGIC(value);
  if (SvROK(value) && !sv_isobject(value) && SvTYPE(SvRV(value)) < SVt_PVAV) {
    return runcible_bytes_in(aTHX_ SvRV(value), name, text, length);
  }
  if (!SvOK(value) || (SvROK(value) && !SvAMAGIC(value))) {
    return runcible_refuse(aTHX_ "%s must be a string, not %" SVf, name,
                           SVfARG(runcible_shown(aTHX_ value)));
  }
  kept = sv_mortalcopy(value);
  *text = SvPVutf8_force(kept, bytes);
  *length = bytes;
  return 1;
}

/* The same without NUL; undef is NULL. */
static int runcible_name_in(pTHX_ SV* value, const char* name,
                            const char** text) {
  size_t length = 0;
  SvGETMAGIC(value);
  *text = NULL;
  if (!SvOK(value)) return 1;
  if (!runcible_text_in(aTHX_ value, name, text, &length)) return 0;
  if (memchr(*text, '\0', length) != NULL) {
    return runcible_refuse(aTHX_ "%s has a character NUL", name);
  }
  return 1;
}

static AV* runcible_array_in(pTHX_ SV* value, const char* name) {
  SvGETMAGIC(value);
  if (SvROK(value) && SvTYPE(SvRV(value)) == SVt_PVAV) {
    return (AV*)SvRV(value);
  }
  runcible_refuse(aTHX_ "%s must be a reference to an array, not %" SVf, name,
                  SVfARG(runcible_shown(aTHX_ value)));
  return NULL;
}

/* The whole numbers of an array, as bytes of a mortal scalar. */
static int runcible_tokens_in(pTHX_ SV* value, const char* name,
                              const int32_t** tokens, size_t* count) {
  AV* array = runcible_array_in(aTHX_ value, name);
  SV* bytes;
  int32_t* to;
  SSize_t size, i;
  if (array == NULL) return 0;
  size = av_len(array) + 1;
  bytes = sv_2mortal(newSV((STRLEN)size * sizeof(int32_t) + 1));
  to = (int32_t*)SvPVX(bytes);
  for (i = 0; i < size; ++i) {
    SV** item = av_fetch(array, i, 0);
    IV whole = 0;
    if (!runcible_whole_in(aTHX_ item == NULL ? &PL_sv_undef : *item, name,
                           INT32_MIN, INT32_MAX, &whole)) {
      return 0;
    }
    to[i] = (int32_t)whole;
  }
  *tokens = to;
  *count = (size_t)size;
  return 1;
}

static int runcible_shape_in(pTHX_ SV* value, const char* name, int64_t* shape,
                             int32_t* rank) {
  AV* array = runcible_array_in(aTHX_ value, name);
  SSize_t size, i;
  if (array == NULL) return 0;
  size = av_len(array) + 1;
  if (size > RC_TENSOR_MAX_RANK) {
    return runcible_refuse(aTHX_ "%s has %" IVdf
                                 " dimensions, at most %d are known",
                           name, (IV)size, RC_TENSOR_MAX_RANK);
  }
  for (i = 0; i < size; ++i) {
    SV** item = av_fetch(array, i, 0);
    IV whole = 0;
    if (!runcible_whole_in(aTHX_ item == NULL ? &PL_sv_undef : *item, name,
                           IV_MIN, IV_MAX, &whole)) {
      return 0;
    }
    shape[i] = whole;
  }
  *rank = (int32_t)size;
  return 1;
}

/* ---- Results: new references, owned by the caller --------------------- */

static SV* runcible_tokens(pTHX_ const int32_t* tokens, size_t count) {
  AV* array = newAV();
  size_t i;
  for (i = 0; i < count; ++i) av_push(array, newSViv(tokens[i]));
  return newRV_noinc((SV*)array);
}

static SV* runcible_shape(pTHX_ const int64_t* shape, int32_t rank) {
  AV* array = newAV();
  int32_t i;
  for (i = 0; i < rank; ++i) av_push(array, newSViv(shape[i]));
  return newRV_noinc((SV*)array);
}

static SV* runcible_logprobs(pTHX_ const rc_logprob* logprobs, size_t count) {
  AV* array = newAV();
  size_t i;
  for (i = 0; i < count; ++i) {
    AV* pair = newAV();
    av_push(pair, newSViv(logprobs[i].token));
    av_push(pair, newSVnv((NV)logprobs[i].logprob));
    av_push(array, newRV_noinc((SV*)pair));
  }
  return newRV_noinc((SV*)array);
}

static SV* runcible_top_logprobs(pTHX_ const rc_event* event) {
  AV* array = newAV();
  size_t i;
  for (i = 0; i < event->token_count; ++i) {
    av_push(array,
            runcible_logprobs(aTHX_ event->top_logprobs + i * event->top_count,
                              event->top_count));
  }
  return newRV_noinc((SV*)array);
}

/* [key, text, tokens, logprobs, top logprobs], the last two undef if they were
 * not asked for; or for an end [key, undef, status, message, numbers of the
 * report from `reason` on]. */
static SV* runcible_event(pTHX_ uint64_t key, const rc_event* event) {
  const rc_generate_report* report = &event->report;
  AV* array = newAV();
  av_push(array, newSVuv(key));
  if (event->type == RC_EVENT_END) {
    AV* numbers = newAV();
    av_push(array, newSV(0));
    av_push(array, newSViv(report->status));
    av_push(array, SvREFCNT_inc(runcible_text(aTHX_ event->message,
                                              strlen(event->message))));
    av_push(numbers, newSViv(report->reason));
    av_push(numbers, newSVuv(report->seed));
    av_push(numbers, newSViv(report->prompt_tokens));
    av_push(numbers, newSViv(report->cached_tokens));
    av_push(numbers, newSViv(report->generated_tokens));
    av_push(numbers, newSViv(report->queue_us));
    av_push(numbers, newSViv(report->prompt_us));
    av_push(numbers, newSViv(report->generate_us));
    av_push(array, newRV_noinc((SV*)numbers));
    return newRV_noinc((SV*)array);
  }
  av_push(array,
          SvREFCNT_inc(runcible_text(aTHX_ event->text, event->text_length)));
  av_push(array, runcible_tokens(aTHX_ event->tokens, event->token_count));
  if (event->logprobs != NULL) {
    av_push(array,
            runcible_logprobs(aTHX_ event->logprobs, event->token_count));
    av_push(array, runcible_top_logprobs(aTHX_ event));
  }
  return newRV_noinc((SV*)array);
}

static SV* runcible_events(pTHX_ const kept_events* events) {
  AV* array = newAV();
  const kept_event* kept;
  for (kept = events->first; kept != NULL; kept = kept->next) {
    av_push(array, runcible_event(aTHX_ kept->key, &kept->event));
  }
  return newRV_noinc((SV*)array);
}

/* ---- Loading ----------------------------------------------------------- */

/* A function of Perl that is told how far a load is. */
typedef struct {
  SV* function;
  int died; /* its exception is in $@ */
  int exit; /* what JMPENV_JUMP is to be called with, if it called exit */
} runcible_progress;

/* An rc_progress_callback, on the thread that loads. That the function dies or
 * exits, or that a handler of a signal does meanwhile, ends the load; neither
 * leaves the library by a jump. */
static int32_t runcible_on_progress(void* user, double fraction) {
  dTHX;
  runcible_progress* progress = (runcible_progress*)user;
  int jump = 0;
  dJMPENV;
  JMPENV_PUSH(jump);
  if (jump == 0) {
    dSP;
    ENTER;
    SAVETMPS;
    PUSHMARK(SP);
    XPUSHs(sv_2mortal(newSVnv(fraction)));
    PUTBACK;
    call_sv(progress->function, G_VOID | G_DISCARD | G_EVAL);
    progress->died = SvTRUE(ERRSV);
    FREETMPS;
    LEAVE;
  } else {
    progress->exit = jump;
  }
  JMPENV_POP;
  return progress->died || progress->exit != 0;
}

static rc_status runcible_load(pTHX_ rc_backend* backend, const char* path,
                               const rc_model_options* options, SV* function,
                               rc_model** model) {
  runcible_progress progress = {function, 0, 0};
  rc_model_options told = *options;
  rc_status status;
  if (SvOK(function)) {
    told.progress = runcible_on_progress;
    told.progress_user = &progress;
  }
  rc_backend_retain(backend); /* the function may close it */
  status = rc_model_load(backend, path, &told, model);
  rc_backend_release(backend);
  if (progress.exit != 0) {
    rc_model_release(*model);
    JMPENV_JUMP(progress.exit);
  }
  runcible_dying = progress.died && status != RC_OK;
  return status;
}

#endif /* RUNCIBLE_PERL_VALUES_H */
