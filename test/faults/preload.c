/*
 * A library to preload (LD_PRELOAD; Linux, glibc). It counts the calls with which a program changes the files below one
 * folder, and fails, stops or kills at one of them. The environment says what to do:
 *
 *   KBDUMP_FAULT_FOLDER  absolute path; only calls on paths below it are counted
 *   KBDUMP_FAULT_KINDS   kinds to count, separated by commas: rename link symlink write fsync open mkdir unlink rmdir
 *                        truncate copy; default rename,link,symlink,write,fsync
 *   KBDUMP_FAULT_DO      count (default) | eio | enospc | stop (SIGSTOP, then the call) | stop-after | kill
 *   KBDUMP_FAULT_AT      number of the call that triggers the action, from 1
 *   KBDUMP_FAULT_MODE    once (default) | from: every later call of that kind fails too
 *   KBDUMP_FAULT_LOG     log file with one line per counted call: number, kind, path, second path, separated by tabs
 *
 * `open` counts only what may create a file. UV_USE_IO_URING=0 is needed: io_uring bypasses the C library.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATH_SIZE (PATH_MAX + 64)

/* The original function, which this library replaces. */
#define REAL(name)                                                         \
  ({                                                                       \
    static __typeof__(&name) found;                                        \
    if (!found) found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);        \
    found;                                                                 \
  })

enum action { COUNT, FAIL, STOP, STOP_AFTER, KILL };
enum verdict { PASS, REFUSE, PASS_AND_STOP };

static const char *folder;
static const char *kinds = "rename,link,symlink,write,fsync";
static enum action action = COUNT;
static int error;
static long at;
static bool from;
static int log_file = -1;

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static long counted;
static const char *failing_kind; /* set when the n-th call is reached, in mode `from` */

static enum action action_named(const char *name) {
  if (!strcmp(name, "eio")) return error = EIO, FAIL;
  if (!strcmp(name, "enospc")) return error = ENOSPC, FAIL;
  if (!strcmp(name, "stop")) return STOP;
  if (!strcmp(name, "stop-after")) return STOP_AFTER;
  if (!strcmp(name, "kill")) return KILL;
  if (!strcmp(name, "count")) return COUNT;
  fprintf(stderr, "KBDUMP_FAULT_DO=%s is not known\n", name);
  _exit(99);
}

__attribute__((constructor)) static void read_environment(void) {
  folder = getenv("KBDUMP_FAULT_FOLDER");
  const char *wanted = getenv("KBDUMP_FAULT_KINDS"), *what = getenv("KBDUMP_FAULT_DO");
  const char *number = getenv("KBDUMP_FAULT_AT"), *mode = getenv("KBDUMP_FAULT_MODE");
  const char *log_path = getenv("KBDUMP_FAULT_LOG");
  if (wanted) kinds = wanted;
  if (what) action = action_named(what);
  if (number) at = atol(number);
  from = mode && !strcmp(mode, "from");
  if (log_path) log_file = REAL(open)(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static bool is_wanted(const char *kind) {
  size_t length = strlen(kind);
  for (const char *each = kinds; each; each = strchr(each, ',')) {
    if (*each == ',') each++;
    if (!strncmp(each, kind, length) && (each[length] == ',' || !each[length])) return true;
  }
  return false;
}

static bool is_below(const char *path) {
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && path[length] == '/';
}

static void path_of_fd(int fd, char *into) {
  char link_name[64];
  snprintf(link_name, sizeof link_name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link_name, into, PATH_SIZE - 1);
  into[length < 0 ? 0 : length] = 0;
}

static void absolute_path(int directory, const char *path, char *into) {
  char above[PATH_SIZE] = "";
  if (path[0] != '/') {
    if (directory == AT_FDCWD) (void)!getcwd(above, sizeof above);
    else path_of_fd(directory, above);
  }
  int length = snprintf(into, PATH_SIZE, "%s%s%s", above, path[0] == '/' ? "" : "/", path);
  if (length >= PATH_SIZE) into[0] = 0;
}

static void log_call(long number, const char *kind, const char *path, const char *second) {
  char line[2 * PATH_SIZE + 64];
  if (log_file < 0) return;
  int length = snprintf(line, sizeof line, "%ld\t%s\t%s\t%s\n", number, kind, path, second);
  (void)!REAL(write)(log_file, line, (size_t)length);
}

/* Counts a call and decides what to do with it. Removed files keep their old paths. */
static enum verdict meet(const char *kind, const char *path, const char *second) {
  if (!is_below(path) && !is_below(second)) return PASS;
  pthread_mutex_lock(&counting);
  long number = ++counted;
  bool hit = number == at && action != COUNT;
  if (hit && action == FAIL && from) failing_kind = kind;
  bool refused = action == FAIL && (hit || (failing_kind && !strcmp(failing_kind, kind)));
  log_call(number, kind, path, second);
  pthread_mutex_unlock(&counting);
  if (refused) return errno = error, REFUSE;
  if (hit && action == KILL) raise(SIGKILL);
  if (hit && action == STOP) raise(SIGSTOP);
  return hit && action == STOP_AFTER ? PASS_AND_STOP : PASS;
}

static enum verdict meet_fd(const char *kind, int fd) {
  char path[PATH_SIZE];
  int before = errno;
  if (!folder || !is_wanted(kind)) return PASS;
  path_of_fd(fd, path);
  errno = before;
  return meet(kind, path, "");
}

static enum verdict meet_path(const char *kind, int directory, const char *name) {
  char path[PATH_SIZE];
  if (!folder || !name || !is_wanted(kind)) return PASS;
  absolute_path(directory, name, path);
  return meet(kind, path, "");
}

static enum verdict meet_paths(const char *kind, int directory, const char *one, int other, const char *two) {
  char path[PATH_SIZE], second[PATH_SIZE];
  if (!folder || !one || !two || !is_wanted(kind)) return PASS;
  absolute_path(directory, one, path);
  absolute_path(other, two, second);
  return meet(kind, path, second);
}

/* Acts on the verdict and returns from the replaced function. */
#define ANSWER(verdict_of_it, refusal, call)       \
  do {                                             \
    enum verdict verdict = verdict_of_it;          \
    if (verdict == REFUSE) return refusal;         \
    __typeof__(call) result = call;                \
    if (verdict == PASS_AND_STOP) {                \
      int after = errno;                           \
      raise(SIGSTOP);                              \
      errno = after;                               \
    }                                              \
    return result;                                 \
  } while (0)

int rename(const char *old, const char *new) {
  ANSWER(meet_paths("rename", AT_FDCWD, old, AT_FDCWD, new), -1, REAL(rename)(old, new));
}
int renameat(int old_fd, const char *old, int new_fd, const char *new) {
  ANSWER(meet_paths("rename", old_fd, old, new_fd, new), -1, REAL(renameat)(old_fd, old, new_fd, new));
}
int renameat2(int old_fd, const char *old, int new_fd, const char *new, unsigned flags) {
  ANSWER(meet_paths("rename", old_fd, old, new_fd, new), -1, REAL(renameat2)(old_fd, old, new_fd, new, flags));
}
int link(const char *old, const char *new) {
  ANSWER(meet_paths("link", AT_FDCWD, old, AT_FDCWD, new), -1, REAL(link)(old, new));
}
int linkat(int old_fd, const char *old, int new_fd, const char *new, int flags) {
  ANSWER(meet_paths("link", old_fd, old, new_fd, new), -1, REAL(linkat)(old_fd, old, new_fd, new, flags));
}
int symlink(const char *target, const char *path) {
  ANSWER(meet_path("symlink", AT_FDCWD, path), -1, REAL(symlink)(target, path));
}
int symlinkat(const char *target, int fd, const char *path) {
  ANSWER(meet_path("symlink", fd, path), -1, REAL(symlinkat)(target, fd, path));
}

ssize_t write(int fd, const void *bytes, size_t size) {
  ANSWER(meet_fd("write", fd), -1, REAL(write)(fd, bytes, size));
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t place) {
  ANSWER(meet_fd("write", fd), -1, REAL(pwrite)(fd, bytes, size, place));
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t place) {
  ANSWER(meet_fd("write", fd), -1, REAL(pwrite64)(fd, bytes, size, place));
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  ANSWER(meet_fd("write", fd), -1, REAL(writev)(fd, pieces, count));
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t place) {
  ANSWER(meet_fd("write", fd), -1, REAL(pwritev)(fd, pieces, count, place));
}
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off64_t place) {
  ANSWER(meet_fd("write", fd), -1, REAL(pwritev64)(fd, pieces, count, place));
}

int fsync(int fd) { ANSWER(meet_fd("fsync", fd), -1, REAL(fsync)(fd)); }
int fdatasync(int fd) { ANSWER(meet_fd("fsync", fd), -1, REAL(fdatasync)(fd)); }

int ftruncate(int fd, off_t size) { ANSWER(meet_fd("truncate", fd), -1, REAL(ftruncate)(fd, size)); }
int ftruncate64(int fd, off64_t size) { ANSWER(meet_fd("truncate", fd), -1, REAL(ftruncate64)(fd, size)); }

ssize_t sendfile(int to, int source, off_t *place, size_t size) {
  ANSWER(meet_fd("copy", to), -1, REAL(sendfile)(to, source, place, size));
}
ssize_t sendfile64(int to, int source, off64_t *place, size_t size) {
  ANSWER(meet_fd("copy", to), -1, REAL(sendfile64)(to, source, place, size));
}
ssize_t copy_file_range(int source, off64_t *begin, int to, off64_t *place, size_t size, unsigned flags) {
  ANSWER(meet_fd("copy", to), -1, REAL(copy_file_range)(source, begin, to, place, size, flags));
}

int mkdir(const char *path, mode_t mode) {
  ANSWER(meet_path("mkdir", AT_FDCWD, path), -1, REAL(mkdir)(path, mode));
}
int unlink(const char *path) { ANSWER(meet_path("unlink", AT_FDCWD, path), -1, REAL(unlink)(path)); }
int rmdir(const char *path) { ANSWER(meet_path("rmdir", AT_FDCWD, path), -1, REAL(rmdir)(path)); }
int unlinkat(int fd, const char *path, int flags) {
  const char *kind = flags & AT_REMOVEDIR ? "rmdir" : "unlink";
  ANSWER(meet_path(kind, fd, path), -1, REAL(unlinkat)(fd, path, flags));
}

/* The mode argument exists only if the call may create a file. */
#define MODE_AFTER(flags)                                     \
  ({                                                          \
    mode_t given = 0;                                         \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                  \
      va_list rest;                                           \
      va_start(rest, flags);                                  \
      given = va_arg(rest, mode_t);                           \
      va_end(rest);                                           \
    }                                                         \
    given;                                                    \
  })

int open(const char *path, int flags, ...) {
  mode_t mode = MODE_AFTER(flags);
  ANSWER(flags & O_CREAT ? meet_path("open", AT_FDCWD, path) : PASS, -1, REAL(open)(path, flags, mode));
}
int open64(const char *path, int flags, ...) {
  mode_t mode = MODE_AFTER(flags);
  ANSWER(flags & O_CREAT ? meet_path("open", AT_FDCWD, path) : PASS, -1, REAL(open64)(path, flags, mode));
}
int openat(int fd, const char *path, int flags, ...) {
  mode_t mode = MODE_AFTER(flags);
  ANSWER(flags & O_CREAT ? meet_path("open", fd, path) : PASS, -1, REAL(openat)(fd, path, flags, mode));
}
int openat64(int fd, const char *path, int flags, ...) {
  mode_t mode = MODE_AFTER(flags);
  ANSWER(flags & O_CREAT ? meet_path("open", fd, path) : PASS, -1, REAL(openat64)(fd, path, flags, mode));
}

/* libuv makes some calls by number. No system call has more than six arguments. */
long syscall(long number, ...) {
  long with[6];
  va_list rest;
  va_start(rest, number);
  for (int each = 0; each < 6; each++) with[each] = va_arg(rest, long);
  va_end(rest);
  enum verdict met = PASS;
  if (number == SYS_copy_file_range) met = meet_fd("copy", (int)with[2]);
  if (number == SYS_renameat2)
    met = meet_paths("rename", (int)with[0], (const char *)with[1], (int)with[2], (const char *)with[3]);
  ANSWER(met, -1, REAL(syscall)(number, with[0], with[1], with[2], with[3], with[4], with[5]));
}
