/* Proxies: references to scalars whose magic owns a handle. Magic is freed in
 * global destruction too, when methods may be gone. A thread of Perl begins
 * with copies of all proxies. Each copy owns a reference if threads may share
 * the handle, and nothing otherwise. */
#ifndef RUNCIBLE_PERL_PROXIES_H
#define RUNCIBLE_PERL_PROXIES_H

#include <runcible/runcible.h>

#include "errors.h"

typedef struct {
  const char* name;
  MGVTBL table;
} runcible_kind;

#define runcible_kind_of(TYPE)                                       \
  static int TYPE##_mg_free(pTHX_ SV* scalar, MAGIC* magic);         \
  static int TYPE##_mg_dup(pTHX_ MAGIC* magic, CLONE_PARAMS* param); \
  static const runcible_kind TYPE##_proxy = {                        \
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

/* Makes a mortal proxy that owns the handle. */
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

/* Returns the handle of a proxy; undef is NULL. */
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

#endif /* RUNCIBLE_PERL_PROXIES_H */
