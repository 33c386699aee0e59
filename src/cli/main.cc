#include <string>
#include <vector>

#include "cli/commands.h"
#include "sys/standard_descriptors.h"

// gRPC opens a descriptor as it is loaded.
__attribute__((section(".preinit_array"), used)) static void (*const kKeepDescriptors)() = sp::sys::keep_standard_descriptors;

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return sp::cli::run_program(arguments, sp::cli::Terminal::of_process());
}
