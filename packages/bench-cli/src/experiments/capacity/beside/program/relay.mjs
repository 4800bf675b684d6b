/**
 * Stands between CoreDNS and the API server and passes everything on as it is. On request it is, for CoreDNS, an API server
 * that restarts: it ends all connections, accepts none for a while, and then answers 410 Gone to whoever wants to go on with
 * a watch, because a restarted API server does not know the versions from before. So CoreDNS reads all objects again, and the
 * API server itself is left alone.
 */
import { readFileSync } from 'node:fs';
import { createServer, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

const GONE = JSON.stringify({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: 'too old resource version',
  reason: 'Expired',
  code: 410,
});

/** Hop-by-hop headers are between two neighbours (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host']);

const passedOn = (headers) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));

/** `pods`, from the path of a list or a watch. */
const resourceOf = ({ pathname }) => pathname.split('/').at(-1) ?? '';

/**
 * @param server address of the API server
 * @param tokenFile of the service account; read for each request, because it is renewed
 * @param caFile certificate authority of the API server
 */
export async function startRelay({ server, tokenFile, caFile, port }) {
  const base = new URL(server);
  const request = base.protocol === 'https:' ? requestHttps : requestHttp;
  const ca = caFile === undefined ? undefined : readFileSync(caFile);
  const watches = new Map();
  const expired = new Set();
  let lists = 0;

  function refuse(response) {
    response.writeHead(410, { 'content-type': 'application/json' });
    response.end(GONE);
  }

  function passOn(incoming, response, url) {
    const isWatch = url.searchParams.get('watch') === 'true' || url.searchParams.get('watch') === '1';
    // A streamed list (`sendInitialEvents`) is a list that goes on as a watch.
    const isList = !isWatch || url.searchParams.get('sendInitialEvents') === 'true';
    const resource = resourceOf(url);
    if (isWatch && !isList && expired.delete(resource)) return refuse(response);
    const token =
      tokenFile === undefined ? {} : { authorization: `Bearer ${readFileSync(tokenFile, 'utf8')}` };
    const outgoing = request(
      {
        hostname: base.hostname,
        port: base.port,
        path: url.pathname + url.search,
        method: incoming.method,
        headers: { ...passedOn(incoming.headers), ...token },
        ca,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers));
        answer.pipe(response);
        answer.on('error', () => response.destroy());
        if (isList) lists += 1;
      },
    );
    if (isWatch) watches.set(response, resource);
    outgoing.on('error', () => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
    response.on('close', () => {
      watches.delete(response);
      outgoing.destroy();
    });
    incoming.pipe(outgoing);
  }

  const http = createServer((incoming, response) => {
    passOn(incoming, response, new URL(incoming.url ?? '/', 'http://relay'));
  });
  const listen = () => new Promise((resolve) => http.listen(port, '127.0.0.1', resolve));
  await listen();
  return {
    /** Is away for `seconds`; resolves, when it is back, with the number of resources that are read again. */
    async restart(seconds) {
      const resources = new Set(watches.values());
      for (const resource of resources) expired.add(resource);
      http.close();
      http.closeAllConnections();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      await listen();
      return resources.size;
    },
    /** Lists that began to be answered so far. */
    get lists() {
      return lists;
    },
  };
}
