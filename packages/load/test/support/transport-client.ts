/** Drives a transport as the engine does, for one question at a time or a window of them. */
import { encodeQuery, FLAG, parseName } from '@dinodns-bench/wire';
import { openConnections } from '../../src/transport/open.ts';
import type { LaneFailure, Transport, TransportRequest } from '../../src/transport/transport.ts';

type StreamOptions = TransportRequest['stream'];

export const DEFAULT_STREAM: StreamOptions = {
  queriesPerConnection: null,
  pipelining: null,
  serverName: null,
  verify: true,
  caFile: null,
  path: '/dns-query',
  method: 'POST',
};

export interface Seen {
  /** By id: the answer. */
  readonly answers: Map<number, Buffer>;
  readonly garbage: { id: number | null; reason: string }[];
  /** Connections that came up. */
  connections: number;
  readonly failures: { lane: number; failure: LaneFailure; message: string }[];
}

export interface TestClient {
  readonly transport: Transport;
  readonly seen: Seen;
  /** Sends a query as soon as the lane takes it. */
  ask(lane: number, id: number, name: string, type?: number): Promise<void>;
  /** Waits until the condition holds; rejects after 20 seconds. */
  until(condition: () => boolean): Promise<void>;
}

export async function openTestClient(
  kind: 'tcp' | 'tls' | 'https',
  port: number,
  overrides: Partial<Omit<TransportRequest, 'stream' | 'handler'>> & { stream?: Partial<StreamOptions> } = {},
): Promise<TestClient> {
  const seen: Seen = { answers: new Map(), garbage: [], connections: 0, failures: [] };
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  const transport = await openConnections(kind, {
    server: { address: '127.0.0.1', port, host: '127.0.0.1' },
    lanes: 1,
    sources: [],
    sourcePort: 0,
    timeoutSeconds: 5,
    ...overrides,
    stream: { ...DEFAULT_STREAM, ...overrides.stream },
    handler: {
      onMessage(_lane, bytes, offset, length) {
        const answer = Buffer.from(bytes.slice(offset, offset + length));
        seen.answers.set(answer.readUInt16BE(0), answer);
        wake();
      },
      onGarbage(_lane, id, reason) {
        seen.garbage.push({ id, reason });
        wake();
      },
      onLaneFailure(lane, failure, error) {
        seen.failures.push({ lane, failure, message: error?.message ?? '' });
        wake();
      },
      onConnected() {
        seen.connections += 1;
        wake();
      },
      onReady: wake,
    },
  });
  const until = (condition: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const give = (end: () => void) => {
        waiting.delete(check);
        clearTimeout(timer);
        clearInterval(poll);
        end();
      };
      const timer = setTimeout(
        () => give(() => reject(new Error(`timed out: ${JSON.stringify(seen)}`))),
        20_000,
      );
      const check = () => {
        if (condition()) give(resolve);
      };
      const poll = setInterval(check, 20);
      waiting.add(check);
      check();
    });
  return {
    transport,
    seen,
    until,
    async ask(lane, id, name, type = 1) {
      const parsed = parseName(name);
      if ('problem' in parsed) throw new Error(parsed.problem);
      const query = encodeQuery({ id, flags: FLAG.recursionDesired, name: parsed.wire, type });
      await until(() => transport.ready(lane));
      const at = transport.reserve(lane, query.length);
      transport.sendBytes(lane).set(query, at);
      transport.commit(lane, query.length);
      transport.flush();
    },
  };
}
