#include <muster/run/kept_operations.hpp>

namespace muster {

operation* kept_operations::keep(team& on, std::unique_ptr<operation> one) noexcept {
  operation* const made = one.release();
  const arguments& call = made->call();
  kept& last = last_[static_cast<std::size_t>(call.what)];
  const last_prepared& prepared = on.selector().last(call.what);
  const bool is_busy = last.one != nullptr && last.one->is_out();
  if (is_busy || prepared.find(call) == nullptr) return made;
  made->keep(operation::keeper::team);
  last.one.reset(made);
  last.changes = prepared.changes();
  return made;
}

void kept_operations::give_up(const operation& one) noexcept {
  kept& last = last_[static_cast<std::size_t>(one.call().what)];
  last.one.release()->keep(operation::keeper::nobody);
}

}  // namespace muster
