/** Errors as the Kubernetes API reports them: a `Status` object. */
import type { JsonObject } from '../kubernetes/object.ts';

export interface Failure {
  readonly code: number;
  /** Machine-readable, as in apimachinery's `StatusReason`. */
  readonly reason: string;
  readonly message: string;
}

export function statusObject({ code, reason, message }: Failure): JsonObject {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
}

export function expired(requested: number, current: number): Failure {
  const message = `too old resource version: ${requested} (${current})`;
  return { code: 410, reason: 'Expired', message };
}

export function badRequest(message: string): Failure {
  return { code: 400, reason: 'BadRequest', message };
}

export function notFound(what: string): Failure {
  return { code: 404, reason: 'NotFound', message: `${what} not found` };
}
