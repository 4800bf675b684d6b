/**
 * What a test or a run does to the API server while it serves, as HTTP below `/control/`, so that another process can do
 * it as well: `POST /control/churn?rate=10`, `/control/create`, `/control/announce?after=SECONDS`, `/control/delete`,
 * `/control/expire`, `/control/close-watches`, `/control/replace?share=0.1`, `/control/outage?seconds=SECONDS`; `GET /control/changes?after=VERSION`, `/control/status`.
 */
import type { JsonObject } from '../kubernetes/object.ts';
import { type Churn, MAX_ANNOUNCED_SECONDS, MAX_CHURN_RATE } from './churn.ts';
import { MAX_OUTAGE_SECONDS } from './outage.ts';
import type { ReplacedName } from './rollout.ts';
import { badRequest, type Failure, notFound } from './status.ts';

export interface Controls {
  readonly churn: Churn;
  /** Ends every watch; clients continue where they were. */
  closeWatches(): void;
  /** Ends every watch, and answers 410 to whoever wants to continue: everything is listed again. */
  expire(): void;
  /** Replaces all endpoints of this share of the Services; resolves with names that have another address now. */
  replace(share: number): Promise<readonly ReplacedName[]>;
  /** Nobody can reach the server for a while; then it knows no earlier version, as after a restart. */
  outage(seconds: number): void;
  status(): JsonObject;
}

type Answer = JsonObject | Failure;
type Control = (controls: Controls, query: URLSearchParams) => Answer | Promise<Answer>;

const done = { done: true };

/** A control that takes a number from 0 to `most` under this name; `unit` says what it is. */
function withNumber(
  name: string,
  most: number,
  unit: string,
  act: (controls: Controls, value: number) => Answer | Promise<Answer>,
): Control {
  return (controls, query) => {
    const value = Number(query.get(name) ?? Number.NaN);
    return value >= 0 && value <= most
      ? act(controls, value)
      : badRequest(`${name}=${query.get(name)}: give ${unit}, 0 to ${most}`);
  };
}

const POSTS: Readonly<Record<string, Control>> = {
  churn: withNumber('rate', MAX_CHURN_RATE, 'changes per second', ({ churn }, rate) => {
    churn.run(rate);
    return { rate };
  }),
  create: ({ churn }) => ({ change: { ...churn.create() } }),
  announce: withNumber('after', MAX_ANNOUNCED_SECONDS, 'seconds', ({ churn }, after) => ({
    service: { ...churn.announce(after) },
  })),
  delete({ churn }) {
    const change = churn.delete();
    return { change: change === null ? null : { ...change } };
  },
  expire(controls) {
    controls.expire();
    return done;
  },
  async replace(controls, query) {
    const share = Number(query.get('share') ?? Number.NaN);
    if (!(share > 0 && share <= 1)) {
      return badRequest(`share=${query.get('share')}: give a share of the Services, above 0 to 1`);
    }
    return { names: (await controls.replace(share)).map((name) => ({ ...name })) };
  },
  outage: withNumber('seconds', MAX_OUTAGE_SECONDS, 'seconds', (controls, seconds) => {
    controls.outage(seconds);
    return done;
  }),
  'close-watches'(controls) {
    controls.closeWatches();
    return done;
  },
};

const GETS: Readonly<Record<string, Control>> = {
  changes: ({ churn }, query) => ({
    changes: churn.changesAfter(Number(query.get('after') ?? 0)).map((change) => ({ ...change })),
  }),
  status: (controls) => controls.status(),
};

/** The path without `/control/`. */
export function answerControl(
  controls: Controls,
  method: string,
  name: string,
  query: URLSearchParams,
): Answer | Promise<Answer> {
  const [table, others, other] = method === 'POST' ? [POSTS, GETS, 'GET'] : [GETS, POSTS, 'POST'];
  // Every object has a `constructor`.
  const control = Object.hasOwn(table, name) ? table[name] : undefined;
  if (control !== undefined) return control(controls, query);
  return Object.hasOwn(others, name)
    ? { code: 405, reason: 'MethodNotAllowed', message: `/control/${name} takes ${other}` }
    : notFound(`/control/${name}`);
}
