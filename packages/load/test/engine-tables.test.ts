import { expect, it } from 'vitest';
import { InFlight, NONE, STATE } from '../src/engine/in-flight.ts';
import { hasAdditional, hashQuestion, questionEnds, sameQuestion } from '../src/engine/questions.ts';
import { SendQueue } from '../src/engine/send-queue.ts';
import { messageOptionsSchema } from '../src/options.ts';
import { workloadOptionsSchema } from '../src/workload/options.ts';
import { planWorkload } from '../src/workload/plan.ts';

const table = (lanes = 1) => new InFlight({ lanes, lookups: false, hashes: false, firsts: false });

it('uses every id of a lane before it reuses one, and no id twice at a time', () => {
  const inFlight = table();
  const cells = Array.from({ length: 65_536 }, (_, i) => inFlight.begin(0, i));
  expect(new Set(cells.map((cell) => inFlight.idOf(cell))).size).toBe(65_536);
  expect(inFlight.begin(0, 0)).toBe(NONE);
  inFlight.end(cells[7] ?? 0, STATE.answered);
  expect(inFlight.begin(0, 1)).toBe(cells[7]);
  for (const cell of cells) inFlight.end(cell, STATE.expired);
  expect([...inFlight.outstandingOf]).toEqual([0]);
  const [first, second] = [inFlight.begin(0, 0), inFlight.begin(0, 0)];
  inFlight.end(first, STATE.answered);
  const third = inFlight.begin(0, 0);
  expect(new Set([first, second, third]).size).toBe(3);
});

it('keeps the order of sending, through answers, expiry and repetition', () => {
  const inFlight = table(3);
  const cells = [0, 1, 2, 0, 1].map((lane, message) => inFlight.begin(lane, message));
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = cells;
  inFlight.end(b, STATE.answered);
  inFlight.renew(a);
  const order: number[] = [];
  for (let cell = inFlight.oldest; cell !== NONE; cell = inFlight.oldest) {
    order.push(cell);
    inFlight.end(cell, STATE.expired);
  }
  expect(order).toEqual([c, d, e, a]);
});

it('knows what is in flight on a lane', () => {
  const inFlight = table(2);
  const mine = [inFlight.begin(1, 0), inFlight.begin(1, 0)];
  inFlight.begin(0, 0);
  expect(inFlight.inLane(1)).toEqual(mine);
  expect(inFlight.laneOf(mine[0] ?? 0)).toBe(1);
  expect(inFlight.cellOf(1, inFlight.idOf(mine[0] ?? 0))).toBe(mine[0]);
});

it('stays small with many lanes', () => {
  const inFlight = table(10_000);
  expect(inFlight.state.length).toBeLessThanOrEqual(2 ** 21);
  expect(inFlight.cellOf(0, inFlight.idSpace)).toBe(NONE);
});

it('queues in order while it grows and wraps around', () => {
  const queue = new SendQueue();
  let [pushed, shifted] = [0, 0];
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 10; i++) queue.push(pushed++, pushed, pushed * 2, pushed * 3);
    for (let i = 0; i < 7; i++) {
      expect(queue.message).toBe(shifted);
      queue.shift();
      shifted += 1;
    }
  }
  expect(queue.length).toBe(150);
});

it('compares questions without regard to case, and nothing after them', async () => {
  const plan = await planWorkload(
    workloadOptionsSchema.parse({ kind: 'names', names: ['www.Example.com'], types: ['AAAA'] }),
    messageOptionsSchema.parse({ ednsSize: 1232 }),
  );
  const { bytes, count } = plan.arena;
  const [end = 0] = questionEnds(plan.arena);
  expect(count).toBe(1);
  expect(end).toBe(12 + 17 + 4);
  expect(hasAdditional(plan.arena)).toBe(true);
  const response = Uint8Array.from(bytes);
  const same = () => sameQuestion(response, 12, bytes, 12, end - 12);
  response[13] = 'W'.charCodeAt(0);
  expect(same()).toBe(true);
  expect(hashQuestion(response, 12, end - 12)).toBe(hashQuestion(bytes, 12, end - 12));
  response[14] = 'x'.charCodeAt(0);
  expect(same()).toBe(false);
  expect(hashQuestion(response, 12, end - 12)).not.toBe(hashQuestion(bytes, 12, end - 12));
});
