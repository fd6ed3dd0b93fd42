#include "tools/mpi/devices.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>

namespace muster::mpi {

void* find_symbol_in(void* library, const char* name) noexcept { return ::dlsym(library, name); }

void throw_refused(const char* function, int code, const char* name_of_code) {
  std::string text = std::string(function) + " failed with code " + std::to_string(code);
  if (name_of_code != nullptr) text += std::string(" (") + name_of_code + ")";
  throw error(errc::resource, text);
}

// ---- libraries

held_library::held_library(const std::string& path) noexcept
    : handle_(path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY)) {}

held_library::held_library(held_library&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

held_library& held_library::operator=(held_library&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

held_library::~held_library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

const link_map* held_library::entry() const noexcept {
  link_map* found = nullptr;
  if (handle_ != nullptr) ::dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&found));
  return found;
}

namespace {

/// The loader's list of libraries, at one moment.
struct loaded {
  std::vector<std::string> paths;
  const link_map* last = nullptr;
};

loaded list_libraries() {
  loaded all;
  // The loader changes its list at no time when it shows it in this way. What it shows is not
  // looked at: it does not tell of the list's end.
  ::dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void* into) {
        loaded& list = *static_cast<loaded*>(into);
        for (const link_map* one = _r_debug.r_map; one != nullptr; one = one->l_next) {
          list.paths.emplace_back(one->l_name);
          list.last = one;
        }
        return 1;
      },
      &all);
  return all;
}

std::string_view name_of(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);  // from 0 on where there is none
}

}  // namespace

// ---- drivers

struct devices::maker {
  std::string_view library;                 // whose names begin so, with the version behind
  std::array<const char*, 2> device_files;  // one of which is there where it can work
  std::array<const char*, 2> queries;       // by which an MPI says that it takes such memory
  std::unique_ptr<device_driver> (*make)(void*);
};

const std::array<devices::maker, 2>& devices::makers() noexcept {
  constexpr const char* within_windows = "/dev/dxg";
  static const std::array<maker, 2> all{{
      {"libcuda.so",
       {"/dev/nvidiactl", within_windows},
       {"MPIX_Query_cuda_support", nullptr},
       cuda_driver},
      {"libamdhip64.so",
       {"/dev/kfd", within_windows},
       {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"},
       hip_driver},
  }};
  return all;
}

namespace {

bool is_there(const char* file) noexcept { return ::access(file, F_OK) == 0; }

bool is_said_by_mpi(const char* query) noexcept {
  if (query == nullptr) return false;
  const auto ask = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, query));
  return ask != nullptr && ask() != 0;
}

}  // namespace

devices::devices() {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    const maker& one = makers()[i];
    all_[i].may_come = std::ranges::any_of(one.device_files, is_there) ||
                       std::ranges::any_of(one.queries, is_said_by_mpi);
  }
  find_drivers();
  possible_ = has_any_ || awaits_any_;
}

void devices::find_drivers() {
  const loaded now = list_libraries();
  has_any_ = false;
  awaits_any_ = false;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    entry& own = all_[i];
    const auto found = std::ranges::find_if(now.paths, [&](const std::string& path) {
      return name_of(path).starts_with(makers()[i].library);
    });
    if (own.driver == nullptr && found != now.paths.end()) {
      own.library = held_library(*found);
      if (own.library.handle() != nullptr) own.driver = makers()[i].make(own.library.handle());
    }
    has_any_ = has_any_ || own.driver != nullptr;
    awaits_any_ = awaits_any_ || (own.driver == nullptr && own.may_come);
  }
  if (awaits_any_) watch(now.last, now.paths.empty() ? std::string() : now.paths.back());
}

// Whether the loader has added to its list is seen by its end, without a call. The end must not go
// meanwhile: while a driver is awaited, the library that was loaded last stays loaded.
void devices::watch(const link_map* last, const std::string& its_path) {
  last_library_ = held_library(its_path);
  // Unknown, the list is read with each call.
  last_entry_ = last_library_.entry() == last ? last : nullptr;
}

bool devices::has_new_libraries() const noexcept {
  // relaxed: who has memory of a driver knows in an ordered way that it has been loaded.
  return last_entry_ == nullptr ||
         __atomic_load_n(&last_entry_->l_next, __ATOMIC_RELAXED) != nullptr;
}

const device_driver* devices::owner_of(address at) const noexcept {
  for (const entry& one : all_) {
    if (one.driver != nullptr && one.driver->owns(at)) return one.driver.get();
  }
  return nullptr;
}

}  // namespace muster::mpi
