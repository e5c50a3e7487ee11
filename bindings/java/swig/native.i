%module(package="runcible") Native
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
