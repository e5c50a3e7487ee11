#include "files/convert.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "files/ggml/vocabulary.h"
#include "files/gguf/writer.h"
#include "files/quantize/crew.h"
#include "files/quantize/mixes.h"
#include "files/recoding.h"

namespace rc {
namespace {

// The number of pieces that a thread makes in a turn.
constexpr size_t kPiecesPerThread = 8;
constexpr uint64_t kChunkBytes = uint64_t{1} << 20;

class Work {
 public:
  Work(const gguf::File& file, const Conversion& conversion)
      : file_(file),
        conversion_(conversion),
        recoding_(file, conversion),
        crew_(conversion.threads) {
    for (const gguf::Tensor& tensor : file.tensors()) total_ += tensor.bytes;
    scratch_.resize(crew_.size());
  }

  void write(const std::string& path) {
    gguf::Writer writer(static_cast<uint32_t>(
        std::max(file_.alignment(), gguf::kDefaultAlignment)));
    recoding_.add_metadata(writer);
    add_ggml_vocabulary(file_, writer);
    const auto tensors = file_.tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const gguf::Tensor& tensor = tensors[i];
      writer.add_tensor(tensor.name, recoding_.type(i), tensor.shape,
                        [this, i, &tensor](const gguf::Writer::Put& put) {
                          recoding_.type(i) == tensor.dtype ? copy(tensor, put)
                                                            : encode(i, put);
                          // A mixture of before and after would be no model.
                          if (&tensor == &file_.tensors().back())
                            file_.check_unchanged();
                        });
    }
    report();
    writer.write_file(path);
  }

 private:
  void report() const {
    const double fraction =
        total_ == 0 ? 1.0
                    : static_cast<double>(done_) / static_cast<double>(total_);
    if (conversion_.progress && !conversion_.progress(fraction)) {
      fail(RC_E_CANCELLED, file_.name(), ": converting was cancelled");
    }
  }
  void advance(uint64_t bytes) {
    done_ += bytes;
    report();
  }

  void copy(const gguf::Tensor& tensor, const gguf::Writer::Put& put) {
    std::vector<std::byte>& bytes = scratch_[0].bytes;
    for (uint64_t offset = 0; offset < tensor.bytes; offset += kChunkBytes) {
      bytes.resize(std::min(kChunkBytes, tensor.bytes - offset));
      file_.read(tensor, offset, bytes);
      put(bytes);
      advance(bytes.size());
    }
  }

  void encode(size_t tensor, const gguf::Writer::Put& put) {
    constexpr int64_t kPiece = Recoding::kPieceElements;
    const gguf::Tensor& from = file_.tensors()[tensor];
    int64_t count = 1;
    for (const int64_t size : from.shape) count *= size;
    const auto at_once =
        kPiece * static_cast<int64_t>(kPiecesPerThread * crew_.size());
    for (int64_t first = 0; first < count; first += at_once) {
      const int64_t elements = std::min(at_once, count - first);
      const auto pieces = static_cast<size_t>((elements + kPiece - 1) / kPiece);
      // One thread writes what the last turn made while the others go on.
      const size_t writing = made_count_ == 0 ? 0 : 1;
      if (next_.size() < pieces) next_.resize(pieces);
      crew_.run(writing + pieces, [&](size_t worker, size_t i) {
        if (i < writing) {
          put_made(put);
          return;
        }
        const size_t piece = i - writing;
        const int64_t begin = first + kPiece * static_cast<int64_t>(piece);
        recoding_.encode(tensor, begin,
                         std::min(kPiece, first + elements - begin),
                         scratch_[worker], next_[piece]);
      });
      std::swap(made_, next_);
      made_count_ = pieces;
      advance(*row_bytes(from.dtype, elements));
    }
    put_made(put);
    made_count_ = 0;
  }

  void put_made(const gguf::Writer::Put& put) const {
    for (size_t i = 0; i < made_count_; ++i) put(made_[i]);
  }

  const gguf::File& file_;
  const Conversion& conversion_;
  const Recoding recoding_;
  quantize::Crew crew_;
  std::vector<Recoding::Scratch> scratch_;
  // Pieces of the last turn, to be written, and of this one; their memory is
  // used again.
  std::vector<std::vector<std::byte>> made_, next_;
  size_t made_count_ = 0;
  uint64_t done_ = 0;
  uint64_t total_ = 0;
};

}  // namespace

void check_conversion(const Conversion& conversion) {
  if (!conversion.type.empty()) quantize::find_mix(conversion.type);
  quantize::check_overrides(conversion.tensors);
}

void convert_model(const gguf::File& file, const std::string& path,
                   const Conversion& conversion) {
  Work(file, conversion).write(path);
}

}  // namespace rc
