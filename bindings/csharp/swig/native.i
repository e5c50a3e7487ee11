%module native
%include "typemaps.i"

/* SWIG puts what shall run at the beginning behind the wrappers as it is: into
 * a function that the loader calls. */
%init %{
__attribute__((constructor)) static void runcible_begin(void) {
%}
%include "runcible.i"
%init %{
}
%}

/* mailbox_wait, for which it is no failure that nothing came in time. */
%inline %{
static mailbox_status mailbox_watch(mailbox* box, int64_t timeout_ms) {
  const mailbox_status status = mailbox_wait(box, timeout_ms);
  return status == RC_E_TIMEOUT ? RC_OK : status;
}
%}
