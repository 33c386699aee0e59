# clang-tidy, with the settings of the product, must refuse planted/<FILE>.txt by CHECK, and accept its lawful twin, which is the
# same file compiled with -DLAWFUL.
if(NOT CLANG_TIDY)
  message(FATAL_ERROR "clang-tidy-19 is missing")
endif()
list(REMOVE_DUPLICATES INCLUDES)
list(TRANSFORM INCLUDES PREPEND "-I")
foreach(lawful IN ITEMS -DLAWFUL -DPLANTED)
  execute_process(COMMAND ${CLANG_TIDY} --quiet --config-file=${SOURCE}/.clang-tidy "--checks=-misc-include-cleaner"
    ${SOURCE}/tests/tidy/planted/${FILE}.cc -- -x c++ -std=c++20 -Wthread-safety ${lawful} ${INCLUDES}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE also)
  if(lawful STREQUAL "-DLAWFUL" AND failed)
    message(FATAL_ERROR "the lawful twin is refused:\n${said}${also}")
  elseif(lawful STREQUAL "-DPLANTED" AND NOT (failed AND said MATCHES "${CHECK}"))
    message(FATAL_ERROR "${CHECK} did not find the planted fault:\n${said}${also}")
  endif()
endforeach()
