#include "files/sentencepiece/model.h"

#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/quote.h"
#include "files/sentencepiece/wire.h"

namespace rc::sentencepiece {
namespace {

// The settings of the file besides the model, to check it.
struct Settings {
  bool byte_fallback = false;
  int32_t algorithm = static_cast<int32_t>(Algorithm::kUnigram);
  bool spaces_behind = false;    // treat_whitespace_as_suffix
  bool escapes_spaces = true;    // escape_whitespaces
  std::string_view bos = "<s>";  // texts of pieces
  std::string_view eos = "</s>";
  std::string_view pad = "<pad>";
};

Piece read_piece(Wire wire) {
  Piece piece;
  for (Field field; wire.next(&field);) {
    if (field.number == 1) {
      piece.text = wire.bytes(field, "the text of a piece");
    } else if (field.number == 2) {
      piece.score = wire.number(field, "the score of a piece");
    } else if (field.number == 3) {
      piece.type =
          static_cast<PieceType>(wire.int32(field, "the type of a piece"));
    }
  }
  return piece;
}

void read_trainer(Wire wire, Settings* settings) {
  for (Field field; wire.next(&field);) {
    switch (field.number) {
      case 3:
        settings->algorithm = wire.int32(field, "model_type");
        break;
      case 24:
        settings->spaces_behind =
            wire.flag(field, "treat_whitespace_as_suffix");
        break;
      case 35:
        settings->byte_fallback = wire.flag(field, "byte_fallback");
        break;
      case 46:
        settings->bos = wire.bytes(field, "bos_piece");
        break;
      case 47:
        settings->eos = wire.bytes(field, "eos_piece");
        break;
      case 48:
        settings->pad = wire.bytes(field, "pad_piece");
        break;
      default:
        break;
    }
  }
}

void read_normalizer(Wire wire, Model* model, Settings* settings) {
  for (Field field; wire.next(&field);) {
    switch (field.number) {
      case 2:
        model->charsmap = wire.bytes(field, "precompiled_charsmap");
        break;
      case 3:
        model->add_dummy_prefix = wire.flag(field, "add_dummy_prefix");
        break;
      case 4:
        model->remove_extra_whitespaces =
            wire.flag(field, "remove_extra_whitespaces");
        break;
      case 5:
        settings->escapes_spaces = wire.flag(field, "escape_whitespaces");
        break;
      default:
        break;
    }
  }
}

// Settings of a model that are in its way of work, not in its pieces.
void settle_algorithm(const Settings& settings, const std::string& file,
                      Model* model) {
  constexpr std::string_view kOther[] = {"", "", "", "WORD", "CHAR"};
  switch (settings.algorithm) {
    case static_cast<int32_t>(Algorithm::kUnigram):
    case static_cast<int32_t>(Algorithm::kBpe):
      model->algorithm = static_cast<Algorithm>(settings.algorithm);
      break;
    case 3:
    case 4:
      fail(RC_E_UNSUPPORTED, file, ": model_type is ",
           kOther[settings.algorithm], "; known are UNIGRAM and BPE");
    default:
      fail(RC_E_FORMAT, file, ": model_type is ", settings.algorithm,
           "; 1 to 4 are possible");
  }
  if (settings.spaces_behind) {
    fail(RC_E_UNSUPPORTED, file,
         ": treat_whitespace_as_suffix is true; known are models that put a "
         "space before words");
  }
  if (!settings.escapes_spaces) {
    fail(RC_E_UNSUPPORTED, file,
         ": escape_whitespaces is false; known are models that mark spaces");
  }
}

bool is_known(PieceType type) {
  return type >= PieceType::kNormal && type <= PieceType::kByte;
}

// The byte that <0xNN> stands for, or -1.
int byte_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const size_t high = kDigits.find(text[3]);
  const size_t low = kDigits.find(text[4]);
  if (high == kDigits.npos || low == kDigits.npos) return -1;
  return static_cast<int>(high * 16 + low);
}

void check_piece(const Piece& piece, size_t i, const std::string& file) {
  if (piece.text.empty() || !is_utf8(piece.text)) {
    fail(RC_E_FORMAT, file, ": piece ", i, " is ",
         piece.text.empty() ? "empty" : "no UTF-8");
  }
  if (!is_known(piece.type)) {
    fail(RC_E_FORMAT, file, ": piece ", i, ", ", quote(piece.text),
         ", is of type ", static_cast<int32_t>(piece.type),
         "; 1 to 6 are possible");
  }
  if (!std::isfinite(piece.score)) {
    fail(RC_E_FORMAT, file, ": piece ", i, ", ", quote(piece.text),
         ", has the score ", piece.score);
  }
}

// Checks all pieces, and finds those with a task.
void check_pieces(const Settings& settings, const std::string& file,
                  Model* model) {
  std::unordered_map<std::string_view, size_t> numbers;
  std::array<bool, 256> bytes = {};
  size_t byte_count = 0;
  for (size_t i = 0; i < model->pieces.size(); ++i) {
    const Piece& piece = model->pieces[i];
    check_piece(piece, i, file);
    const auto [other, added] = numbers.emplace(piece.text, i);
    if (!added) {
      fail(RC_E_FORMAT, file, ": pieces ", other->second, " and ", i,
           " are both ", quote(piece.text));
    }
    if (piece.type == PieceType::kUnknown) {
      if (model->unknown >= 0) {
        fail(RC_E_FORMAT, file, ": pieces ", model->unknown, " and ", i,
             " both stand for what is unknown");
      }
      model->unknown = static_cast<int32_t>(i);
    }
    if (piece.type != PieceType::kByte) continue;
    const int byte = byte_of(piece.text);
    if (byte < 0) {
      fail(RC_E_FORMAT, file, ": piece ", i, ", ", quote(piece.text),
           ", is to be a byte, and no <0x00> to <0xFF>");
    }
    bytes[static_cast<size_t>(byte)] = true;
    ++byte_count;
  }
  if (model->unknown < 0) {
    fail(RC_E_FORMAT, file, ": none of ", model->pieces.size(),
         " pieces stands for what is unknown");
  }
  if (byte_count != (settings.byte_fallback ? bytes.size() : 0)) {
    fail(RC_E_FORMAT, file, ": byte_fallback is ",
         settings.byte_fallback ? "true" : "false", ", but there are ",
         byte_count, " pieces for bytes");
  }
  const auto find_control = [&](std::string_view text) {
    const auto at = numbers.find(text);
    if (at == numbers.end() ||
        model->pieces[at->second].type != PieceType::kControl) {
      return int32_t{-1};
    }
    return static_cast<int32_t>(at->second);
  };
  model->bos = find_control(settings.bos);
  model->eos = find_control(settings.eos);
  model->pad = find_control(settings.pad);
}

}  // namespace

Model parse_model(std::string_view bytes, const std::string& file) {
  Model model;
  Settings settings;
  Wire wire(bytes, file);
  for (Field field; wire.next(&field);) {
    if (field.number == 1) {
      if (model.pieces.size() == kMaxPieces) {
        fail(RC_E_FORMAT, file, ": it has more than ", kMaxPieces, " pieces");
      }
      model.pieces.push_back(read_piece(wire.message(field, "a piece")));
    } else if (field.number == 2) {
      read_trainer(wire.message(field, "trainer_spec"), &settings);
    } else if (field.number == 3) {
      read_normalizer(wire.message(field, "normalizer_spec"), &model,
                      &settings);
    }
  }
  settle_algorithm(settings, file, &model);
  check_pieces(settings, file, &model);
  return model;
}

}  // namespace rc::sentencepiece
