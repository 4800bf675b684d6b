/** The query file of the workload that matches the zone set, for dnsperf and similar tools. */
import { defineWorkload, renderQueryFile, workloadFor } from '../workload.ts';
import { defineFormat } from './format.ts';

export const dnsperf = defineFormat({
  name: 'dnsperf',
  title: 'dnsperf query file',
  description: 'Names and types to query, half of which exist: the workload for the zones',
  files: ['queries.txt'],
  render: ({ zoneSet }) => [renderQueryFile(defineWorkload(workloadFor(zoneSet)))],
});
