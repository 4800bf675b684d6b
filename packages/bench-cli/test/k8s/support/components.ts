/**
 * The cluster's own processes, for tests that stop them. Only where they can be reached: the scripts of the test cluster say
 * where their pid files are, and what command starts again those that have ended.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

export const { BENCH_K8S_COMPONENTS, BENCH_K8S_REPAIR } = process.env;
const run = promisify(execFile);

/** Pid of a component, from its pid file. */
export async function pidOf(component: string): Promise<number> {
  const text = await readFile(join(BENCH_K8S_COMPONENTS ?? '', `${component}.pid`), 'utf8');
  return Number(text.split(' ')[0]);
}

/** What it starts belongs to the cluster: without the marks by which the end of a test file finds what it left behind. */
export async function repairCluster(): Promise<void> {
  const [program = '', ...args] = (BENCH_K8S_REPAIR ?? '').split(' ');
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('DINODNS_TEST_'));
  await run(program, args, { env: { ...Object.fromEntries(env), TMPDIR: '/tmp' } });
}

/** Resolves when it has ended: what starts it again must not find it running. */
export async function killComponent(component: string): Promise<void> {
  const pid = await pidOf(component);
  process.kill(pid, 'SIGKILL');
  while ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) !== '') await setTimeout(20);
}

/** Nodes of the test cluster: the control plane runs on the first. */
export const NODES = { first: 'bench-node', second: 'bench-node-2' } as const;

/** Kills the kubelet of the second node, whose containers go on; `repairCluster` starts it again. */
export const killSecondKubelet = () => killComponent('kubelet-2');

/** Cuts the second node off, as if its cable were pulled; `repairCluster` connects it again. */
export async function cutOff(): Promise<void> {
  const net = `/proc/${await pidOf('kube-apiserver')}/ns/net`;
  await run('nsenter', [`--net=${net}`, 'ip', 'link', 'set', 'node2', 'down']);
}

/** Gives an image of the first node another name there, and there only. */
export async function nameOnFirstNode(image: string, name: string): Promise<void> {
  const socket = join(dirname(BENCH_K8S_COMPONENTS ?? ''), 'ctd/containerd.sock');
  const images = ['--address', socket, '--namespace', 'k8s.io', 'images'];
  await run('ctr', [...images, 'tag', '--force', `docker.io/${image}`, `docker.io/${name}`]);
}
