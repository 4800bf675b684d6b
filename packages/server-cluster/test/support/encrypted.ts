/** One query over a connection of its own, TLS or HTTPS, whatever the certificate. */
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { framed } from './client.ts';

const ANY_CERTIFICATE = { rejectUnauthorized: false } as const;

/** The reply. Rejects if the connection fails or ends before it, or after `seconds`. */
export function sendTls(port: number, message: Buffer, seconds: number): Promise<Buffer> {
  const socket = connectTls({ host: '127.0.0.1', port, ...ANY_CERTIFICATE, ALPNProtocols: ['dot'] });
  return new Promise<Buffer>((resolve, reject) => {
    let received = Buffer.alloc(0);
    socket.setTimeout(seconds * 1000, () => reject(new Error(`no reply within ${seconds} s`)));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed before the reply')));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, Buffer.from(chunk)]);
      if (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0))
        resolve(received.subarray(2));
    });
    socket.write(framed(message));
  }).finally(() => socket.destroy());
}

/** The body of the reply; the rest is as with `sendTls`. */
export function sendHttps(port: number, message: Buffer, seconds: number): Promise<Buffer> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, ANY_CERTIFICATE);
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    session.on('error', reject);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/dns-query',
      'content-type': 'application/dns-message',
    });
    stream.setTimeout(seconds * 1000, () => reject(new Error(`no reply within ${seconds} s`)));
    stream.on('error', reject);
    stream.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    stream.on('end', () => resolve(Buffer.concat(chunks)));
    stream.on('close', () => reject(new Error('closed before the reply')));
    stream.end(message);
  }).finally(() => session.destroy());
}
