/** Connects with a kubeconfig. Credentials stay inside client-node. */

import { join } from 'node:path';
import { messageOf, nearest } from '@dinodns-bench/program';
import {
  type HttpMethod,
  IsomorphicFetchHttpLibrary,
  KubeConfig,
  RequestContext,
  type ResponseContext,
} from '@kubernetes/client-node';
import { BenchError } from '../errors.ts';
import type { World } from '../world.ts';
import { ConnectionError } from './api-error.ts';

export interface WireRequest {
  readonly method: HttpMethod;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly contentType: string;
  readonly signal: AbortSignal;
}

export interface Connection {
  readonly context: string;
  /** Address of the API server. */
  readonly server: string;
  /** Sends one request, once. Rejects with a `ConnectionError` or the signal's reason. */
  send(request: WireRequest): Promise<ResponseContext>;
}

const IN_CLUSTER_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/**
 * HTTP/1.1 only. Over HTTP/2, undici ends an idle session that still has an aborted stream, such as that of a log which is no
 * longer followed, with an error that nobody can catch: it ended bench.
 */
class Http1Config extends KubeConfig {
  override createDispatcherOptions(
    ...args: Parameters<KubeConfig['createDispatcherOptions']>
  ): ReturnType<KubeConfig['createDispatcherOptions']> {
    const options = super.createDispatcherOptions(...args);
    if (options.type !== 'agent') return options;
    const connect = { ...options.connect, allowH2: false };
    return { ...options, connect };
  }
}

function mergedFiles(paths: readonly string[]): KubeConfig {
  const [first = '', ...rest] = paths;
  const config = new Http1Config();
  config.loadFromFile(first);
  for (const path of rest) {
    const other = new Http1Config();
    other.loadFromFile(path);
    config.mergeConfig(other, true);
  }
  return config;
}

/** KUBECONFIG, then ~/.kube/config, then the service account of a pod: the order of kubectl. */
async function loadConfig(world: Pick<World, 'env' | 'fs'>): Promise<KubeConfig> {
  const { KUBECONFIG = '', HOME = '' } = world.env;
  const paths = KUBECONFIG.split(':').filter((path) => path !== '');
  if (paths.length > 0) return mergedFiles(paths);
  const there = (path: string) =>
    world.fs.access(path).then(
      () => true,
      () => false,
    );
  const standard = join(HOME, '.kube', 'config');
  if (await there(standard)) return mergedFiles([standard]);
  if (await there(IN_CLUSTER_TOKEN)) {
    const config = new Http1Config();
    config.loadFromCluster();
    return config;
  }
  throw new Error(`KUBECONFIG is not set, and there is no ${standard}`);
}

function chooseContext(config: KubeConfig, context: string | undefined): void {
  if (context === undefined) return;
  const names = config.getContexts().map(({ name }) => name);
  if (names.includes(context)) {
    config.setCurrentContext(context);
    return;
  }
  const suggestion = nearest(context, names);
  throw new BenchError('E_CONFIG', `--context: the kubeconfig has no context "${context}"`, {
    fix: suggestion === undefined ? `It has ${names.join(', ') || 'none'}.` : `Did you mean "${suggestion}"?`,
  });
}

/** `TypeError: fetch failed` hides its reason in its causes. */
function innermostMessage(error: unknown): string {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  return messageOf(current);
}

/**
 * Reads the kubeconfig; sends nothing yet.
 * @throws BenchError `E_CLUSTER_UNREACHABLE` without a usable kubeconfig, `E_CONFIG` for an unknown context.
 */
export async function connect(
  world: Pick<World, 'env' | 'fs'>,
  context: string | undefined,
): Promise<Connection> {
  let config: KubeConfig;
  try {
    config = await loadConfig(world);
  } catch (cause) {
    throw new BenchError('E_CLUSTER_UNREACHABLE', `no usable cluster: ${messageOf(cause)}`, {
      fix: world.env.KUBECONFIG
        ? `Correct KUBECONFIG, which is ${world.env.KUBECONFIG}: the path of a kubeconfig file.`
        : 'Set KUBECONFIG to the path of a kubeconfig file.',
      cause,
    });
  }
  chooseContext(config, context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new BenchError('E_CLUSTER_UNREACHABLE', 'the kubeconfig has no current context', {
      fix: 'Choose one with --context, or with `kubectl config use-context NAME`.',
    });
  }
  const library = new IsomorphicFetchHttpLibrary();
  // client-node makes a connection pool per request; one is enough for all.
  let pool: ReturnType<RequestContext['getDispatcher']>;
  return {
    context: config.getCurrentContext(),
    server: cluster.server,
    async send({ method, path, query, body, contentType, signal }) {
      const request = new RequestContext(`${cluster.server.replace(/\/$/, '')}${path}`, method);
      for (const [name, value] of Object.entries(query)) request.setQueryParam(name, value);
      if (body !== undefined) {
        request.setHeaderParam('Content-Type', contentType);
        request.setBody(JSON.stringify(body));
      }
      try {
        await config.applySecurityAuthentication(request);
        pool ??= request.getDispatcher();
        if (pool !== undefined) request.setDispatcher(pool);
        request.setSignal(signal);
        return await library.send(request).toPromise();
      } catch (cause) {
        signal.throwIfAborted();
        throw new ConnectionError(`no answer from ${cluster.server}: ${innermostMessage(cause)}`, { cause });
      }
    },
  };
}
