#include "files/importance/write.h"

#include <span>
#include <string_view>

#include "files/gguf/writer.h"

namespace rc {

void write_importance(const ImportanceData& data, const std::string& path) {
  gguf::Writer writer;
  writer.add("general.type", std::string_view("imatrix"));
  writer.add_strings("imatrix.datasets", data.datasets);
  writer.add("imatrix.chunk_count", data.chunk_count);
  writer.add("imatrix.chunk_size", data.chunk_size);
  for (const ImportanceOfTensor& each : data.tensors) {
    std::vector<int64_t> sums = {each.width};
    std::vector<int64_t> counts = {1};
    if (each.experts > 0) {
      sums.insert(sums.begin(), each.experts);
      counts.insert(counts.begin(), each.experts);
    }
    writer.add_tensor(each.tensor + ".in_sum2", RC_DTYPE_F32, sums,
                      std::as_bytes(std::span(each.sums)));
    writer.add_tensor(each.tensor + ".counts", RC_DTYPE_F32, counts,
                      std::as_bytes(std::span(each.counts)));
  }
  writer.write_file(path);
}

}  // namespace rc
