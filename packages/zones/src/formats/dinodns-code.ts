/** A program that serves the zones with only the npm package dinodns and its store. */
import { numberRange, parsePattern } from '../pattern.ts';
import { instantiate, type PlannedRecord } from '../plan.ts';
import { NAME_MARK } from '../zone-text.ts';
import { defineFormat, WITHOUT_DNAME } from './format.ts';

/** A value as a JavaScript expression, with the variable `zone` for the placeholder of the zone's name. */
function expression(value: unknown): string {
  if (typeof value === 'string') {
    // Only names contain the placeholder, and names need no escapes.
    if (value === NAME_MARK) return 'zone';
    if (value.endsWith(NAME_MARK)) return `\`${value.slice(0, -NAME_MARK.length)}\${zone}\``;
    return `'${value.replace(/['\\]/g, '\\$&')}'`;
  }
  if (Array.isArray(value)) return `[${value.map(expression).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${key}: ${expression(inner)}`)
      .join(', ')} }`;
  }
  return String(value);
}

/** A list of records, so that the store does not mistake the strings of a TXT record for records. */
function storeLine(records: readonly PlannedRecord[]): string {
  const data = records.map((record) => instantiate(record, NAME_MARK));
  const [first] = data;
  if (first === undefined) return '';
  return `  store.set(${expression(first.name)}, '${first.type}', ${expression(data.map((record) => record.data))});\n`;
}

export const dinodnsCode = defineFormat({
  name: 'dinodns-code',
  title: 'DinoDNS program',
  description: 'server.mjs, which fills a DefaultStore of the npm package dinodns and serves it',
  files: ['server.mjs'],
  recordTypes: WITHOUT_DNAME,
  render({ zoneSet, plan, settings, heading }) {
    const { pattern, from, to, parity } = zoneSet.spec;
    const { prefix, suffix, isName } = parsePattern(pattern);
    const name = isName ? prefix : `${prefix}\${x}${suffix}`;
    const range = numberRange(from, to, parity);
    if (range === undefined) throw new Error('dinodns-code: a zone set is never empty');
    const increment = range.step === 1 ? 'x++' : `x += ${range.step}`;
    const sets = [...plan.owners.values()].flatMap((types) => [...types.values()].map(storeLine));
    const listen = `{ address: '${settings.address}', port: ${settings.port} }`;
    return [
      [
        `// ${heading}
// Start: npm install dinodns && node server.mjs
import { DefaultServer, DNSOverTCP, DNSOverUDP } from 'dinodns/common/index.js';
import { DefaultStore } from 'dinodns/plugins/storage/index.js';

const store = new DefaultStore();
for (let x = ${range.first}; x <= ${range.last}; ${increment}) {
  const zone = \`${name}\`;
${sets.join('')}}

const server = new DefaultServer({
  networks: [new DNSOverUDP(${listen}), new DNSOverTCP(${listen})],
});
server.use(store.handler);
server.start(() => console.log('Listening on ${settings.address} port ${settings.port}'));
`,
      ],
    ];
  },
});
