/* Memory of scalars that tensors borrow; included by the wrapper alone. A
 * counted object takes over the memory of a scalar's bytes. The scalar, its
 * copies in threads of Perl and the tensors keep the object, so that any thread
 * may release it, also after the end of the interpreter. The scalar shows the
 * memory, and is read-only from then on, as Perl would give it other memory. */
#ifndef RUNCIBLE_PERL_BORROW_H
#define RUNCIBLE_PERL_BORROW_H

#include <runcible/runcible.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "errors.h"

typedef struct {
  atomic_int references;
  char* bytes; /* of Perl's allocator, which needs no interpreter for it */
  STRLEN size;
  rc_pinned* pinned; /* the owner of the bytes, or NULL */
} runcible_lent;

/* Releases a reference; also an rc_tensor_borrow_callback. */
static void runcible_lent_release(void* user) {
  runcible_lent* lent = (runcible_lent*)user;
  if (atomic_fetch_sub(&lent->references, 1) > 1) return;
  if (lent->pinned == NULL) {
    Safefree(lent->bytes);
  } else if (!runcible_forked) {
    rc_pinned_release(lent->pinned);
  }
  free(lent);
}

/* Called when Perl frees the scalar, or uses it for something else. */
static int runcible_lent_free(pTHX_ SV* scalar, MAGIC* magic) {
  PERL_UNUSED_CONTEXT;
  SvPV_set(scalar, NULL);
  SvCUR_set(scalar, 0);
  runcible_lent_release(magic->mg_ptr);
  magic->mg_ptr = NULL;
  return 0;
}

static int runcible_lent_dup(pTHX_ MAGIC* magic, CLONE_PARAMS* param) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(param);
  atomic_fetch_add(&((runcible_lent*)magic->mg_ptr)->references, 1);
  return 0;
}

/* Does nothing. With it Perl calls runcible_lent_free also when it empties a
 * variable in place. */
static int runcible_lent_clear(pTHX_ SV* scalar, MAGIC* magic) {
  PERL_UNUSED_CONTEXT;
  PERL_UNUSED_ARG(scalar);
  PERL_UNUSED_ARG(magic);
  return 0;
}

static const MGVTBL runcible_lent_table = {NULL,
                                           NULL,
                                           NULL,
                                           runcible_lent_clear,
                                           runcible_lent_free,
                                           NULL,
                                           runcible_lent_dup,
                                           NULL};

/* Gives a scalar a reference to the memory that it shows. */
static void runcible_lent_in(pTHX_ SV* scalar, runcible_lent* lent) {
  MAGIC* magic = sv_magicext(scalar, NULL, PERL_MAGIC_ext, &runcible_lent_table,
                             (const char*)lent, 0);
  magic->mg_flags |= MGf_DUP;
  SvLEN_set(scalar, 0); /* Perl must not free it */
  SvREADONLY_on(scalar);
}

/* Takes over the memory of a scalar; NULL with an exception in $@, or without
 * memory. */
static runcible_lent* runcible_lend(pTHX_ SV* scalar) {
  runcible_lent* lent;
  MAGIC* magic = SvTYPE(scalar) < SVt_PVMG
                     ? NULL
                     : mg_findext(scalar, PERL_MAGIC_ext, &runcible_lent_table);
  if (magic != NULL) return (runcible_lent*)magic->mg_ptr;
  if (SvREADONLY(scalar) || SvMAGICAL(scalar) || SvROK(scalar) ||
      !SvPOK(scalar)) {
    runcible_refuse(aTHX_
                    "what is borrowed must be a reference to a variable "
                    "that holds a string of bytes");
    return NULL;
  }
  if (!sv_utf8_downgrade(scalar, TRUE)) {
    runcible_refuse(aTHX_ "bytes has characters that are no bytes");
    return NULL;
  }
  (void)SvPV_force_nolen(scalar); /* gives it separate memory */
  SvOOK_off(scalar);
  lent = (runcible_lent*)malloc(sizeof(*lent));
  if (lent == NULL) return NULL;
  atomic_init(&lent->references, 1);
  lent->bytes = SvPVX(scalar);
  lent->size = SvCUR(scalar);
  lent->pinned = NULL;
  runcible_lent_in(aTHX_ scalar, lent);
  return lent;
}

/* Returns the memory of a variable that was lent before; NULL with an exception
 * in $@. */
static runcible_lent* runcible_lent_of(pTHX_ SV* reference) {
  const MAGIC* magic = NULL;
  SvGETMAGIC(reference);
  if (SvROK(reference) && SvTYPE(SvRV(reference)) >= SVt_PVMG) {
    magic = mg_findext(SvRV(reference), PERL_MAGIC_ext, &runcible_lent_table);
  }
  if (magic == NULL) {
    runcible_refuse(aTHX_
                    "memory must be a reference to a variable that was "
                    "borrowed or is pinned");
    runcible_dying = 1;
    return NULL;
  }
  return (runcible_lent*)magic->mg_ptr;
}

static rc_status runcible_lent_write(pTHX_ SV* reference, int64_t first,
                                     const void* data, size_t size) {
  const runcible_lent* lent = runcible_lent_of(aTHX_ reference);
  if (lent == NULL) return RC_E_INVALID_ARGUMENT;
  if (first < 0 || (uint64_t)first > lent->size ||
      size > lent->size - (size_t)first) {
    runcible_refuse(aTHX_ "%" UVuf " bytes from %" IVdf
                          " on are not within the %" UVuf " of the memory",
                    (UV)size, (IV)first, (UV)lent->size);
    runcible_dying = 1;
    return RC_E_INVALID_ARGUMENT;
  }
  memcpy(lent->bytes + first, data, size);
  return RC_OK;
}

/* Makes a reference to a variable that shows pinned memory without its last
 * byte, which is zero. */
static rc_status runcible_show_pinned(pTHX_ rc_pinned* pinned, SV** shown) {
  SV* scalar;
  void* data = NULL;
  size_t size = 0;
  runcible_lent* lent;
  const rc_status status = rc_pinned_memory(pinned, &data, &size);
  if (status != RC_OK) return status;
  lent = (runcible_lent*)malloc(sizeof(*lent));
  if (lent == NULL) return RC_E_OUT_OF_MEMORY;
  atomic_init(&lent->references, 1);
  lent->bytes = (char*)data;
  lent->size = size - 1;
  lent->pinned = rc_pinned_retain(pinned);
  scalar = newSV_type(SVt_PVMG);
  SvPV_set(scalar, lent->bytes);
  SvCUR_set(scalar, lent->size);
  SvPOK_only(scalar);
  runcible_lent_in(aTHX_ scalar, lent);
  *shown = newRV_noinc(scalar);
  return RC_OK;
}

/* Makes a tensor that borrows a variable. After a failure of this function
 * itself the exception is in $@ already. */
static rc_status runcible_borrow(pTHX_ rc_backend* backend, rc_dtype dtype,
                                 const int64_t* shape, int32_t rank,
                                 SV* reference, rc_tensor** tensor) {
  runcible_lent* lent;
  rc_status status;
  SvGETMAGIC(reference);
  if (!SvROK(reference) || SvTYPE(SvRV(reference)) > SVt_PVMG) {
    runcible_refuse(aTHX_
                    "what is borrowed must be a reference to a variable "
                    "that holds a string of bytes");
    runcible_dying = 1;
    return RC_E_INVALID_ARGUMENT;
  }
  lent = runcible_lend(aTHX_ SvRV(reference));
  if (lent == NULL) {
    runcible_dying = SvTRUE(ERRSV);
    return RC_E_OUT_OF_MEMORY;
  }
  atomic_fetch_add(&lent->references, 1);
  status = rc_tensor_borrow(backend, dtype, shape, rank, lent->bytes,
                            lent->size, runcible_lent_release, lent, tensor);
  if (status != RC_OK) runcible_lent_release(lent);
  return status;
}

#endif /* RUNCIBLE_PERL_BORROW_H */
