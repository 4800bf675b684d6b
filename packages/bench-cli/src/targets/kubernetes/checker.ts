/**
 * The answer check inside the cluster: a Job sends every query of the workload to the Service and writes the raw
 * answers to its log; a `DnsClient` then answers from them.
 */
import { messageOf } from '@dinodns-bench/program';
import { type DecodedAnswer, type DnsClient, type DnsQuery, DnsQueryError } from '../../dns/client.ts';
import type { Endpoint } from '../../dns/endpoint.ts';
import { decodeAnswer, encodeQuery } from '../../dns/message.ts';
import { BenchError } from '../../errors.ts';
import type { Transport } from '../../results/record.ts';
import type { BenchWorkload } from '../../workload/workload.ts';
import type { ClusterRun } from './cluster-run.ts';
import { authorityFiles } from './objects/encryption.ts';
import { runOnce } from './run-job.ts';

/** Queries of one Job: their wire form in base64 has to fit into a ConfigMap. */
const QUERIES_PER_JOB = 8000;

/** Limit of a Job, in addition to the time for readiness: waiting for 8,000 lost queries is pointless. */
const CHECK_SECONDS = 120;
const READY_SECONDS = 30;

export interface CheckRequest {
  readonly service: Endpoint;
  /** Every instance behind the Service. */
  readonly pods: readonly Endpoint[];
  readonly transport: Transport;
  readonly workload: BenchWorkload;
  /** A query that a server answers once it has loaded its zones. */
  readonly readiness: DnsQuery;
  readonly signal: AbortSignal;
}

const PROGRAM = new URL('./checker-program.mjs', import.meta.url);

const keyOf = ({ name, type }: DnsQuery) => `${name.replace(/\.$/, '')} ${type}`;
const endpointText = ({ address, port }: Endpoint) => `${address}:${port}`;

/** A line of the program: the answer's bytes, or what went wrong. Null for other lines. */
export function parseCheckerLine(line: string): { index: number; answer: Buffer | string } | null {
  const [, index, failed, rest] = /^(\d+) (!?)(.*)$/.exec(line) ?? [];
  if (index === undefined || rest === undefined) return null;
  return { index: Number(index), answer: failed === '!' ? rest : Buffer.from(rest, 'base64') };
}

async function askAll(
  run: ClusterRun,
  request: Omit<CheckRequest, 'workload'>,
  queries: readonly DnsQuery[],
): Promise<ReadonlyMap<string, Buffer | string>> {
  const { signal, transport, service, pods, readiness } = request;
  const { trust } = service;
  const all = [readiness, ...queries];
  const text = all.map((query) => encodeQuery(0, query).toString('base64')).join('\n');
  const { exitCode, lines } = await runOnce(run, {
    ...{ name: 'check', label: 'checker', image: run.images.checker, what: 'the answer check', signal },
    program: PROGRAM,
    env: {
      PODS: pods.map(endpointText).join(','),
      SERVICE: endpointText(service),
      TRANSPORT: transport,
      ...(trust === undefined ? {} : { SERVER_NAME: trust.serverName, AUTHORITY: trust.authorityFile }),
      READY_SECONDS: String(READY_SECONDS),
    },
    files: { list: [{ path: 'queries.txt', chunks: [text] }, ...authorityFiles(trust)] },
    runSeconds: READY_SECONDS * (pods.length + 1) + CHECK_SECONDS,
  });
  const answers = new Map<string, Buffer | string>();
  const said: string[] = [];
  for (const line of lines) {
    const parsed = parseCheckerLine(line);
    const query = parsed === null ? undefined : all[parsed.index];
    // Index 0 is the readiness query.
    if (parsed === null || query === undefined) said.push(line);
    else if (parsed.index > 0) answers.set(keyOf(query), parsed.answer);
  }
  if (exitCode !== 0 || !said.includes('done')) throw notAnswering(said, exitCode);
  return answers;
}

function notAnswering(said: readonly string[], exitCode: number | null): BenchError {
  const notReady = said.map((line) => /^not-ready (\S+) (.*)$/.exec(line)).find((match) => match !== null);
  if (notReady !== undefined) {
    return new BenchError(
      'E_SERVER_START',
      `the server did not answer at ${notReady[1]} within ${READY_SECONDS} seconds: ${notReady[2]}`,
      {
        fix: 'Its pods run but do not answer inside the cluster: check their logs and the network policies.',
      },
    );
  }
  return new BenchError('E_LOADER_FAILED', `the answer check failed (exit status ${exitCode})`, {
    evidence: said.slice(-10),
    fix: 'It runs in the image given by --dinodns-image, which must contain Node.js.',
  });
}

/** Resolves once all pods and the Service answer: pods that are ready do so at once, kube-proxy may still refuse them. */
export async function waitUntilReached(
  run: ClusterRun,
  request: Omit<CheckRequest, 'workload'>,
): Promise<void> {
  await askAll(run, request, []);
}

/** Sends every distinct query of the workload inside the cluster; the client answers from the results. */
export async function openCheckedClient(run: ClusterRun, request: CheckRequest): Promise<DnsClient> {
  const answers = new Map<string, Buffer | string>();
  const queries = [...request.workload.queries()];
  for (let from = 0; from < queries.length; from += QUERIES_PER_JOB) {
    const part = await askAll(run, request, queries.slice(from, from + QUERIES_PER_JOB));
    for (const [key, answer] of part) answers.set(key, answer);
  }
  return {
    async ask(query): Promise<DecodedAnswer> {
      const answer = answers.get(keyOf(query));
      if (answer === undefined) throw new DnsQueryError('closed', query, 'it was not sent');
      if (typeof answer === 'string') throw new DnsQueryError('timeout', query, answer);
      try {
        return decodeAnswer(answer, query);
      } catch (cause) {
        const shown = answer.subarray(0, 32).toString('hex');
        throw new DnsQueryError('undecodable', query, `cannot decode ${shown} (${messageOf(cause)})`, cause);
      }
    },
    close: () => undefined,
  };
}
