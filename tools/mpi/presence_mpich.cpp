// Hydra, MPICH's launcher, speaks PMI-1: lines of text through a socket, each of which it answers
// by a line. The MPI itself speaks there in MPI_Init, after the first and before the rest of what
// is said here.
#include <cstdlib>
#include <string>
#include <utility>

#include "tools/library/launcher/pmi_wire.hpp"
#include "tools/mpi/presence.hpp"

namespace muster::mpi {
namespace {

using launcher::pmi_field;
using launcher::pmi_number;
using launcher::pmi_wire;

/// The key-value space of the processes that were started together.
class pmi final : public notice_board {
public:
  static std::unique_ptr<notice_board> join(const pmi_wire& wire, std::size_t rank) {
    pmi joined(wire);
    // Each node's Hydra forgets, when the first process begins, what was said before; that the MPI
    // begins later once more does not matter.
    const std::string begun = joined.wire_.ask_line("cmd=init pmi_version=1 pmi_subversion=1");
    if (pmi_field(begun, "rc") != "0") return nullptr;
    joined.space_ = pmi_field(joined.wire_.ask_line("cmd=get_my_kvsname"), "kvsname");
    if (joined.space_.empty()) return nullptr;
    const std::string answer =
        joined.wire_.ask_line("cmd=put" + joined.place_of(rank) + " value=here");
    if (pmi_field(answer, "rc") != "0") return nullptr;
    return std::make_unique<pmi>(std::move(joined));
  }

  bool has_notice_of(std::size_t rank) override {
    return pmi_field(wire_.ask_line("cmd=get" + place_of(rank)), "rc") == "0";
  }

private:
  explicit pmi(const pmi_wire& wire) : wire_(wire) {}

  template <class Number>
  std::string place_of(Number rank) const {
    return " kvsname=" + space_ + " key=" + notice() + "-" + std::to_string(rank);
  }

  pmi_wire wire_;
  std::string space_;
};

}  // namespace

std::unique_ptr<notice_board> put_notice_up() {
  // Others than Hydra, which alone sets this, want to hear of each process's beginning before
  // anything else, and once.
  if (std::getenv("MPI_LOCALRANKID") == nullptr) return nullptr;
  const auto wire = pmi_wire::find();
  const auto rank = pmi_number(std::getenv("PMI_RANK"));
  return wire && rank ? pmi::join(*wire, *rank) : nullptr;
}

}  // namespace muster::mpi
