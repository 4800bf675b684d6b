/**
 * A change of an object of the cluster, and its inverse. Pure. Needs nothing: the guard runs this file, too.
 *
 * While a change is pending, the object carries a label with the run's token. A forward patch tests it, and whoever puts
 * the object back removes it: so a patch that was on its way while its sender slept past its lease is refused.
 */
import { isEqual, isObject, type Json, type PatchOperation, pointerOf, textAt, valueAt } from './json.ts';

/** On every object with a pending change: which run changes it. A label, because controllers copy annotations. */
export const MARK = 'dinodns-bench/changed-by';

/** One value of the object; null stands for none. */
export interface Edit {
  readonly pointer: string;
  readonly before: Json;
  readonly after: Json;
  /** The object that the value is in, where there is none before: the change makes it. Empty, it is none for Kubernetes. */
  readonly parent?: string;
}

export interface ChangedObject {
  /** Of the API: `/apis/apps/v1/namespaces/kube-system/deployments/coredns`. */
  readonly path: string;
  /** For people: `Deployment kube-system/coredns`. */
  readonly title: string;
  readonly uid: string;
}

/** What is to be changed; see `planEdit`. */
export interface PlannedEdit {
  /** For people: `image of container coredns`. */
  readonly what: string;
  readonly object: ChangedObject;
  readonly edits: readonly Edit[];
  /** Values beside the edited ones that say it is still the right place, such as the name of a container. */
  readonly pinned: readonly { readonly pointer: string; readonly value: Json }[];
}

/** `superseded`: somebody else has changed it since, and theirs stays. */
export type ChangeState = 'planned' | 'applied' | 'reverted' | 'superseded';

export interface Change extends PlannedEdit {
  readonly state: ChangeState;
  /** Puts it back: for the guard, and for people with kubectl. */
  readonly inverse: readonly PatchOperation[];
  /** Of a superseded change: what was found. */
  readonly found: string | null;
}

const UID = '/metadata/uid';
const LABELS = '/metadata/labels';
const MARK_POINTER = pointerOf('metadata', 'labels', MARK);

/** The change of one value of an object as it was read. */
export function editOf(
  what: string,
  { path, title }: Pick<ChangedObject, 'path' | 'title'>,
  object: unknown,
  edit: Edit,
): PlannedEdit {
  return { what, object: { path, title, uid: textAt(object, UID) }, edits: [edit], pinned: [] };
}

const test = (path: string, value: Json): PatchOperation => ({ op: 'test', path, value });

function setOperation({ pointer }: Edit, from: Json, to: Json): PatchOperation {
  if (to === null) return { op: 'remove', path: pointer };
  return { op: from === null ? 'add' : 'replace', path: pointer, value: to };
}

/** A test of what is in an object that does not exist would fail, whatever it expects. */
const newObject = (path: string): PatchOperation[] => [test(path, null), { op: 'add', path, value: {} }];

type Side = 'before' | 'after';

function patchBetween({ object, pinned, edits }: PlannedEdit, from: Side, to: Side): PatchOperation[] {
  return [
    test(UID, object.uid),
    ...pinned.map(({ pointer, value }) => test(pointer, value)),
    ...edits.flatMap(({ parent }) => (parent === undefined || from === 'after' ? [] : newObject(parent))),
    ...edits.map((edit) => test(edit.pointer, edit[from])),
    ...edits.map((edit) => setOperation(edit, edit[from], edit[to])),
  ];
}

/** From before to after, and only from there. */
export const forwardPatch = (change: PlannedEdit) => patchBetween(change, 'before', 'after');

/** From after to before, and only from there. */
export const inversePatch = (change: PlannedEdit) => patchBetween(change, 'after', 'before');

export const testMark = (token: string): PatchOperation => test(MARK_POINTER, token);

/** Marks an object that is not marked. */
export function markPatch(change: PlannedEdit, object: unknown, token: string): PatchOperation[] {
  const hasLabels = isObject(valueAt(object, LABELS));
  return [
    test(UID, change.object.uid),
    test(hasLabels ? MARK_POINTER : LABELS, null),
    hasLabels
      ? { op: 'add', path: MARK_POINTER, value: token }
      : { op: 'add', path: LABELS, value: { [MARK]: token } },
  ];
}

export function markOf(object: unknown): string {
  return textAt(object, MARK_POINTER);
}

/** Removes the mark of this run. */
export function unmarkPatch(token: string): PatchOperation[] {
  return [testMark(token), { op: 'remove', path: MARK_POINTER }];
}

/** What an object is like now, compared with a change. */
export type Finding = { readonly kind: Side } | { readonly kind: 'foreign'; readonly found: string };

const shown = (value: unknown) => (value === null ? 'none' : JSON.stringify(value));

const findMoved = ({ pinned }: PlannedEdit, object: unknown) =>
  pinned.find(({ pointer, value }) => !isEqual(valueAt(object, pointer), value));

/** The change with pointers to where its place is now: a container keeps its name when others come before it in its list. */
export function located<T extends PlannedEdit>(change: T, object: unknown): T {
  const moved = findMoved(change, object);
  const [, list, index] = /^(.*)\/(\d+)\/name$/.exec(moved?.pointer ?? '') ?? [];
  if (moved === undefined || list === undefined) return change;
  const items = valueAt(object, list);
  const now = Array.isArray(items) ? items.findIndex((item) => valueAt(item, '/name') === moved.value) : -1;
  if (now < 0) return change;
  const old = `${list}/${index}/`;
  const moveAll = <P extends { readonly pointer: string }>(all: readonly P[]) =>
    all.map((each) =>
      each.pointer.startsWith(old)
        ? { ...each, pointer: `${list}/${now}/${each.pointer.slice(old.length)}` }
        : each,
    );
  return { ...change, edits: moveAll(change.edits), pinned: moveAll(change.pinned) };
}

export function findingOf(planned: PlannedEdit, object: unknown): Finding {
  if (object === null) return { kind: 'foreign', found: 'it is gone' };
  if (textAt(object, UID) !== planned.object.uid)
    return { kind: 'foreign', found: 'it was deleted and created again' };
  const change = located(planned, object);
  const moved = findMoved(change, object);
  if (moved !== undefined) {
    const now = shown(valueAt(object, moved.pointer));
    return { kind: 'foreign', found: `${moved.pointer} is ${now}, not ${shown(moved.value)}` };
  }
  const isAt = (side: Side) =>
    change.edits.every((edit) => isEqual(valueAt(object, edit.pointer), edit[side]));
  if (isAt('before')) return { kind: 'before' };
  if (isAt('after')) return { kind: 'after' };
  const found = change.edits.map(({ pointer }) => `${pointer} is ${shown(valueAt(object, pointer))}`);
  return { kind: 'foreign', found: found.join(', ') };
}

/**
 * The change as it came out, so that its inverse leads back from there: an admission webhook may have made something else of a value.
 * The same change if not.
 */
export function asMade(planned: PlannedEdit, object: unknown): PlannedEdit {
  if (findingOf(planned, object).kind === 'after') return planned;
  const change = located(planned, object);
  const edits = change.edits.map((edit) => ({ ...edit, after: valueAt(object, edit.pointer) as Json }));
  return { ...change, edits };
}

/** `image of container coredns in Deployment kube-system/coredns: "a" → "b"`. */
export function describeChange({ what, object, edits }: PlannedEdit): string {
  const values = edits.map(({ before, after }) => `${shown(before)} → ${shown(after)}`);
  return `${what} in ${object.title}: ${values.join(', ')}`;
}
