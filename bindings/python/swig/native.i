%module(package="runcible", threads="1") native
%include "typemaps.i"
%include "runcible.i"
