/** Whether this user may do something, by the API server's word. */
import { z } from 'zod';
import type { KubeClient } from './client.ts';

export interface Right {
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

async function isAllowed(
  client: KubeClient,
  { resource: path, namespace, name, ...right }: Right,
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

/** Those that this user lacks; asked for one after the other. */
export async function missingRights(
  client: KubeClient,
  rights: readonly Right[],
  signal: AbortSignal,
): Promise<Right[]> {
  const missing: Right[] = [];
  for (const right of rights) if (!(await isAllowed(client, right, signal))) missing.push(right);
  return missing;
}

/** `patch deployments.apps`. */
export function describeAccess({
  verb,
  group,
  resource,
}: Pick<Right, 'verb' | 'group' | 'resource'>): string {
  return `${verb} ${resource}${group === '' ? '' : `.${group}`}`;
}
