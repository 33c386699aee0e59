#include "core/ids.h"

namespace sp::core {

std::string run_text(RunId run) {
  static constexpr char kAlphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
  std::string text = "r";
  for (int shift = 35; shift >= 0; shift -= 5) {
    text += kAlphabet[(run.value() >> static_cast<unsigned>(shift)) & 31U];
  }
  return text;
}

}  // namespace sp::core
