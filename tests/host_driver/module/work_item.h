// The interface between kernels that are compiled for the host and their
// driver. Kernels include no other header, so that they compile quickly.
#pragma once

extern "C" {

// One of the work-items that run a kernel. The driver makes it.
struct HostWorkItem {
  unsigned long group[3];   // its group's place in the range
  unsigned long groups[3];  // of the range
  unsigned long first_row;  // where the range begins in dimension 1
  unsigned long items[3];   // of a group
  unsigned long item[3];    // its place in the group
  // Returns when all items of the group have come to a barrier, which is in
  // this line of the kernel's file.
  void (*wait_at_barrier)(HostWorkItem*, int line);
};

// A kernel for one work-item. Arguments are words: the address of the memory of
// each buffer, and then the struct of places and parameters. Nothing is done
// unless there are as many as the kernel wants; their number is returned.
typedef int HostKernel(HostWorkItem*, const unsigned long* arguments,
                       int count);

}  // extern "C"
