#include "rpc/detail/wire.h"

#include <mutex>

#include <grpc/support/log.h>

namespace sp::rpc::detail {

void be_quiet() {
  static std::once_flag once;
  std::call_once(once, [] { gpr_set_log_function([](gpr_log_func_args* /*said*/) {}); });
}

}  // namespace sp::rpc::detail
