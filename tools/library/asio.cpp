#include <muster/asio.hpp>

namespace muster::asio {

world::world(boost::asio::io_context& by)
    : joined_({.progress = progress::external}),
      driver_(std::make_shared<driver>(by, joined_.engine())) {
  joined_.engine().be_driven_by(driver_.get());
}

world::~world() {
  driver_->close();
  joined_.engine().be_driven_by(nullptr);
}

}  // namespace muster::asio
