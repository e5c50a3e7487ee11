/* Many backends in one process, each handle on the one it asked for: the same
 * model generates on all of them at once, and the texts arrive on one loop.
 * Without names of backends it uses every device of the machine.
 *
 *     cc many_backends.c -o many_backends \
 *       $(pkg-config --cflags --libs runcible)
 *
 *     ./many_backends [MODEL.gguf [PROMPT [BACKEND...]]]
 */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostBackends = 16 };

struct story {
  char spec[64];
  rc_backend* backend;
  rc_model* model;
  rc_session* session;
  char* text;
  size_t length;
  rc_generate_report report;
};

static struct story stories[kMostBackends];
static int count = 0, in_flight = 0, turns = 0;
static const struct story* last = NULL;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static void add(const char* spec) {
  if (count < kMostBackends)
    snprintf(stories[count++].spec, sizeof stories[0].spec, "%s", spec);
}

static void add_every_device(void) {
  rc_device_list* devices = NULL;
  check(rc_discover(&devices));
  for (size_t i = 0; i < rc_device_list_count(devices); ++i) {
    rc_device_report device = RC_DEVICE_REPORT_INIT;
    check(rc_device_list_get(devices, i, &device));
    if (device.index >= 0) add(device.id);
  }
  rc_device_list_release(devices);
}

static void on_event(void* user, const rc_event* event) {
  struct story* story = user;
  if (last != story) ++turns;
  last = story;
  if (event->type == RC_EVENT_PIECE) {
    story->text = realloc(story->text, story->length + event->text_length + 1);
    if (story->text == NULL) exit(EXIT_FAILURE);
    memcpy(story->text + story->length, event->text, event->text_length);
    story->length += event->text_length;
    story->text[story->length] = '\0';
    return;
  }
  --in_flight;
  story->report = *event->report;
  if (event->report->status != RC_OK) fprintf(stderr, "%s\n", event->message);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  const char* prompt = argc > 2 ? argv[2] : "";
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_loop* loop = NULL;
  int result = EXIT_SUCCESS;

  check(RC_ABI_CHECK());
  check(rc_loop_create(&loop));
  options.prompt = prompt;
  options.prompt_length = strlen(prompt);
  options.echo = 1;
  options.max_tokens = 100;
  options.seed = 1;
  for (int i = 3; i < argc; ++i) add(argv[i]);
  if (count == 0) add_every_device();
  for (int i = 0; i < count; ++i) {
    struct story* story = &stories[i];
    check(rc_backend_open(story->spec, NULL, &story->backend));
    check(rc_model_load(story->backend, path, NULL, &story->model));
    check(rc_session_create(story->model, NULL, &story->session));
  }
  for (int i = 0; i < count; ++i) {
    check(rc_generate_async(stories[i].session, &options, loop, on_event,
                            &stories[i], NULL));
  }
  in_flight = count;
  while (in_flight > 0) {
    check(rc_loop_wait(loop, -1));
    check(rc_loop_dispatch(loop, 0, NULL));
  }

  for (int i = 0; i < count; ++i) {
    rc_device_report device = RC_DEVICE_REPORT_INIT;
    check(rc_backend_device(stories[i].backend, &device));
    printf("== %s, %s\n%s\n\n", device.id, device.name, stories[i].text);
    if (stories[i].report.status != RC_OK) result = EXIT_FAILURE;
    free(stories[i].text);
    rc_session_release(stories[i].session);
    rc_model_release(stories[i].model);
    rc_backend_release(stories[i].backend);
  }
  fprintf(stderr, "the texts came in %d turns\n", turns);
  rc_loop_release(loop);
  return result;
}
