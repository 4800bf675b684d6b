/** What carries DNS messages; `client.ts` matches them. */
export interface Channel {
  send(message: Buffer): Promise<void>;
  close(): void;
}

export interface ChannelHandlers {
  onMessage(message: Buffer): void;
  onFailure(error: Error): void;
}
