#include <muster/call/datatype.hpp>

#include <muster/call/narrow_float.hpp>

namespace muster {

float16::float16(float value) noexcept : float16(narrow<float16>(value)) {}
float16::operator float() const noexcept { return widen(*this); }

bfloat16::bfloat16(float value) noexcept : bfloat16(narrow<bfloat16>(value)) {}
bfloat16::operator float() const noexcept { return widen(*this); }

}  // namespace muster
