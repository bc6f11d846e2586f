import type { Redis } from "ioredis";
import { StopError } from "../errors.js";
import { problemText } from "../file-error.js";
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

/** Milliseconds for the first connection, and the longest between two tries to connect again. */
const firstConnection = 5_000;
const longestWait = 1_000;

const patient = {
  maxRetriesPerRequest: null,
  retryStrategy: (tries: number) => Math.min(50 * 2 ** Math.min(tries, 8), longestWait),
};

/** Opens a broker, and proves that it answers. UsageError for a wrong address or a missing library, StopError where nobody answers. */
export async function openBroker(url: string): Promise<Broker> {
  requireBrokerUrl(url);
  const libraries = await loadLibraries();
  const shown = shownBroker(url);
  await requireAnswer(url, shown, libraries);
  const connections = new Set<Redis>();
  const connect = (options: ConnectOptions = {}) => {
    const connection = new libraries.Redis(url, { ...patient, ...options });
    connection.on("error", () => {}); // it connects again
    connections.add(connection);
    return connection;
  };
  const close = () => {
    for (const connection of connections) connection.disconnect();
  };
  return { shown, libraries, connect, close };
}

async function requireAnswer(url: string, shown: string, { Redis }: Libraries): Promise<void> {
  const connection = new Redis(url, {
    lazyConnect: true,
    connectTimeout: firstConnection,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  connection.on("error", (error: unknown) => {
    reason = error;
  });
  try {
    await connection.connect();
    await connection.ping();
  } catch (error) {
    const problem = problemText(reason ?? error);
    throw new StopError(
      `the broker ${shown} cannot be used: ${problem}. Start Redis or Valkey there, or mend the address`,
      {
        cause: error,
      },
    );
  } finally {
    connection.disconnect();
  }
}
