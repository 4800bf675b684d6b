/** The JSON Schema of `server.yaml`, for editors. */
import { jsonSchemaText } from '../../results/json-schema.ts';
import { descriptionSchema } from './description.ts';

/** The text of `server.schema.json`. */
export function serverJsonSchema(): string {
  return jsonSchemaText(descriptionSchema, {
    title: 'A DNS server that dinodns-bench starts (server.yaml)',
    description: 'bench run --servers coredns,my=./server.yaml; docs/your-own-server.md explains every key.',
  });
}
