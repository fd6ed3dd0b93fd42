// Open MPI's launcher speaks PMIx, by the system's library: what another user of that has begun in
// a process is only counted when it is begun again.
#include <utility>

#include <muster/base/error.hpp>

#include "tools/library/launcher/pmix_library.hpp"
#include "tools/mpi/presence.hpp"

namespace muster::mpi {
namespace {

class board final : public notice_board {
public:
  explicit board(std::unique_ptr<launcher::pmix_library> with) : with_(std::move(with)) {}

  bool put_up() const {
    pmix_value_t here{};
    here.type = PMIX_BOOL;
    here.data.flag = true;
    return with_->put(notice(), here);
  }
  // All that will ever be said has been said.
  bool has_notice_of(std::size_t rank) override {
    const pmix_proc_t process = with_->process(static_cast<pmix_rank_t>(rank));
    return with_->get(process, notice(), false) != nullptr;
  }

private:
  std::unique_ptr<launcher::pmix_library> with_;
};

}  // namespace

std::unique_ptr<notice_board> put_notice_up() {
  try {
    auto begun = launcher::pmix_library::begin();
    auto made = begun ? std::make_unique<board>(std::move(begun)) : nullptr;
    return made && made->put_up() ? std::move(made) : nullptr;
  } catch (const error&) {
    return nullptr;  // an MPI that was started so says so itself
  }
}

}  // namespace muster::mpi
