import { createHash } from "node:crypto";

/**
 * The keys at the broker. Those of all services say whether it forgot something; the others belong to one service, which they name by a
 * hash, so that the broker learns no URL.
 */
export interface Keys {
  /** There since a process saw this run of the server; not there once the server has forgotten everything. */
  readonly epoch: (serverRun: string) => string;
  /** While one of these is there, nobody takes a place. */
  readonly quarantine: string;
  readonly ownQuarantine: string;
  /** Each place has a number. */
  readonly place: (number: number) => string;
  /** There while a process has too few places. */
  readonly lack: string;
  /** There while everybody pauses. */
  readonly pause: string;
  /** The channel of all processes that have use for places. */
  readonly channel: string;
}

export function keysOf(service: string): Keys {
  const own = `kbdump:${createHash("sha256").update(service).digest("hex").slice(0, 32)}`;
  return {
    epoch: (serverRun) => `kbdump:epoch:${serverRun}`,
    quarantine: "kbdump:quarantine",
    ownQuarantine: `${own}:quarantine`,
    place: (number) => `${own}:place:${number}`,
    lack: `${own}:lack`,
    pause: `${own}:pause`,
    channel: `${own}:channel`,
  };
}
