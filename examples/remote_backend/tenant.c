#include "tenant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THINGS = 1 << 20 };

uint32_t tenant_add(struct tenant* tenant, enum thing_kind kind, void* handle,
                    uint64_t bytes) {
  const struct thing made = {kind, handle, bytes, 0};
  uint32_t i = 0;
  while (i < tenant->thing_count && tenant->things[i].kind != NOTHING) ++i;
  if (i == tenant->thing_count) {
    const uint32_t count = i == 0 ? 64 : i * 2;
    struct thing* things = realloc(tenant->things, count * sizeof *things);
    if (things == NULL || count > MAX_THINGS) {
      if (things != NULL) tenant->things = things;
      return 0;
    }
    memset(things + i, 0, (count - i) * sizeof *things);
    tenant->things = things;
    tenant->thing_count = count;
  }
  tenant->things[i] = made;
  return i + 1;
}

struct thing* tenant_find(struct tenant* tenant, enum thing_kind kind,
                          uint32_t number, char* message) {
  static const char* const names[] = {"", "weight", "buffer", "program"};
  if (number >= 1 && number <= tenant->thing_count &&
      tenant->things[number - 1].kind == kind) {
    return &tenant->things[number - 1];
  }
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "there is no %s %u", names[kind],
           number);
  return NULL;
}

void tenant_destroy(struct tenant* tenant, struct thing* thing) {
  const rc_plugin* plugin = tenant->plugin;
  if (thing->kind == WEIGHT) {
    plugin->destroy_weight(tenant->device, thing->handle);
  } else if (thing->kind == BUFFER) {
    plugin->destroy_buffer(tenant->device, thing->handle);
  } else if (thing->kind == PROGRAM) {
    destroy_program(tenant, thing->handle);
  }
  thing->kind = NOTHING;
}

int tenant_init(struct tenant* tenant, const rc_plugin* plugin) {
  memset(tenant, 0, sizeof *tenant);
  tenant->plugin = plugin;
  return uv_mutex_init(&tenant->run.mutex) == 0;
}

void tenant_end(struct tenant* tenant) {
  /* Programs first: they use the others. */
  for (uint32_t i = 0; i < tenant->thing_count; ++i) {
    if (tenant->things[i].kind == PROGRAM)
      tenant_destroy(tenant, &tenant->things[i]);
  }
  for (uint32_t i = 0; i < tenant->thing_count; ++i) {
    tenant_destroy(tenant, &tenant->things[i]);
  }
  free(tenant->things);
  free(tenant->run.memory);
  free(tenant->run.places);
  if (tenant->device != NULL) tenant->plugin->close(tenant->device);
  uv_mutex_destroy(&tenant->run.mutex);
}
