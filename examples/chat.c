/* A conversation: each line of input is a question, and each answer is printed
 * as it comes. No part of the conversation is evaluated twice.
 *
 *     cc chat.c -o chat $(pkg-config --cflags --libs runcible)
 *
 *     ./chat [MODEL.gguf [TEMPLATE]]
 *
 * TEMPLATE is the name of a chat template, such as chatml, for files that have
 * none.
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

/* Adds a message of the user, in JSON: bytes that a string must not contain are
 * written as \u00XX. Programs with a JSON library use that. */
static void add_question(rc_chat* chat, const char* text) {
  static const char kBegin[] = "{\"role\": \"user\", \"content\": \"";
  char* message = malloc(sizeof kBegin + 6 * strlen(text) + 3);
  char* at = message;
  if (message == NULL) exit(EXIT_FAILURE);
  at += sprintf(at, "%s", kBegin);
  for (; *text != '\0'; ++text) {
    const unsigned char byte = (unsigned char)*text;
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      at += sprintf(at, "\\u%04x", byte);
    } else {
      *at++ = *text;
    }
  }
  at += sprintf(at, "\"}");
  check(rc_chat_add(chat, message, (size_t)(at - message)));
  free(message);
}

/* Prints the answer, and the reason of its end unless it ended by itself. */
static void answer(rc_chat* chat) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_request* request = NULL;
  rc_event event = RC_EVENT_INIT;
  options.max_tokens = 200;
  check(rc_chat_answer_async(chat, &options, NULL, NULL, NULL, &request));
  do {
    check(rc_request_next(request, -1, &event));
    /* Other events have the thoughts of the model, and its calls of tools. */
    if (event.type == RC_EVENT_PIECE) {
      fwrite(event.text, 1, event.text_length, stdout);
      fflush(stdout);
    }
  } while (event.type != RC_EVENT_END);
  printf("\n");
  check(event.report->status);
  if (event.report->reason != RC_END_STOP) {
    printf("(%s)\n", rc_end_reason_name(event.report->reason));
  }
  rc_request_release(request);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fabulist";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_chat* chat = NULL;
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;
  char line[4096];

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_session_create(model, NULL, &session));
  if (argc > 2) options.template_name = argv[2];
  check(rc_chat_create(session, &options, &chat));

  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '\0') continue;
    add_question(chat, line);
    answer(chat);
  }

  rc_chat_release(chat);
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
