# Debian's cross compiler for 64-bit ARM; programs run under qemu with all that
# it can emulate.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR
  qemu-aarch64 -cpu max -L /usr/aarch64-linux-gnu)
