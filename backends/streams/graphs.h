// The launches of whole runs as graphs, which the driver starts at once: most
// of the time of a short run would be that of single launches.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/device.h"
#include "streams/handles.h"

namespace rc::streams {

// One for each of the sizes of runs that came again, the last few.
class Graphs {
 public:
  Graphs(Driver& driver, StreamHandle stream)
      : driver_(driver), stream_(stream) {}

  // Launches all of a run of that size by a graph, if such a run came before.
  // `launch_all` launches it in the stream, for the graph to be made of. False:
  // nothing was done. The device is current. Throws for the launch alone: where
  // no graph can be made, none is tried again.
  bool launch(const Rows& rows, const std::function<void()>& launch_all);
  // Something else is to be launched from now on.
  void clear() { kept_.clear(); }

 private:
  struct Kept {
    Rows rows;
    GraphExec graph;  // nothing at the first run
  };
  GraphExec captured(const std::function<void()>& launch_all);

  Driver& driver_;
  StreamHandle stream_;
  bool works_ = true;
  std::vector<Kept> kept_;  // the latest at the end
};

}  // namespace rc::streams
