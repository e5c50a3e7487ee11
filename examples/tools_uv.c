/* A model that calls functions of the program, on a libuv loop: the question
 * goes to the model, its calls run on threads of libuv while the loop goes on,
 * their results go back, and the last answer is printed as it comes.
 *
 *     cc tools_uv.c -o tools_uv \
 *       $(pkg-config --cflags --libs runcible libuv)
 *
 *     ./tools_uv [MODEL.gguf [QUESTION]]
 */
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

/* As the tools are strict, every call has arguments by these schemas. */
static const char kTools[] =
    "[{\"type\": \"function\", \"function\": {\"name\": \"add\","
    "  \"description\": \"Adds two numbers.\", \"strict\": true,"
    "  \"parameters\": {\"type\": \"object\", \"required\": [\"a\", \"b\"],"
    "   \"properties\": {"
    "    \"a\": {\"type\": \"integer\", \"minimum\": -999999,"
    "            \"maximum\": 999999},"
    "    \"b\": {\"type\": \"integer\", \"minimum\": -999999,"
    "            \"maximum\": 999999}}}}},"
    " {\"type\": \"function\", \"function\": {\"name\": \"get_time\","
    "  \"description\": \"Tells the time.\", \"strict\": true,"
    "  \"parameters\": {\"type\": \"object\", \"properties\": {}}}}]";

/* Limits of the answers to one question and of the calls in one answer, as a
 * model may call for ever. */
enum { kMaxTurns = 4, kMostCalls = 16 };

/* One call: the texts are copies, as those of the event do not last. */
typedef struct Call {
  uv_work_t work;
  char name[64];
  char id[64];
  char arguments[256];
  char result[64];
} Call;

static rc_chat* chat = NULL;
static rc_loop* loop = NULL;
static int calls_running = 0;
static int answering = 0;
static int called = 0; /* the answer under way had calls */
static int turns = 0;
static int exit_status = EXIT_SUCCESS;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static void check_uv(int error) {
  if (error == 0) return;
  fprintf(stderr, "%s\n", uv_strerror(error));
  exit(EXIT_FAILURE);
}

/* Returns a member of the arguments; programs with a JSON library use that. */
static long number_in(const char* json, const char* member) {
  const char* at = strstr(json, member);
  at = at == NULL ? NULL : strchr(at, ':');
  return at == NULL ? 0 : strtol(at + 1, NULL, 10);
}

/* Runs a function, on a thread of libuv. */
static void run_call(uv_work_t* work) {
  Call* call = work->data;
  if (strcmp(call->name, "add") == 0) {
    snprintf(call->result, sizeof call->result, "%ld",
             number_in(call->arguments, "\"a\"") +
                 number_in(call->arguments, "\"b\""));
  } else {
    const time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(call->result, sizeof call->result, "%H:%M", &local);
  }
}

static void ask(void);

static void go_on(void) {
  if (answering || calls_running > 0 || !called) return;
  called = 0;
  if (turns == kMaxTurns) {
    fprintf(stderr, "no answer after %d turns\n", turns);
    exit_status = EXIT_FAILURE;
    return;
  }
  ask();
}

/* Names and ids that models write are plain, and so are these results: they
 * need no escapes in JSON. */
static void on_result(uv_work_t* work, int status) {
  Call* call = work->data;
  char message[256];
  const int length = snprintf(
      message, sizeof message,
      "{\"role\": \"tool\", \"tool_call_id\": \"%s\", \"content\": \"%s\"}",
      call->id, call->result);
  check_uv(status);
  fprintf(stderr, "%s %s = %s\n", call->name, call->arguments, call->result);
  /* The calls of an answer come before its end, and messages after it. */
  check(rc_chat_add(chat, message, (size_t)length));
  free(call);
  --calls_running;
  go_on();
}

/* The calls of an answer wait here for its end. */
static Call* waiting[kMostCalls];
static int waiting_count = 0;

/* Runs on the thread of the loop, so nothing here needs a lock. */
static void on_event(void* user, const rc_event* event) {
  int i;
  (void)user;
  if (event->type == RC_EVENT_PIECE) {
    fwrite(event->text, 1, event->text_length, stdout);
    fflush(stdout);
  } else if (event->type == RC_EVENT_CALL) {
    Call* call = calloc(1, sizeof *call);
    if (call == NULL || waiting_count == kMostCalls) exit(EXIT_FAILURE);
    call->work.data = call;
    snprintf(call->name, sizeof call->name, "%s", event->call_name);
    snprintf(call->id, sizeof call->id, "%s", event->call_id);
    snprintf(call->arguments, sizeof call->arguments, "%.*s",
             (int)event->text_length, event->text);
    waiting[waiting_count++] = call;
  } else if (event->type == RC_EVENT_END) {
    answering = 0;
    if (event->report->status != RC_OK) {
      fprintf(stderr, "%s\n", event->message);
      exit_status = EXIT_FAILURE;
      return;
    }
    called = event->report->reason == RC_END_TOOL_CALLS;
    if (!called) puts("");
    for (i = 0; i < waiting_count; ++i) {
      ++calls_running;
      check_uv(uv_queue_work(uv_default_loop(), &waiting[i]->work, run_call,
                             on_result));
    }
    waiting_count = 0;
  }
}

static void ask(void) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  options.max_tokens = 300;
  options.temperature = 0;
  answering = 1;
  ++turns;
  check(rc_chat_answer_async(chat, &options, loop, on_event, NULL, NULL));
}

/* Adds a question, in JSON: bytes that a string must not contain are \u00XX. */
static void add_question(const char* text) {
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

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fabulist";
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_chat_options options = RC_CHAT_OPTIONS_INIT;

  check(RC_ABI_CHECK());
  check(rc_backend_open("auto", NULL, &backend));
  check(rc_model_load(backend, path, NULL, &model));
  check(rc_session_create(model, NULL, &session));
  check(rc_loop_uv(uv_default_loop(), &loop));
  options.tools = kTools;
  check(rc_chat_create(session, &options, &chat));

  add_question(argc > 2 ? argv[2] : "What is 17 + 25?");
  ask();
  check_uv(uv_run(uv_default_loop(), UV_RUN_DEFAULT));

  rc_chat_release(chat);
  rc_loop_release(loop);
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  check_uv(uv_run(uv_default_loop(), UV_RUN_DEFAULT));
  check_uv(uv_loop_close(uv_default_loop()));
  return exit_status;
}
