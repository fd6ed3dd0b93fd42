#pragma once

namespace muster::shm {

/// Asymmetric fences: a sleeper makes every running rank pass a full fence (by membarrier), so that
/// whoever wakes sleepers needs none of its own after each announcement.

/// Whether the system offers them between processes.
bool asymmetric_fence_works() noexcept;
/// Lets other processes' fences reach this one. To be called once in every process of a job.
void register_for_asymmetric_fence() noexcept;
/// The sleeper's side.
void asymmetric_fence() noexcept;

}  // namespace muster::shm
