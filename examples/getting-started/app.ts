/** The application of DinoDNS's getting-started page. It reads its records from a file, so that any zones can be served. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DNSOverTCP, DNSOverUDP } from 'dinodns/common/network/index.js';
import { DinoDNS } from 'dinodns/DinoDNS/index.js';
import { DefaultCache } from 'dinodns/plugins/cache/index.js';
import { ConsoleLogger } from 'dinodns/plugins/loggers/index.js';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';

const { values } = parseArgs({
  options: {
    address: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '1053' },
    records: { type: 'string' },
    // Entries of the cache. In dinodns 0.0.13 later answers to the same question come out of it empty: the framework
    // stores the answers of the query, which has none. So it is off.
    cache: { type: 'string', default: '0' },
  },
});

const storage =
  values.records === undefined
    ? new DefaultStore()
    : DefaultStore.fromString(readFileSync(values.records, 'utf8'));
if (values.records === undefined) storage.set('example.com', 'A', '127.0.0.1');

const listen = { address: values.address, port: Number(values.port) };
const server = new DinoDNS({
  cache: new DefaultCache({ maxEntries: Number(values.cache) }),
  // Both are true by default: two lines for every query.
  logger: new ConsoleLogger({ logRequests: false, logResponses: false }),
  storage,
  networks: [new DNSOverUDP(listen), new DNSOverTCP(listen)],
});

server.start(() => console.log(`Listening on ${listen.address} port ${listen.port}`));
