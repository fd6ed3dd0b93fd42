// What stays registered, for how long, and what goes first.

#include "transports/verbs/registrations.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "tests/transports/verbs/fakes.hpp"

namespace muster::testing {
namespace {

using held = verbs::registrations::held;

struct cache {
  explicit cache(const verbs::registrations::limits& most = {.bytes = 100 * page, .regions = 100})
      : all(by, std::unique_ptr<fake_monitor>(monitor), most) {}

  held hold(const address_range& some, access how = access::write) {
    return all.hold(some.bytes(), how);
  }
  /// Registers it, and nobody holds it.
  void use(const address_range& some, access how = access::write) { CHECK(hold(some, how)); }
  bool is_hit(const address_range& some, access how = access::write) {
    const auto before = all.statistics().hits;
    CHECK(hold(some, how));
    return all.statistics().hits != before;
  }

  fake_registrar by;
  fake_monitor* monitor = new fake_monitor;
  verbs::registrations all;
};

TEST_CASE("whole pages are registered, once") {
  cache one;
  const address_range bytes{pages(3, 4).begin + 100, pages(4, 5).begin + 1};
  const held first = one.hold(bytes);
  REQUIRE(first);
  CHECK(what_is(first).where == pages(3, 5));
  CHECK(one.hold(bytes) == first);
  CHECK(one.hold(pages(4, 5)) == first);
  CHECK(one.by.asked == 1);
  CHECK(one.all.statistics().hits == 2);
  CHECK(one.all.statistics().misses == 1);
}

TEST_CASE("it stays registered when nobody holds it") {
  cache one;
  one.use(pages(0, 4));
  CHECK(one.by.all.size() == 1);
  CHECK(one.is_hit(pages(1, 3)));
  CHECK_FALSE(one.is_hit(pages(3, 5)));
}

TEST_CASE("no bytes are nothing to register") {
  cache one;
  CHECK_FALSE(one.hold({pages(1, 2).begin, pages(1, 2).begin}));
  CHECK(errno == EINVAL);
}

TEST_CASE("what may be written may be read, and not the other way round") {
  cache one;
  one.use(pages(0, 4), access::read);
  CHECK(one.is_hit(pages(0, 4), access::read));
  CHECK_FALSE(one.is_hit(pages(0, 4), access::write));
  CHECK(one.by.all.size() == 1);  // that for reading is of no use any more
  CHECK(one.is_hit(pages(0, 4), access::read));
  CHECK(one.is_hit(pages(0, 4), access::write));
}

TEST_CASE("memory that cannot be written is registered for reading only") {
  cache one;
  one.by.read_only = pages(0, 4);
  CHECK_FALSE(one.hold(pages(2, 5), access::write));
  CHECK(errno == EFAULT);
  CHECK_FALSE(one.monitor->is_watched(pages(2, 3).begin));
  one.use(pages(2, 5), access::read);
  CHECK(one.is_hit(pages(2, 3), access::read));
}

TEST_CASE("of overlapping regions, one that covers another is there instead") {
  cache one;
  one.use(pages(0, 4));
  one.use(pages(2, 6));
  CHECK(one.by.all.size() == 2);
  CHECK(one.is_hit(pages(0, 4)));
  CHECK(one.is_hit(pages(3, 6)));
  one.use(pages(0, 6));
  CHECK(one.by.all.size() == 1);
  CHECK(one.all.kept().bytes == 6 * page);
}

TEST_CASE("what somebody holds lives on when another has come instead") {
  cache one;
  const held first = one.hold(pages(0, 4));
  one.use(pages(0, 8));
  CHECK(one.by.all.size() == 2);
  CHECK(one.all.kept().regions == 1);
}

TEST_CASE("memory that went back is unknown at once") {
  cache one;
  one.use(pages(0, 4));
  one.use(pages(4, 8));
  one.use(pages(6, 10), access::read);
  one.monitor->give_back(pages(7, 8));
  CHECK_FALSE(one.is_hit(pages(4, 8)));
  CHECK_FALSE(one.is_hit(pages(6, 10), access::read));
  CHECK(one.is_hit(pages(0, 4)));
  CHECK(one.all.statistics().invalidated == 2);
}

TEST_CASE("memory that went back stays registered while somebody holds it") {
  cache one;
  held first = one.hold(pages(0, 4));
  one.monitor->give_back(pages(0, 1));
  const held second = one.hold(pages(0, 4));
  CHECK(second != first);
  CHECK(one.by.all.size() == 2);
  first.reset();
  CHECK(one.by.all.size() == 1);
  CHECK(one.is_hit(pages(0, 4)));
}

TEST_CASE("beyond the limits, those go first that were not used for longest") {
  cache one({.bytes = 10 * page, .regions = 3});
  one.use(pages(0, 1));
  one.use(pages(1, 2));
  one.use(pages(2, 3));
  CHECK(one.is_hit(pages(0, 1)));
  one.use(pages(3, 4));
  CHECK(one.all.statistics().evictions == 1);
  CHECK_FALSE(one.monitor->is_watched(pages(1, 2).begin));
  CHECK(one.is_hit(pages(0, 1)));
  CHECK(one.is_hit(pages(2, 3)));
  CHECK(one.is_hit(pages(3, 4)));
  one.use(pages(10, 19));  // leaves room for one page
  CHECK(one.all.kept().bytes == 10 * page);
  CHECK(one.is_hit(pages(3, 4)));
}

TEST_CASE("what is held does not go, and what finds no room is not kept") {
  cache one({.bytes = 4 * page, .regions = 2});
  const held first = one.hold(pages(0, 1));
  const held second = one.hold(pages(1, 2));
  {
    const held third = one.hold(pages(2, 3));
    REQUIRE(third);
    CHECK(one.by.all.size() == 3);
    CHECK(one.hold(pages(2, 3)) == third);  // for the very same pages
  }
  CHECK(one.by.all.size() == 2);
  one.use(pages(10, 15));  // more than is ever kept
  CHECK(one.by.all.size() == 2);
  CHECK(one.is_hit(pages(0, 1)));
  CHECK(one.is_hit(pages(1, 2)));
}

TEST_CASE("pages that two share are watched until both are gone") {
  cache one({.bytes = 100 * page, .regions = 2});
  one.use(pages(0, 4));
  one.use(pages(2, 6));
  one.use(pages(8, 9));  // instead of the first
  CHECK(one.monitor->is_watched(pages(2, 3).begin));
  one.monitor->give_back(pages(2, 3));
  CHECK_FALSE(one.is_hit(pages(2, 6)));
}

TEST_CASE("where the system has no more, others are let go") {
  cache one;
  one.by.most_bytes = 8 * page;
  one.use(pages(0, 2));
  one.use(pages(2, 4));
  const held third = one.hold(pages(4, 6));
  one.use(pages(6, 8));
  const auto asked = one.by.asked;
  one.use(pages(8, 12));
  CHECK(one.by.asked == asked + 2);  // as much as is needed goes at once
  CHECK(one.all.statistics().evictions == 2);
  CHECK(one.is_hit(pages(6, 8)));
  CHECK_FALSE(one.hold(pages(20, 27)));
  CHECK(errno == ENOMEM);
  CHECK(one.by.all.size() == 1);
}

TEST_CASE("who comes while others that share its pages are let go is watched all the same") {
  cache one;
  one.by.most_bytes = 6 * page;
  one.use(pages(0, 4));
  one.use(pages(2, 6));  // only instead of the first
  for (const auto& each : one.by.all) CHECK(one.monitor->is_watched(each.where.begin));
  one.monitor->give_back(pages(2, 3));
  CHECK_FALSE(one.is_hit(pages(2, 6)));
}

TEST_CASE("memory that cannot be watched is not kept") {
  cache one;
  one.monitor->unwatchable = pages(0, 4);
  held first = one.hold(pages(1, 3));
  REQUIRE(first);
  CHECK(one.hold(pages(1, 3)) == first);
  CHECK(one.hold(pages(1, 3), access::read) == first);
  CHECK(one.hold(pages(1, 2)) != first);  // its holder may be done with those pages
  first.reset();
  CHECK(one.by.all.empty());
  CHECK(one.all.kept().regions == 0);
}

TEST_CASE("without a monitor, nothing is kept") {
  fake_registrar by;
  verbs::registrations all(by, nullptr, {.bytes = 100 * page, .regions = 100});
  CHECK(all.hold(pages(0, 1).bytes(), access::write));
  CHECK(by.all.empty());
  CHECK(all.hold(pages(0, 1).bytes(), access::write));
  CHECK(all.statistics().hits == 0);
}

TEST_CASE("while a mapping is changing, nothing that is kept is used") {
  cache one;
  const held first = one.hold(pages(0, 4));
  one.monitor->is_all = false;
  {
    const held second = one.hold(pages(0, 4));
    CHECK(second != first);
    CHECK(one.by.all.size() == 2);
  }
  CHECK(one.by.all.size() == 1);
  one.monitor->is_all = true;
  CHECK(one.hold(pages(0, 4)) == first);
}

}  // namespace
}  // namespace muster::testing
