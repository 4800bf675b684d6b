/*
 * The ceiling for a DNS server on UDP: takes datagrams with recvmmsg(2), sets the QR bit so that a DNS client
 * takes them for responses, and sends them back with sendmmsg(2). Nothing else, in one thread.
 *
 *   cc -O2 -o udp-echo udp-echo.c
 *   ./udp-echo --address 127.0.0.1 --port 0
 *
 * Options: --address (IPv4 or IPv6 literal, default 127.0.0.1), --port (default 0: the kernel chooses),
 * --batch (datagrams per call, 1 to 1024, default 64), --reuse-port (SO_REUSEPORT),
 * --receive-buffer (bytes to request with SO_RCVBUF, which net.core.rmem_max caps; default 1048576; 0: the kernel's
 * size). 1 MiB is what the server of dinodns-bench and NSD request. Linux's default of 212,992 bytes holds 277 small
 * datagrams, or 5.5 ms of 50,000 a second: an echo that loses its CPU for longer would lose what that server keeps.
 * Prints {"ready":true,"address":…,"port":…,"pid":…} and stops on SIGTERM or SIGINT with status 0.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { max_batch = 1024, slot_bytes = 4096, slot_stride = 4096 + 64 };

static struct mmsghdr messages[max_batch];
static struct iovec vectors[max_batch];
static struct sockaddr_in6 names[max_batch];
static unsigned char slots[max_batch * slot_stride];

static void fail(const char *what) {
  fprintf(stderr, "udp-echo: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void stop(int signal) {
  (void)signal;
  _exit(0);
}

static int listen_on(const char *address, int port, int reuse_port, int receive_buffer) {
  struct sockaddr_in6 name = {0};
  struct sockaddr_in *v4 = (struct sockaddr_in *)&name;
  socklen_t length = sizeof *v4;
  if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
  } else if (inet_pton(AF_INET6, address, &name.sin6_addr) == 1) {
    name.sin6_family = AF_INET6;
    length = sizeof name;
  } else {
    errno = EINVAL;
    fail(address);
  }
  v4->sin_port = htons((unsigned short)port);
  int fd = socket(v4->sin_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  if (reuse_port && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &reuse_port, sizeof reuse_port) < 0) fail("SO_REUSEPORT");
  if (receive_buffer > 0 && setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer) < 0)
    fail("SO_RCVBUF");
  if (bind(fd, (struct sockaddr *)&name, length) < 0) fail("bind");
  if (getsockname(fd, (struct sockaddr *)&name, &length) < 0) fail("getsockname");
  printf("{\"ready\":true,\"address\":\"%s\",\"port\":%d,\"pid\":%d}\n", address, ntohs(v4->sin_port), (int)getpid());
  fflush(stdout);
  return fd;
}

static void lay_messages(int batch) {
  for (int i = 0; i < batch; i++) {
    vectors[i].iov_base = slots + (size_t)i * slot_stride;
    messages[i].msg_hdr.msg_iov = &vectors[i];
    messages[i].msg_hdr.msg_iovlen = 1;
    messages[i].msg_hdr.msg_name = &names[i];
  }
}

static void echo(int fd, int batch) {
  for (;;) {
    for (int i = 0; i < batch; i++) {
      vectors[i].iov_len = slot_bytes;
      messages[i].msg_hdr.msg_namelen = sizeof names[i];
    }
    int count = recvmmsg(fd, messages, (unsigned)batch, MSG_WAITFORONE, NULL);
    if (count < 0) {
      if (errno == EINTR) continue;
      fail("recvmmsg");
    }
    for (int i = 0; i < count; i++) {
      vectors[i].iov_len = messages[i].msg_len;
      if (messages[i].msg_len > 2) slots[(size_t)i * slot_stride + 2] |= 0x80;
    }
    for (int sent = 0; sent < count;) {
      int taken = sendmmsg(fd, messages + sent, (unsigned)(count - sent), 0);
      if (taken < 0 && errno == EINTR) continue;
      sent += taken > 0 ? taken : 1; /* One that the kernel refuses is left out. */
    }
  }
}

int main(int argc, char **argv) {
  const char *address = "127.0.0.1";
  int port = 0, batch = 64, reuse_port = 0, receive_buffer = 1 << 20;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--reuse-port") == 0) {
      reuse_port = 1;
    } else if (strcmp(argv[i], "--address") == 0 && i + 1 < argc) {
      address = argv[++i];
    } else if (strcmp(argv[i], "--port") == 0 && i + 1 < argc) {
      port = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--batch") == 0 && i + 1 < argc) {
      batch = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--receive-buffer") == 0 && i + 1 < argc) {
      receive_buffer = atoi(argv[++i]);
    } else {
      fprintf(stderr, "udp-echo: %s: unknown, or without value; see the head of udp-echo.c\n", argv[i]);
      return 2;
    }
  }
  if (batch < 1 || batch > max_batch || port < 0 || port > 65535 || receive_buffer < 0) {
    fprintf(stderr, "udp-echo: --batch is 1 to %d, --port 0 to 65535, --receive-buffer 0 or more bytes\n", max_batch);
    return 2;
  }
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  lay_messages(batch);
  echo(listen_on(address, port, reuse_port, receive_buffer), batch);
}
