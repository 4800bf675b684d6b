/** The JSON Schema of `server.yaml`, for editors. */
import { z } from 'zod';
import { formatJson } from '../../results/json-text.ts';
import { descriptionSchema } from './description.ts';

/** The text of `server.schema.json`. */
export function serverJsonSchema(): string {
  const schema = z.toJSONSchema(descriptionSchema, { io: 'input', target: 'draft-2020-12' });
  return formatJson({
    ...schema,
    title: 'A DNS server that dinodns-bench starts (server.yaml)',
    description: 'bench run --servers coredns,my=./server.yaml; docs/your-own-server.md explains every key.',
  });
}
