/** Where lost queries were lost, in sentences. Pure. */
import { type Losses, type LossPlace, type RunRecord, sumPlaces } from '../results/record.ts';
import { sum } from '../stats/intervals.ts';
import { pointOf, serverTitle } from './cases.ts';
import { formatCount } from './numbers.ts';
import { okTrialsOf } from './ok-trials.ts';

const PLACES: Readonly<Record<LossPlace, string>> = {
  'server-buffer': "in the server's socket buffer",
  'server-queue': "still waiting in the server's socket buffer",
  server: 'read by the server and not answered in time',
  late: 'answered after the time-out',
  'loader-buffer': "in the load generator's socket buffer",
  softnet: "in a CPU's queue of received packets (net.core.netdev_max_backlog)",
  qdisc: 'in the queue of a network device (qdisc)',
  conntrack: 'in connection tracking',
  firewall: 'dropped by a firewall rule',
  'not-sent': 'refused by the kernel when they were sent',
  'closed-port': 'at a port without a socket',
  unknown: 'unknown',
};

/** `1,230 in the server's socket buffer, 4 unknown` */
export function placesText(places: Losses['places']): string {
  return places.map(({ place, queries }) => `${formatCount(queries)} ${PLACES[place]}`).join(', ');
}

/** The name of a place in tables. */
export function placeText(place: LossPlace): string {
  return PLACES[place];
}

/** What a person can do about it; null where the place says all. */
export function adviceFor(places: Losses['places']): string | null {
  return places.some(({ place }) => place === 'conntrack')
    ? 'Connection tracking drops packets when its table is full: see net.netfilter.nf_conntrack_max, or exempt DNS from it (NOTRACK).'
    : null;
}

/** A sentence for each case that lost queries, with what could not be read. */
export function lossNotes(record: RunRecord): string[] {
  return record.cases.flatMap((item) => {
    const trials = okTrialsOf(record, item);
    const all = trials.flatMap(({ losses }) => losses ?? []);
    if (all.length === 0) return [];
    const [sent, lost] = [sum(trials.map(({ load }) => load.queriesSent)), sum(all.map((one) => one.lost))];
    const places = sumPlaces(all);
    const unread = [...new Set(all.flatMap((one) => one.unread))];
    const sentence = `${serverTitle(record, item.server)} at ${pointOf(record, item)} lost ${formatCount(lost)} of ${formatCount(sent)} queries: ${placesText(places)}.`;
    const more = [adviceFor(places), ...unread.map((text) => `Not all could be told: ${text}.`)];
    return [[sentence, ...more.filter((text) => text !== null)].join(' ')];
  });
}
