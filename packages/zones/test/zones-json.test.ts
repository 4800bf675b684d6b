import { expect, it } from 'vitest';
import {
  defineZoneSet,
  findFormat,
  parseZonesJson,
  type Zone,
  type ZoneSet,
  ZonesError,
} from '../src/index.ts';

const zoneSet = defineZoneSet({
  to: 5,
  records: [
    'A 192.0.2.1',
    'MX 10 mail.{zone}',
    'mail AAAA 2001:db8::1',
    { type: 'TXT', data: ['a "b" \\', '{zone} {X}'] },
    'MX 20 .',
  ],
  hosts: ['www'],
});

function textOf(set: ZoneSet): string {
  return [...findFormat('dinodns-json').render(set)].flatMap(({ chunks }) => [...chunks]).join('');
}

async function read(source: Parameters<typeof parseZonesJson>[0]): Promise<Zone[]> {
  const zones: Zone[] = [];
  for await (const zone of parseZonesJson(source)) zones.push(zone);
  return zones;
}

it('reads back the zones that were written', async () => {
  expect(await read(textOf(zoneSet))).toEqual([...zoneSet.zones()]);
});

it('begins with a line that identifies the file', () => {
  const [header] = textOf(defineZoneSet()).split('\n');
  expect(JSON.parse(header ?? '')).toMatchObject({ format: 'dinodns-zones', version: 1, zones: 100 });
});

it('reads chunks of any size, text or bytes', async () => {
  const text = textOf(zoneSet);
  for (const size of [1, 7, 1000]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.slice(index * size, (index + 1) * size),
    );
    expect(await read(pieces)).toHaveLength(3);
    expect(await read(pieces.map((piece) => Buffer.from(piece)))).toHaveLength(3);
  }
});

it('tells a text that looks like a list from a list', async () => {
  const texts = [['a'], '["a"]'].map((data) => ({ name: 'a.test', ttl: 60, type: 'TXT', data }));
  const zone = JSON.stringify({ name: 'a.test', records: texts });
  const [found] = await read(`{"format":"dinodns-zones","version":1,"zones":1}\n${zone}\n`);
  expect(found?.records.map(({ data }) => data)).toEqual([['a'], ['["a"]']]);
});

it('reads the root zone', async () => {
  const names = ['.', 'test', 'a.test'];
  const records = names.map((name) => ({ name, ttl: 60, type: 'TXT', data: 'a' }));
  const zone = JSON.stringify({ name: '.', records });
  const [found] = await read(`{"format":"dinodns-zones","version":1,"zones":1}\n${zone}\n`);
  expect(found?.records.map(({ name }) => name)).toEqual(names);
});

const good = textOf(zoneSet);
/** The text with its first zone changed. */
const line = (change: (zone: Record<string, unknown>) => unknown) => {
  const [header, first, ...rest] = good.split('\n');
  return [header, JSON.stringify(change(JSON.parse(first ?? ''))), ...rest].join('\n');
};

const inZone = (from: string, to: string) =>
  line((zone) => JSON.parse(JSON.stringify(zone).replace(from, to)));

it.each<[string, string, RegExp]>([
  ['an empty file', '', /the file is empty/],
  ['a file of another kind', 'example.com A\n', /not a zones file/],
  ['other JSON', '{"zones":3}\n', /not a zones file/],
  ['another version', good.replace('"version":1', '"version":2'), /version 2.* version 1/],
  [
    'a file that was cut off between lines',
    `${good.split('\n').slice(0, 3).join('\n')}\n`,
    /2 zones, but.*3/,
  ],
  ['a file that was cut off within a line', good.slice(0, -20), /line 4 is not JSON/],
  ['a zone without records', line(({ name }) => ({ name })), /line 2: records is missing/],
  ['an unknown key', line((zone) => ({ ...zone, extra: 1 })), /line 2: unknown key "extra"/],
  [
    'a bad zone name',
    line(() => ({ name: 'a..b', records: [] })),
    /line 2: the zone "a..b" has an empty label/,
  ],
  ['a bad address', inZone('192.0.2.1', '192.0.2.256'), /line 2: "192.0.2.256" is not an IPv4 address/],
  ['an unknown type', inZone('"type":"A"', '"type":"B"'), /line 2: type cannot be "B"/],
  [
    'a list as the type of a record that is known',
    good.replace(/"type":"A"(?!.*"type":"A")/s, '"type":["A"]'),
    /line 4: type/,
  ],
  ['a bad TTL', inZone('"ttl":60', '"ttl":-60'), /line 2: ttl cannot be -60/],
  [
    'a record of another zone',
    inZone('"name":"www.example1.com"', '"name":"www.example9.com"'),
    /line 2: .*not in the zone/,
  ],
])('refuses %s', async (_, text, problem) => {
  const failure = await read(text).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ZonesError);
  expect((failure as ZonesError).code).toBe('E_ZONES_FILE');
  expect((failure as ZonesError).message).toMatch(problem);
});
