/* Preloaded into a process: its nth call that writes kills it, as kill -9 does, or finds the disk full.

   Only calls on files and folders count, not those on pipes and the standard streams. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { off, die, full };
static int mode = off, left = 0;

/* From the nth call on. */
void fire_arm(int how, int n) {
  mode = how;
  left = n;
}

static int struck(int space) {
  if (mode == off || (mode == full && !space)) return 0;
  if (__atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST) > 0) return 0;
  if (mode == die) kill(getpid(), SIGKILL);
  errno = ENOSPC;
  return 1;
}

static int is_file(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  if (fd > 2 && is_file(fd) && struck(1)) return -1;
  return NEXT(write)(fd, data, size);
}
int fsync(int fd) { return struck(1) ? -1 : NEXT(fsync)(fd); }
int ftruncate(int fd, off_t size) { return struck(0) ? -1 : NEXT(ftruncate)(fd, size); }
int rename(const char* from, const char* to) { return struck(1) ? -1 : NEXT(rename)(from, to); }
int unlink(const char* path) { return struck(0) ? -1 : NEXT(unlink)(path); }
static int opened(__typeof__(&open) next, const char* path, int flags, mode_t bits) {
  if ((flags & O_CREAT) && struck(1)) return -1;
  return next(path, flags, bits);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t bits = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened(NEXT(open), path, flags, bits);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t bits = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return opened(NEXT(open64), path, flags, bits);
}
