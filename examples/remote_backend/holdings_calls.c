/* The calls of a client. Each reads its request, asks the module, and writes
 * the answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdings.h"

void put_failure(struct frame* answer, rc_status status, const char* message) {
  frame_begin(answer, status);
  put_text(answer, message);
}

static rc_status refuse(char* message, const char* why) {
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "%s", why);
  return RC_E_INVALID_ARGUMENT;
}
static rc_status malformed(char* message) {
  return refuse(message, "the call is malformed");
}
/* Whether the call was read exactly to its end. */
static int all_read(const struct frame* request) {
  return !request->broken && frame_rest(request) == 0;
}

static rc_status hello(struct holdings* holdings, struct frame* request,
                       struct frame* answer, char* message) {
  const uint32_t magic = get_u32(request), version = get_u32(request);
  if (!all_read(request) || magic != REMOTE_MAGIC) return malformed(message);
  if (version != REMOTE_VERSION) {
    return refuse(message, "the server is of another version");
  }
  holdings->greeted = 1;
  put_u32(answer, REMOTE_MAGIC);
  put_u32(answer, REMOTE_VERSION);
  return RC_OK;
}

static rc_status device_count(struct holdings* holdings, struct frame* request,
                              struct frame* answer, char* message) {
  int32_t count = 0;
  rc_status status;
  if (!all_read(request)) return malformed(message);
  status = holdings->plugin->device_count(&count, message);
  put_i32(answer, count);
  return status;
}

/* Whether the device exists; sets the status if not. */
static int device_exists(struct holdings* holdings, int32_t index,
                         rc_status* status, char* message) {
  int32_t count = 0;
  *status = holdings->plugin->device_count(&count, message);
  if (*status == RC_OK && (index < 0 || index >= count)) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "there is no device %d", index);
    *status = RC_E_NOT_FOUND;
  }
  return *status == RC_OK;
}

static rc_status device_info(struct holdings* holdings, struct frame* request,
                             struct frame* answer, char* message) {
  const int32_t index = get_i32(request);
  rc_plugin_device_info info;
  char driver[2 * sizeof info.driver] = "";
  rc_status status;
  if (!all_read(request)) return malformed(message);
  if (!device_exists(holdings, index, &status, message)) return status;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  status = holdings->plugin->device_info(index, &info, message);
  if (status != RC_OK) return status;
  info.name[sizeof info.name - 1] = '\0';
  info.features[sizeof info.features - 1] = '\0';
  info.physical_id[sizeof info.physical_id - 1] = '\0';
  info.driver[sizeof info.driver - 1] = '\0';
  /* Findings about a device are valid for this module alone. */
  snprintf(driver, sizeof driver, "%.64s%s%s", holdings->plugin->name,
           info.driver[0] != '\0' ? ", " : "", info.driver);
  memcpy(info.driver, driver, sizeof info.driver - 1);
  put_device_info(answer, &info);
  return RC_OK;
}

static void log_line(rc_log_level level, const char* message) {
  if (level <= RC_LOG_WARNING) fprintf(stderr, "%s\n", message);
}

static rc_status open_device(struct holdings* holdings, struct frame* request,
                             struct frame* answer, char* message) {
  const int32_t index = get_i32(request);
  rc_plugin_open_options options = {
      sizeof options, 0, 0, log_line, RC_PLUGIN_ABI_VERSION, RC_NUMA_OFF};
  rc_plugin_device* device = NULL;
  rc_status status;
  (void)answer;
  options.threads = get_i32(request);
  options.profile = get_i32(request);
  if (!all_read(request)) return malformed(message);
  if (holdings->device != NULL) return refuse(message, "a device is open");
  if (options.threads < 0 || options.threads > 1024) options.threads = 0;
  if (!device_exists(holdings, index, &status, message)) return status;
  status = holdings->plugin->open(index, &options, &device, message);
  if (status == RC_OK) holdings->device = device;
  return status;
}

static rc_status op_supported(struct holdings* holdings, struct frame* request,
                              struct frame* answer, char* message) {
  rc_plugin_value values[MAX_INPUTS + MAX_OUTPUTS];
  const rc_plugin_value* pointers[MAX_INPUTS + MAX_OUTPUTS];
  const size_t count = get_count(request, VALUE_BYTES);
  struct whole_op whole;
  (void)answer;
  if (count > sizeof values / sizeof *values) return malformed(message);
  for (size_t i = 0; i < count; ++i) {
    get_value(request, &values[i]);
    pointers[i] = &values[i];
  }
  get_op(request, &whole);
  if (!all_read(request)) return malformed(message);
  for (size_t i = 0; i < whole.op.input_count; ++i) {
    if (whole.inputs[i] >= (int32_t)count) return malformed(message);
  }
  for (size_t i = 0; i < whole.op.output_count; ++i) {
    if (whole.outputs[i] >= (int32_t)count) return malformed(message);
  }
  return holdings->plugin->op_supported(holdings->device, &whole.op, pointers,
                                        count, message);
}

/* Reads the info of a possible weight, and the bytes of its data. */
static int get_weight(struct frame* request, rc_plugin_weight_info* info,
                      char* name, size_t capacity, uint64_t* bytes) {
  static const struct rows none = {0, 0, 0};
  get_weight_info(request, info, name, capacity);
  return !request->broken && info->rank >= 1 && info->shape[0] >= 0 &&
         tensor_bytes(info->dtype, info->rank, info->shape, &none, bytes);
}

static rc_status weight_bytes(struct holdings* holdings, struct frame* request,
                              struct frame* answer, char* message) {
  rc_plugin_weight_info info;
  char name[256];
  uint64_t bytes = 0;
  rc_status status;
  if (!get_weight(request, &info, name, sizeof name, &bytes) ||
      !all_read(request)) {
    return malformed(message);
  }
  status =
      holdings->plugin->weight_bytes(holdings->device, &info, &bytes, message);
  put_u64(answer, bytes);
  return status;
}

/* Keeps an object of the module, or releases it. */
static rc_status keep(struct holdings* holdings, enum thing_kind kind,
                      void* handle, uint64_t bytes, struct frame* answer,
                      char* message) {
  const uint32_t number =
      handle == NULL ? 0 : holdings_add(holdings, kind, handle, bytes);
  if (handle == NULL) {
    refuse(message, "the module gave nothing");
    return RC_E_DEVICE;
  }
  if (number == 0) {
    struct thing thing = {kind, handle, bytes, 0};
    holdings_destroy(holdings, &thing);
    refuse(message, "the client has too many weights and buffers");
    return RC_E_OUT_OF_MEMORY;
  }
  put_u32(answer, number);
  return RC_OK;
}

static rc_status create_weight(struct holdings* holdings, struct frame* request,
                               struct frame* answer, char* message) {
  rc_plugin_weight_info info;
  rc_plugin_weight* weight = NULL;
  char name[256];
  uint64_t bytes = 0;
  rc_status status;
  if (!get_weight(request, &info, name, sizeof name, &bytes) ||
      frame_rest(request) != bytes) {
    return malformed(message);
  }
  status = holdings->plugin->create_weight(
      holdings->device, &info, get_aligned_rest(request), &weight, message);
  if (status != RC_OK) return status;
  return keep(holdings, WEIGHT, weight, bytes, answer, message);
}

static rc_status create_buffer(struct holdings* holdings, struct frame* request,
                               struct frame* answer, char* message) {
  const uint64_t bytes = get_u64(request);
  rc_plugin_buffer* buffer = NULL;
  rc_status status;
  if (!all_read(request)) return malformed(message);
  status = holdings->plugin->create_buffer(holdings->device, bytes, &buffer,
                                           message);
  if (status != RC_OK) return status;
  return keep(holdings, BUFFER, buffer, bytes, answer, message);
}

static rc_status destroy_call(struct holdings* holdings, enum thing_kind kind,
                              struct frame* request, char* message) {
  const uint32_t number = get_u32(request);
  struct thing* thing;
  if (!all_read(request)) return malformed(message);
  thing = holdings_find(holdings, kind, number, message);
  if (thing == NULL) return RC_E_INVALID_ARGUMENT;
  if (thing->users > 0) return refuse(message, "a program uses it");
  holdings_destroy(holdings, thing);
  return RC_OK;
}
static rc_status destroy_weight(struct holdings* holdings,
                                struct frame* request, struct frame* answer,
                                char* message) {
  (void)answer;
  return destroy_call(holdings, WEIGHT, request, message);
}
static rc_status destroy_buffer(struct holdings* holdings,
                                struct frame* request, struct frame* answer,
                                char* message) {
  (void)answer;
  return destroy_call(holdings, BUFFER, request, message);
}
static rc_status destroy_program_call(struct holdings* holdings,
                                      struct frame* request,
                                      struct frame* answer, char* message) {
  (void)answer;
  return destroy_call(holdings, PROGRAM, request, message);
}

/* Returns the buffer if it has these bytes. */
static rc_plugin_buffer* find_range(struct holdings* holdings, uint32_t number,
                                    uint64_t offset, uint64_t bytes,
                                    char* message) {
  const struct thing* thing = holdings_find(holdings, BUFFER, number, message);
  if (thing == NULL) return NULL;
  if (offset <= thing->bytes && bytes <= thing->bytes - offset) {
    return thing->handle;
  }
  refuse(message, "the bytes are beyond the end of the buffer");
  return NULL;
}

static rc_status upload(struct holdings* holdings, struct frame* request,
                        struct frame* answer, char* message) {
  const uint32_t number = get_u32(request);
  const uint64_t offset = get_u64(request);
  const uint64_t bytes = frame_rest(request);
  rc_plugin_buffer* buffer;
  (void)answer;
  if (request->broken) return malformed(message);
  buffer = find_range(holdings, number, offset, bytes, message);
  if (buffer == NULL) return RC_E_INVALID_ARGUMENT;
  return holdings->plugin->upload(holdings->device, buffer, offset,
                                  get_aligned_rest(request), bytes, message);
}

static rc_status download(struct holdings* holdings, struct frame* request,
                          struct frame* answer, char* message) {
  const uint32_t number = get_u32(request);
  const uint64_t offset = get_u64(request), bytes = get_u64(request);
  rc_plugin_buffer* buffer;
  void* data;
  rc_status status;
  if (!all_read(request) || bytes > REMOTE_MAX_PAYLOAD) {
    return malformed(message);
  }
  buffer = find_range(holdings, number, offset, bytes, message);
  if (buffer == NULL) return RC_E_INVALID_ARGUMENT;
  data = malloc((size_t)bytes + 1);
  if (data == NULL) return no_memory(message);
  status = holdings->plugin->download(holdings->device, buffer, offset, data,
                                      bytes, message);
  put_bytes(answer, data, (size_t)bytes);
  free(data);
  return status;
}

static rc_status copy(struct holdings* holdings, struct frame* request,
                      struct frame* answer, char* message) {
  const uint32_t to = get_u32(request);
  const uint64_t to_offset = get_u64(request);
  const uint32_t from = get_u32(request);
  const uint64_t from_offset = get_u64(request), bytes = get_u64(request);
  rc_plugin_buffer *target, *source;
  void* data;
  rc_status status;
  (void)answer;
  if (!all_read(request)) return malformed(message);
  target = find_range(holdings, to, to_offset, bytes, message);
  source = find_range(holdings, from, from_offset, bytes, message);
  if (target == NULL || source == NULL) return RC_E_INVALID_ARGUMENT;
  if (holdings->plugin->copy != NULL) {
    return holdings->plugin->copy(holdings->device, target, to_offset, source,
                                  from_offset, bytes, message);
  }
  data = malloc((size_t)bytes + 1);
  if (data == NULL) return no_memory(message);
  status = holdings->plugin->download(holdings->device, source, from_offset,
                                      data, bytes, message);
  if (status == RC_OK) {
    status = holdings->plugin->upload(holdings->device, target, to_offset, data,
                                      bytes, message);
  }
  free(data);
  return status;
}

static rc_status op_time(struct holdings* holdings, struct frame* request,
                         struct frame* answer, char* message) {
  const uint64_t i = get_u64(request);
  rc_plugin_op_time time;
  rc_status status = RC_E_NOT_FOUND;
  if (!all_read(request)) return malformed(message);
  memset(&time, 0, sizeof time);
  time.struct_size = sizeof time;
  if (holdings->plugin->op_time != NULL) {
    status =
        holdings->plugin->op_time(holdings->device, (size_t)i, &time, message);
  }
  put_i64(answer, time.op);
  put_i64(answer, time.begin_ns);
  put_i64(answer, time.end_ns);
  return status;
}

static const struct {
  rc_status (*function)(struct holdings* holdings, struct frame* request,
                        struct frame* answer, char* message);
  int needs_device;
  int during_run; /* plugin.h allows it at any time */
} calls[] = {
    [REMOTE_HELLO] = {hello, 0, 0},
    [REMOTE_COUNT] = {device_count, 0, 1},
    [REMOTE_INFO] = {device_info, 0, 1},
    [REMOTE_OPEN] = {open_device, 0, 0},
    [REMOTE_SUPPORTED] = {op_supported, 1, 0},
    [REMOTE_WEIGHT_SIZE] = {weight_bytes, 1, 1},
    [REMOTE_CREATE_WEIGHT] = {create_weight, 1, 1},
    [REMOTE_DESTROY_WEIGHT] = {destroy_weight, 1, 1},
    [REMOTE_CREATE_BUFFER] = {create_buffer, 1, 1},
    [REMOTE_DESTROY_BUFFER] = {destroy_buffer, 1, 1},
    [REMOTE_UPLOAD] = {upload, 1, 0},
    [REMOTE_DOWNLOAD] = {download, 1, 0},
    [REMOTE_COPY] = {copy, 1, 0},
    [REMOTE_COMPILE] = {compile_program, 1, 0},
    [REMOTE_DESTROY_PROGRAM] = {destroy_program_call, 1, 0},
    [REMOTE_TIME] = {op_time, 1, 0},
};

int holdings_call(struct holdings* holdings, struct frame* request,
                  struct frame* answer) {
  const int32_t code = frame_code(request);
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  rc_status status;
  if (!holdings->greeted && code != REMOTE_HELLO) return 0;
  frame_begin(answer, RC_OK);
  if (code < 0 || code >= (int32_t)(sizeof calls / sizeof *calls) ||
      calls[code].function == NULL) {
    status = refuse(message, "there is no such call");
  } else if (calls[code].needs_device && holdings->device == NULL) {
    status = refuse(message, "no device is open");
  } else if (!calls[code].during_run && holdings->run.under_way) {
    status = refuse(message, "a run is under way");
  } else {
    status = calls[code].function(holdings, request, answer, message);
  }
  message[sizeof message - 1] = '\0';
  if (status != RC_OK) put_failure(answer, status, message);
  return holdings->greeted;
}
