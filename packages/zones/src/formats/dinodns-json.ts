/** Zones as newline-delimited JSON: what `dinodns-server --zones-file` reads. See `zones-json.ts`. */
import { instantiate } from '../plan.ts';
import type { ZoneReference } from '../zone-text.ts';
import { zonesJsonHeader } from '../zones-json.ts';
import { defineFormat } from './format.ts';

export const dinodnsJson = defineFormat({
  name: 'dinodns-json',
  title: 'DinoDNS zones (NDJSON)',
  description: 'A header, then one zone as JSON on each line: what dinodns-server --zones-file reads',
  files: ['zones.ndjson'],
  render({ zoneSet, plan, eachZone }) {
    const textOf = ({ name }: ZoneReference) => {
      const records = plan.records.map((record) => instantiate(record, name));
      return `${JSON.stringify({ name, records })}\n`;
    };
    return [eachZone(textOf, { head: zonesJsonHeader(zoneSet) })];
  },
});
