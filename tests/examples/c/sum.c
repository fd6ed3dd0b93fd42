// The shortest program: the sum of what all ranks have. Alone, or started by `muster run`.

#include <muster/muster.h>
#include <stdio.h>

// [sum]
int main(void) {
  muster_team* world;
  int failed = muster_init(&world);
  if (!failed) {
    const double mine[2] = {1, muster_rank(world)};
    double total[2];
    failed = muster_allreduce(world, mine, total, 2, MUSTER_DOUBLE, MUSTER_SUM);
    if (!failed && muster_rank(world) == 0) printf("%g ranks, sum %g\n", total[0], total[1]);
  }
  if (failed) fprintf(stderr, "%s\n", muster_error_text());
  muster_finalize(world);
  return failed ? 1 : 0;
}
// [sum end]
