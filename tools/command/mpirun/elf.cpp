#include "tools/command/mpirun/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include <muster/base/descriptor.hpp>

namespace muster::mpirun {
namespace {

/// A file in memory, of which only what is looked at is read.
class mapped_file {
public:
  explicit mapped_file(const std::filesystem::path& path) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about{};
    if (!file || fstat(file.get(), &about) != 0 || about.st_size <= 0) return;
    const auto bytes = static_cast<std::size_t>(about.st_size);
    void* const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), bytes};
  }
  ~mapped_file() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  /// A record at an offset; nothing where it is not all there.
  template <class Record>
  std::optional<Record> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(Record)) return std::nullopt;
    Record record;
    std::memcpy(&record, bytes_.data() + offset, sizeof record);
    return record;
  }

  /// The text at an offset that ends with a zero.
  std::string text_at(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const std::string_view rest(bytes_.data() + offset, bytes_.size() - offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

private:
  std::span<const char> bytes_;
};

bool is_ours(const Elf64_Ehdr& head) {
  return std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_machine == EM_X86_64;
}

std::vector<Elf64_Phdr> segments_of(const mapped_file& file, const Elf64_Ehdr& head) {
  std::vector<Elf64_Phdr> all;
  for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
    const auto one = file.at<Elf64_Phdr>(head.e_phoff + i * sizeof(Elf64_Phdr));
    if (!one) break;
    all.push_back(*one);
  }
  return all;
}

std::vector<Elf64_Dyn> dynamic_entries(const mapped_file& file, const Elf64_Phdr& segment) {
  std::vector<Elf64_Dyn> all;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
    const auto one = file.at<Elf64_Dyn>(segment.p_offset + at);
    if (!one || one->d_tag == DT_NULL) break;
    all.push_back(*one);
  }
  return all;
}

/// Where in the file lies what the program will find at an address.
std::uint64_t offset_of(std::uint64_t address, std::span<const Elf64_Phdr> segments) {
  for (const Elf64_Phdr& one : segments) {
    const bool within = address >= one.p_vaddr && address - one.p_vaddr < one.p_filesz;
    if (one.p_type == PT_LOAD && within) return address - one.p_vaddr + one.p_offset;
  }
  return ~std::uint64_t{0};
}

void read_dynamic(elf& into, const mapped_file& file, std::span<const Elf64_Dyn> entries,
                  std::span<const Elf64_Phdr> segments) {
  std::uint64_t texts = ~std::uint64_t{0};
  for (const Elf64_Dyn& one : entries) {
    if (one.d_tag == DT_STRTAB) texts = offset_of(one.d_un.d_ptr, segments);
  }
  if (texts == ~std::uint64_t{0}) return;
  for (const Elf64_Dyn& one : entries) {
    const auto text = [&] { return file.text_at(texts + one.d_un.d_val); };
    if (one.d_tag == DT_NEEDED) into.needed.push_back(text());
    if (one.d_tag == DT_RUNPATH) into.runpath = text();
    if (one.d_tag == DT_RPATH) into.rpath = text();
  }
}

}  // namespace

file_kind kind_of(const std::filesystem::path& file) {
  std::array<char, SELFMAG> begin{};
  std::ifstream(file, std::ios::binary).read(begin.data(), begin.size());
  if (begin[0] == '#' && begin[1] == '!') return file_kind::script;
  if (std::memcmp(begin.data(), ELFMAG, SELFMAG) != 0) return file_kind::other;
  return read_elf(file) ? file_kind::elf : file_kind::other_elf;
}

std::optional<elf> read_elf(const std::filesystem::path& path) {
  const mapped_file file(path);
  const auto head = file.at<Elf64_Ehdr>(0);
  if (!head || !is_ours(*head)) return std::nullopt;
  const std::vector<Elf64_Phdr> segments = segments_of(file, *head);
  elf result;
  for (const Elf64_Phdr& one : segments) {
    if (one.p_type == PT_INTERP) result.has_loader = true;
    if (one.p_type == PT_DYNAMIC) {
      read_dynamic(result, file, dynamic_entries(file, one), segments);
    }
  }
  return result;
}

}  // namespace muster::mpirun
