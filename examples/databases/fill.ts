/** Fills a database from zones, in a process of its own: `node fill.ts --store sqlite:records.db --zones zones.ndjson`. */
import { parseArgs } from 'node:util';
import { entriesOf } from './entries.ts';
import { fillStore } from './store.ts';

const { values } = parseArgs({ options: { store: { type: 'string' }, zones: { type: 'string' } } });
const { store = '', zones = '' } = values;

try {
  await fillStore(store, await entriesOf(zones));
} catch (error) {
  console.error(`Cannot fill ${store}: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
