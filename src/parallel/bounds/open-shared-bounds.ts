import type { SharedBounds } from "../../client/paced.js";
import type { Broker } from "../broker.js";
import { Board, keysOf, realClock } from "./board.js";
import { Member } from "./member.js";
import { Slots } from "./slots.js";

interface SharedBoundsOptions {
  /** A text that names the service, the same in all processes that read it. The broker learns its hash only. */
  readonly service: string;
  /** Requests in flight and requests a second at the most, of all processes together. */
  readonly concurrency: number;
  readonly maxRps?: number | undefined;
  /** Requests in flight at the most, of this process alone; those of all by default. */
  readonly most?: number | undefined;
  /** Reports that the broker is gone, that it is back, and why nothing is sent for some seconds. */
  readonly say: (text: string, level: "info" | "warn") => void;
}

/** The bounds as the process holds them. */
export interface OpenBounds extends SharedBounds {
  /** Requests that this process may have in flight whatever the others want. */
  readonly share: () => number;
  /** Gives back what the process holds. */
  readonly close: () => Promise<void>;
}

/** Milliseconds after which the broker counts as silent. */
const commandTimeout = 1_000;

/**
 * The bounds to which all processes that read a service keep together, by way of a broker. While the broker does not answer, this
 * process has one request in flight.
 */
export function openSharedBounds(
  broker: Pick<Broker, "connect" | "libraries" | "shown">,
  { service, concurrency, maxRps = Number.POSITIVE_INFINITY, most = concurrency, say }: SharedBoundsOptions,
): OpenBounds {
  const keys = keysOf(service);
  const clock = realClock;
  const commands = broker.connect({ enableOfflineQueue: false, commandTimeout });
  const messages = broker.connect();
  const listeners: ((milliseconds: number) => void)[] = [];
  const board = new Board({
    commands,
    messages,
    keys,
    onChange: () => member.look(),
    onPause: (milliseconds) => {
      for (const listener of listeners) listener(milliseconds);
    },
  });
  const slots = new Slots({ concurrency, keys, commands, Mutex: broker.libraries.Mutex, clock });
  const member = new Member({ concurrency, maxRps, most, slots, board, clock, broker: broker.shown, say });
  commands.on("ready", () => member.look());
  return {
    enter: (signal) => member.enter(signal),
    rate: () => member.rate(),
    share: () => member.share(),
    slowed: () => member.slowed(),
    pause: (milliseconds) => {
      if (milliseconds > 0) board.announcePause(milliseconds).catch(() => {}); // each process finds out for itself
    },
    onPause: (listener) => void listeners.push(listener),
    close: async () => {
      await member.close();
      commands.disconnect();
      messages.disconnect();
    },
  };
}
