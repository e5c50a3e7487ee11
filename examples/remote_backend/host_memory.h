/* What plugin.h promises to plugins that compute in host memory: for functions
 * that a module leaves out there are these. */
#ifndef REMOTE_BACKEND_HOST_MEMORY_H
#define REMOTE_BACKEND_HOST_MEMORY_H

#include <runcible/plugin.h>

/* Copies the module's table, as much as it has filled, and completes it. 0: it
 * is of another version of the ABI, or lacks what has no default. */
int complete_table(const rc_plugin* given, rc_plugin* table);

#endif
