#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/run/perform.hpp>

#include "tools/mpi/call.hpp"
#include "tools/mpi/combined_by_mpi.hpp"
#include "tools/mpi/errors.hpp"
#include "tools/mpi/packing.hpp"
#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// Why a reduction is for the MPI to carry out; null where Muster can. The same on all ranks of the
/// call, which have the same operation and type.
/// \param mpi_may_not_combine where Muster does not know how to; null where it may
const char* reason_to_leave(const call& what, types& known, const char* mpi_may_not_combine);

/// A call in Muster's terms, with all that must live as long as it runs. Elements that are not
/// contiguous are packed by `pack`, and unpacked by `finish`; neither happens to others.
class translation {
public:
  /// \param with the rank's neighbors, of a call that has such; outlives this
  /// \throws rejected
  translation(const call& from, types& known, std::size_t rank, std::size_t ranks,
              const neighborhood* with = nullptr);
  translation(const translation&) = delete;
  translation& operator=(const translation&) = delete;

  const muster::arguments& arguments() const noexcept { return call_; }
  /// The caller can still go to the MPI, see `with_mpi`.
  void allow_leaving(leavable how) noexcept { call_.may_be_left = how; }
  /// Whether a call that is written alike means the same, on the buffers that it names: it names no
  /// array and nothing that can be freed, and nothing was packed.
  bool means_the_same_again(const call& from);
  /// Before it begins, on a thread that may call the MPI: reads what the call sends. \throws error
  /// where the MPI cannot pack
  void pack() const;
  /// The operation, to be started.
  task<> begin(team& on) const;
  /// The operation has succeeded. \throws error where the MPI cannot unpack
  void finish();

private:
  /// Counts and displacements in elements of `arguments`.
  struct layout {
    std::vector<std::size_t> counts;
    std::vector<std::size_t> displacements;
    block_layout view;
  };
  /// A buffer as bytes without gaps.
  struct flat {
    std::byte* at = nullptr;
    std::size_t block_bytes = 0;
  };
  enum class wanted { read, written, both };

  void translate_movement(const call& from);
  void translate_varying(const call& from);
  void translate_neighbors(const call& from);
  void translate_reduction(const call& from);
  void choose_combiner(const call& from, const type_facts& type);
  /// Elements that a rank contributes to a reduction.
  std::size_t contributed(const call& from);
  void point_at_operands(const call& from, const type_facts& type, std::size_t contributed);

  flat uniform(const side& of, std::size_t blocks, wanted use, const char* name);
  std::byte* varying(const side& of, layout& out, wanted use, const char* name) {
    return varying(of, out, use, name, ranks_, {});
  }
  /// \param whose the rank of each block, where some may be of nobody: those are left alone
  std::byte* varying(const side& of, layout& out, wanted use, const char* name, std::size_t blocks,
                     std::span<const std::size_t> whose);
  void receive_from_neighbors(const side& of, std::size_t sent);
  bool lies_flat(const side& of, const layout& blocks);
  std::byte* lay_out(const side& of, layout& out);
  std::byte* pack_blocks(const side& of, layout& out, wanted use);
  MPI_Datatype type_of(const side& of, std::size_t block) const noexcept {
    return of.types == nullptr ? of.type : of.types[block];
  }
  std::int64_t displacement_bytes(const side& of);
  std::byte* make_room(std::size_t bytes);
  /// Gives `room`, which has them or will have them before they are unpacked.
  std::byte* flatten(const scattered_elements& all, wanted use, std::byte* room);
  /// The same for an operand, of which so many elements are read and so many written.
  std::byte* flat_operand(const side& vector, void* buffer, std::size_t read, std::size_t written,
                          const char* name);

  void require_count(std::int64_t count, const char* name) const;
  void require_list(const numbers& list, const char* what, const char* name) const;
  void require_type(MPI_Datatype type, const char* name) const;
  /// \throws rejected where the buffer is MPI_IN_PLACE; MPI_BOTTOM may be one
  void require_not_in_place(const void* buffer, const char* name) const;
  void require_buffer(const void* buffer, std::size_t bytes, const char* name) const;
  void require_same(std::size_t sent, std::size_t received) const;

  const char* function_;
  types& types_;
  std::size_t rank_;
  std::size_t ranks_;
  muster::arguments call_;
  layout sent_;
  layout received_;
  std::unique_ptr<combined_by_mpi> combiner_;
  struct packing {
    std::byte* room;
    scattered_elements from;
  };
  std::vector<std::unique_ptr<std::byte[]>> packed_;
  std::vector<packing> to_pack_;
  std::vector<unpacking> to_unpack_;
};

}  // namespace muster::mpi
