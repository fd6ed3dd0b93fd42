// A program that has an event loop: it serves a timer while a collective is under way. Rank 0 comes
// to it late, and the others sleep meanwhile, but for their timers.

#include <muster/muster.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

/// A descriptor that becomes readable every 10 ms.
static int ticking(void) {
  const struct itimerspec each = {.it_interval = {.tv_nsec = 10000000},
                                  .it_value = {.tv_nsec = 10000000}};
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (timer >= 0) timerfd_settime(timer, 0, &each, NULL);
  return timer;
}

static int tick(int timer) {
  uint64_t times = 0;
  return read(timer, &times, sizeof times) == sizeof times ? (int)times : 0;
}

/// Serves the timer until the operation has ended; how that was.
static int serve(muster_team* team, muster_request* request, int timer, int* ticks) {
  // [loop]
  struct pollfd wait[2] = {{.fd = timer, .events = POLLIN}, {.events = POLLIN}};
  int failed = muster_descriptor(team, &wait[1].fd);
  for (int done = 0; !failed;) {
    failed = muster_test(request, &done);
    if (failed || done) break;
    int timeout = 0;
    failed = muster_arm(team, &timeout);
    if (!failed && poll(wait, 2, timeout) > 0 && wait[0].revents != 0) *ticks += tick(timer);
  }
  // [loop end]
  return failed;
}

int main(void) {
  muster_team* world;
  int ticks = 0;
  double sum = 0;
  int failed = muster_init(&world);
  if (!failed) {
    muster_request request;
    const int timer = ticking();
    if (muster_rank(world) == 0) usleep(200000);
    sum = muster_rank(world);
    failed =
        muster_iallreduce(world, MUSTER_IN_PLACE, &sum, 1, MUSTER_DOUBLE, MUSTER_SUM, &request);
    if (!failed) failed = serve(world, &request, timer, &ticks);
    close(timer);
  }
  if (failed) {
    fprintf(stderr, "%s\n", muster_error_text());
  } else if (muster_rank(world) == 1 || muster_size(world) == 1) {
    printf("%d ranks, sum %g, %s ticks\n", muster_size(world), sum, ticks > 5 ? "many" : "few");
  }
  muster_finalize(world);
  return failed ? 1 : 0;
}
