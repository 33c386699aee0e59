// Gives the inputs of a folder to a fuzz target, one after the other, and the empty input first: what an ordinary build
// links instead of libFuzzer. replay <folder or file>…  A folder that is not there is an empty one. The name is printed
// before each input, so that a crash tells which it was.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> inputs;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_regular_file(argv[i])) inputs.emplace_back(argv[i]);
    if (!fs::is_directory(argv[i])) continue;
    for (const auto& entry : fs::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) inputs.push_back(entry.path());
    }
  }
  std::sort(inputs.begin(), inputs.end());
  const std::uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);
  for (const auto& input : inputs) {
    std::printf("%s\n", input.string().c_str());
    std::fflush(stdout);
    std::ifstream stream(input, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
    const std::vector<std::uint8_t> copy(bytes.begin(),
                                         bytes.end());  // exactly as long as it is, so that asan sees one byte more
    LLVMFuzzerTestOneInput(copy.data(), copy.size());
  }
  std::printf("%zu inputs replayed\n", inputs.size() + 1);
  return 0;
}
