/*
 * Fills the connection tracking table of its network namespace: fill-conntrack MAX LEAVE adds entries until MAX - LEAVE are
 * there (MAX: net.netfilter.nf_conntrack_max, which is the same for all namespaces, while each counts its own entries).
 * Prints how many it added.
 *
 * Each is a UDP flow between addresses for benchmarks (RFC 2544) that has seen answers: a full table makes room by dropping
 * flows that have not. They are made through netlink, as `conntrack -I` does, because flows of real packets become such
 * entries only after two seconds. They last for ten minutes, or as long as the namespace.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_conntrack.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Messages of one system call: some 40 kB, which every socket accepts. */
#define BATCH 256
#define SECONDS 600

static char buffer[BATCH * 256];
static size_t length;

static void *put(uint16_t type, const void *data, size_t size) {
  struct nlattr *attribute = (struct nlattr *)(buffer + length);
  attribute->nla_type = type;
  attribute->nla_len = (uint16_t)(NLA_HDRLEN + size);
  if (size > 0) memcpy((char *)attribute + NLA_HDRLEN, data, size);
  length += NLA_ALIGN(attribute->nla_len);
  return attribute;
}

static struct nlattr *begin(uint16_t type) { return put(type | NLA_F_NESTED, NULL, 0); }

static void end(struct nlattr *nest) { nest->nla_len = (uint16_t)(buffer + length - (char *)nest); }

/* One direction of a flow. */
static void put_tuple(uint16_t type, uint32_t from, uint32_t to, uint16_t from_port, uint16_t to_port) {
  uint32_t addresses[] = {htonl(from), htonl(to)};
  uint16_t ports[] = {htons(from_port), htons(to_port)};
  uint8_t protocol = IPPROTO_UDP;
  struct nlattr *tuple = begin(type), *nest = begin(CTA_TUPLE_IP);
  put(CTA_IP_V4_SRC, &addresses[0], sizeof addresses[0]);
  put(CTA_IP_V4_DST, &addresses[1], sizeof addresses[1]);
  end(nest);
  nest = begin(CTA_TUPLE_PROTO);
  put(CTA_PROTO_NUM, &protocol, sizeof protocol);
  put(CTA_PROTO_SRC_PORT, &ports[0], sizeof ports[0]);
  put(CTA_PROTO_DST_PORT, &ports[1], sizeof ports[1]);
  end(nest);
  end(tuple);
}

static void put_flow(uint32_t number) {
  struct nlmsghdr *header = (struct nlmsghdr *)(buffer + length);
  struct nfgenmsg family = {.nfgen_family = AF_INET, .version = NFNETLINK_V0, .res_id = 0};
  uint32_t status = htonl(IPS_CONFIRMED | IPS_SEEN_REPLY | IPS_ASSURED), timeout = htonl(SECONDS);
  /* 198.18.0.0/15: one address for each 50,000 ports. */
  uint32_t client = 0xc6120001 + number / 50000, server = 0xc6130001;
  uint16_t port = (uint16_t)(10000 + number % 50000);
  *header = (struct nlmsghdr){
      .nlmsg_type = NFNL_SUBSYS_CTNETLINK << 8 | IPCTNL_MSG_CT_NEW,
      .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL,
      .nlmsg_seq = number,
  };
  length += NLMSG_HDRLEN;
  memcpy(buffer + length, &family, sizeof family);
  length += NLMSG_ALIGN(sizeof family);
  put_tuple(CTA_TUPLE_ORIG, client, server, port, 53);
  put_tuple(CTA_TUPLE_REPLY, server, client, 53, port);
  put(CTA_STATUS, &status, sizeof status);
  put(CTA_TIMEOUT, &timeout, sizeof timeout);
  header->nlmsg_len = (uint32_t)(buffer + length - (char *)header);
}

/* The error of the first message that failed; 0 for none. There is no answer to one that succeeded. */
static int first_error(int socket) {
  char answer[8192];
  ssize_t size = recv(socket, answer, sizeof answer, MSG_DONTWAIT);
  if (size < 0) return errno == EAGAIN ? 0 : errno;
  struct nlmsghdr *header = (struct nlmsghdr *)answer;
  if (header->nlmsg_type != NLMSG_ERROR) return EPROTO;
  return -((struct nlmsgerr *)NLMSG_DATA(header))->error;
}

static void fail(const char *what, int error) {
  fprintf(stderr, "fill-conntrack: %s: %s\n", what, strerror(error));
  exit(1);
}

static long entries(void) {
  long count = -1;
  FILE *file = fopen("/proc/sys/net/netfilter/nf_conntrack_count", "r");
  if (file == NULL || fscanf(file, "%ld", &count) != 1) fail("nf_conntrack_count", errno);
  fclose(file);
  return count;
}

int main(int argc, char **argv) {
  if (argc != 3) fail("usage: fill-conntrack MAX LEAVE", EINVAL);
  long missing = atol(argv[1]) - atol(argv[2]) - entries();
  int netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER);
  if (netlink < 0) fail("socket", errno);
  for (long added = 0; added < missing;) {
    length = 0;
    for (int i = 0; i < BATCH && added < missing; i += 1) put_flow((uint32_t)added++);
    if (send(netlink, buffer, length, 0) != (ssize_t)length) fail("send", errno);
    int error = first_error(netlink);
    if (error != 0) fail("an entry", error);
  }
  printf("%ld\n", missing);
  return 0;
}
