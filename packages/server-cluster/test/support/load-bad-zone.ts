/**
 * `node load-bad-zone.ts FILE`: serves one zone, tries to load a bad one, and prints how many bytes of memory that took,
 * why it was refused, and whether the first zone is as before.
 */
import { loadZoneFile, ZoneStore } from '../../src/index.ts';
import { record, zone } from './in-process.ts';

const store = new ZoneStore();
store.addZone(zone([record('www.example.org', 'A', '192.0.2.1')]));
const before = { names: store.data.names.size, bytes: store.data.byteLength };
const peak = () => process.resourceUsage().maxRSS * 1024;
const start = peak();
let reason = 'accepted';
try {
  await loadZoneFile(store, process.argv[2] ?? '', { origin: 'bad.example.' });
} catch (error) {
  reason = error instanceof Error ? error.message : String(error);
}
const isUnchanged = store.data.names.size === before.names && store.data.byteLength === before.bytes;
console.log(JSON.stringify({ reason, isUnchanged, bytes: peak() - start }));
