/* Raises exceptions of Perl for statuses and wrong arguments; included by the
 * wrapper alone, as all headers here. */
#ifndef RUNCIBLE_PERL_ERRORS_H
#define RUNCIBLE_PERL_ERRORS_H

#include <runcible/runcible.h>
#include <string.h>

#include "retry_after.h"

/* Makes a mortal scalar of UTF-8; invalid bytes become U+FFFD. */
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

/* Puts the exception of a status, made by Runcible::Error, into $@. */
static void runcible_raise_sv(pTHX_ rc_status status, SV* message) {
  dSP;
  const int64_t retry_after = runcible_retry_after(status);
  SV* error;
  ENTER;
  SAVETMPS;
  PUSHMARK(SP);
  EXTEND(SP, 4);
  PUSHs(newSVpvs_flags("Runcible::Error", SVs_TEMP));
  PUSHs(sv_2mortal(newSViv(status)));
  PUSHs(message);
  PUSHs(retry_after < 0 ? &PL_sv_undef
                        : sv_2mortal(newSVnv((NV)retry_after / 1000)));
  PUTBACK;
  call_method("of_status", G_SCALAR);
  SPAGAIN;
  error = newSVsv(POPs);
  PUTBACK;
  FREETMPS;
  LEAVE;
  sv_setsv(ERRSV, sv_2mortal(error));
}

/* Set while $@ contains an exception of Perl code, which is to be thrown on. */
static __thread int runcible_dying = 0;

/* The same, unless an exception is thrown on; that exception then stays. */
static void runcible_raise(rc_status status, const char* message) {
  dTHX;
  if (runcible_dying) {
    runcible_dying = 0;
    return;
  }
  /* Copied first, as the code that follows may call the library. */
  runcible_raise_sv(aTHX_ status,
                    runcible_text(aTHX_ message, strlen(message)));
}

/* Raises the exception of a wrong argument, and returns 0. */
static int runcible_refuse(pTHX_ const char* format, ...) {
  va_list arguments;
  SV* message = sv_2mortal(newSVpvs(""));
  va_start(arguments, format);
  sv_vsetpvf(message, format, &arguments);
  va_end(arguments);
  runcible_raise_sv(aTHX_ RC_E_INVALID_ARGUMENT, message);
  return 0;
}

#endif /* RUNCIBLE_PERL_ERRORS_H */
