/** Secrets for private registries: a pod can use only those of its own namespace, so they are copied there. */
import { BenchError } from '../../errors.ts';
import type { KubeClient } from '../../kubernetes-api/client.ts';

const DEFAULT_NAMESPACE = 'default';

/** Parses `[namespace/]name`. */
export function secretReference(text: string): { namespace: string; name: string } {
  const at = text.indexOf('/');
  return at < 0
    ? { namespace: DEFAULT_NAMESPACE, name: text }
    : { namespace: text.slice(0, at), name: text.slice(at + 1) };
}

/** Resolves with the names of the copies. */
export async function copyPullSecrets(
  client: KubeClient,
  references: readonly string[],
  target: string,
  labels: Record<string, string>,
  signal: AbortSignal,
): Promise<string[]> {
  const names: string[] = [];
  for (const reference of references) {
    const { namespace, name } = secretReference(reference);
    const secret = await client.get('Secret', name, namespace, signal);
    if (secret === null) {
      throw new BenchError(
        'E_CONFIG',
        `--pull-secrets: there is no Secret ${name} in namespace ${namespace}`,
        {
          fix: 'Create it with `kubectl create secret docker-registry`, or give the [namespace/]name of another.',
        },
      );
    }
    const { type, data } = secret;
    await client.create(
      'Secret',
      {
        metadata: { name, namespace: target, labels },
        ...(type === undefined ? {} : { type }),
        ...(data === undefined ? {} : { data }),
        immutable: true,
      },
      signal,
    );
    names.push(name);
  }
  return names;
}
