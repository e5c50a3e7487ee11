/* The holdings of one client of the server: an opened device, and the weights,
 * buffers and programs on it under the numbers that the client uses. Requests
 * of a client are checked for safety of memory: numbers, sizes and ranges. The
 * module must check how an op uses its values.
 *
 * Calls are made one at a time; a run may be under way meanwhile, in another
 * thread. */
#ifndef REMOTE_BACKEND_HOLDINGS_H
#define REMOTE_BACKEND_HOLDINGS_H

#include <runcible/plugin.h>
#include <uv.h>

#include "protocol.h"
#include "values.h"

enum thing_kind { NOTHING, WEIGHT, BUFFER, PROGRAM };

struct program {
  rc_plugin_compiled* compiled;
  struct rows limits;
  size_t input_count, output_count;
  size_t value_count; /* inputs and outputs */
  rc_plugin_value* values;
  size_t use_count; /* weights and buffers that have to stay, by number */
  uint32_t* uses;
};

struct thing {
  enum thing_kind kind;
  void* handle; /* of the module; struct program for a program */
  uint64_t bytes;
  uint32_t users; /* the number of programs that use it */
};

struct run {
  int under_way; /* or over, and not yet reported */
  struct program* program;
  rc_plugin_run given;
  struct rows rows;
  void** places; /* of inputs, then of outputs */
  unsigned char* memory;
  rc_status result;
  char message[RC_PLUGIN_MESSAGE_BYTES];
  uv_mutex_t mutex; /* protects: */
  int stop;
};

struct holdings {
  const rc_plugin* plugin;
  int greeted;
  rc_plugin_device* device;
  struct thing* things; /* number 1 is the first */
  uint32_t thing_count;
  struct run run;
};

int holdings_init(struct holdings* holdings, const rc_plugin* plugin);
/* Releases everything. Requires: no run is under way. */
void holdings_end(struct holdings* holdings);

/* Makes any call but RUN and WAIT. Returns 0 if this is not our client. */
int holdings_call(struct holdings* holdings, struct frame* request,
                  struct frame* answer);

/* RUN in its three parts: prepares the run, in the thread of the calls; runs,
 * in a separate thread; reports the result and forgets the run. */
rc_status holdings_start_run(struct holdings* holdings, struct frame* request,
                             char* message);
void holdings_run(struct holdings* holdings);
void holdings_end_run(struct holdings* holdings, struct frame* answer);
/* Asks the run under way to end soon. Any thread. */
void holdings_stop_run(struct holdings* holdings);

/* Functions that the parts share. Returns the number of the new thing; 0: no
 * room. */
uint32_t holdings_add(struct holdings* holdings, enum thing_kind kind,
                      void* handle, uint64_t bytes);
/* Returns NULL if the client has no thing of this kind and number. */
struct thing* holdings_find(struct holdings* holdings, enum thing_kind kind,
                            uint32_t number, char* message);
void holdings_destroy(struct holdings* holdings, struct thing* thing);
rc_status compile_program(struct holdings* holdings, struct frame* request,
                          struct frame* answer, char* message);
void destroy_program(struct holdings* holdings, struct program* program);
rc_status no_memory(char* message);
/* Refuses an impossible part of a request: "op", 3. */
rc_status impossible(char* message, const char* what, size_t number);
/* Allocates zeros; no elements, too, have an address. */
void* array(size_t count, size_t size);
/* Begins the answer of a failure. */
void put_failure(struct frame* answer, rc_status status, const char* message);

#endif
