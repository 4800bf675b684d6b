/** Errors of an API server, and how bench explains them. Pure. */
import { BenchError } from '../errors.ts';

/** A response other than 2xx. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Kubernetes' own reason: `AlreadyExists`, `Forbidden`, `NotFound`, … */
  readonly reason: string;
  /** What was requested: `create pods in namespace x`. */
  readonly action: string;
  /** The pause that the server asks for, in seconds. */
  readonly retryAfterSeconds: number | null;

  constructor(
    status: number,
    reason: string,
    message: string,
    action: string,
    retryAfter: number | null = null,
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.action = action;
    this.retryAfterSeconds = retryAfter;
  }
}

/** No complete response: refused, reset, timed out, or cut off. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** Reads the `Status` object that an API server sends with an error; anything else is quoted as it is. */
export function apiErrorOf(
  status: number,
  body: string,
  action: string,
  retryAfter: string | undefined,
): ApiError {
  const pause = Number(retryAfter);
  const seconds = retryAfter !== undefined && Number.isFinite(pause) && pause >= 0 ? pause : null;
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed === 'object' && parsed !== null && 'message' in parsed) {
      const reason = 'reason' in parsed && typeof parsed.reason === 'string' ? parsed.reason : '';
      return new ApiError(status, reason, String(parsed.message), action, seconds);
    }
  } catch {
    // From a proxy or a kubelet, not from the API server itself: their responses are text.
  }
  return new ApiError(status, '', body.trim().slice(0, 300) || `status ${status}`, action, seconds);
}

/**
 * An API server that has just started refuses everything until it has read the roles. Every user has these, and the
 * API server itself makes sure that they exist: only one that has not read them yet says that they do not.
 */
const ROLES_NOT_READ = /RBAC: .*"system:(?:basic-user|discovery|public-info-viewer)" not found/;

/** True for what may pass: too many requests, server errors, no connection, roles not read yet. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (!(error instanceof ApiError)) return false;
  if (error.status === 403) return ROLES_NOT_READ.test(error.message);
  return error.status === 429 || (error.status >= 500 && error.status !== 501);
}

export function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

const QUOTA = /exceeded quota/i;
const POD_SECURITY = /violates PodSecurity/i;

/** Any failure of a request, as an error that says what to do. */
export function explainApiError(error: unknown): unknown {
  if (error instanceof ConnectionError) {
    return new BenchError('E_CLUSTER_UNREACHABLE', error.message, {
      fix: 'Check that the cluster is running and the kubeconfig is right: `kubectl --context NAME get nodes`.',
      cause: error,
    });
  }
  if (!(error instanceof ApiError)) return error;
  const { action, message, status } = error;
  const details = { evidence: [message], cause: error };
  if (status === 401) {
    return new BenchError('E_CLUSTER_FORBIDDEN', `the cluster does not accept the credentials: ${action}`, {
      ...details,
      fix: 'Renew the credentials of the kubeconfig, or choose another user with --context.',
    });
  }
  if (status === 403 && QUOTA.test(message)) {
    return new BenchError('E_CLUSTER_QUOTA', `a quota of the namespace refuses to ${action}`, {
      ...details,
      fix: 'Raise the quota, or choose smaller tiers (--tier) and a smaller loader (--loader-cpu).',
    });
  }
  if (status === 403 && POD_SECURITY.test(message)) {
    return new BenchError('E_CLUSTER_REFUSED', `the cluster's Pod Security refuses to ${action}`, {
      ...details,
      fix: 'The message says what is missing; please report it, because bench should comply with "restricted".',
    });
  }
  if (status === 403) {
    return new BenchError('E_CLUSTER_FORBIDDEN', `this user may not ${action}`, {
      ...details,
      fix: 'Apply k8s/rbac.yaml and bind its roles to this user; `bench swap` and `bench lookup` have files of their own beside it.',
    });
  }
  return new BenchError('E_CLUSTER_REFUSED', `the API server refuses to ${action} (status ${status})`, {
    ...details,
    fix: 'Its message is above.',
  });
}
