// A value that is used after it was moved away, for clang-tidy to find (tests/tidy/CMakeLists.txt).
#include <string>
#include <utility>

namespace {

std::string longer(std::string text) {
  text += "!";
  return text;
}

}  // namespace

int main() {
  std::string text = "moved";
  const std::string other = longer(std::move(text));
#ifdef LAWFUL
  text = "new";
#endif
  return text.size() + other.size() > 1 ? 0 : 1;
}
