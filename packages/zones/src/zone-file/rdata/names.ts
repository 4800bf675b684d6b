/** Fields that hold one domain name, which is never compressed here. */
import { zoneFileName } from '../names.ts';
import type { FieldKind } from './field.ts';

const name: FieldKind = {
  parse: (tokens, out) => out.bytes(tokens.nextName()),
  print: (data) => zoneFileName(data.name()),
};

export const NAME_KINDS = { name } satisfies Record<string, FieldKind>;
