#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/select/catalog.hpp>
#include <muster/select/prepared_call.hpp>
#include <muster/select/selection.hpp>
#include <muster/team/machine.hpp>
#include <muster/team/shape.hpp>

namespace muster {

/// Which algorithm of a catalog each call of a team runs: the one chosen by hand, else that of a
/// table's first rule that matches and suits, else the first row that suits and pays. A pure
/// function of what all ranks know alike.
class selector {
public:
  /// \param ranks    of the team, like `measured`; both outlive the selector
  /// \param rows     outlive it, too
  selector(const muster::shape& ranks, const muster::machine& measured, muster::catalog rows);
  selector(const selector&) = delete;
  selector& operator=(const selector&) = delete;

  /// The algorithm that every rank runs for this call, unless `by_hand` is one.
  /// \throws error `errc::invalid_argument` where one chosen by hand does not suit the call, naming
  /// those that do.
  choice select(const arguments& call, const choice& by_hand = {}) const;
  /// What a text like "pairwise" or "bruck:ports=2" chooses for `what`.
  /// \throws error `errc::invalid_argument` for an unknown id or option, naming those there are.
  choice find(collective what, std::string_view text) const;

  /// Runs what `text` chooses, see `find`, for every further call of `what`; an empty text returns
  /// to automatic selection. The same on every rank, or the next call fails as mismatched.
  /// \throws as `find`
  void choose(collective what, std::string_view text);
  /// What was chosen so; without a row: nothing.
  const choice& chosen(collective what) const noexcept {
    return chosen_[static_cast<std::size_t>(what)];
  }
  /// Selects by a table from now on, where one of its rules matches and suits and nothing was
  /// chosen by hand. The same on every rank, or calls fail as mismatched.
  /// \throws as `find`, for a rule that names no algorithm
  void select_by(std::shared_ptr<const selection_table> table);
  /// Whether some call of `what` is left in this form to who makes it: by choice, or by a rule for
  /// these ranks.
  bool leaves_some(collective what, leavable how) const noexcept {
    return leaving_[static_cast<std::size_t>(what)][static_cast<std::size_t>(how)];
  }
  /// From now on what another, of the same rows, was told.
  void select_as(const selector& other);

  const muster::catalog& rows() const noexcept { return catalog_; }
  /// A row's place among them, the same on every rank.
  std::size_t number_of(const algorithm& row) const noexcept {
    return static_cast<std::size_t>(&row - catalog_.data());
  }

  /// The last call of a collective, as it was prepared; forgotten with the next choice.
  last_prepared& last(collective what) noexcept { return last_[static_cast<std::size_t>(what)]; }
  const last_prepared& last(collective what) const noexcept {
    return last_[static_cast<std::size_t>(what)];
  }

private:
  /// There is a table.
  choice from_table(const arguments& call) const;
  void find_leaving() noexcept;

  const muster::shape& shape_;
  const muster::machine& machine_;
  muster::catalog catalog_;
  std::array<std::vector<const algorithm*>, collectives> rows_for_;
  std::array<choice, collectives> chosen_{};
  std::shared_ptr<const selection_table> table_;
  std::vector<choice> table_choices_;                       // a rule each
  std::array<std::array<bool, 3>, collectives> leaving_{};  // by collective and `leavable`
  std::array<last_prepared, collectives> last_{};
};

}  // namespace muster
