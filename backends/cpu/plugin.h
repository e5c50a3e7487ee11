// The cpu backend: kernels for the machine's processors, chosen at run time.
#pragma once

#include <string>
#include <vector>

#include "cpu/nodes.h"
#include "runcible/plugin.h"

namespace rc::cpu {

const rc_plugin* plugin();

// For tests: as the table's open, with a level of level.h by its name instead
// of the highest one.
rc_status open_at_level(const std::string& level,
                        const rc_plugin_open_options* options,
                        rc_plugin_device** device, char* message);
// The same on nodes and by calls that are not those of the machine.
rc_status open_on_nodes(std::vector<Node> nodes, const NodeCalls& calls,
                        const rc_plugin_open_options* options,
                        rc_plugin_device** device, char* message);

}  // namespace rc::cpu
