%module runcible_native
%include "typemaps.i"
%include "runcible.i"
%include "pending.i"

/* Custom ops whose function is a command of Tcl; see functions.h. */
%{
#include "functions.h"
%}
%typemap(in, numinputs=0) runcible_server server { $1 = interp; }
%typemap(in) Tcl_Obj* COMMAND { $1 = $input; }
%include "served.i"
%inline %{
static rc_status custom_op_of_function(Tcl_Interp* interp,
                                       rc_custom_op_options* options,
                                       Tcl_Obj* COMMAND, rc_custom_op** op) {
  return runcible_custom_op(interp, options, COMMAND, op);
}
%}
