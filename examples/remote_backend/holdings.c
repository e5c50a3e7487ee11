#include "holdings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THINGS = 1 << 20 };

uint32_t holdings_add(struct holdings* holdings, enum thing_kind kind,
                      void* handle, uint64_t bytes) {
  const struct thing made = {kind, handle, bytes, 0};
  uint32_t i = 0;
  while (i < holdings->thing_count && holdings->things[i].kind != NOTHING) ++i;
  if (i == holdings->thing_count) {
    const uint32_t count = i == 0 ? 64 : i * 2;
    struct thing* things = realloc(holdings->things, count * sizeof *things);
    if (things == NULL || count > MAX_THINGS) {
      if (things != NULL) holdings->things = things;
      return 0;
    }
    memset(things + i, 0, (count - i) * sizeof *things);
    holdings->things = things;
    holdings->thing_count = count;
  }
  holdings->things[i] = made;
  return i + 1;
}

struct thing* holdings_find(struct holdings* holdings, enum thing_kind kind,
                            uint32_t number, char* message) {
  static const char* const names[] = {"", "weight", "buffer", "program"};
  if (number >= 1 && number <= holdings->thing_count &&
      holdings->things[number - 1].kind == kind) {
    return &holdings->things[number - 1];
  }
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "there is no %s %u", names[kind],
           number);
  return NULL;
}

void holdings_destroy(struct holdings* holdings, struct thing* thing) {
  const rc_plugin* plugin = holdings->plugin;
  if (thing->kind == WEIGHT) {
    plugin->destroy_weight(holdings->device, thing->handle);
  } else if (thing->kind == BUFFER) {
    plugin->destroy_buffer(holdings->device, thing->handle);
  } else if (thing->kind == PROGRAM) {
    destroy_program(holdings, thing->handle);
  }
  thing->kind = NOTHING;
}

int holdings_init(struct holdings* holdings, const rc_plugin* plugin) {
  memset(holdings, 0, sizeof *holdings);
  holdings->plugin = plugin;
  return uv_mutex_init(&holdings->run.mutex) == 0;
}

void holdings_end(struct holdings* holdings) {
  /* Programs first: they use the others. */
  for (uint32_t i = 0; i < holdings->thing_count; ++i) {
    if (holdings->things[i].kind == PROGRAM)
      holdings_destroy(holdings, &holdings->things[i]);
  }
  for (uint32_t i = 0; i < holdings->thing_count; ++i) {
    holdings_destroy(holdings, &holdings->things[i]);
  }
  free(holdings->things);
  free(holdings->run.memory);
  free(holdings->run.places);
  if (holdings->device != NULL) holdings->plugin->close(holdings->device);
  uv_mutex_destroy(&holdings->run.mutex);
}
