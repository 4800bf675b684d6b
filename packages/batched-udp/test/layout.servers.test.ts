/** The layouts and numbers of the table against those of this machine's C headers. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { needs } from '@dinodns-bench/test-support';
import { expect, it } from 'vitest';
import { constants, layout, timestampCmsgLength } from '../src/native/layout.ts';
import { sourceMessages } from '../src/native/source-address.ts';

const run = promisify(execFile);

/** The C type of each struct of the table; fields keep their names, but for those inside `msg_hdr`. */
const types: Record<keyof typeof layout, string> = {
  mmsghdr: 'struct mmsghdr',
  iovec: 'struct iovec',
  sockaddr_in: 'struct sockaddr_in',
  sockaddr_in6: 'struct sockaddr_in6',
  cmsghdr: 'struct cmsghdr',
  in_pktinfo: 'struct in_pktinfo',
  in6_pktinfo: 'struct in6_pktinfo',
  pollfd: 'struct pollfd',
  timespec: 'struct timespec',
  itimerspec: 'struct itimerspec',
  sock_filter: 'struct sock_filter',
  sock_fprog: 'struct sock_fprog',
};

const fieldOf = (type: string, field: string) =>
  type === 'struct mmsghdr' && field !== 'msg_len' ? `msg_hdr.${field}` : field;

function program(): string {
  const lines = Object.entries(layout).flatMap(([name, fields]) => {
    const type = types[name as keyof typeof layout];
    return Object.keys(fields).map((field) => {
      const value = field === 'size' ? `sizeof(${type})` : `offsetof(${type}, ${fieldOf(type, field)})`;
      return `  printf("${name}.${field} %ld\\n", (long)${value});`;
    });
  });
  const numbers = Object.keys(constants).map((name) => `  printf("${name} %ld\\n", (long)${name});`);
  return `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#ifndef SCM_TIMESTAMPNS
#define SCM_TIMESTAMPNS SO_TIMESTAMPNS
#endif
int main(void) {
${[...lines, ...numbers].join('\n')}
  printf("CMSG_LEN %ld\\n", (long)CMSG_LEN(sizeof(struct timespec)));
  printf("CMSG_SPACE4 %ld\\n", (long)CMSG_SPACE(sizeof(struct in_pktinfo)));
  printf("CMSG_SPACE6 %ld\\n", (long)CMSG_SPACE(sizeof(struct in6_pktinfo)));
  printf("CMSG_SPACE %ld\\n", (long)CMSG_SPACE(sizeof(struct timespec)));
  unsigned short one = 1;
  printf("littleEndian %d\\n", *(unsigned char *)&one);
}
`;
}

it("has the layouts of this machine's C compiler", needs('cc'), async () => {
  const directory = await mkdtemp(join(tmpdir(), 'batched-udp-layout-'));
  try {
    const source = join(directory, 'layout.c');
    const binary = join(directory, 'layout');
    await writeFile(source, program());
    await run('cc', ['-o', binary, source]);
    const { stdout } = await run(binary);
    const measured = Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .map(([name = '', value]) => [name, Number(value)]),
    );
    const expected = Object.fromEntries([
      ...Object.entries(layout).flatMap(([name, fields]) =>
        Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]),
      ),
      ...Object.entries(constants),
      ['CMSG_LEN', timestampCmsgLength],
      ['CMSG_SPACE', timestampCmsgLength],
      ['CMSG_SPACE4', sourceMessages[4].space],
      ['CMSG_SPACE6', sourceMessages[6].space],
      ['littleEndian', 1],
    ]);
    expect(measured).toEqual(expected);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
