%module native
%include "typemaps.i"

/* Go waits for all requests at once, with a mailbox: see mailbox.go. */
%ignore request_next;
%ignore request_start;
%ignore answer_start;
/* A keyword of Go, in a struct that is not wrapped. */
%rename(kind) rc_event::type;

/* SWIG writes the code of %init behind the wrappers as it is. This puts it into
 * a function that the loader calls. */
%init %{
__attribute__((constructor)) static void runcible_begin(void) {
%}
%include "runcible.i"
%init %{
}
%}

/* A tensor of memory that Go has pinned; `lent` is the number of lending.go. */
%{
void runcibleGiveBack(uintptr_t lent);

static void runcible_give_back(void* user) {
  runcibleGiveBack((uintptr_t)user);
}
%}
%inline %{
static rc_status tensor_borrow(rc_backend* backend, rc_dtype dtype,
                               const int64_t* shape, int32_t rank,
                               const void* data, size_t bytes, uint64_t lent,
                               rc_tensor** tensor) {
  return rc_tensor_borrow(backend, dtype, shape, rank, (void*)data, bytes,
                          runcible_give_back, (void*)(uintptr_t)lent, tensor);
}
%}

/* The address and size of pinned memory. */
%inline %{
static rc_status pinned_show(rc_pinned* pinned, void** data, size_t* size) {
  return rc_pinned_memory(pinned, data, size);
}
%}
