// Descriptors 0, 1 and 2 of a process that was started without some of them.
//
// A library that opens a descriptor as it is loaded gets the first free one: with stdin closed it would become stdin, and what the
// program reads or prints would go to it. So what is closed is taken first, by something that refuses to be read or written as a closed
// one does (EBADF).
//
// Cost:     three system calls.   Errors: none.
// Threads:  before all others: from .preinit_array of a program, before sanitizers and libraries begin. It calls nothing but the system.
// Source:   open(2); ELF, "Initialization and Termination Functions".
#pragma once

namespace sp::sys {

void keep_standard_descriptors();

}  // namespace sp::sys
