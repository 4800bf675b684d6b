/** Whether this user may do something, by the API server's word. */
import { z } from 'zod';
import type { KubeClient } from './client.ts';

export interface AccessRight {
  readonly verb: string;
  readonly group: string;
  /** `pods`, or `pods/log` with the subresource. */
  readonly resource: string;
  /** Null for the whole cluster. */
  readonly namespace: string | null;
  /** Empty: any. */
  readonly name: string;
}

const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

export async function isAllowed(
  client: KubeClient,
  { resource: path, namespace, name, ...right }: AccessRight,
  signal: AbortSignal,
): Promise<boolean> {
  const [resource = '', subresource] = path.split('/');
  const resourceAttributes = {
    ...{ ...right, resource },
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === null ? {} : { namespace }),
  };
  const answer = await client.review({ spec: { resourceAttributes } }, signal);
  return reviewSchema.parse(answer).status.allowed;
}
