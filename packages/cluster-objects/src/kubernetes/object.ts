/** Kubernetes objects as plain data, in the field names of their JSON. */
export type Json = string | number | boolean | null | undefined | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [field: string]: Json;
}

/** When everything was created: any moment in the past. */
export const CREATED = '2026-01-01T00:00:00Z';

export interface Metadata extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface KubeObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

/** The key under which the API knows an object: `namespace/name`, or the name alone. */
export function keyOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
