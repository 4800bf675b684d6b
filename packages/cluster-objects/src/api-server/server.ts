/**
 * An API server that serves a generated cluster to the unmodified CoreDNS (`kubernetes` plugin with `endpoint`), and to
 * `kubectl` for a look. It can only be read: objects change through its controls.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '@dinodns-bench/program';
import type { Cluster } from '../cluster/cluster.ts';
import { ClusterError } from '../errors.ts';
import { type Encoding, JSON_ENCODING, protobufEncoding } from '../kubernetes/encoding.ts';
import type { JsonObject } from '../kubernetes/object.ts';
import { RESOURCES, type Resource } from '../kubernetes/resources.ts';
import { Churn } from './churn.ts';
import { answerControl, type Controls } from './control.ts';
import { discoveryDocument } from './discovery.ts';
import { answerList } from './list.ts';
import { outageOf } from './outage.ts';
import { ChunkedOutput, ClientGone } from './output.ts';
import {
  type Accepted,
  accepted,
  type ListOptions,
  listOptionsOf,
  type ResourceRequest,
  resourceOf,
} from './request.ts';
import { Rollouts } from './rollout.ts';
import { SelectorError } from './selectors.ts';
import { badRequest, type Failure, notFound, statusObject } from './status.ts';
import { Store } from './store.ts';
import { failWatch, serveWatch } from './watch.ts';

export interface ApiServerOptions {
  readonly cluster: Cluster;
  /** Default 127.0.0.1. */
  readonly address?: string;
  /** 0, the default, lets the system choose. */
  readonly port?: number;
  /**
   * Whether a watch can begin with all objects; default true. API servers without the feature `WatchList`, and those whose
   * etcd is older than 3.4.31 or 3.5.13, refuse it, and CoreDNS lists then.
   */
  readonly streamedLists?: boolean;
}

/** What it has served so far, of each resource by its name. */
export interface Served {
  readonly lists: Readonly<Record<string, number>>;
  readonly watches: Readonly<Record<string, number>>;
  /** How often somebody has got all objects, to the last one: as a list, its pages, or the start of a watch. */
  readonly reads: Readonly<Record<string, number>>;
}

export interface ApiServer extends Controls {
  readonly address: string;
  readonly port: number;
  /** For CoreDNS's `endpoint`. */
  readonly url: string;
  readonly served: Served;
  /** Ends all connections and frees the port. Safe to call twice. */
  close(): Promise<void>;
}

function increment(counts: Record<string, number>, { name }: Resource): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

const isFailure = (answer: object): answer is Failure =>
  'code' in answer && 'reason' in answer && 'message' in answer;

class Serving implements Controls {
  readonly churn: Churn;
  readonly served: Record<keyof Served, Record<string, number>> = { lists: {}, watches: {}, reads: {} };
  readonly outage: (seconds: number) => void;
  readonly #store: Store;
  readonly #protobuf: Encoding = protobufEncoding();
  readonly #streamedLists: boolean;
  readonly #rollouts: Rollouts;
  #watching = new AbortController();
  #openWatches = 0;

  constructor(
    { cluster, streamedLists = true }: Pick<ApiServerOptions, 'cluster' | 'streamedLists'>,
    outage: (seconds: number) => void,
  ) {
    this.#streamedLists = streamedLists;
    this.outage = outage;
    this.#store = new Store(cluster);
    this.#rollouts = new Rollouts(this.#store);
    this.churn = new Churn(this.#store);
  }

  closeWatches(): void {
    this.#watching.abort();
    this.#watching = new AbortController();
  }

  expire(): void {
    this.#store.expire();
    this.closeWatches();
  }

  replace(share: number) {
    return this.#rollouts.run(share);
  }

  status(): JsonObject {
    const { cluster, version } = this.#store;
    const objects = Object.fromEntries(RESOURCES.map((resource) => [resource.name, resource.count(cluster)]));
    const { rss, heapUsed } = process.memoryUsage();
    return {
      resourceVersion: version,
      objects,
      lists: { ...this.served.lists },
      watches: { ...this.served.watches },
      reads: { ...this.served.reads },
      openWatches: this.#openWatches,
      rssBytes: rss,
      heapUsedBytes: heapUsed,
    };
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const { method = 'GET' } = request;
    if (url.pathname.startsWith('/control/')) {
      const name = url.pathname.slice('/control/'.length);
      return this.#send(response, JSON_ENCODING, await answerControl(this, method, name, url.searchParams));
    }
    const form = accepted(request.headers.accept ?? '', this.#protobuf);
    if (method !== 'GET') {
      const message = `${method} is not supported: this cluster can only be read`;
      return this.#send(response, form.encoding, { code: 405, reason: 'MethodNotAllowed', message });
    }
    const document = discoveryDocument(url.pathname);
    if (document !== null) return this.#send(response, JSON_ENCODING, document);
    if (['/healthz', '/livez', '/readyz'].includes(url.pathname)) {
      response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
      return;
    }
    const wanted = resourceOf(url.pathname);
    if (wanted === null) return this.#send(response, form.encoding, notFound(url.pathname));
    if (wanted.name !== null) return this.#get(wanted, form, response);
    const options = listOptionsOf(url.searchParams, wanted.namespace);
    return options.watch
      ? this.#watch(wanted, options, form, response)
      : this.#list(wanted, options, form, response);
  }

  #send(response: ServerResponse, encoding: Encoding, answer: JsonObject | Failure): void {
    const failed = isFailure(answer);
    const bytes = Buffer.from(encoding.object(failed ? statusObject(answer) : answer));
    response.writeHead(failed ? answer.code : 200, {
      'content-type': encoding.contentType,
      'content-length': bytes.length,
    });
    response.end(bytes);
  }

  #get({ resource, namespace, name }: ResourceRequest, form: Accepted, response: ServerResponse): void {
    for (const { object } of this.#store.snapshot(resource).entries()) {
      if (object.metadata.name !== name || (namespace ?? undefined) !== object.metadata.namespace) continue;
      this.#send(response, form.encoding, form.asListed(object));
      return;
    }
    this.#send(response, form.encoding, notFound(`${resource.name} "${name}"`));
  }

  async #list(
    { resource }: ResourceRequest,
    options: ListOptions,
    { encoding, asListed }: Accepted,
    response: ServerResponse,
  ): Promise<void> {
    const answer = answerList(this.#store, resource, options, asListed);
    if (isFailure(answer)) return this.#send(response, encoding, answer);
    increment(this.served.lists, resource);
    response.writeHead(200, { 'content-type': encoding.contentType });
    const output = new ChunkedOutput(response, goneSignal(response));
    for await (const piece of encoding.list(answer.head, answer)) await output.add(piece);
    await output.flush();
    if (answer.isEnd) increment(this.served.reads, resource);
    response.end();
  }

  async #watch(
    { resource }: ResourceRequest,
    options: ListOptions,
    { encoding, asListed }: Accepted,
    response: ServerResponse,
  ): Promise<void> {
    increment(this.served.watches, resource);
    const signal = AbortSignal.any([goneSignal(response), this.#watching.signal]);
    response.writeHead(200, { 'content-type': encoding.watchContentType });
    response.flushHeaders();
    this.#openWatches++;
    try {
      const onAllSent = () => increment(this.served.reads, resource);
      const watch = { store: this.#store, resource, options, encoding, asListed, onAllSent, signal };
      const output = new ChunkedOutput(response, signal);
      if (options.sendInitialEvents && !this.#streamedLists) await failWatch(watch, output, NOT_STREAMED);
      else await serveWatch(watch, output);
    } finally {
      this.#openWatches--;
      response.end();
    }
  }
}

/** As a real API server says it (1.34 with etcd 3.4.23), as an event. */
const NOT_STREAMED: Failure = {
  code: 500,
  reason: 'InternalError',
  message:
    'a watch stream was requested by the client but the required storage feature RequestWatchProgress is disabled',
};

/** Aborted when the connection of a response is gone. */
function goneSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

/** Nothing that a request contains ends the server. */
function answerError(response: ServerResponse, error: unknown): void {
  if (error instanceof ClientGone) {
    response.end();
    return;
  }
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const failure =
    error instanceof SelectorError
      ? badRequest(error.message)
      : { code: 500, reason: 'InternalError', message: messageOf(error) };
  response.writeHead(failure.code, { 'content-type': JSON_ENCODING.contentType });
  response.end(JSON_ENCODING.object(statusObject(failure)));
}

async function listen(server: Server, address: string, port: number): Promise<number> {
  server.listen(port, address);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const problem = `the API server cannot listen at ${address} port ${port}: ${messageOf(cause)}`;
    throw new ClusterError('E_LISTEN', problem, 'choose another address or port', cause);
  }
  const bound = server.address();
  return typeof bound === 'object' && bound !== null ? bound.port : port;
}

/** Starts one. @throws ClusterError `E_LISTEN` */
export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const serving = new Serving(options, (seconds) => outage.begin(seconds));
  const server = createServer((request, response) => {
    serving.handle(request, response).catch((error: unknown) => answerError(response, error));
  });
  const address = options.address ?? '127.0.0.1';
  const port = await listen(server, address, options.port ?? 0);
  const outage = outageOf(
    server,
    () => server.listen(port, address),
    () => serving.expire(),
  );
  const host = address.includes(':') ? `[${address}]` : address;
  return Object.assign(serving, {
    address,
    port,
    url: `http://${host}:${port}`,
    async close() {
      outage.cancel();
      serving.churn.close();
      serving.closeWatches();
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  });
}
