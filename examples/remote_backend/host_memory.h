/* Defaults that plugin.h promises to plugins that compute in host memory, for
 * functions that a module leaves out. */
#ifndef REMOTE_BACKEND_HOST_MEMORY_H
#define REMOTE_BACKEND_HOST_MEMORY_H

#include <runcible/plugin.h>

/* Copies the module's table, as much as it has filled, and completes it.
 * Returns 0 if it has another version of the ABI, or a function without default
 * is missing. */
int complete_table(const rc_plugin* given, rc_plugin* table);

#endif
