/** The steps of a datagram are those that the README of the sources lists, in that order. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ReceiveArena } from '../../batched-udp/src/native/receive-arena.ts';
import { Bypass } from '../src/framework/bypass.ts';
import { createLog } from '../src/log/log.ts';
import { Admission } from '../src/network/admit.ts';
import { BatchedUdpNetwork } from '../src/network/batched-udp.ts';
import { createAnswerTable } from '../src/table/answer-table.ts';
import { Lookup } from '../src/table/find.ts';
import { Finisher } from '../src/table/finish.ts';
import { ZoneWriter } from '../src/table/write.ts';
import { storeOfZones } from './compare/zone.ts';
import { query, sendUdp } from './support/client.ts';

const PACKAGES = new URL('../../', import.meta.url);
const readme = readFileSync(new URL('server-cluster/src/README.md', PACKAGES), 'utf8');

interface Step {
  readonly name: string;
  readonly file: string;
  readonly source: string;
}

const steps: readonly Step[] = Array.from(
  readme.matchAll(/^ {4}(\w+) +(\S+\.ts) /gm),
  ([, name = '', file = '']) => ({ name, file, source: readFileSync(new URL(file, PACKAGES), 'utf8') }),
);

test.each(steps)('$name is defined in $file', ({ name, source }) => {
  const definition = new RegExp(`^ *(?:export )?(?:function |const )?#?${name}\\(.*|make${name}\\b`, 'im');
  expect(source).toMatch(definition);
});

test('a query passes through them in this order', async () => {
  const seen: string[] = [];
  const responder = createAnswerTable(storeOfZones());
  const watched = (object: object, name: string) => {
    const real: unknown = Reflect.get(object, name);
    if (typeof real !== 'function') throw new Error(`${name} is no method`);
    Reflect.set(object, name, function (this: unknown, ...given: unknown[]) {
      seen.push(name);
      return Reflect.apply(real, this, given);
    });
    return () => Reflect.set(object, name, real);
  };
  const restore = [
    watched(ReceiveArena.prototype, 'load'),
    watched(Admission.prototype, 'admit'),
    watched(Bypass.prototype, 'allows'),
    watched(responder, 'answer'),
    watched(Lookup.prototype, 'find'),
    watched(ZoneWriter.prototype, 'write'),
    watched(Finisher.prototype, 'finish'),
    watched(ReceiveArena.prototype, 'reply'),
    watched(ReceiveArena.prototype, 'takeReplies'),
  ];
  const log = createLog('silent');
  const network = new BatchedUdpNetwork({
    address: '127.0.0.1',
    port: 0,
    responder,
    bypass: new Bypass(log),
    log,
  });
  try {
    await network.open();
    expect(await sendUdp(network, query('zone-1.bench.example'))).toBeDefined();
    const isNative = network.backend === 'native';
    const ofArena = ['load', 'reply', 'takeReplies'];
    const listed = steps
      .map(({ name }) => name)
      .filter((name) => seen.includes(name) || (isNative && ofArena.includes(name)));
    expect(seen).toEqual(listed);
    expect(seen).toEqual(expect.arrayContaining(['admit', 'allows', 'answer', 'find', 'write', 'finish']));
  } finally {
    for (const undo of restore) undo();
    await network.shutdown(0);
  }
});

/** The tasks of CONTRIBUTING: `file` … `name`, all with names in backticks. */
const tasks: readonly string[] = readFileSync(new URL('../CONTRIBUTING.md', PACKAGES), 'utf8')
  .split('\n')
  .filter((line) => /^\| .*`table\/\S+\.ts`/.test(line));

test.each(tasks)('what a task of CONTRIBUTING names is there: %s', (task) => {
  const [mended = '', shown = ''] = task.split('|').slice(3);
  let source = '';
  for (const [, part = ''] of mended.matchAll(/`([^`]+)`/g))
    if (part.endsWith('.ts')) source = readFileSync(new URL(`../src/${part}`, import.meta.url), 'utf8');
    else expect(source).toMatch(new RegExp(`^  (?:private |static )?${part}\\(`, 'm'));
  for (const [, part = ''] of shown.matchAll(/`([^`]+)`/g))
    expect(existsSync(new URL(part, import.meta.url))).toBe(true);
});
