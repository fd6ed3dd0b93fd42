#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::launcher {

/// The socket by which a process manager that speaks PMI answers its processes, in text: `PMI_FD`.
/// It belongs to the process manager.
class pmi_wire {
public:
  /// Nothing where this process has none.
  static std::optional<pmi_wire> find();

  /// PMI-1: a line for a line. Empty where there is no answer.
  std::string ask_line(std::string line) const;
  /// PMI-2: a text with its length before it, likewise.
  std::string ask_text(const std::string& text) const;

private:
  explicit pmi_wire(int socket) : socket_(socket) {}
  bool write_all(std::string_view text) const;
  bool read_all(char* into, std::size_t bytes) const;

  int socket_;
};

/// The value of `name` in "name=value name=value"; empty where it has none.
/// \param separator a space in PMI-1, `;` in PMI-2
std::string_view pmi_field(std::string_view text, std::string_view name, char separator = ' ');

/// \param text null: there is none. Nothing where it is no number.
std::optional<std::size_t> pmi_number(const char* text);

}  // namespace muster::launcher
