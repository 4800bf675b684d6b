/** One JSON object as DinoDNS's `DefaultStore.fromString` reads it: name → type → list of data. */
import { instantiate, ownerName } from '../plan.ts';
import type { ZoneReference } from '../zone-text.ts';
import { defineFormat, WITHOUT_DNAME } from './format.ts';

export const dinodnsStore = defineFormat({
  name: 'dinodns-store',
  title: 'DinoDNS DefaultStore (JSON)',
  description: 'One JSON object for DefaultStore.fromString of the npm package dinodns',
  files: ['store.json'],
  recordTypes: WITHOUT_DNAME,
  render({ plan, eachZone }) {
    const textOf = ({ name }: ZoneReference) =>
      [...plan.owners]
        .filter(([, types]) => types.size > 0)
        .map(([owner, types]) => {
          const data = [...types].map(([type, records]) => [
            type,
            records.map((record) => instantiate(record, name).data),
          ]);
          return `${JSON.stringify(ownerName(owner, name))}:${JSON.stringify(Object.fromEntries(data))}`;
        })
        .join(',\n');
    return [eachZone(textOf, { head: '{\n', separator: ',\n', tail: '\n}\n' })];
  },
});
