/**
 * Runs in the network of a node, as root: tells each second where its connection tracking sends the clients of a Service. A line
 * is `{"fromSeconds":1764156999.0,"atSeconds":1764157000.1,"pods":{"10.0.0.7":{"entries":20,"used":18}}}`, or `{"error":"ENOENT"}` where nothing can be read.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const FILE = '/proc/net/nf_conntrack';
/** A little longer, so that the time that an unused entry has left falls by a whole second. */
const SECOND_MS = 1020;

/** The kernel writes IPv6 in full. */
const short = (address) =>
  address.includes(':') ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
const service = short(process.env.SERVICE);

/** UDP entries of the Service by their client: the pod, the seconds that are left, and the packets where they are counted. */
function entriesIn(text) {
  const entries = new Map();
  for (const line of text.split('\n')) {
    const [, left, rest = ''] = /^ipv[46]\s+\d+\s+udp\s+17\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    // Each name comes twice: of the way there, and of the way back, where the source is the pod.
    const all = (name) => [...rest.matchAll(new RegExp(`\\b${name}=(\\S+)`, 'g'))].map(([, value]) => value);
    const [[client, pod], [address], [port], [packets]] = ['src', 'dst', 'sport', 'packets'].map(all);
    if (address === undefined || pod === undefined || short(address) !== service) continue;
    entries.set(`${client} ${port}`, { pod: short(pod), left: Number(left), packets: Number(packets ?? 0) });
  }
  return entries;
}

/** A packet renews the time that is left. */
const isUsed = (now, before) =>
  before?.pod !== now.pod || now.packets > before.packets || now.left >= before.left;

let before = null;
let fromSeconds = 0;
for (;;) {
  try {
    const beganSeconds = Date.now() / 1000;
    const now = entriesIn(await readFile(FILE, 'utf8'));
    if (before !== null) {
      const pods = {};
      for (const [client, entry] of now) {
        pods[entry.pod] ??= { entries: 0, used: 0 };
        pods[entry.pod].entries += 1;
        if (isUsed(entry, before.get(client))) pods[entry.pod].used += 1;
      }
      process.stdout.write(`${JSON.stringify({ fromSeconds, atSeconds: Date.now() / 1000, pods })}\n`);
    }
    // A packet may have come while the table was read.
    fromSeconds = beganSeconds;
    before = now;
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ error: error.code ?? String(error) })}\n`);
    break;
  }
  await sleep(SECOND_MS);
}
