/**
 * The site of the laboratory: an HTTP server with a page of a few bytes, at all addresses of its network namespace.
 * `node site-program.mjs PORT`; prints {"ready":true,"port":80} when it listens.
 */
import { createServer } from 'node:http';

const PAGE = 'ok\n';

const server = createServer({ keepAlive: false }, (request, response) => {
  request.resume();
  response.writeHead(200, {
    'content-type': 'text/plain',
    'content-length': PAGE.length,
    connection: 'close',
  });
  response.end(PAGE);
});
server.on('error', (error) => {
  console.error(error.message);
  process.exit(1);
});
server.listen({ port: Number(process.argv[2]), host: '::', backlog: 1024 }, () => {
  console.log(JSON.stringify({ ready: true, port: server.address().port }));
});
