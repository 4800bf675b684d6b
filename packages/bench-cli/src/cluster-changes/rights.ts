/** Rights on single objects, asked for one after the other before anything is changed. */
import { z } from 'zod';
import { BenchError } from '../errors.ts';
import type { KubeClient } from '../kubernetes-api/client.ts';
import type { Place } from './place.ts';

/** `name` empty: any. `resource` may hold a subresource. */
export interface Right extends Place {
  readonly verb: string;
}

const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });

export function rightsOn(place: Place, ...verbs: readonly string[]): Right[] {
  return verbs.map((verb) => ({ ...place, verb }));
}

/** `patch deployments.apps coredns in namespace kube-system`. */
export function describeRight({ verb, resource, group, name, namespace }: Right): string {
  const what = `${verb} ${resource}${group === '' ? '' : `.${group}`}`;
  return `${what}${name === '' ? '' : ` ${name}`}${namespace === null ? '' : ` in namespace ${namespace}`}`;
}

async function isGranted(client: KubeClient, right: Right, signal: AbortSignal): Promise<boolean> {
  const { verb, group, name, namespace } = right;
  const [resource = '', subresource] = right.resource.split('/');
  const answer = await client.review(
    {
      spec: {
        resourceAttributes: {
          verb,
          group,
          resource,
          ...(subresource === undefined ? {} : { subresource }),
          ...(name === '' ? {} : { name }),
          ...(namespace === null ? {} : { namespace }),
        },
      },
    },
    signal,
  );
  return reviewSchema.parse(answer).status.allowed;
}

/**
 * @param role The file that grants them, for the fix.
 * @throws BenchError `E_CLUSTER_FORBIDDEN` that names every right that is missing.
 */
export async function demandRights(
  client: KubeClient,
  rights: readonly Right[],
  role: string,
  signal: AbortSignal,
): Promise<void> {
  const missing: Right[] = [];
  for (const right of rights) if (!(await isGranted(client, right, signal))) missing.push(right);
  if (missing.length === 0) return;
  throw new BenchError(
    'E_CLUSTER_FORBIDDEN',
    `this user may not ${missing.map(describeRight).join(', ')} on ${client.context}`,
    { fix: `Apply ${role} and bind its role to this user. Nothing was changed.` },
  );
}
