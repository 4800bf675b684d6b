/** The framework's serializer interface, for programs that use it directly. Our networks work on bytes. */
import type { Serializer } from 'dinodns/common/serializer/serializers.js';
import { decode, encode, type Packet } from 'dns-packet';

export const packetSerializer: Serializer<Packet> = {
  encode: (packet) => encode(packet),
  decode: (buffer) => decode(buffer),
};
