#include "transports/tcp/zero_copy_sends.hpp"

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

namespace muster::tcp {
namespace {

/// A report in the ancillary data of what was taken from a socket's error queue, if it is one.
std::optional<sock_extended_err> report_in(msghdr& message) noexcept {
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    const bool is_error = (each->cmsg_level == SOL_IP && each->cmsg_type == IP_RECVERR) ||
                          (each->cmsg_level == SOL_IPV6 && each->cmsg_type == IPV6_RECVERR);
    if (!is_error) continue;
    sock_extended_err found;
    std::memcpy(&found, CMSG_DATA(each), sizeof found);
    if (found.ee_origin == SO_EE_ORIGIN_ZEROCOPY) return found;
  }
  return std::nullopt;
}

}  // namespace

std::size_t zero_copy_asked_for() {
  const char* const set = environment::read(environment::zero_copy);
  if (set == nullptr) return 0;
  const std::string_view text = set;
  std::size_t bytes = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), bytes);
  if (code == std::errc{} && end == text.end()) return bytes;
  throw error(errc::invalid_argument,
              "MUSTER_ZERO_COPY is '" + std::string(text) + "'; expected a number of bytes");
}

void zero_copy_sends::begin(int socket, std::size_t from) noexcept {
  constexpr int on = 1;
  const bool can = from != 0 && ::setsockopt(socket, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) == 0;
  from_ = can ? from : 0;
  made_ = 0;
  done_.clear();
}

std::optional<moved> zero_copy_sends::send(int socket, std::span<const std::byte> bytes) noexcept {
  const ssize_t sent =
      ::send(socket, bytes.data(), bytes.size(), MSG_ZEROCOPY | MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent > 0) {
    ++made_;
    return moved{moved::how::some, static_cast<std::size_t>(sent)};
  }
  if (errno == EAGAIN || errno == EINTR) return moved{moved::how::nothing_yet};
  return std::nullopt;  // copying may do, or finds out that the peer is gone
}

void zero_copy_sends::read_reports(int socket) noexcept {
  while (!are_done(made_)) {
    alignas(cmsghdr) std::array<char, 128> ancillary;
    msghdr message{};
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
    if (::recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    const auto report = report_in(message);
    if (!report) continue;
    // Numbers are of 32 bits: the first of those that are on their way and have it.
    const std::uint64_t pending = made_ - 1;
    const std::uint64_t last = pending - static_cast<std::uint32_t>(pending - report->ee_data);
    const std::uint32_t count = report->ee_data - report->ee_info + 1;
    done_.add({last + 1 - count, last + 1});
    if (report->ee_code == SO_EE_CODE_ZEROCOPY_COPIED) from_ = 0;
  }
}

}  // namespace muster::tcp
