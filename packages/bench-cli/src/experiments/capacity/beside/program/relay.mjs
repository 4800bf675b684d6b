/**
 * Stands between CoreDNS and the API server and passes everything on as it is. On request it is, for CoreDNS, an API server
 * that restarts: it ends all connections, accepts none for a while, and then answers 410 Gone to whoever wants to go on with
 * a watch, because a restarted API server does not know the versions from before. So CoreDNS reads all objects again, and the
 * API server itself is left alone.
 */
import { readFileSync } from 'node:fs';
import { createServer, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Transform } from 'node:stream';

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

/** The bookmark at the end of a streamed list has it, in JSON and in protobuf. */
const STREAMED_LIST_END = 'k8s.io/initial-events-end';

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
  const unread = new Set();
  const listed = new Set();
  const streamed = new Set();
  let lists = 0;
  /** What passes on the chunks of watches that are kept back, in their order; null while none are. */
  let held = null;

  /** What a watch goes through. `onStreamed` is called at the end of a streamed list. */
  function gate(onStreamed) {
    let tail = '';
    return new Transform({
      transform(chunk, _encoding, done) {
        const text = tail + chunk.toString('latin1');
        tail = text.slice(-STREAMED_LIST_END.length);
        if (text.includes(STREAMED_LIST_END)) onStreamed();
        if (held === null) return done(null, chunk);
        // A watch that has ended meanwhile is opened again from the last change that got through.
        held.push(() => this.writableEnded || this.push(chunk));
        done();
      },
    });
  }

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
        answer.on('error', () => response.destroy());
        if (!isWatch) answer.pipe(response);
        else {
          const onStreamed = () => {
            streamed.add(resource);
            unread.delete(resource);
          };
          answer.pipe(gate(onStreamed)).pipe(response);
        }
        // An API server without streamed lists refuses them, and is asked for a list then.
        if (answer.statusCode !== 200) return;
        if (isList) lists += 1;
        if (!isWatch) listed.add(resource);
        // A list may have many pages: it was read to its end when a watch follows.
        if (!isList) unread.delete(resource);
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
    /** Is away for `seconds`; resolves when it is back. All resources that are watched are unread then. */
    async restart(seconds) {
      const resources = new Set(watches.values());
      for (const resource of resources) {
        expired.add(resource);
        unread.add(resource);
      }
      http.close();
      http.closeAllConnections();
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      await listen();
    },
    /** From now on, watches tell nothing new. */
    hold() {
      held = [];
    },
    /** All that was kept back, at once. */
    release() {
      const chunks = held ?? [];
      held = null;
      for (const passOn of chunks) passOn();
    },
    /** How many resources were not read to their end since the last restart. */
    get unread() {
      return unread.size;
    },
    /** Resources that were read as streams, and never as lists. */
    get streamed() {
      return [...streamed].filter((resource) => !listed.has(resource));
    },
    /** Lists that began to be answered so far. */
    get lists() {
      return lists;
    },
  };
}
