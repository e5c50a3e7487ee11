%module(package="runcible", threads="1") native
%include "typemaps.i"
%include "runcible.i"
%include "graph.i"
%include "borrow.i"

/* So many that an event loop is not held up; see streaming.py. */
mailbox_status mailbox_take_some(mailbox* box, size_t max,
                                 kept_events* events);
