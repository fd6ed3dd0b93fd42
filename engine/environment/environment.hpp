// Every variable of the environment that Muster reads, and the one way to read them.
// docs/environment.md is made of this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/call/arguments.hpp>

namespace muster {

/// The name that selects an algorithm by hand from the environment, as in
/// `MUSTER_ALLREDUCE=srm`.
std::string environment_name(collective what);

}  // namespace muster

namespace muster::environment {

/// Whom a variable is for.
enum class audience : std::uint8_t { programs, mpi_programs, commands, tests, muster };

/// A variable, described for people, in Markdown.
struct variable {
  const char* name;
  std::string_view values;     ///< what it may be
  std::string_view otherwise;  ///< what holds where it is not set
  std::string_view what;       ///< a sentence
  std::string_view reader;     ///< who reads it, and when
  audience whom;
};

inline constexpr variable table{
    .name = "MUSTER_TABLE",
    .values = "a file; `none`",
    .otherwise = "the table that comes with Muster",
    .what =
        "Algorithms are selected by this table, which `muster tune` writes; `none` leaves all to "
        "the catalog.",
    .reader = "each rank, when its `world` or thread begins",
    .whom = audience::programs};

inline constexpr variable arrivals{
    .name = "MUSTER_ARRIVALS",
    .values = "a folder",
    .otherwise = "nothing is recorded",
    .what = "Each rank records there when it comes to each collective call, for `muster arrivals`.",
    .reader = "each rank, when its `world` or thread begins; `muster run`",
    .whom = audience::programs};

inline constexpr variable why{
    .name = "MUSTER_WHY",
    .values = "a folder",
    .otherwise = "nothing is written",
    .what =
        "When a call fails, since it timed out, a rank died or ranks called different things, the "
        "ranks of each machine write there what they called last, and who is late; see "
        "[why.md](why.md).",
    .reader = "each rank, when its `world` or thread begins",
    .whom = audience::programs};

inline constexpr variable why_signal{
    .name = "MUSTER_WHY_SIGNAL",
    .values = "a signal, as in `USR1`",
    .otherwise = "nothing is written",
    .what =
        "Upon this signal a rank writes what the ranks of its machine called last, to the folder "
        "that is named for calls that fail or, without one, the current one. Where the program "
        "handles the signal itself, that stays.",
    .reader = "each rank, when its `world` or thread begins",
    .whom = audience::programs};

inline constexpr variable link_memory{
    .name = "MUSTER_LINK_MEMORY",
    .values = "bytes",
    .otherwise = "64 MiB",
    .what =
        "Memory that a rank can come to use for what others of its machine send it through links, "
        "and again for buffers to and from ranks of other machines; where ranks are very many, it "
        "is 4 KiB for each of its machine and 16 KiB for each other one.",
    .reader =
        "whoever starts a job: `muster run`, rank 0 under an MPI, `run_threads`; each rank of "
        "a job on several machines",
    .whom = audience::programs};

inline constexpr variable rendezvous{
    .name = "MUSTER_RENDEZVOUS",
    .values = "host:port",
    .otherwise =
        "what the launcher says (PMIx, PMI, torchrun, Slurm), or the process is a job of its own",
    .what = "Where the ranks of a job on several machines meet; rank 0 listens there.",
    .reader = "`world`, where no `muster run` started it",
    .whom = audience::programs};

inline constexpr variable rank{
    .name = "MUSTER_RANK",
    .values = "a number",
    .otherwise = "what the launcher says",
    .what = "Which rank of that job this process is; not the same on all.",
    .reader = "`world`, where there is a rendezvous",
    .whom = audience::programs};

inline constexpr variable size{.name = "MUSTER_SIZE",
                               .values = "a number",
                               .otherwise = "what the launcher says",
                               .what = "How many ranks that job has.",
                               .reader = "`world`, where there is a rendezvous",
                               .whom = audience::programs};

inline constexpr variable key_file{.name = "MUSTER_KEY_FILE",
                                   .values = "a file that its owner alone may read",
                                   .otherwise = "a key that the launcher carries, or nobody joins",
                                   .what =
                                       "What is in it, the same on all machines and known to "
                                       "nobody else, lets processes into that job.",
                                   .reader = "`world`, where there is a rendezvous",
                                   .whom = audience::programs};

inline constexpr variable interfaces{
    .name = "MUSTER_INTERFACES",
    .values = "interfaces, networks, addresses, as in `eth0,10.1.0.0/16`",
    .otherwise =
        "that by which the rendezvous is reached, on rank 0's machine that by which others "
        "reach it there, and others that are as fast",
    .what =
        "By which of its addresses a machine is reached by others of the job, one for each port "
        "that it has: its rails. May differ between machines.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable ports{.name = "MUSTER_PORTS",
                                .values = "ports, as in `20000-20999`",
                                .otherwise = "any that is free",
                                .what = "Where ranks listen for each other: a port each.",
                                .reader = "each rank of a job on several machines",
                                .whom = audience::programs};

inline constexpr variable connections{
    .name = "MUSTER_CONNECTIONS",
    .values = "1 to 16",
    .otherwise = "`1`",
    .what = "How many connections each pair of ranks of two machines has on each of its rails.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable fabric{
    .name = "MUSTER_FABRIC",
    .values = "`auto`, `tcp`, `verbs`",
    .otherwise = "`auto`: by RDMA where both have it, else by TCP",
    .what = "By what ranks of different machines reach each other: by TCP, or by RDMA.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable queue_pairs{
    .name = "MUSTER_QUEUE_PAIRS",
    .values = "a number",
    .otherwise = "as many as the devices take",
    .what =
        "Queue pairs that a rank has at once at most; where it needs more, those that it has "
        "not used for longest make room.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable traffic{
    .name = "MUSTER_TRAFFIC",
    .values = "anything",
    .otherwise = "nothing is told",
    .what =
        "Each rank that is reached by RDMA tells, when it leaves, how many queue pairs it had "
        "and how many sends it has posted.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable verbs_devices{
    .name = "MUSTER_VERBS_DEVICES",
    .values =
        "ports of RDMA devices, as in `mlx5_0:1,mlx5_1`, with the index of a GID or the key of a "
        "partition, as in `mlx5_0:1:gid=3:pkey=0x8001`",
    .otherwise =
        "those that are active and not much slower than others, the nearest to its cores first",
    .what =
        "By which ports a rank is reached by RDMA from others of the job. May differ between "
        "machines, and between ranks.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable zero_copy{
    .name = "MUSTER_ZERO_COPY",
    .values = "bytes",
    .otherwise = "the system copies what it sends",
    .what =
        "Pieces of long messages between machines that are so long or longer are read where they "
        "are while they are sent. An operation that ends early then waits up to 0.1 s for what it "
        "has sent, and gives the connection up where that takes longer.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable reactor{
    .name = "MUSTER_REACTOR",
    .values = "`io_uring`, `epoll`",
    .otherwise = "io_uring where the system lets a program use it, else epoll",
    .what = "By which of the system's interfaces ranks learn what has come from other machines.",
    .reader = "each rank of a job on several machines",
    .whom = audience::programs};

inline constexpr variable timeout{.name = "MUSTER_TIMEOUT",
                                  .values = "seconds; `0`: never",
                                  .otherwise = "`10`; in MPI programs `0` for one that is stopped",
                                  .what =
                                      "How long a rank that is waited for may be silent, one of "
                                      "this machine be stopped, before it is taken for lost. One "
                                      "that computes is neither.",
                                  .reader = "each rank, when its `world` begins; `muster run`",
                                  .whom = audience::programs};

inline constexpr variable enable{
    .name = "MUSTER_ENABLE",
    .values = "names such as `alltoall,ialltoall,alltoall_init`; `none`",
    .otherwise = "all collective calls",
    .what = "Muster takes these calls and leaves the others to the MPI.",
    .reader = "the library for MPI programs, in `MPI_Init`",
    .whom = audience::mpi_programs};

inline constexpr variable net{
    .name = "MUSTER_NET",
    .values = "`mpi`, `tcp`, `verbs`, `leave`",
    .otherwise = "`mpi`",
    .what =
        "What ranks of different machines say to each other goes by the MPI's own messages, or by "
        "Muster's own TCP or RDMA; `leave` leaves calls on communicators of several machines to "
        "the MPI.",
    .reader = "the library for MPI programs, in `MPI_Init`",
    .whom = audience::mpi_programs};

inline constexpr variable progress{
    .name = "MUSTER_PROGRESS",
    .values = "`caller`, `thread`, `thread:core=3`, `thread:spare`, `thread:numa`, `auto`",
    .otherwise = "what the program asks for; `caller`",
    .what =
        "Who drives operations that are under way: calls of Muster or MPI, or a thread of each "
        "process: on that processor, on a core that no rank is bound to, on those of the rank's "
        "NUMA node; `auto`: a thread where a core is to spare.",
    .reader = "a program, when it makes its `world`; the library for MPI programs, in `MPI_Init`",
    .whom = audience::programs};

inline constexpr variable report{
    .name = "MUSTER_REPORT",
    .values = "`1`; `0`",
    .otherwise = "`0`",
    .what = "At its end rank 0 says what was called, by whom it was carried out, and why.",
    .reader = "the library for MPI programs, in `MPI_Init`",
    .whom = audience::mpi_programs};

inline constexpr variable kernel_copies_from{
    .name = "MUSTER_KERNEL_COPIES_FROM",
    .values = "bytes",
    .otherwise = "as measured at start",
    .what = "From this length on the kernel copies blocks straight from the sender's memory.",
    .reader = "`muster run`",
    .whom = audience::commands};

inline constexpr variable bench_workers{
    .name = "MUSTER_BENCH_WORKERS",
    .values = "a folder",
    .otherwise = "a folder near the command",
    .what = "The programs that `muster bench` starts as ranks are there.",
    .reader = "`muster bench`, `muster tune`",
    .whom = audience::commands};

inline constexpr variable test_seed{
    .name = "MUSTER_TEST_SEED",
    .values = "a number",
    .otherwise = "another one in each run",
    .what = "Tests draw their random cases from it; what fails prints it.",
    .reader = "the tests, `muster check`",
    .whom = audience::tests};

inline constexpr variable test_rows{.name = "MUSTER_TEST_ROWS",
                                    .values = "rows of the catalog, as in `alltoall:flat bcast:`",
                                    .otherwise = "all",
                                    .what = "Only these algorithms are tested.",
                                    .reader = "the conformance tests",
                                    .whom = audience::tests};

inline constexpr variable job{.name = "MUSTER_JOB",
                              .values = "descriptors",
                              .otherwise = "the process is a job of its own",
                              .what = "Which rank of which job a process is.",
                              .reader = "`world`, from `muster run`, which sets it",
                              .whom = audience::muster};

inline constexpr variable respawn{
    .name = "MUSTER_RESPAWN",
    .values = "a rank and a meeting place",
    .otherwise = "no rank is started again",
    .what = "Where the ranks of a job meet when some of them have been started again.",
    .reader = "`world`, from `muster run --respawn`, which sets it",
    .whom = audience::muster};

inline constexpr variable bench_socket{.name = "MUSTER_BENCH_SOCKET",
                                       .values = "a socket's path",
                                       .otherwise = "there is no benchmark",
                                       .what = "Where a rank of the benchmark gets its orders.",
                                       .reader = "the workers of `muster bench`, which sets it",
                                       .whom = audience::muster};

/// All of them but those that choose algorithms, of which there is one a collective:
/// `environment_name(collective)`.
std::span<const variable> variables() noexcept;

/// Its value; null where it is not set.
const char* read(const variable& which) noexcept;
/// The value of a variable whose name is made of a collective's. \param name a known one
const char* read(const std::string& name);

/// Whether Muster reads a variable of this name.
bool is_known(std::string_view name);

/// The line that says which of the names, those that begin with MUSTER_, nobody reads, and what may
/// have been meant. Nothing where all are known.
std::optional<std::string> complaint_about(std::span<const std::string_view> names);

/// Says on the error stream which of the environment's variables nobody reads, unless this process
/// has been here before.
/// \param speaks false: another process says it, or has said it
void report_unknown(bool speaks);

/// docs/environment.md.
std::string page();

}  // namespace muster::environment
