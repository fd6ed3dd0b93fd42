// A rank is killed and started again: the others grow with it, and all go on.

#include <signal.h>

#include "tests/tools/c/require.h"

int main(void) {
  muster_team* world = NULL;
  MUST(muster_rejoin(&world));
  muster_team* now = world;
  if (world == NULL) {
    MUST(muster_init(&world));
    if (muster_rank(world) == 1) raise(SIGKILL);
    int code = MUSTER_SUCCESS;
    while (code == MUSTER_SUCCESS) code = muster_barrier(world);
    REQUIRE(code == MUSTER_RANK_DIED && muster_error_rank() == 1);
    MUST(muster_grow(world, &now));
  }
  REQUIRE(muster_rank(now) == muster_rank(world) && muster_size(now) == muster_size(world));
  int sum = muster_rank(now);
  MUST(muster_allreduce(now, MUSTER_IN_PLACE, &sum, 1, MUSTER_INT32, MUSTER_SUM));
  REQUIRE(sum == muster_size(now) * (muster_size(now) - 1) / 2);
  MUST(muster_finalize(world));
  printf("all right\n");
  return 0;
}
