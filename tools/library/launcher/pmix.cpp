#include "tools/library/launcher/pmix.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

#include "tools/library/launcher/pmix_library.hpp"
#include "tools/library/launcher/private_channel.hpp"

namespace muster::launcher {
namespace {

constexpr const char* key = "muster.meeting";

[[noreturn]] void fail(const std::string& why) { throw error(errc::bootstrap, "pmix: " + why); }

class channel final : public private_channel {
public:
  explicit channel(std::unique_ptr<pmix_library> with) : with_(std::move(with)) {
    const auto size = with_->get(with_->process(PMIX_RANK_WILDCARD), PMIX_JOB_SIZE, false);
    if (!size || size->type != PMIX_UINT32)
      fail("the launcher did not say how many ranks there are");
    size_ = size->data.uint32;
  }
  std::size_t rank() const noexcept override { return with_->self().rank; }
  std::size_t size() const noexcept override { return size_; }

  std::string hear_rank_0(const std::string& mine) override {
    if (rank() == 0) say(mine);
    if (!with_->meet()) fail("the launcher did not let all meet");
    const auto found = with_->get(with_->process(0), key, true);
    if (!found || found->type != PMIX_STRING) fail("the launcher did not give what rank 0 said");
    std::string said = found->data.string;
    std::free(found->data.string);
    return said;
  }

private:
  void say(const std::string& what) const {
    std::string text = what;
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = text.data();
    if (!with_->put(key, value)) fail("the launcher did not keep what rank 0 says");
  }

  std::unique_ptr<pmix_library> with_;
  std::size_t size_ = 0;
};

}  // namespace

std::optional<meeting> meet_by_pmix() {
  auto begun = pmix_library::begin();
  if (!begun) return std::nullopt;
  channel all(std::move(begun));
  return all.size() > 1 ? meet_through(all) : meeting();
}

}  // namespace muster::launcher
