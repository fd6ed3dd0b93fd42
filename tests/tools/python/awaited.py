"""Operations in an event loop: many at once, late ranks, cancellation, and what else may be called meanwhile.

usage: awaited.py all | idle | died | left
"""

import asyncio
import gc
import os
import signal
import sys
import threading
import time
import weakref

import numpy

import muster
from checks import raises, require, same

team = muster.world()
RANK, SIZE = team.rank, team.size
TOTAL = SIZE * (SIZE - 1) // 2


async def many():
    """They begin in the order of the calls, and end in any."""
    futures = [team.aallreduce(numpy.full(1 + 700 * (i % 5), RANK + i)) for i in range(100)]
    for i, future in reversed(list(enumerate(futures))):
        same((await future)[0], TOTAL + i * SIZE, "one of many")
    results = await asyncio.gather(*(team.aallgather(i) for i in range(20)))
    require([int(each[0]) for each in results] == list(range(20)), "gathered")


async def others_go_on():
    """What else is in the loop has its turns."""
    turns = 0

    async def count():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.001)

    counting = asyncio.create_task(count())
    if RANK == 0:
        await asyncio.sleep(0.2)
    await team.abarrier()
    counting.cancel()
    require(turns > 20, f"{turns} turns in 200 ms")


async def blocking_meanwhile():
    """A call that blocks, while others are pending and the loop's descriptor is armed."""
    for _ in range(20):
        apart = await team.aduplicate() if SIZE > 1 else team
        pending = asyncio.ensure_future(apart.aallreduce(numpy.array([RANK])))
        await asyncio.sleep(0)
        if RANK % 2 == 0:
            await asyncio.sleep(0.002)
        team.barrier()
        same(await asyncio.wait_for(pending, 20), numpy.array([TOTAL]), "what was pending while a call blocked")
        if apart is not team:
            await apart.abarrier()
            apart.free()


async def dropped_buffers():
    """Nobody holds the buffers but the operation."""
    sent = numpy.full(30000, RANK)
    gone = weakref.ref(sent)
    future = team.aallreduce(sent)
    del sent
    gc.collect()
    same((await future)[0], TOTAL, "of a buffer that nobody holds")
    del future
    gc.collect()
    require(gone() is None, "a buffer is let go after the end")
    if SIZE > 1:
        data = bytearray(1000)
        future = team.abcast(data, root=SIZE - 1)
        if not future.done():
            raises(BufferError, "", data.extend, b"more")
        await future
        data.extend(b"more")


async def canceled():
    if SIZE == 1:
        return
    apart = await team.aduplicate()
    if RANK == 0:
        future = apart.abarrier()
        try:
            await asyncio.wait_for(future, 0.05)
            require(False, "a barrier without the others ended")
        except asyncio.TimeoutError:
            pass
        require(isinstance(apart.failure(), muster.Stopped), f"{apart.failure()!r}")
        await team.abarrier()
    else:
        await team.abarrier()
        raises(muster.Stopped, "rank 0", apart.barrier)
        require(apart.failure().rank == 0, "which rank stopped it")
    other = await team.aduplicate()
    if RANK == 0:
        future = other.abarrier()
        future.cancel()  # the loop has had no turn
        try:
            await future
            require(False, "a future that was canceled has a result")
        except asyncio.CancelledError:
            require(isinstance(other.failure(), muster.Stopped), "its operation has ended when that is told")
    await team.abarrier()


async def all_stopped(futures, word):
    """Each of them ends with `Stopped`, which has the word."""
    for future in futures:
        try:
            await asyncio.wait_for(future, 20)
            require(False, "ended well")
        except muster.Stopped as why:
            require(word in str(why), str(why))


async def freed():
    """A team with operations pending."""
    if SIZE == 1:
        return
    apart = await team.aduplicate()
    if RANK == 0:
        futures = [apart.abarrier() for _ in range(3)]
        apart.free()
        await all_stopped(futures, "barrier")
        raises(muster.InvalidArgument, "barrier: team has been freed", apart.barrier)
    await team.abarrier()


async def mismatched():
    if SIZE == 1:
        return
    apart = await team.aduplicate()
    future = apart.aallreduce(numpy.zeros(3 if RANK == 0 else 4))
    try:
        await future
        require(False, "ranks with other lengths got a result")
    except muster.MismatchedCall as why:
        require("allreduce" in str(why) and "rank" in str(why), str(why))
    await team.abarrier()


def in_other_threads():
    """One thread at a time, and loops of other threads."""
    failures = []

    def call():
        try:
            raises(muster.InvalidArgument, "called while another call", team.barrier)
        except BaseException as why:
            failures.append(why)

    if SIZE > 1:
        if RANK == 0:
            thread = threading.Timer(0.1, call)
            thread.start()
            team.barrier()
            thread.join()
        else:
            time.sleep(1)
            team.barrier()
    require(not failures, failures)

    async def elsewhere():
        require(await team.aallreduce(1) == SIZE, "in another thread's loop")

    thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
    thread.start()
    thread.join()


def outside():
    raises(RuntimeError, "there is no running event loop", team.abarrier)


def left_behind():
    """A loop that ends with an operation pending; the job goes on."""
    if SIZE == 1:
        return
    apart = team.duplicate()

    async def begin():
        apart.aallreduce(numpy.zeros(100000))

    if RANK == 0:
        asyncio.run(begin())
    else:
        apart.allreduce(numpy.zeros(100000))
    gc.collect()
    team.barrier()


def interrupted():
    """A signal's handler runs while a call blocks, and what it throws ends the call."""
    if SIZE == 1:
        return
    apart = team.duplicate()

    class Enough(Exception):
        pass

    def throw(*_):
        raise Enough

    if RANK == 0:
        signal.signal(signal.SIGALRM, throw)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        begin = time.monotonic()
        raises(Enough, "", apart.barrier)
        require(time.monotonic() - begin < 5, "soon")
        team.barrier()
    else:
        team.barrier()
        raises(muster.Stopped, "rank 0", apart.barrier)


def forked():
    """A process that a rank forks is none, and touches nothing that is pending."""
    if SIZE == 1:
        return
    apart = team.duplicate()
    data = numpy.full(1000, RANK)

    async def begin():
        return apart.aallreduce(data, data) if RANK == 0 else None

    pending = asyncio.run(begin())
    if RANK == 0:
        child = os.fork()
        if child == 0:
            raises(muster.InvalidArgument, "barrier: team has been freed", team.barrier)
            sys.exit(3)
        require(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3, "the other process ends as it likes")
    else:
        time.sleep(0.1)
        apart.allreduce(data, data)
    apart.barrier()
    require(data[0] == TOTAL, "what was pending")
    del pending


async def idle():
    """Who waits for a late rank does not compute, nor does its loop turn."""
    await team.abarrier()
    if RANK == 1:
        await asyncio.sleep(1)
    before, turns = time.process_time(), 0
    loop = asyncio.get_running_loop()
    select = loop._selector.select

    def counted(timeout=None):
        nonlocal turns
        turns += 1
        return select(timeout)

    loop._selector.select = counted
    await team.abarrier()
    computed = 1e3 * (time.process_time() - before)
    print(f"rank {RANK}: computed {computed:.0f} ms, {'seldom' if turns < 50 else 'often'}", flush=True)
    require(threading.active_count() == 1, "there is no thread")


async def left():
    """Rank 0 leaves the job with operations pending, of which its loop hears."""
    await team.abarrier()
    if RANK == 0:
        futures = [team.abarrier() for _ in range(3)]
        muster.finalize()
        await all_stopped(futures, "finalize")
    else:
        await asyncio.sleep(0.3)
        try:
            await asyncio.wait_for(asyncio.gather(*(team.abarrier() for _ in range(3))), 20)
            require(False, "a barrier without a rank ended")
        except (muster.Stopped, muster.RankLeft):
            pass


async def died():
    """A rank dies; the others hear of it in their loops, and go on."""
    await team.abarrier()
    if RANK == SIZE - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        await asyncio.wait_for(team.abarrier(), 20)
        require(False, "a barrier without a rank ended")
    except muster.RankDied as why:
        require(why.rank == SIZE - 1, f"rank {why.rank}: {why}")
    left = await team.ashrink()
    require(await left.aallreduce(1) == SIZE - 1, "those that are left")


async def main():
    await many()
    await others_go_on()
    await blocking_meanwhile()
    await dropped_buffers()
    await canceled()
    await freed()
    await mismatched()


if sys.argv[1] == "all":
    outside()
    asyncio.run(main())
    asyncio.run(many())  # another loop
    in_other_threads()
    left_behind()
    interrupted()
    forked()
elif sys.argv[1] == "idle":
    asyncio.run(idle())
elif sys.argv[1] == "left":
    asyncio.run(left())
else:
    asyncio.run(died())
print(f"rank {RANK}, all right", flush=True)
