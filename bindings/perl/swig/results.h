/* Converts values of C to results of Perl: new references, owned by the
 * caller. */
#ifndef RUNCIBLE_PERL_RESULTS_H
#define RUNCIBLE_PERL_RESULTS_H

#include <runcible/runcible.h>
#include <string.h>

#include "errors.h"
#include "mailbox.h"
#define RUNCIBLE_ONE_PROMPT
#include "own_words.h"

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

static SV* runcible_logprobs(pTHX_ const int32_t* tokens, const float* logprobs,
                             size_t count) {
  AV* array = newAV();
  size_t i;
  for (i = 0; i < count; ++i) {
    AV* pair = newAV();
    av_push(pair, newSViv(tokens[i]));
    av_push(pair, newSVnv((NV)logprobs[i]));
    av_push(array, newRV_noinc((SV*)pair));
  }
  return newRV_noinc((SV*)array);
}

static SV* runcible_top_logprobs(pTHX_ const rc_event* event) {
  AV* array = newAV();
  size_t i;
  for (i = 0; i < event->token_count; ++i) {
    const size_t first = i * event->top_count;
    av_push(array,
            runcible_logprobs(aTHX_ event->top_tokens + first,
                              event->top_logprobs + first, event->top_count));
  }
  return newRV_noinc((SV*)array);
}

/* Returns the package of the part in an event that is not an end. */
static const char* runcible_part(const rc_event* event) {
  switch (event->type) {
    case RC_EVENT_REASONING:
      return "Runcible::Reasoning";
    case RC_EVENT_CALL:
      return "Runcible::ToolCall";
    default:
      return "Runcible::Piece";
  }
}

static SV* runcible_optional_text(pTHX_ const char* text) {
  if (text == NULL) return newSV(0);
  return SvREFCNT_inc(runcible_text(aTHX_ text, strlen(text)));
}

/* Makes an array of an event: [key, text, tokens, logprobs, top logprobs,
 * package, name and id of a call], undef for absent values; or for an end [key,
 * undef, status, message, numbers of the report from `reason` on]. */
static SV* runcible_event(pTHX_ uint64_t key, const rc_event* event) {
  const rc_generate_report* report = event->report;
  AV* array = newAV();
  av_push(array, newSVuv(key));
  if (event->type == RC_EVENT_END) {
    AV* numbers = newAV();
    const char* message = runcible_own_words(event->message);
    av_push(array, newSV(0));
    av_push(array, newSViv(report->status));
    av_push(array, SvREFCNT_inc(runcible_text(aTHX_ message, strlen(message))));
    av_push(numbers, newSViv(report->reason));
    av_push(numbers, newSVuv(report->seed));
#define RUNCIBLE_PUSH(NAME) av_push(numbers, newSViv(report->NAME));
    RUNCIBLE_END_NUMBERS(RUNCIBLE_PUSH)
#undef RUNCIBLE_PUSH
    av_push(array, newRV_noinc((SV*)numbers));
    return newRV_noinc((SV*)array);
  }
  av_push(array,
          SvREFCNT_inc(runcible_text(aTHX_ event->text, event->text_length)));
  av_push(array, runcible_tokens(aTHX_ event->tokens, event->token_count));
  if (event->logprobs != NULL) {
    av_push(array, runcible_logprobs(aTHX_ event->tokens, event->logprobs,
                                     event->token_count));
    av_push(array, runcible_top_logprobs(aTHX_ event));
  } else {
    av_push(array, newSV(0));
    av_push(array, newSV(0));
  }
  av_push(array, newSVpv(runcible_part(event), 0));
  av_push(array, runcible_optional_text(aTHX_ event->call_name));
  av_push(array, runcible_optional_text(aTHX_ event->call_id));
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

#endif /* RUNCIBLE_PERL_RESULTS_H */
