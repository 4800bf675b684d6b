/** A program beside the server in each pod of a copy: it tells the server's memory, and can end it without warning. */
import type { V1Container, V1Pod } from '@kubernetes/client-node';
import { z } from 'zod';
import { BenchError } from '../../../errors.ts';
import type { KubeClient } from '../../../kubernetes-api/client.ts';
import type { ClusterRun } from '../cluster-run.ts';
import { runLabels } from '../objects/labels.ts';
import type { ConfigMapMount } from '../objects/pods.ts';
import { programFile, programName, uploadFiles } from '../programs.ts';

const DIRECTORY = '/beside';
const PROGRAM = new URL('./beside-program.mjs', import.meta.url);
const PORT = 8099;

/** Uploads the program. */
export function uploadBeside(run: ClusterRun, signal: AbortSignal): Promise<ConfigMapMount> {
  const upload = { name: 'beside', labels: runLabels(run.runId), files: [programFile(PROGRAM)] };
  return uploadFiles(run, { ...upload, what: 'the program beside the server' }, signal);
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
    command: ['node', `${DIRECTORY}/${programName(PROGRAM)}`],
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

/** Resident memory of the servers together: now, and the sum of their peaks since each started. Null if one cannot be asked. */
export async function memoryOfServers(client: KubeClient, pods: readonly V1Pod[], signal: AbortSignal) {
  try {
    const all = await Promise.all(
      pods.map(async (pod) => memorySchema.parse(JSON.parse(await ask(client, pod, 'memory', signal)))),
    );
    return {
      bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
      peakBytes: all.reduce((sum, { peakBytes }) => sum + peakBytes, 0),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BenchError) return null;
    throw error;
  }
}
