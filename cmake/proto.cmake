# C++ of proto/*.proto, generated at build time into the build tree. Only the rooms rpc and rpc/broker see it, as <proto/worker.pb.h>, a
# header from outside: its warnings are not ours. Target sp_proto_files makes the files without compiling them (clang-tidy reads them).
set(SP_PROTO_ROOT ${CMAKE_BINARY_DIR}/generated)
set(proto_files)
file(MAKE_DIRECTORY ${SP_PROTO_ROOT})
foreach(name IN ITEMS worker broker)
  set(made)
  foreach(kind IN ITEMS pb grpc.pb)
    list(APPEND made ${SP_PROTO_ROOT}/proto/${name}.${kind}.cc ${SP_PROTO_ROOT}/proto/${name}.${kind}.h)
  endforeach()
  add_custom_command(OUTPUT ${made}
    COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${SP_PROTO_ROOT} --grpc_out=${SP_PROTO_ROOT}
      --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> proto/${name}.proto
    DEPENDS ${CMAKE_SOURCE_DIR}/proto/${name}.proto ${CMAKE_SOURCE_DIR}/proto/worker.proto
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    VERBATIM)
  list(APPEND proto_files ${made})
endforeach()
add_custom_target(sp_proto_files DEPENDS ${proto_files})
# TSan does not see how the threads of gRPC wait for each other, and gRPC's templates, which are compiled in here, would look racy to
# it. So for TSan this is a library like gRPC's own: not instrumented, and with its own copies of what it inlines. What our callbacks
# do is compiled in the room, and is seen.
if(SP_SANITIZE MATCHES "thread")
  add_library(sp_proto SHARED ${proto_files})
  target_compile_options(sp_proto PRIVATE -O1)
  target_link_options(sp_proto PRIVATE -Wl,-Bsymbolic)
else()
  add_library(sp_proto STATIC ${proto_files})
  target_link_libraries(sp_proto PRIVATE sp_options)
endif()
add_dependencies(sp_proto sp_proto_files)
target_include_directories(sp_proto SYSTEM PUBLIC ${SP_PROTO_ROOT} $<TARGET_PROPERTY:gRPC::grpc++,INTERFACE_INCLUDE_DIRECTORIES>
  $<TARGET_PROPERTY:protobuf::libprotobuf,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_options(sp_proto PRIVATE -w)
# Others only link them: their compile options would keep the room from the precompiled headers that all rooms share.
target_link_libraries(sp_proto PRIVATE gRPC::grpc++ protobuf::libprotobuf
  INTERFACE $<LINK_ONLY:gRPC::grpc++> $<LINK_ONLY:protobuf::libprotobuf>)
