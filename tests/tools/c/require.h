#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <muster/muster.h>

/// Ends the rank, saying where, unless `right`.
static inline void require_at(int right, const char* what, int line) {
  if (right) return;
  fprintf(stderr, "line %d: %s; the last error: %s\n", line, what, muster_error_text());
  _Exit(1);
}
/// The same of a call that has to succeed.
#define REQUIRE(what) require_at((what), #what, __LINE__)
#define MUST(call) require_at((call) == MUSTER_SUCCESS, #call, __LINE__)
/// Of a call that fails with this code and a text in which `text` occurs.
#define FAILS(call, code, text) \
  require_at((call) == (code) && strstr(muster_error_text(), (text)) != NULL, #call, __LINE__)
