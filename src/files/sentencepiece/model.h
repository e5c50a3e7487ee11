// A SentencePiece model: the pieces of a vocabulary, and how a text is prepared
// for them. Files of it are called tokenizer.model.
//
// Format: sentencepiece_model.proto of SentencePiece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rc::sentencepiece {

// Limits, which bound memory and time. The largest model in use has 262144
// pieces and 5 MB.
inline constexpr uint64_t kMaxModelBytes = uint64_t{64} << 20;
inline constexpr size_t kMaxPieces = size_t{1} << 22;

enum class Algorithm { kUnigram = 1, kBpe = 2 };

// Numbered as in the file, which are the numbers of tokenizer.ggml.token_type
// too.
enum class PieceType : int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

struct Piece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

struct Model {
  std::vector<Piece> pieces;
  Algorithm algorithm = Algorithm::kUnigram;
  std::string charsmap;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  // Numbers of pieces; -1: there is none.
  int32_t unknown = -1;
  int32_t bos = -1;
  int32_t eos = -1;
  int32_t pad = -1;
};

// `file` is for messages. Throws RC_E_FORMAT naming file and piece unless
// pieces are different UTF-8 texts with finite scores, one of them is the
// unknown one, and there are pieces for all bytes or none;
// RC_E_UNSUPPORTED naming what the model asks for that is not known.
Model parse_model(std::string_view bytes, const std::string& file);

}  // namespace rc::sentencepiece
