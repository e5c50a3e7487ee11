%module native
%include "typemaps.i"

/* SWIG copies this code behind the wrappers unchanged. The loader calls the
 * function. */
%init %{
__attribute__((constructor)) static void runcible_begin(void) {
%}
%include "runcible.i"
%init %{
}
%}

/* Waits like mailbox_wait, but returns normally if nothing came in time. */
%inline %{
static mailbox_status mailbox_watch(mailbox* box, int64_t timeout_ms) {
  const mailbox_status status = mailbox_wait(box, timeout_ms);
  return status == RC_E_TIMEOUT ? RC_OK : status;
}
%}

/* Makes a tensor of memory that the object of a handle keeps; see asked.h. */
%apply void* ADDRESS { void* memory, void* handle }
%inline %{
static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank, void* memory,
                               uint64_t size, void* handle,
                               rc_tensor** tensor) {
  runcible_asked* held = runcible_hold(handle);
  rc_status status;
  if (held == NULL) return RC_E_OUT_OF_MEMORY;
  status = rc_tensor_borrow(backend, dtype, shape, rank, memory, (size_t)size,
                            runcible_on_released, held, tensor);
  if (status != RC_OK) free(held);
  return status;
}
%}

/* Tensors of the memory of spans, which stays in its place during the call, and
 * of pinned memory. */
%inline %{
static rc_status tensor_of_memory(rc_backend* backend, rc_dtype dtype,
                                  const int64_t* shape, int32_t rank,
                                  void* memory, uint64_t size,
                                  rc_tensor** tensor) {
  return rc_tensor_from_data(backend, dtype, shape, rank, memory, (size_t)size,
                             tensor);
}

static rc_status tensor_read_memory(rc_tensor* tensor, void* memory,
                                    uint64_t size) {
  return rc_tensor_read(tensor, memory, (size_t)size);
}

static rc_status pinned_show(rc_pinned* pinned, void** data) {
  return rc_pinned_memory(pinned, data, NULL);
}
%}
