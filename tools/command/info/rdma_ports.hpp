#pragma once

#include <string>

namespace muster::cli {

/// This machine's RDMA ports, those first that this process would use, or why it would use none.
std::string describe_rdma_ports();

}  // namespace muster::cli
