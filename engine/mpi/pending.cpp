#include "engine/mpi/pending.hpp"

#include <string>
#include <utility>

#include "engine/collective/perform.hpp"
#include "engine/mpi/errors.hpp"

namespace muster::mpi {
namespace {

task<> begin(team& on, const translation& what) {
  const arguments& call = what.arguments();
  if (!what.varies()) return perform(on, call);
  const block_layout none;
  return perform(on, call, call.send_blocks == nullptr ? none : *call.send_blocks,
                 call.receive_blocks == nullptr ? none : *call.receive_blocks);
}

}  // namespace

task<std::optional<failure>> carry_out(team& on, const translation& what, const char* function) {
  std::optional<failure> failed;
  try {
    co_await begin(on, what);
  } catch (const error& why) {
    const auto code = static_cast<errc>(why.code().value());
    failed.emplace(class_of(code), std::string(function) + ": " + why.text());
  } catch (const std::bad_alloc&) {
    failed.emplace(MPI_ERR_NO_MEM, std::string(function) + ": no memory for the operation");
  }
  co_return failed;
}

pending::pending(const call& from, types& known, std::shared_ptr<communicator> on)
    : which_(from.what),
      function_(from.function),
      on_(std::move(on)),
      what_(from, known, on_->rank(), on_->size()) {}

task<> pending::run() { failed_ = co_await carry_out(on_->team(), what_, function_); }

void pending::fail(const char* why) {
  failed_.emplace(MPI_ERR_NO_MEM, std::string(function_) + ": " + why);
}

void pending::finish() {
  if (!failed_) what_.finish();
}

}  // namespace muster::mpi
