// Replaced parts of Emscripten's runtime in JavaScript.
mergeInto(LibraryManager.library, {
  // Reads at an offset of 64 bits; its own takes the lower 32 of them as a signed
  // number, and so no file is right that has more than 2 GiB. What is thrown on the
  // way is an error of this read: as an exception it would run through the library,
  // or, where a thread asks for the read, through the queue of such calls, from
  // which nothing is taken afterwards.
  fd_pread__deps: ["$SYSCALLS", "$FS"],
  fd_pread__proxy: "sync",
  fd_pread__sig: "iiiiji",
  fd_pread: function (fd, iov, iovcnt, offset, pnum) {
    try {
      var stream = SYSCALLS.getStreamFromFD(fd);
      var num = SYSCALLS.doReadv(stream, iov, iovcnt, Number(offset));
      {{{ makeSetValue('pnum', 0, 'num', 'i32') }}};
      return 0;
    } catch (e) {
      return e instanceof FS.ErrnoError ? e.errno : {{{ cDefine('EIO') }}};
    }
  },
});
