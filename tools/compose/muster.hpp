#pragma once

/// The whole of Muster: awaited collectives for processes (`world`) and threads (`run_threads`).

#include "engine/collective/collectives.hpp"
#include "engine/collective/context.hpp"
#include "engine/collective/plan.hpp"
#include "engine/collective/staging.hpp"
#include "engine/coro/task.hpp"
#include "engine/coro/when_all.hpp"
#include "engine/error.hpp"
#include "engine/progress/engine.hpp"
#include "engine/progress/future.hpp"
#include "engine/progress/within.hpp"
#include "engine/team/bootstrap.hpp"
#include "engine/team/shared_buffer.hpp"
#include "engine/team/split.hpp"
#include "engine/team/team.hpp"
#include "tools/compose/world.hpp"
