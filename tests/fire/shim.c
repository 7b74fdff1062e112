/* Preloaded into a process: its nth call that writes kills it, as kill -9 does, or finds the disk full; its nth call
   that reads or writes is where a signal arrives; or its clock jumps at the nth look at it.

   Only calls on files and folders count, not those on pipes and the standard streams. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

enum { off, die, full, interrupt, terminate, back, ahead };
static int mode = off, left = 0;

/* From the nth call on; a signal comes once. */
void fire_arm(int how, int n) {
  left = n;
  mode = how;
}
/* Processes that nobody arms, from their first call on: FIRE="MODE N". */
__attribute__((constructor)) static void arm_from_environment(void) {
  const char* how = getenv("FIRE");
  char* end;
  if (how == NULL) return;
  const long first = strtol(how, &end, 10);
  fire_arm((int)first, (int)strtol(end, NULL, 10));
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Whether it is time; the first time, a file says so. */
static int due(void) {
  const int before = __atomic_fetch_sub(&left, 1, __ATOMIC_SEQ_CST);
  if (before == 0) close(NEXT(open)(".fired", O_CREAT | O_WRONLY, 0600));
  return before <= 0;
}

/* Any call on a file: a moment at which a signal may arrive. */
static void reached(void) {
  if ((mode != interrupt && mode != terminate) || !due()) return;
  const int number = mode == interrupt ? SIGINT : SIGTERM;
  mode = off;
  kill(getpid(), number);
}

static int struck(int space) {
  reached();
  if ((mode != die && mode != full) || (mode == full && !space) || !due()) return 0;
  if (mode == die) kill(getpid(), SIGKILL);
  errno = ENOSPC;
  return 1;
}

static int is_file(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

ssize_t write(int fd, const void* data, size_t size) {
  if (fd > 2 && is_file(fd) && struck(1)) return -1;
  return NEXT(write)(fd, data, size);
}
ssize_t read(int fd, void* data, size_t size) {
  if (mode != off && fd > 2 && is_file(fd)) reached();
  return NEXT(read)(fd, data, size);
}
int fsync(int fd) { return struck(1) ? -1 : NEXT(fsync)(fd); }
int ftruncate(int fd, off_t size) { return struck(0) ? -1 : NEXT(ftruncate)(fd, size); }
int rename(const char* from, const char* to) { return struck(1) ? -1 : NEXT(rename)(from, to); }
int unlink(const char* path) { return struck(0) ? -1 : NEXT(unlink)(path); }
static int opened(__typeof__(&open) next, const char* path, int flags, mode_t bits) {
  if (!(flags & O_CREAT)) reached();
  else if (struck(1)) return -1;
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

/* Ten years back or ahead, and at every second look where it was. */
int clock_gettime(clockid_t which, struct timespec* now) {
  const int failed = NEXT(clock_gettime)(which, now);
  if ((mode == back || mode == ahead) && which == CLOCK_REALTIME && !failed && due() && left % 2 == 0)
    now->tv_sec += mode == back ? -315360000 : 315360000;
  return failed;
}
