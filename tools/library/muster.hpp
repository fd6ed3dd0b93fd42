#pragma once

/// The whole of Muster: awaited collectives for processes (`world`) and threads (`run_threads`).

#include <muster/api/collectives.hpp>
#include <muster/api/grow.hpp>
#include <muster/api/plan.hpp>
#include <muster/api/sequencer.hpp>
#include <muster/api/shared_buffer.hpp>
#include <muster/api/shrink.hpp>
#include <muster/api/sparse.hpp>
#include <muster/api/split.hpp>
#include <muster/api/values.hpp>
#include <muster/base/error.hpp>
#include <muster/coro/task.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/progress/engine.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/scope.hpp>
#include <muster/progress/sender.hpp>
#include <muster/progress/within.hpp>
#include <muster/run/context.hpp>
#include <muster/run/shared_scratch.hpp>
#include <muster/run/team.hpp>
#include <muster/team/bootstrap.hpp>
#include <muster/world.hpp>
