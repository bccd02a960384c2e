/*
 * The fastest plain HTTP server that is still honest, as a target for benchmarks: one thread, one reply of 100
 * bytes for each blank line received. It trusts its clients and is of no use for anything else.
 * It listens on a free loopback port and prints its number.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_EVENTS = 512, MAX_PIPELINED = 1024, READ_BYTES = 65536 };

static char replies[MAX_PIPELINED * 256];
static size_t reply_size;

static void prepare_replies(void) {
  char reply[256];
  reply_size = (size_t)snprintf(reply, sizeof reply,
                                "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/html\r\n"
                                "Content-Length: 100\r\nConnection: keep-alive\r\n\r\n%0100d", 0);
  for (int i = 0; i < MAX_PIPELINED; i++) memcpy(replies + (size_t)i * reply_size, reply, reply_size);
}

static int listen_on_free_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, 4096)) return -1;
  if (getsockname(fd, (struct sockaddr *)&address, &size)) return -1;
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  return fd;
}

static void watch(int epoll_fd, int fd) {
  struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void answer(int fd) {
  static char input[READ_BYTES];
  ssize_t size = recv(fd, input, sizeof input, 0);
  if (size <= 0) {
    close(fd);
    return;
  }
  size_t count = 0;
  char *end = input + size;
  for (char *at = input; (at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4)); at += 4) count++;
  if (count > MAX_PIPELINED) count = MAX_PIPELINED;
  if (count > 0) send(fd, replies, count * reply_size, MSG_NOSIGNAL);
}

int main(void) {
  struct epoll_event events[MAX_EVENTS];
  int yes = 1, listener = listen_on_free_port(), epoll_fd = epoll_create1(0);
  if (listener < 0 || epoll_fd < 0) return 1;
  prepare_replies();
  watch(epoll_fd, listener);
  for (;;) {
    int count = epoll_wait(epoll_fd, events, MAX_EVENTS, -1);
    for (int i = 0; i < count; i++) {
      if (events[i].data.fd != listener) {
        answer(events[i].data.fd);
        continue;
      }
      for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        watch(epoll_fd, fd);
      }
    }
  }
}
