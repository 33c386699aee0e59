# Compiler options of our own rooms: warnings as errors, one place. No global flags: targets link sp_options and sp_warnings.
set(CMAKE_CXX_FLAGS_DEBUG "-g1")
set(CMAKE_C_FLAGS_DEBUG "-g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")  # CHECK stays on; it does not look at NDEBUG

add_library(sp_options INTERFACE)
add_library(sp_warnings INTERFACE)

target_compile_features(sp_options INTERFACE cxx_std_20)
target_compile_definitions(sp_options INTERFACE SP_VERSION="${PROJECT_VERSION}")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(sp_options INTERFACE -march=x86-64-v2)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(sp_options INTERFACE -fstack-protector-strong)
  target_compile_definitions(sp_options INTERFACE _FORTIFY_SOURCE=2)
elseif(SP_SANITIZE)
  target_compile_options(sp_options INTERFACE -O1 -fno-omit-frame-pointer)
  target_compile_definitions(sp_options INTERFACE _GLIBCXX_ASSERTIONS SP_DEBUG_CHECKS)
else()
  target_compile_options(sp_options INTERFACE -O0)
  target_compile_definitions(sp_options INTERFACE _GLIBCXX_ASSERTIONS SP_DEBUG_CHECKS)
endif()

if(SP_SANITIZE)
  set(sanitize -fsanitize=${SP_SANITIZE} -fno-sanitize-recover=all)
  target_compile_options(sp_options INTERFACE ${sanitize})
  target_link_options(sp_options INTERFACE -fsanitize=${SP_SANITIZE})
endif()
if(SP_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "SP_FUZZ needs clang (libFuzzer): use the preset fuzz")
  endif()
  target_compile_options(sp_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(SP_MOLD mold)
if(SP_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  target_link_options(sp_options INTERFACE -fuse-ld=mold)
endif()

set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Wcast-align -Woverloaded-virtual -Wnull-dereference -Wdouble-promotion -Wformat=2 -Wimplicit-fallthrough
  -Wsuggest-override -Wundef -Wextra-semi -Wvla -Wswitch-enum)
if(NOT SP_FUZZ)  # the fuzz build looks for crashes; warnings are the matter of dev (g++) and tidy (clang)
  list(APPEND warnings -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND warnings -Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wuseless-cast)
  # GCC 12 reports these inside the standard library once it optimises across our calls; they are right at -O0.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" OR SP_SANITIZE)
    list(APPEND warnings -Wno-null-dereference -Wno-maybe-uninitialized -Wno-restrict -Wno-array-bounds
      -Wno-stringop-overflow -Wno-stringop-overread -Wno-free-nonheap-object)
  endif()
else()
  # libstdc++ 12 uses its own deprecated get_temporary_buffer within stable_sort.
  list(APPEND warnings -Wthread-safety -Wno-deprecated-declarations)
endif()
target_compile_options(sp_warnings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")

# A checkout in another folder shares the cache: paths are taken relative to the source, and the folder is not hashed.
find_program(SP_CCACHE ccache)
if(SP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${SP_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
