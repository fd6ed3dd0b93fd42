// What was seen of ranks, as JSON. A signal's handler may write it: it takes no lock and no memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tools/library/why/look.hpp"
#include "tools/library/why/snapshot.hpp"

namespace muster::why {

/// Text on its way to a descriptor.
class text_out {
public:
  explicit text_out(int descriptor) noexcept : descriptor_(descriptor) {}
  ~text_out() { flush(); }
  text_out(const text_out&) = delete;
  text_out& operator=(const text_out&) = delete;

  text_out& operator<<(std::string_view text) noexcept;
  text_out& operator<<(std::int64_t number) noexcept;
  text_out& operator<<(std::uint64_t number) noexcept;
  /// In quotation marks: 16 digits, as no number of JSON need have them.
  text_out& hexadecimal(std::uint64_t number) noexcept;
  /// In quotation marks, with what JSON cannot have in them written otherwise.
  text_out& quoted(std::string_view text) noexcept;
  /// Whether all of it was written, after the rest was.
  bool flush() noexcept;

private:
  void put(char letter) noexcept;

  int descriptor_;
  bool failed_ = false;
  std::size_t used_ = 0;
  std::array<char, 4096> buffer_;
};

/// Ranks, one after another.
class json_writer {
public:
  /// \param reason for which it is written
  json_writer(int descriptor, std::string_view reason) noexcept;

  void add(const seen_rank& one) noexcept;
  void add(const found_record& one) noexcept;
  /// Ends it. \returns whether all of it was written
  bool end() noexcept;

private:
  void begin_rank(const seen_head& of) noexcept;
  void add(const seen_team& one) noexcept;
  void begin_calls() noexcept;
  void add(const seen_call& one) noexcept;
  void end_rank() noexcept;
  /// What stands before the next one of a list.
  std::string_view separator() noexcept;

  text_out out_;
  bool any_rank_ = false;
  bool any_ = false;  // of the list that is being written
};

}  // namespace muster::why
