// The benchmark's results as Markdown, for documents that keep them up to date.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/bench/measurement.hpp"

namespace muster::bench {

/// Every collective and size at one number of ranks: each library's microseconds, the ratio, and
/// the least that the machine allows. Where algorithms were asked for each has a row of its own.
/// Where hosts talk by RDMA, a second table has what each posts.
std::string markdown_table(std::span<const measurement> all, std::size_t ranks);

/// Geometric means of the ratios: a row a collective and algorithm, a column a number of ranks.
std::string markdown_means(std::span<const measurement> all);

/// The document with its tables made anew: what is between `<!-- muster bench: 4 ranks -->`, or
/// `<!-- muster bench: means -->`, and the next `<!-- muster bench: end -->`. Tables that have no
/// place are left out. Throws std::runtime_error that names a marker where none has one.
std::string refreshed(std::string_view document, std::span<const measurement> all);

/// A document with a section for each number of ranks, and their markers, but no tables yet.
std::string new_document(std::span<const std::size_t> ranks);

/// The file's text, or a new document where there is no file. Throws as `refreshed` does unless it
/// has a place for some table.
std::string document_for_tables(const std::filesystem::path& file,
                                std::span<const std::size_t> ranks);

}  // namespace muster::bench
