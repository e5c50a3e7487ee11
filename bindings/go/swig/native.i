%module native
%include "typemaps.i"

/* Go waits at mailboxes, for all requests at once: see mailbox.go. */
%ignore request_next;
%ignore request_start;
%ignore answer_start;
/* A keyword of Go, in a struct that is left out. */
%rename(kind) rc_event::type;

/* SWIG puts what shall run at the beginning behind the wrappers as it is: into
 * a function that the loader calls. */
%init %{
__attribute__((constructor)) static void runcible_begin(void) {
%}
%include "runcible.i"
%init %{
}
%}
