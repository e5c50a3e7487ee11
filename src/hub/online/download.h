// Brings one file here: ranges of it at once, what is lacking of a partial one,
// until it is whole and is what it should be.
//
// Memory is bounded whatever a server sends. For one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "hub/digest.h"
#include "hub/online/ask.h"
#include "hub/partial_file.h"

namespace rc::hub {

// The digest that a file must have.
struct Checksum {
  Digest::Kind kind = Digest::Kind::kSha256;
  std::string text;            // lower-case hexadecimal
  bool with_git_head = false;  // of "blob SIZE", a zero byte and the content
};

struct Wanted {
  std::string what;  // its name, for messages
  Url url;
  // A strong entity tag or a date by which a server knows that the file is
  // still the same (If-Range); empty: none.
  std::string validator;
  // The entity tag of every answer, weak ones too; empty: not known.
  std::string tag;
  std::optional<Checksum> checksum;
};

// The file on the server has changed; the download is to begin again.
class Changed : public Error {
 public:
  using Error::Error;
};

class Download {
 public:
  // All of these must outlive it. The heartbeat is called with every piece that
  // came, too.
  Download(const Manner& manner, const Access& access, const Wanted& wanted,
           PartialFile& file, const Heartbeat& heartbeat);

  // Returns when the file is complete and right. What came before a failure
  // stays in the file. Throws RC_E_IO for servers and disks, RC_E_NOT_FOUND,
  // RC_E_FORMAT if the file is not what it should be, Changed.
  void run();

 private:
  struct Piece {
    size_t part = 0;
    Url url;
    int hops = 0;
    uint64_t got = 0;   // bytes of this answer
    std::string fault;  // what is wrong with the answer
    bool no_ranges = false;
    bool changed = false;
  };

  void bring_all();
  void start_piece(size_t part, const Url& url, int hops);
  std::optional<size_t> next_part() const;
  bool begin_piece(Piece& piece, const Response& response);
  bool take_piece(Piece& piece, std::span<const std::byte> bytes);
  void end_piece(Piece piece, const Outcome& outcome);
  void fail_piece(const std::string& reason, const Response* response);
  void stop_asking_for_ranges();
  void check();
  void save_now_and_then();

  const Manner& manner_;
  const Access& access_;
  const Wanted& wanted_;
  PartialFile& file_;
  const Heartbeat& heartbeat_;
  Transport transport_;
  Patience patience_;
  std::map<uint64_t, Piece> pieces_;  // under way
  Url current_;                       // where answers came from last
  bool ranges_ = true;
  std::chrono::steady_clock::time_point saved_;
};

}  // namespace rc::hub
