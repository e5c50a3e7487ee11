%module runcible_native
%include "typemaps.i"
%include "runcible.i"
%include "pending.i"
