import type { Redis } from "ioredis";
import { StopError } from "../errors.js";
import { brokerProblem } from "./broker-problem.js";
import { requireBrokerUrl, shownBroker } from "./broker-url.js";
import { type Libraries, loadLibraries } from "./load-libraries.js";

/** Options of ioredis for one connection. */
export interface ConnectOptions {
  /** Whether commands wait while there is no connection; they do by default. */
  readonly enableOfflineQueue?: boolean;
  /** Milliseconds after which a command without an answer fails. */
  readonly commandTimeout?: number;
}

/** The Redis or Valkey that hands documents to workers. Nothing in it is a proof, and all of it may be lost at any moment. */
export interface Broker {
  /** Its address without a password. */
  readonly shown: string;
  readonly libraries: Libraries;
  /**
   * One more connection. It connects again for as long as it is not closed, and its commands wait for that, unless the options
   * say otherwise; `close` ends it.
   */
  readonly connect: (options?: ConnectOptions) => Redis;
  readonly close: () => void;
}

/** Milliseconds between two tries to connect again, at the most. */
const longestWait = 1_000;
/** Milliseconds that a closed connection waits for the other side. */
const disconnectTimeout = 100;

const patient = {
  disconnectTimeout,
  maxRetriesPerRequest: null,
  retryStrategy: (tries: number) => Math.min(50 * 2 ** Math.min(tries, 8), longestWait),
};

/**
 * Opens a broker, and proves that it answers within `patience` milliseconds. UsageError for a wrong address or a missing library,
 * StopError where nobody answers.
 */
export async function openBroker(url: string, patience = 5_000): Promise<Broker> {
  requireBrokerUrl(url);
  const libraries = await loadLibraries();
  const shown = shownBroker(url);
  await requireAnswer(url, patience, libraries);
  const connections = new Set<Redis>();
  const keep = (connection: Redis): Redis => {
    const duplicate = connection.duplicate.bind(connection);
    connection.on("error", () => {}); // it connects again
    connection.duplicate = (options) => keep(duplicate(options)); // BullMQ makes some, which have to end with the others
    connections.add(connection);
    return connection;
  };
  const connect = (options: ConnectOptions = {}) => keep(new libraries.Redis(url, { ...patient, ...options }));
  const close = () => {
    for (const connection of connections) connection.disconnect();
  };
  return { shown, libraries, connect, close };
}

async function requireAnswer(url: string, patience: number, { Redis }: Libraries): Promise<void> {
  const connection = new Redis(url, {
    lazyConnect: true,
    disconnectTimeout,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  const note = (error: unknown) => {
    reason ??= error;
    connection.disconnect(); // which rejects what waits for an answer
  };
  connection.on("error", note);
  const timer = setTimeout(note, patience, new Error("ETIMEDOUT"));
  try {
    await connection.connect();
    await connection.ping();
    if (reason !== undefined) throw reason;
  } catch (error) {
    // Without a cause: errors of ioredis carry the command, and so the password.
    throw new StopError(`the broker ${shownBroker(url)} cannot be used: ${brokerProblem(reason ?? error, url)}`);
  } finally {
    clearTimeout(timer);
    connection.disconnect();
  }
}
