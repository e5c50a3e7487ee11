/* Messages of the library with a language's names: the library names options as
 * C does, "options->top_k", which users of topK do not know.
 *
 * A language with names like topK defines RUNCIBLE_NAMES_CAMEL before, one with
 * names like TopK defines RUNCIBLE_NAMES_PASCAL; others use the names of C. A
 * language that takes text and tokens as the same argument defines
 * RUNCIBLE_ONE_PROMPT. All take the tokens and numbers of logit_bias together.
 */
#ifndef RUNCIBLE_OWN_WORDS_H
#define RUNCIBLE_OWN_WORDS_H

#include <ctype.h>
#include <string.h>

/* Members of options. Other names in messages, such as a metadata key or the
 * role of a tensor, are not renamed. */
static const char* const runcible_option_names[] = {
    /* :api: option_names */
};

static inline int runcible_in_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static inline int runcible_is_option(const char* word, size_t length) {
  size_t i;
  for (i = 0;
       i < sizeof(runcible_option_names) / sizeof(runcible_option_names[0]);
       ++i) {
    if (strlen(runcible_option_names[i]) == length &&
        memcmp(runcible_option_names[i], word, length) == 0) {
      return 1;
    }
  }
  return 0;
}

/* Returns the length of a name without a final "_tokens", if the language takes
 * the tokens and what belongs to them as one argument. */
static inline size_t runcible_own_length(const char* name, size_t length) {
  static const char tokens[] = "_tokens";
  static const char* const together[] = {
      "logit_bias_tokens",
#ifdef RUNCIBLE_ONE_PROMPT
      "prompt_tokens",
#endif
  };
  size_t i;
  for (i = 0; i < sizeof(together) / sizeof(together[0]); ++i) {
    if (strlen(together[i]) == length &&
        memcmp(together[i], name, length) == 0) {
      return length - (sizeof(tokens) - 1);
    }
  }
  return length;
}

/* Writes a name as the language spells it; returns the end of the name. */
static inline char* runcible_put_name(char* to, const char* name,
                                      size_t length) {
#if defined(RUNCIBLE_NAMES_CAMEL) || defined(RUNCIBLE_NAMES_PASCAL)
#ifdef RUNCIBLE_NAMES_PASCAL
  int upper = 1;
#else
  int upper = 0;
#endif
  size_t i;
  for (i = 0; i < length; ++i) {
    if (name[i] == '_') {
      upper = 1;
    } else {
      *to++ = upper ? (char)toupper((unsigned char)name[i]) : name[i];
      upper = 0;
    }
  }
  return to;
#else
  memcpy(to, name, length);
  return to + length;
#endif
}

/* Returns whether the word from `begin` to `end` stands alone in the message,
 * not within a path, a key or quotes. */
static inline int runcible_stands_alone(const char* message, const char* begin,
                                        const char* end) {
  if (begin > message && strchr("./-\"'>", begin[-1]) != NULL) return 0;
  if (*end == '"' || *end == '\'' || *end == '/') return 0;
  /* A message may begin with a member of an option, "response_format.type". */
  return begin == message || !(*end == '.' && runcible_in_word(end[1]));
}

/* The longest message of the library, with the terminating zero. */
enum { runcible_message_size = 1024 };

static inline void runcible_write_own_words(const char* message, char* to) {
  static const char options[] = "options->";
  const size_t prefix = sizeof(options) - 1;
  const char* from = message;
  /* No name is longer than the name that it replaces. */
  const char* const whole =
      (const char*)memchr(message, '\0', runcible_message_size);
  const char* const last =
      whole != NULL ? whole : message + runcible_message_size - 1;
  while (from < last) {
    const char* end = from;
    int named = 0;
    while (end < last && runcible_in_word(*end)) ++end;
    if (end == from) {
      *to++ = *from++;
      continue;
    }
    if ((size_t)(last - from) > prefix && memcmp(from, options, prefix) == 0) {
      from += prefix;
      for (end = from; end < last && runcible_in_word(*end);) ++end;
      named = 1;
    } else if (runcible_is_option(from, (size_t)(end - from))) {
      /* A name that is also an English word is renamed only at the beginning of
       * the message. */
      named =
          runcible_stands_alone(message, from, end) &&
          (from == message || memchr(from, '_', (size_t)(end - from)) != NULL);
    }
    if (named) {
      to = runcible_put_name(to, from,
                             runcible_own_length(from, (size_t)(end - from)));
    } else {
      memcpy(to, from, (size_t)(end - from));
      to += end - from;
    }
    from = end;
  }
  *to = '\0';
}

/* Returns a buffer of the thread, valid until its next call. */
static inline const char* runcible_own_words(const char* message) {
  static __thread char own[runcible_message_size];
  runcible_write_own_words(message, own);
  return own;
}

#endif /* RUNCIBLE_OWN_WORDS_H */
