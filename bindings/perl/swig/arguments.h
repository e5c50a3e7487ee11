/* Converts arguments of Perl to values of C. Functions return 0 with an
 * exception in $@ on failure. */
#ifndef RUNCIBLE_PERL_ARGUMENTS_H
#define RUNCIBLE_PERL_ARGUMENTS_H

#include <math.h>
#include <runcible/runcible.h>
#include <string.h>

#include "errors.h"

/* Returns a refused value as messages show it. */
static SV* runcible_shown(pTHX_ SV* value) {
  return SvOK(value) ? sv_2mortal(newSVpvf("'%" SVf "'", SVfARG(value)))
                     : newSVpvs_flags("undef", SVs_TEMP);
}

/* Returns a number: also that of a string, as everywhere in Perl, and of an
 * object that becomes such a string. NULL if there is none. */
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

/* Converts a string without characters above 255 to bytes. */
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

/* Converts a string of characters to UTF-8; or takes a reference to a string of
 * bytes. */
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

/* The same for a string without NUL; undef is NULL. */
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

/* Converts the whole numbers of an array to bytes of a mortal scalar. */
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

#endif /* RUNCIBLE_PERL_ARGUMENTS_H */
