#include "tools/library/launcher/pmi.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

#include "tools/library/launcher/pmi_wire.hpp"

namespace muster::launcher {
namespace {

constexpr const char* key = "muster-meeting";

[[noreturn]] void fail(const std::string& doing, const std::string& answer) {
  throw error(errc::bootstrap, "pmi: the process manager did not " + doing +
                                   (answer.empty() ? " and went away" : ": " + answer));
}

bool is_used_by_mpi() {
  const auto initialized =
      reinterpret_cast<int (*)(int*)>(::dlsym(RTLD_DEFAULT, "MPI_Initialized"));
  int is = 0;
  return initialized != nullptr && initialized(&is) == 0 && is != 0;
}

class channel : public private_channel {
public:
  channel(pmi_wire wire, std::size_t rank, std::size_t size)
      : wire_(wire), rank_(rank), size_(size) {}
  std::size_t rank() const noexcept override { return rank_; }
  std::size_t size() const noexcept override { return size_; }

  /// False where the process manager does not speak this version.
  bool begin() { return has_begun_ = greet(); }

protected:
  const pmi_wire& wire() const noexcept { return wire_; }
  virtual bool greet() const = 0;
  /// An MPI of this process that uses the process manager ends that use itself.
  bool is_ours_to_end() const { return has_begun_ && !is_used_by_mpi(); }

private:
  pmi_wire wire_;
  bool has_begun_ = false;
  std::size_t rank_;
  std::size_t size_;
};

/// PMI-1: `cmd=put kvsname=… key=… value=…`.
class first_version final : public channel {
public:
  using channel::channel;
  ~first_version() override {
    if (is_ours_to_end()) wire().ask_line("cmd=finalize");
  }

  bool greet() const override {
    const std::string answer = wire().ask_line("cmd=init pmi_version=1 pmi_subversion=1");
    return pmi_field(answer, "rc") == "0";
  }
  std::string hear_rank_0(const std::string& mine) override {
    const std::string named = wire().ask_line("cmd=get_my_kvsname");
    const std::string place =
        " kvsname=" + std::string(pmi_field(named, "kvsname")) + " key=" + key;
    if (rank() == 0) ask("keep what rank 0 says", "cmd=put" + place + " value=" + mine);
    const std::string met = wire().ask_line("cmd=barrier_in");
    if (pmi_field(met, "cmd") != "barrier_out") fail("let all meet", met);
    return std::string(pmi_field(ask("give what rank 0 said", "cmd=get" + place), "value"));
  }

private:
  std::string ask(const std::string& doing, const std::string& what) const {
    std::string answer = wire().ask_line(what);
    if (pmi_field(answer, "rc") != "0") fail(doing, answer);
    return answer;
  }
};

/// PMI-2: `cmd=kvs-put;key=…;value=…;`.
class second_version final : public channel {
public:
  using channel::channel;
  ~second_version() override {
    if (is_ours_to_end()) wire().ask_text("cmd=finalize;");
  }

  bool greet() const override {
    const std::string answer = wire().ask_line("cmd=init pmi_version=2 pmi_subversion=0");
    if (pmi_field(answer, "rc") != "0" || pmi_field(answer, "pmi_version") != "2") return false;
    const std::string full =
        wire().ask_text("cmd=fullinit;pmijobid=" + job() + ";pmirank=" + std::to_string(rank()) +
                        ";threaded=FALSE;");
    return pmi_field(full, "rc", ';') == "0";
  }
  std::string hear_rank_0(const std::string& mine) override {
    const std::string named = std::string("key=") + key + ";";
    if (rank() == 0) ask("keep what rank 0 says", "cmd=kvs-put;" + named + "value=" + mine + ";");
    ask("let all meet", "cmd=kvs-fence;");
    const std::string answer =
        ask("give what rank 0 said", "cmd=kvs-get;jobid=" + job() + ";srcid=0;" + named);
    return std::string(pmi_field(answer, "value", ';'));
  }

private:
  static std::string job() {
    const char* const name = std::getenv("PMI_JOBID");
    return name == nullptr ? "" : name;
  }
  std::string ask(const std::string& doing, const std::string& what) const {
    std::string answer = wire().ask_text(what);
    if (pmi_field(answer, "rc", ';') != "0") fail(doing, answer);
    return answer;
  }
};

template <class Version>
std::unique_ptr<private_channel> begin(const pmi_wire& wire, std::size_t rank, std::size_t size) {
  auto one = std::make_unique<Version>(wire, rank, size);
  return one->begin() ? std::move(one) : nullptr;
}

}  // namespace

std::unique_ptr<private_channel> open_pmi(pmi_version which) {
  const auto wire = pmi_wire::find();
  const auto rank = pmi_number(std::getenv("PMI_RANK"));
  const auto size = pmi_number(std::getenv("PMI_SIZE"));
  if (!wire || !rank || !size) return nullptr;
  auto begun = which == pmi_version::one ? begin<first_version>(*wire, *rank, *size)
                                         : begin<second_version>(*wire, *rank, *size);
  if (begun) return begun;
  throw error(errc::bootstrap, std::string("pmi: the process manager does not speak PMI-") +
                                   (which == pmi_version::one ? "1" : "2"));
}

std::optional<meeting> meet_by_pmi() {
  if (pmi_number(std::getenv("PMI_SIZE")) == 1) return meeting();
  // Others than Hydra, which alone sets this, begin with a process once.
  if (is_used_by_mpi() && std::getenv("MPI_LOCALRANKID") == nullptr) return std::nullopt;
  std::unique_ptr<private_channel> all;
  try {
    all = open_pmi(pmi_version::one);
  } catch (const error&) {
    all = open_pmi(pmi_version::two);
  }
  return all ? std::optional(meet_through(*all)) : std::nullopt;
}

}  // namespace muster::launcher
