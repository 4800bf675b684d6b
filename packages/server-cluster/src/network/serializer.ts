/** The framework's serializer interface for whoever uses it directly; our networks read and write bytes. */
import type { Serializer } from 'dinodns/common/serializer/serializers.js';
import { decode, encode, type Packet } from 'dns-packet';

export const packetSerializer: Serializer<Packet> = {
  encode: (packet) => encode(packet),
  decode: (buffer) => decode(buffer),
};
