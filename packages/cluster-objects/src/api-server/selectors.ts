/** Label and field selectors of the Kubernetes API: which objects a request is about. */
import type { Json, KubeObject } from '../kubernetes/object.ts';

export type Matcher = (object: KubeObject) => boolean;

/** A selector that cannot be understood; the answer is 400. */
export class SelectorError extends Error {}

const everything: Matcher = () => true;

/** The requirements of a label selector, which may hold commas within parentheses. */
function requirementsOf(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const LABEL_KEY = '[A-Za-z0-9._/-]+';
const SET = new RegExp(`^(${LABEL_KEY})\\s+(in|notin)\\s*\\(([^)]*)\\)$`);
const EQUALITY = new RegExp(`^(${LABEL_KEY})\\s*(==|=|!=)\\s*([A-Za-z0-9._-]*)$`);
const EXISTENCE = new RegExp(`^(!?)\\s*(${LABEL_KEY})$`);

function labelRequirement(text: string): Matcher {
  const labelOf = (object: KubeObject, key: string) => object.metadata.labels?.[key];
  const [, setKey = '', operator, values = ''] = SET.exec(text) ?? [];
  if (operator !== undefined) {
    const allowed = values.split(',').map((value) => value.trim());
    return (object) => allowed.includes(labelOf(object, setKey) ?? '\0') === (operator === 'in');
  }
  const [, key = '', sign, value = ''] = EQUALITY.exec(text) ?? [];
  if (sign !== undefined) return (object) => (labelOf(object, key) === value) === (sign !== '!=');
  const [, not, present] = EXISTENCE.exec(text) ?? [];
  if (present !== undefined) return (object) => (labelOf(object, present) !== undefined) === (not === '');
  throw new SelectorError(`unable to parse requirement "${text}" of the label selector`);
}

function fieldOf(object: KubeObject, path: string): string {
  let value: Json = object;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
    value = Reflect.get(value, part) as Json;
  }
  return value === undefined || value === null ? '' : String(value);
}

/** The fields of any kind that Kubernetes allows here. */
const FIELDS = [
  ...['metadata.name', 'metadata.namespace', 'spec.nodeName', 'spec.restartPolicy', 'spec.schedulerName'],
  ...[
    'spec.serviceAccountName',
    'spec.hostNetwork',
    'status.phase',
    'status.podIP',
    'spec.clusterIP',
    'spec.type',
  ],
];

function fieldRequirement(text: string): Matcher {
  const [, path = '', sign, value = ''] = /^([A-Za-z.]+)(==|=|!=)(.*)$/.exec(text) ?? [];
  if (sign === undefined || !FIELDS.includes(path))
    throw new SelectorError(`field selector not supported: ${text}`);
  return (object) => (fieldOf(object, path) === value) === (sign !== '!=');
}

/** All of both selectors must match. @throws SelectorError */
export function matcherOf(labelSelector: string, fieldSelector: string, namespace: string | null): Matcher {
  const matchers = [
    ...requirementsOf(labelSelector).map(labelRequirement),
    ...requirementsOf(fieldSelector).map(fieldRequirement),
  ];
  if (namespace !== null) matchers.push((object) => object.metadata.namespace === namespace);
  if (matchers.length === 0) return everything;
  return (object) => matchers.every((matches) => matches(object));
}
