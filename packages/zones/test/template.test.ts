import { expect, test } from 'vitest';
import { defineZoneSet, zoneTemplate } from '../src/index.ts';

test('the template of a zone set generates its zones, and zones of any other name', () => {
  const zoneSet = defineZoneSet({ to: 9, records: ['A 192.0.2.1', 'www CNAME {zone}'] });
  const template = zoneTemplate(zoneSet);
  if (template === undefined) throw new Error('no template');
  expect(template.size).toBe(zoneSet.size);
  expect(Array.from(template.names(), (name) => template.zone(name))).toEqual([...zoneSet.zones()]);
  expect(template.zone('other').records.at(-1)).toEqual({
    name: 'www.other',
    ttl: 60,
    type: 'CNAME',
    data: 'other',
  });
});

test('a copy of a zone set has no template, because its zones may differ', () => {
  const zoneSet = defineZoneSet();
  expect(zoneTemplate({ ...zoneSet })).toBeUndefined();
  expect(zoneTemplate({ zones: () => zoneSet.zones() })).toBeUndefined();
});
