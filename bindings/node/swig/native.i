%module native
%include "typemaps.i"
%include "runcible.i"
%include "later.i"
