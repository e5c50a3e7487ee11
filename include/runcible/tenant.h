/* Runcible: tenants, which share devices by weight, have limits, and get a
 * bill.
 *
 *     rc_tenant_options limits = RC_TENANT_OPTIONS_INIT;
 *     limits.name = "acme";
 *     limits.weight = 2.0f;
 *     limits.generated_tokens_per_minute = 6000;
 *     rc_tenant* tenant = NULL;
 *     rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
 *     rc_backend* backend = NULL;
 *     if (rc_tenant_create(&limits, &tenant) != RC_OK) return 1;
 *     options.tenant = tenant;
 *     if (rc_backend_open("cuda,cpu", &options, &backend) != RC_OK) return 1;
 *
 * A host that computes for several parties makes a tenant for each of them. A
 * backend handle belongs to the tenant that its options name, and so do the
 * models, sessions and tensors that are made through it. A handle that is
 * opened without a tenant gets a separate one, with a weight of 1 and no
 * limits. */
#ifndef RUNCIBLE_TENANT_H
#define RUNCIBLE_TENANT_H

#include "runcible/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One party that uses devices: its weight, its limits and its meter. */
typedef struct rc_tenant rc_tenant;

/* The weight and the limits of a tenant. A limit applies to all of its handles
 * together; 0 means no limit. rc_tenant_create gives members that are not set
 * their defaults, and rc_tenant_change leaves them as they are. */
typedef struct rc_tenant_options {
  size_t struct_size;
  /* The name in messages, metrics and bills, which rc_tenant_change does not
   * change; NULL: not set. Metrics of all tenants add up those with the same
   * name. Default: "". */
  const char* name;
  /* The backends and devices that its handles may open, separated by commas, as
   * in "cpu,vulkan:1"; "gpu" is any GPU, and "" allows all; NULL: not set.
   * Other devices are passed over, and rc_backend_explain gives that as the
   * reason. Ops that the opened device does not support run on cpu:0 even if it
   * is not listed, unless the handle is strict. Default: "". */
  const char* devices;
  /* The share of a device that the tenant gets while others want it too is its
   * weight divided by the sum of all their weights; 0.001 to 1000. Default: 1.
   */
  float weight;
  /* Requests in flight, including those that wait. Default: 0. */
  int32_t max_requests;
  int32_t max_sessions; /* Sessions that exist. Default: 0. */
  /* Models that are loaded; one that two handles load counts twice. Default: 0.
   */
  int32_t max_models;
  /* Bytes of the devices that its handles have opened, counted like the
   * memory_limit of rc_backend_options, which is a limit of one handle.
   * Default: 0. */
  uint64_t memory_limit;
  /* Prompt tokens evaluated per minute. Tokens taken from the prefix cache do
   * not count. Default: 0. */
  int64_t prompt_tokens_per_minute;
  int64_t generated_tokens_per_minute; /* Default: 0. */
  /* Milliseconds that all devices together work for the tenant per minute. A
   * step that serves several tenants is divided among them by rows. Default: 0.
   */
  int64_t device_ms_per_minute;
  /* Seconds' worth of the limits per minute that may be used at once after a
   * pause; 1 to 3600. Default: 60. */
  int32_t burst_seconds;
  /* How long a step on the device may last because of prompts, those of other
   * tenants included, while streams of the tenant wait for their next token,
   * milliseconds, from 1 ms to 10 s, of which 400 ms are used at most. Less
   * than the default also bounds steps without streams, which last up to 400 ms
   * otherwise, on the models of the tenant: its streams are steadier and its
   * prompts begin sooner, but prompts take longer, because each step reads the
   * weights. Default: 40 ms. */
  int32_t max_stall_ms;
} rc_tenant_options;

#define RC_TENANT_OPTIONS_INIT                                   \
  {                                                              \
    RC_INITIAL(struct_size, sizeof(rc_tenant_options)),          \
        RC_INITIAL(name, NULL), RC_INITIAL(devices, NULL),       \
        RC_INITIAL(weight, RC_UNSET_FLOAT),                      \
        RC_INITIAL(max_requests, RC_UNSET_INT32),                \
        RC_INITIAL(max_sessions, RC_UNSET_INT32),                \
        RC_INITIAL(max_models, RC_UNSET_INT32),                  \
        RC_INITIAL(memory_limit, RC_UNSET_UINT64),               \
        RC_INITIAL(prompt_tokens_per_minute, RC_UNSET_INT64),    \
        RC_INITIAL(generated_tokens_per_minute, RC_UNSET_INT64), \
        RC_INITIAL(device_ms_per_minute, RC_UNSET_INT64),        \
        RC_INITIAL(burst_seconds, RC_UNSET_INT32),               \
        RC_INITIAL(max_stall_ms, RC_UNSET_INT32)                 \
  }
/* The same as a function; see base.h. */
RC_API void rc_tenant_options_init(rc_tenant_options* options, size_t size);

/* Makes a tenant. `options` may be NULL. *tenant is the caller's; see
 * rc_tenant_release. RC_E_INVALID_ARGUMENT: an option is out of range, or
 * `devices` is malformed (its backends need not exist); RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_tenant_create(const rc_tenant_options* options,
                                  rc_tenant** tenant);

/* Changes the members that are set in `options`, also while requests are in
 * flight.
 *
 * A call that would exceed a limit fails with RC_E_QUOTA (for memory with
 * RC_E_DEVICE_MEMORY), and its message names the limit. Whatever already
 * exceeds a new limit stays. If a limit per minute is used up, new requests
 * fail, and if it is device_ms_per_minute, so do tensor ops and runs of graphs;
 * rc_error_retry_after_ms returns when to try again. A request that has been
 * accepted never fails because of a limit per minute: it waits until the limit
 * allows more, and then goes on. A step under way is finished, so usage may
 * exceed a limit by one step, and later waiting makes up for it.
 *
 * `devices` takes effect when a handle is opened or switched. Any thread.
 * RC_E_INVALID_ARGUMENT as for rc_tenant_create; nothing has changed then. */
RC_API rc_status rc_tenant_change(rc_tenant* tenant,
                                  const rc_tenant_options* options);

/* A snapshot of what a tenant has used since it was created. */
typedef struct rc_tenant_usage_report {
  size_t struct_size;
  uint64_t requests;         /* that have ended */
  uint64_t prompt_tokens;    /* evaluated or taken from the prefix cache */
  uint64_t cached_tokens;    /* of these, taken from the prefix cache */
  uint64_t generated_tokens; /* by sampling */
  /* Microseconds that devices have worked for it: steps of models, shared by
   * rows, ops of tensors, and runs of graphs. */
  uint64_t device_us;
  /* Bytes of its tensors and models now, on all devices; see
   * rc_backend_usage_report. */
  uint64_t memory;
  uint64_t refused; /* calls that failed because of a limit of the tenant */
  /* The numbers that exist now. */
  int32_t requests_in_flight;
  int32_t sessions;
  int32_t models;
  int32_t backends; /* backend handles */
} rc_tenant_usage_report;

#define RC_TENANT_USAGE_REPORT_INIT                                    \
  {                                                                    \
    RC_INITIAL(struct_size, sizeof(rc_tenant_usage_report)),           \
        RC_INITIAL(requests, 0), RC_INITIAL(prompt_tokens, 0),         \
        RC_INITIAL(cached_tokens, 0), RC_INITIAL(generated_tokens, 0), \
        RC_INITIAL(device_us, 0), RC_INITIAL(memory, 0),               \
        RC_INITIAL(refused, 0), RC_INITIAL(requests_in_flight, 0),     \
        RC_INITIAL(sessions, 0), RC_INITIAL(models, 0),                \
        RC_INITIAL(backends, 0)                                        \
  }
/* The same as a function; see base.h. */
RC_API void rc_tenant_usage_report_init(rc_tenant_usage_report* report,
                                        size_t size);
/* RC_E_INVALID_ARGUMENT: `tenant` or `report`. */
RC_API rc_status rc_tenant_usage(rc_tenant* tenant,
                                 rc_tenant_usage_report* report);

/* The format of rc_tenant_metrics. */
typedef int32_t rc_metrics_format;
enum {
  /* A snapshot of what a tenant has used since it was created, as an object
   * with these members:
   * - "tenants": array of objects with "name", "weight", the members of
   *   rc_tenant_usage_report, "usage" and "held".
   * - "usage" of a tenant: array with an element for each model and the devices
   *   on which it lies: "model" (the file; "" for tensor ops and graphs);
   *   "devices" (array of "device", "gpu" as a boolean, and "seconds" that it
   *   has worked); "requests", "prompt_tokens", "cached_tokens",
   *   "generated_tokens"; and "waits", the times from a request's start to its
   *   first step: "bounds" of the buckets in seconds, "counts" (the last
   * element counts waits longer than every bound) and the sum "seconds".
   * - "held" of a tenant: memory over time; array of "device", "gpu" and
   *   "byte_seconds".
   * - "devices": array of "device", "gpu", and "seconds" that each open device
   *   has worked for all tenants.
   *
   * Memory that several tenants share, such as the weights of one file, is
   * divided equally among them for the time that they share it. */
  RC_METRICS_JSON = 0,
  /* The same numbers in the text format of OpenMetrics 1.0, which Prometheus
   * reads. */
  RC_METRICS_OPENMETRICS = 1
};

/* Writes a snapshot of what a tenant has used since it was created. If `tenant`
 * is NULL, the snapshot has all tenants of the process that rc_tenant_create
 * made and that still exist, and adds up those with the same name. *text is
 * NUL-terminated and the caller's, to be freed with rc_free.
 * RC_E_INVALID_ARGUMENT: `tenant`, `format` or `text`; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_tenant_metrics(rc_tenant* tenant, rc_metrics_format format,
                                   char** text);

/* Computes what a tenant owes. `prices` is a JSON object, NUL-terminated, such
 * as
 *
 *     {"currency": "USD",
 *      "device_hour": {"cpu": 0.10, "gpu": 1.00, "vulkan:1": 0.70},
 *      "million_tokens": {"prompt": 0.05, "cached": 0.01, "generated": 0.20},
 *      "gib_hour": {"cpu": 0.005, "gpu": 0.02}}
 *
 * Every member but "currency" is optional. Devices are named by id, by backend
 * or as "gpu", in this order of precedence. Tokens of prompts have the price of
 * "cached" if they came from the prefix cache. `since` is an earlier snapshot
 * of rc_tenant_metrics, as JSON, that contains the tenant, and the bill
 * covers what was used after it; NULL: since the tenant was created.
 *
 * *json is an object with "tenant", "currency", "items" and "total". An item
 * has "what" ("device_hour", "million_tokens" or "gib_hour"), "class" (of
 * tokens), "model", "device" ("" where they do not apply), "quantity" in the
 * unit of the price, "price" (null if the list has none) and "amount". *json is
 * NUL-terminated and the caller's, to be freed with rc_free.
 *
 * RC_E_INVALID_ARGUMENT: an argument is NULL, `prices` or `since` is not as
 * described, a price is negative or not a number, or `prices` has an unknown
 * member; RC_E_OUT_OF_MEMORY. */
RC_API rc_status rc_tenant_bill(rc_tenant* tenant, const char* prices,
                                const char* since, char** json);

/* References; see base.h. Backend handles keep their tenant. */
RC_API rc_tenant* rc_tenant_retain(rc_tenant* tenant);
RC_API void rc_tenant_release(rc_tenant* tenant);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RUNCIBLE_TENANT_H */
