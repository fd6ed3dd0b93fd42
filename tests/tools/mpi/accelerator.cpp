#include "tests/tools/mpi/accelerator.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <muster/base/random.hpp>

namespace muster::testing {
namespace {

const stand_in*& the_driver() noexcept {
  static const stand_in* one = nullptr;
  return one;
}

std::string& expected() {
  static std::string path;
  return path;
}

random_stream& chance() {
  static random_stream one(0);
  return one;
}

int is_expected(std::string_view library) { return expected().find(library) != std::string::npos; }

}  // namespace

void accelerator::expect(const std::string& path) { expected() = path; }

void accelerator::load(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const all = library == nullptr ? nullptr : ::dlsym(library, stand_in_symbol);
  if (all == nullptr) {
    std::fprintf(stderr, "%s: no stand-in\n", path.c_str());
    std::abort();
  }
  the_driver() = reinterpret_cast<stand_in_function>(all)();
  the_driver()->begin();
}

const stand_in* accelerator::driver() noexcept { return the_driver(); }

void accelerator::seed(std::uint64_t of) { chance() = random_stream(of); }

bool accelerator::is_next() { return the_driver() != nullptr && chance().one_in(2); }

far_copy::far_copy(std::size_t bytes, bool may_be) : bytes_(bytes) {
  if (may_be && bytes != 0 && accelerator::is_next()) far_ = accelerator::driver()->allocate(bytes);
}

far_copy::~far_copy() {
  if (far_ != nullptr) accelerator::driver()->free(far_);
}

void far_copy::upload(const void* from) const {
  if (far_ != nullptr) accelerator::driver()->upload(far_, from, bytes_);
}

void far_copy::download(void* to) const {
  if (far_ != nullptr) accelerator::driver()->download(to, far_, bytes_);
}

}  // namespace muster::testing

// By which an MPI says whether it takes such memory. This one's own say what it was built for.
extern "C" int MPIX_Query_cuda_support() { return muster::testing::is_expected("libcuda"); }
extern "C" int MPIX_Query_rocm_support() { return muster::testing::is_expected("libamdhip64"); }
