/*
 * Runs a command and says on the last line of stderr what all its processes have used, as wait4(2) reports it:
 * "stopwatch USER_US SYSTEM_US PEAK_RESIDENT_KIB". The shell's `time` counts the same, without the memory.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long microseconds(struct timeval time) { return time.tv_sec * 1000000LL + time.tv_usec; }

int main(int count, char **words) {
  struct rusage used;
  int status = 0;
  if (count < 2) return 2;
  pid_t child = fork();
  if (child == 0) {
    execvp(words[1], words + 1);
    perror(words[1]);
    _exit(127);
  }
  if (child < 0 || wait4(child, &status, 0, &used) < 0) return 1;
  fprintf(stderr, "\nstopwatch %lld %lld %ld\n", microseconds(used.ru_utime), microseconds(used.ru_stime),
          used.ru_maxrss);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
