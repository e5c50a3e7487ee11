/* Model files in memory: plain bytes, which are copied, and the name that
 * messages use. Estimates: an empty type of the weights is F16. */
%ignore rc_model_memory;
%ignore rc_model_load_memory;
%ignore rc_model_load_memory_async;
%ignore rc_model_plan_memory;
%ignore rc_model_info_open_memory;
%ignore rc_model_verify_memory;
%ignore rc_tokenizer_open_memory;
%ignore rc_model_estimate;

%apply const char* NAME {
  const char* called, const char* hyper_parameters, const char* weight_type
}
%{
static rc_model_memory memory_of_bytes(const void* data, size_t size,
                                       const char* called) {
  rc_model_memory memory = RC_MODEL_MEMORY_INIT;
  memory.data = data == NULL ? "" : data;
  memory.size = size;
  memory.name = called;
  return memory;
}
%}
%inline %{
static rc_status model_load_bytes(rc_backend* backend, const void* data,
                                  size_t size, const char* called,
                                  const rc_model_options* options,
                                  rc_model** model) {
  const rc_model_memory memory = memory_of_bytes(data, size, called);
  return rc_model_load_memory(backend, &memory, options, model);
}
static rc_status model_plan_bytes(const void* data, size_t size,
                                  const char* called,
                                  const rc_model_options* options,
                                  rc_backend* backend, rc_plan** plan) {
  const rc_model_memory memory = memory_of_bytes(data, size, called);
  return rc_model_plan_memory(&memory, options, backend, plan);
}
static rc_status model_verify_bytes(const void* data, size_t size,
                                    const char* called) {
  const rc_model_memory memory = memory_of_bytes(data, size, called);
  return rc_model_verify_memory(&memory);
}
static rc_status tokenizer_open_bytes(const void* data, size_t size,
                                      const char* called,
                                      rc_tokenizer** tokenizer) {
  const rc_model_memory memory = memory_of_bytes(data, size, called);
  return rc_tokenizer_open_memory(&memory, tokenizer);
}
static rc_status model_estimate(const char* hyper_parameters,
                                const char* weight_type,
                                const rc_model_options* options,
                                rc_backend* backend, rc_plan** plan) {
  return rc_model_estimate(hyper_parameters,
                           *weight_type == '\0' ? NULL : weight_type, options,
                           backend, plan);
}
%}
