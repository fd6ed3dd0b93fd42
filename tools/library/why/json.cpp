#include "tools/library/why/json.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include <muster/call/arguments.hpp>
#include <muster/select/recorded_call.hpp>

namespace muster::why {

void text_out::put(char letter) noexcept {
  if (used_ == buffer_.size()) flush();
  buffer_[used_++] = letter;
}

text_out& text_out::operator<<(std::string_view text) noexcept {
  for (const char letter : text) put(letter);
  return *this;
}

text_out& text_out::operator<<(std::int64_t number) noexcept {
  std::array<char, 24> digits;
  const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  return *this << std::string_view(digits.begin(), end);
}

text_out& text_out::operator<<(std::uint64_t number) noexcept {
  std::array<char, 24> digits;
  const char* const end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  return *this << std::string_view(digits.begin(), end);
}

text_out& text_out::hexadecimal(std::uint64_t number) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  put('"');
  for (int bit = 60; bit >= 0; bit -= 4) put(digits[number >> bit & 15]);
  put('"');
  return *this;
}

text_out& text_out::quoted(std::string_view text) noexcept {
  put('"');
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') put('\\');
    put(static_cast<unsigned char>(letter) < ' ' ? ' ' : letter);
  }
  put('"');
  return *this;
}

bool text_out::flush() noexcept {
  std::size_t written = 0;
  while (!failed_ && written < used_) {
    const ssize_t more = ::write(descriptor_, buffer_.data() + written, used_ - written);
    if (more > 0) {
      written += static_cast<std::size_t>(more);
    } else {
      failed_ = errno != EINTR;
    }
  }
  used_ = 0;
  return !failed_;
}

// ---- ranks

namespace {

std::string_view word_of(bool value) noexcept { return value ? "true" : "false"; }

}  // namespace

json_writer::json_writer(int descriptor, std::string_view reason) noexcept : out_(descriptor) {
  out_ << "{\"muster_why\": 1,\n \"reason\": ";
  out_.quoted(reason) << ",\n \"ranks\": [";
}

std::string_view json_writer::separator() noexcept {
  return std::exchange(any_, true) ? ",\n    " : "\n    ";
}

void json_writer::begin_rank(const seen_head& of) noexcept {
  out_ << (std::exchange(any_rank_, true) ? ",\n" : "\n") << "  {\"rank\": " << of.rank
       << ", \"ranks\": " << of.ranks << ", \"process\": " << of.process << ", \"host\": ";
  out_.quoted(of.host.view()) << ", \"started_ns\": " << of.started_ns
                              << ", \"seen_ns\": " << of.seen_ns << ",\n   \"state\": ";
  out_.quoted({&of.state, 1}) << ", \"has_left\": " << word_of(of.has_left)
                              << ", \"looked_ns\": " << of.looked_ns
                              << ", \"is_asleep\": " << word_of(of.is_asleep)
                              << ",\n   \"teams\": [";
  any_ = false;
}

void json_writer::add(const seen_team& one) noexcept {
  out_ << separator() << "{\"id\": ";
  out_.hexadecimal(one.id) << ", \"parent\": ";
  out_.hexadecimal(one.parent) << ", \"turn\": " << one.turn << ", \"ranks\": " << one.ranks
                               << ", \"rank\": " << one.rank << "}";
}

void json_writer::begin_calls() noexcept {
  out_ << "],\n   \"calls\": [";
  any_ = false;
}

// Collective, type and op are told for people: `kind` has all that, and how it is run.
void json_writer::add(const seen_call& one) noexcept {
  const collective what = collective_of(one.kind);
  out_ << separator() << "{\"team\": ";
  out_.hexadecimal(one.team) << ", \"sequence\": " << std::uint64_t{one.sequence}
                             << ", \"history\": ";
  out_.hexadecimal(one.history) << ", \"collective\": ";
  out_.quoted(exists(what) ? name(what) : "?") << ", \"type\": ";
  out_.quoted(name(type_of(one.kind))) << ", \"op\": ";
  out_.quoted(name(op_of(one.kind)))
      << ", \"count\": " << one.count << ", \"root\": " << one.root << ", \"kind\": ";
  out_.hexadecimal(one.kind);
  if (one.begun_ns != 0) out_ << ", \"begun_ns\": " << one.begun_ns;
  if (one.is == seen_call::state::under_way) {
    out_ << ", \"awaited\": " << one.awaited << ", \"first_awaited\": " << one.first_awaited;
  } else {
    if (one.ended_ns != 0) out_ << ", \"ended_ns\": " << one.ended_ns;
    out_ << ", \"failed\": " << word_of(one.is == seen_call::state::failed);
  }
  out_ << "}";
}

void json_writer::end_rank() noexcept { out_ << "]}"; }

void json_writer::add(const seen_rank& one) noexcept {
  begin_rank(one);
  for (const seen_team& each : one.teams) add(each);
  begin_calls();
  for (const seen_call& each : one.calls) add(each);
  end_rank();
}

void json_writer::add(const found_record& one) noexcept {
  const auto head = look_at_head(one);
  if (!head) return;
  begin_rank(*head);
  for_each_team(one.of, [this](const seen_team& each) { add(each); });
  begin_calls();
  for_each_call(one.of, [this](const seen_call& each) { add(each); });
  end_rank();
}

bool json_writer::end() noexcept {
  out_ << "]}\n";
  return out_.flush();
}

}  // namespace muster::why
