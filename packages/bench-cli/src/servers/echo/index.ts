/**
 * A plain UDP echo: not a DNS server, but the upper limit for one. It moves datagrams as cheaply as the machine
 * can and looks at a single bit, so what a DNS server costs beyond it is the cost of its answers.
 */
import { ownImage } from '../own-image.ts';
import type { InstanceRequest, ServerDefinition, ServerKind } from '../server.ts';
import { echoOnNodeProgram, echoProgram } from './program.ts';

const definition: ServerDefinition = {
  program: echoProgram,
  image: ownImage('echo', 'docker build -f k8s/images/echo/Dockerfile -t IMAGE packages/batched-udp/src'),
  answers: 'echo',
  answersUnknownZoneWith: 'REFUSED',
  unsupported(mode, transport) {
    if (transport !== 'udp') return 'it echoes over UDP only';
    return mode === 'multi' ? 'it has one thread' : null;
  },
  plan({ program, address, port }: InstanceRequest) {
    return {
      files: [],
      command: [...program, '--address', address, '--port', String(port)],
      readiness: { kind: 'stdout-json' },
      workers: 1,
    };
  },
  // Neither program has a version of its own; the record says what it was made from.
  versionArguments: ['--help'],
  parseVersion: () => null,
};

export const echo: ServerKind = {
  name: 'echo',
  title: 'UDP echo (no DNS)',
  description: 'not a DNS server: sends each datagram back; the upper bound for one thread on this machine',
  definition,
  variants: {
    node: {
      title: 'Node.js',
      description: 'the same on Node.js: the upper bound for one thread of a server on Node.js',
      // The image has the program in C.
      definition: { ...definition, program: echoOnNodeProgram, image: null },
    },
  },
};
