# Outside libraries, found once. Each is used by one room only (tests/tidy holds the table).
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
find_package(spdlog REQUIRED)
find_package(simdjson REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(prometheus-cpp CONFIG REQUIRED)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
find_package(Protobuf REQUIRED)  # module mode: Debian ships no CMake package of it; first, gRPC's package names its targets
find_package(gRPC CONFIG REQUIRED)
if(NOT TARGET yaml-cpp AND TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp ALIAS yaml-cpp::yaml-cpp)
endif()

# librdkafka: built against Debian's headers and ABI, run on a pinned current one (docs/decisions/0002-librdkafka.md).
# quickstart puts that one into the folder SP_RDKAFKA_DIR as librdkafka.so.1; LD_LIBRARY_PATH chooses another at run time.
pkg_check_modules(rdkafka REQUIRED IMPORTED_TARGET rdkafka)
set(SP_RDKAFKA_DIR "${CMAKE_SOURCE_DIR}/bin/lib" CACHE PATH "folder that holds the pinned librdkafka.so.1")
add_library(sp_rdkafka INTERFACE)
target_link_libraries(sp_rdkafka INTERFACE PkgConfig::rdkafka ${CMAKE_DL_LIBS})
target_link_options(sp_rdkafka INTERFACE -Wl,--allow-shlib-undefined -Wl,--enable-new-dtags)
set(CMAKE_BUILD_RPATH "$ORIGIN/lib" "${SP_RDKAFKA_DIR}")  # not a link option: CMake would quote the $ twice

# librdkafka runs on the C11 threads of libc, which TSan does not know and which crash under it. This little library stands in
# front of libc and forwards them to pthread, which TSan does know. tests/sanitizer shows that both work.
if(SP_SANITIZE MATCHES "thread")
  add_library(sp_c11_threads SHARED ${CMAKE_SOURCE_DIR}/tests/support/c11_threads.c)
  target_link_libraries(sp_c11_threads PRIVATE sp_options Threads::Threads)
  target_link_options(sp_rdkafka INTERFACE -Wl,--no-as-needed)
  target_link_libraries(sp_rdkafka INTERFACE sp_c11_threads)
endif()

# spdlog without its compile definitions: base/log.cc makes them itself, so that the precompiled headers of base suit every room.
add_library(sp_spdlog INTERFACE)
target_link_libraries(sp_spdlog INTERFACE "$<TARGET_FILE:spdlog::spdlog>")

# The parser of HTTP has neither a CMake nor a pkg-config file.
find_package(OpenSSL 3 REQUIRED)
find_path(SP_HTTP_PARSER_INCLUDE http_parser.h REQUIRED)
find_library(SP_HTTP_PARSER http_parser REQUIRED)
add_library(sp_http_parser INTERFACE)
target_include_directories(sp_http_parser SYSTEM INTERFACE ${SP_HTTP_PARSER_INCLUDE})
target_link_libraries(sp_http_parser INTERFACE ${SP_HTTP_PARSER})
