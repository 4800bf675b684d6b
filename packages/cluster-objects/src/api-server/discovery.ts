/** What the API has, for clients that ask first (`kubectl`, client-go's discovery). */
import type { JsonObject } from '../kubernetes/object.ts';
import { RESOURCES } from '../kubernetes/resources.ts';

const GROUP = 'discovery.k8s.io';
const GROUP_VERSION = { groupVersion: `${GROUP}/v1`, version: 'v1' };
const GROUP_OBJECT = { name: GROUP, versions: [GROUP_VERSION], preferredVersion: GROUP_VERSION };

function resourceList(group: string): JsonObject {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? 'v1' : `${group}/v1`,
    resources: RESOURCES.filter((resource) => resource.group === group).map(({ name, kind, namespaced }) => ({
      name,
      singularName: kind.toLowerCase(),
      namespaced,
      kind,
      verbs: ['get', 'list', 'watch'],
    })),
  };
}

/** The version whose behaviour is followed. */
const VERSION: JsonObject = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.0+dinodns-bench',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};

const DOCUMENTS: Readonly<Record<string, JsonObject>> = {
  '/version': VERSION,
  '/api': { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [GROUP_OBJECT] },
  [`/apis/${GROUP}`]: { kind: 'APIGroup', apiVersion: 'v1', ...GROUP_OBJECT },
  '/api/v1': resourceList(''),
  [`/apis/${GROUP}/v1`]: resourceList(GROUP),
};

/** The document at a path; null if there is none. */
export function discoveryDocument(path: string): JsonObject | null {
  return DOCUMENTS[path] ?? null;
}
