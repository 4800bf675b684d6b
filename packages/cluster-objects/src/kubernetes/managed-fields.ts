/**
 * `metadata.managedFields`: who set which fields, as real API servers keep it for every object. CoreDNS decodes it and throws
 * it away, which costs memory while it reads. The same for all objects of a kind: keys that name a uid or an address are
 * those of one object.
 */
import { CREATED, type Json, type JsonObject } from './object.ts';

/** A set of fields in the form of FieldsV1 (apimachinery, meta/v1): `f:` a field, `k:` an item of a list by its key, `.` itself. */
type Fields = { readonly [path: string]: Fields };

const LEAF: Fields = {};

const named = (...names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [`f:${name}`, LEAF]));
const within = (name: string, fields: Fields): Fields => ({ [`f:${name}`]: { '.': LEAF, ...fields } });
const item = (key: JsonObject, fields: Fields): Fields => ({
  [`k:${JSON.stringify(key)}`]: { '.': LEAF, ...fields },
});
const owned = (): Fields =>
  within('ownerReferences', item({ uid: '01234567-89ab-4cde-8f01-23456789abcd' }, LEAF));

function entry(manager: string, apiVersion: string, fieldsV1: Fields, subresource?: string): Json {
  const common = { manager, operation: 'Update', apiVersion, time: CREATED, fieldsType: 'FieldsV1' };
  return { ...common, fieldsV1, subresource };
}

const CONTAINER: Fields = {
  ...named('image', 'imagePullPolicy', 'name', 'terminationMessagePath', 'terminationMessagePolicy'),
  ...within('env', {
    ...item({ name: 'LISTEN' }, named('name', 'value')),
    ...item({ name: 'LOG_LEVEL' }, named('name', 'value')),
  }),
  ...within(
    'ports',
    item({ containerPort: 8080, protocol: 'TCP' }, named('containerPort', 'name', 'protocol')),
  ),
  ...within('resources', {
    ...within('limits', named('memory')),
    ...within('requests', named('cpu', 'memory')),
  }),
};

/** Conditions that the kubelet keeps; that of scheduling is the scheduler's. */
const KUBELET_CONDITIONS = ['ContainersReady', 'Initialized', 'PodReadyToStartContainers', 'Ready'];

/** Those of each kind. They are frozen, so that protobuf encodes them only once. */
export const MANAGED = {
  service: Object.freeze([
    entry('kubectl-create', 'v1', {
      'f:metadata': within('labels', named('app')),
      'f:spec': {
        ...named('internalTrafficPolicy', 'selector', 'sessionAffinity', 'type'),
        ...within(
          'ports',
          item({ port: 80, protocol: 'TCP' }, named('name', 'port', 'protocol', 'targetPort')),
        ),
      },
    }),
  ]),
  slice: Object.freeze([
    entry('kube-controller-manager', 'discovery.k8s.io/v1', {
      ...named('addressType', 'endpoints', 'ports'),
      'f:metadata': {
        ...named('generateName'),
        ...within(
          'labels',
          named('app', 'endpointslice.kubernetes.io/managed-by', 'kubernetes.io/service-name'),
        ),
        ...owned(),
      },
    }),
  ]),
  namespace: Object.freeze([
    entry('kubectl-create', 'v1', {
      'f:metadata': within('labels', named('kubernetes.io/metadata.name')),
    }),
  ]),
  pod: Object.freeze([
    entry('kube-controller-manager', 'v1', {
      'f:metadata': {
        ...named('generateName'),
        ...within('labels', named('app', 'pod-template-hash')),
        ...owned(),
      },
      'f:spec': {
        'f:containers': item({ name: 'app' }, CONTAINER),
        ...named(
          'dnsPolicy',
          'enableServiceLinks',
          'restartPolicy',
          'schedulerName',
          'securityContext',
          'terminationGracePeriodSeconds',
        ),
      },
    }),
    entry(
      'kubelet',
      'v1',
      {
        'f:status': {
          'f:conditions': Object.assign(
            {},
            ...KUBELET_CONDITIONS.map((type) =>
              item(
                { type },
                named('lastProbeTime', 'lastTransitionTime', 'observedGeneration', 'status', 'type'),
              ),
            ),
          ),
          ...named('containerStatuses', 'hostIP', 'hostIPs', 'phase', 'podIP', 'startTime'),
          ...within('podIPs', item({ ip: '10.128.100.100' }, named('ip'))),
        },
      },
      'status',
    ),
  ]),
};
