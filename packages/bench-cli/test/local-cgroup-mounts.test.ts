import { describe, expect, test } from 'vitest';
import { ownCgroupDirectory, parseCgroupMounts, parseOwnCgroup } from '../src/targets/local/cgroup-mounts.ts';

describe('finding control groups', () => {
  const HYBRID = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`;

  test('mounts are read from mountinfo', () => {
    expect(parseCgroupMounts(HYBRID)).toEqual([
      {
        version: 1,
        controllers: ['rw', 'cpu', 'cpuacct'],
        mountPoint: '/sys/fs/cgroup/cpu,cpuacct',
        root: '/',
      },
      { version: 2, controllers: [], mountPoint: '/sys/fs/cgroup/unified', root: '/' },
    ]);
  });

  test('our own group is found for each controller and for version 2', () => {
    const own = '4:memory:/a\n3:cpu,cpuacct:/user/b\n0::/user.slice/x:y.scope\n';
    expect(parseOwnCgroup(own, 'cpuacct')).toBe('/user/b');
    expect(parseOwnCgroup(own, null)).toBe('/user.slice/x:y.scope');
    expect(parseOwnCgroup(own, 'pids')).toBeNull();
    expect(ownCgroupDirectory(HYBRID, own, 'cpu')?.directory).toBe('/sys/fs/cgroup/cpu,cpuacct/user/b');
    expect(ownCgroupDirectory(HYBRID, own, null)?.directory).toBe(
      '/sys/fs/cgroup/unified/user.slice/x:y.scope',
    );
  });

  test('in a container only what is mounted there can be seen', () => {
    const mounted = '41 31 0:38 /docker/123 /sys/fs/cgroup ro - cgroup cgroup rw,cpu\n';
    expect(ownCgroupDirectory(mounted, '1:cpu:/docker/123\n', 'cpu')?.directory).toBe('/sys/fs/cgroup');
    expect(ownCgroupDirectory(mounted, '1:cpu:/docker/123/sub\n', 'cpu')?.directory).toBe(
      '/sys/fs/cgroup/sub',
    );
  });
});
