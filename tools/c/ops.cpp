// Elements and reductions of a program's own.

#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include <muster/muster.h>

#include "tools/c/errors.hpp"
#include "tools/c/form.hpp"
#include "tools/c/job.hpp"
#include "tools/c/team.hpp"

using muster::c::guarded;
using muster::c::reject;
using muster::c::required;
using muster::c::required_team;
using muster::c::visit;

namespace {

constexpr std::size_t most_bytes = std::numeric_limits<int>::max() - muster::c::first_opaque_type;

void require_bytes(const char* call, size_t bytes) {
  if (bytes != 0 && bytes <= most_bytes) return;
  reject(call,
         "bytes is " + std::to_string(bytes) + "; expected 1 to " + std::to_string(most_bytes));
}

}  // namespace

int muster_type_opaque(size_t bytes, muster_type* type) {
  return guarded("type_opaque", [&] {
    muster_type& made = required("type_opaque", "type", type);
    require_bytes("type_opaque", bytes);
    made = muster::c::first_opaque_type + static_cast<int>(bytes);
  });
}

int muster_op_create(muster_team* team, muster_function* combine, void* context, size_t bytes,
                     int commutative, muster_op* op) {
  return guarded("op_create", [&] {
    muster_op& made = required("op_create", "op", op);
    made = 0;
    muster::c::job& in = required_team("op_create", team).in();
    const visit alone(in, "op_create");
    if (combine == nullptr) reject("op_create", "combine is NULL; expected a function");
    require_bytes("op_create", bytes);
    made = in.add(std::make_shared<const muster::c::function_reduction>(combine, context, bytes,
                                                                        commutative != 0));
  });
}

int muster_op_free(muster_team* team, muster_op* op) {
  return guarded("op_free", [&] {
    muster_op& last = required("op_free", "op", op);
    muster::c::job& in = required_team("op_free", team).in();
    const visit alone(in, "op_free");
    in.remove_op(last);
    last = 0;
  });
}
