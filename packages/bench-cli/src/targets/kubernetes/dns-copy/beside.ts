/** A program beside the server in each pod of a copy: it tells the server's memory, and can end it without warning. */
import type { V1Container, V1Pod } from '@kubernetes/client-node';
import { z } from 'zod';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import type { ClusterRun } from '../cluster-run.ts';
import { configMapOf } from '../objects/config-map.ts';
import { runLabels } from '../objects/labels.ts';
import type { ConfigMapMount } from '../objects/pods.ts';

const DIRECTORY = '/beside';
const PROGRAM = 'beside-program.mjs';
const PORT = 8099;

/** Uploads the program. */
export async function uploadBeside(
  { world, client, namespace, runId }: ClusterRun,
  signal: AbortSignal,
): Promise<ConfigMapMount> {
  const text = await world.fs.readFile(new URL(`./${PROGRAM}`, import.meta.url), 'utf8');
  const metadata = { name: 'beside', namespace, labels: runLabels(runId) };
  const files = [{ path: PROGRAM, chunks: [text] }];
  const { object, mount } = configMapOf(metadata, 'the program beside the server', files);
  await client.create('ConfigMap', object, signal);
  return mount;
}

export function besideContainer(
  image: string,
  { securityContext, imagePullPolicy }: V1Container,
  volume: string,
): V1Container {
  return {
    name: 'beside',
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: ['node', `${DIRECTORY}/${PROGRAM}`],
    env: [{ name: 'PORT', value: String(PORT) }],
    volumeMounts: [{ name: volume, mountPath: DIRECTORY, readOnly: true }],
    securityContext: { ...securityContext, capabilities: { drop: ['ALL'] } },
  };
}

/** Through the API server: the right to `get pods/proxy`. */
function ask(
  client: KubeClient,
  { metadata }: V1Pod,
  what: 'memory' | 'kill',
  signal: AbortSignal,
): Promise<string> {
  const path = `/api/v1/namespaces/${metadata?.namespace}/pods/${metadata?.name}:${PORT}/proxy/${what}`;
  return client.text(path, 'get pods/proxy', signal);
}

/** SIGKILL for the server; Kubernetes starts it again. */
export async function killServer(client: KubeClient, pod: V1Pod, signal: AbortSignal): Promise<void> {
  await ask(client, pod, 'kill', signal);
}

const memorySchema = z.object({ bytes: z.number(), peakBytes: z.number() });

/** Resident memory of the servers: all together now, and the peak of one since its start. Null if one cannot be asked. */
export async function memoryOfServers(client: KubeClient, pods: readonly V1Pod[], signal: AbortSignal) {
  try {
    const all = await Promise.all(
      pods.map(async (pod) => memorySchema.parse(JSON.parse(await ask(client, pod, 'memory', signal)))),
    );
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      peakBytes: Math.max(...all.map(({ peakBytes }) => peakBytes)),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BenchError) return null;
    throw error;
  }
}
