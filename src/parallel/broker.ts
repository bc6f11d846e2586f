import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import type { Redis, RedisOptions } from "ioredis";
import { StopError, UsageError } from "../errors.js";
import { problemText } from "../file-error.js";
import type { Log } from "../log.js";
import { blankControls, cutText } from "../safe-text.js";

/** The libraries that only runs with workers need. */
interface Libraries {
  readonly bullmq: typeof import("bullmq");
  readonly Redis: typeof import("ioredis").Redis;
}

const libraryNames = "bullmq ioredis";
const require = createRequire(import.meta.url);

/**
 * Loads optional libraries, which kbdump does not include because few users need them. `import` would take 100 ms longer. Throws
 * UsageError if they are not installed.
 */
function loadLibraries(): Libraries {
  try {
    const { Redis } = require("ioredis");
    return { bullmq: require("bullmq"), Redis };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")) throw error;
    throw new UsageError(
      `Workers need ${libraryNames}, which are not all installed. Run npm install ${libraryNames} in the folder where you installed kbdump; after npm install --global kbdump, run npm install --global ${libraryNames}`,
      [],
    );
  }
}

/** `commandTimeout`: milliseconds after which a command without an answer fails. */
type ConnectOptions = Pick<RedisOptions, "enableOfflineQueue" | "commandTimeout">;

/** The Redis or Valkey that hands out documents to workers. A run does not rely on its data, which may be wrong or lost at any time. */
export interface Broker {
  /** Its address without a password. */
  readonly shown: string;
  readonly libraries: Libraries;
  /**
   * Opens another connection. It reconnects until `close` ends it, and its commands wait for the connection, unless the options
   * say otherwise.
   */
  readonly connect: (options?: ConnectOptions) => Redis;
  /** The error for a broker that cannot be used, without secrets from its address. */
  readonly unusable: (error: unknown) => StopError;
  readonly close: () => void;
}

/** Maximum milliseconds between two tries to reconnect. */
const longestWait = 1_000;
/** Milliseconds that a closed connection waits for the other side. */
const disconnectTimeout = 100;

const patient = {
  disconnectTimeout,
  maxRetriesPerRequest: null,
  retryStrategy: (tries: number) => Math.min(50 * 2 ** Math.min(tries, 8), longestWait),
};

/**
 * Opens a broker, and checks that it answers within `patience` milliseconds. Throws UsageError for an invalid address or a missing
 * library; StopError if the broker does not answer.
 */
export async function openBroker(url: string, patience = 5_000): Promise<Broker> {
  requireBrokerUrl(url);
  const libraries = loadLibraries();
  const shown = shownBroker(url);
  await requireAnswer(url, patience, libraries);
  const connections = new Set<Redis>();
  const keep = (connection: Redis): Redis => {
    const duplicate = connection.duplicate.bind(connection);
    connection.on("error", () => {}); // it reconnects
    connection.duplicate = (options) => keep(duplicate(options)); // BullMQ duplicates connections; these must end with the others
    connections.add(connection);
    return connection;
  };
  const connect = (options: ConnectOptions = {}) => keep(new libraries.Redis(url, { ...patient, ...options }));
  const close = () => {
    for (const connection of connections) connection.disconnect();
  };
  return { shown, libraries, connect, unusable: (error) => unusable(url, error), close };
}

/** Has no cause, because errors of ioredis contain the command, and with it the password. */
function unusable(url: string, error: unknown): StopError {
  return new StopError(`the broker ${shownBroker(url)} cannot be used: ${brokerProblem(error, url)}`);
}

async function requireAnswer(url: string, patience: number, { Redis }: Libraries): Promise<void> {
  const connection = new Redis(url, {
    lazyConnect: true,
    disconnectTimeout,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: unknown;
  connection.on("error", (error) => {
    reason ??= error;
    connection.disconnect(); // rejects pending commands
  });
  try {
    await inTime(
      connection.connect().then(() => connection.ping()),
      patience,
    );
    if (reason !== undefined) throw reason;
  } catch (error) {
    throw unusable(url, reason ?? error);
  } finally {
    connection.disconnect();
  }
}

/** The address of a broker without its password, for messages: `redis://host:6379/0`. */
export function shownBroker(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** The rule that a broker address breaks; undefined for a valid address. */
export function brokenBrokerRule(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!/^rediss?:\/\//i.test(text)) return "it begins with redis://, or rediss:// for TLS";
  if (!url) return "its host or port cannot be read; in a user or password, write / # ? and @ as %2F %23 %3F and %40";
  if (url.hostname === "") return "it names no host";
  if (!/^\/?\d*$/.test(url.pathname)) return "after the host and port comes the number of a database, or nothing";
  if (!isDecodable(url.username) || !isDecodable(url.password)) return "in a user or password, write % as %25";
  return url.search === "" && url.hash === "" ? undefined : "it ends with the host or the number of a database";
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Checks the address of a broker. Throws UsageError, which does not repeat the address, because it may contain a password. */
export function requireBrokerUrl(text: string): void {
  const rule = brokenBrokerRule(text);
  if (rule !== undefined)
    throw new UsageError(`this is not an address of a broker: expected redis://host:6379; ${rule}`, []);
}

const startIt = "Start Redis or Valkey there, or correct the address";
const longestReason = 300;

/** Patterns of error messages, with the reason and what to do next; the first match is used. Sources: Node's codes and Redis replies. */
const known: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, `nothing listens there. ${startIt}`],
  [/ENOTFOUND|EAI_AGAIN/, "this name of a host is not known. Correct the address"],
  [
    /ETIMEDOUT|no answer within|EHOSTUNREACH|ENETUNREACH/,
    `no answer. ${startIt}, and check that no firewall is between`,
  ],
  [
    /NOAUTH/,
    "it asks for a password. Write it into the address, redis://:PASSWORD@host:6379, best in an environment variable whose name you give in place of the address",
  ],
  [/WRONGPASS|invalid password/, "it refuses the user or the password of the address. Correct them"],
  [/DB index is out of range/, "it has no database of this number. Correct the end of the address"],
  [
    /NOPERM/,
    "its user may not do what workers need. Give the user all commands, on the keys and channels of the queue",
  ],
  [/LOADING/, "it still loads its data. Try again in a moment"],
  [/ERR_SSL|EPROTO|packet length|wrong version number/, "no TLS is spoken there. Write redis:// instead of rediss://"],
  [
    /certificate|CERT_/i,
    "its certificate is not trusted. Name the file of its certificate authority in NODE_EXTRA_CA_CERTS",
  ],
  [/RESP type|Command queue state/, `the server there is neither Redis nor Valkey. ${startIt}`],
  [/ECONNRESET|Connection is closed/, `it closes the connection without an answer. ${startIt}`],
];

/** Why a broker cannot be used, and what to do next, in one line without secrets from its address. */
function brokerProblem(error: unknown, url: string): string {
  const text = error instanceof Error && "code" in error ? `${error.code} ${problemText(error)}` : problemText(error);
  const advice = known.find(([pattern]) => pattern.test(text))?.[1];
  if (/ETIMEDOUT|no answer within/.test(text) && url.startsWith("rediss:"))
    return `${advice}; if no TLS is spoken there, write redis://`;
  return advice ?? `${cutText(blankControls(withoutSecrets(problemText(error), url)), longestReason)}. ${startIt}`;
}

/** Removes names and passwords, because brokers repeat commands in their errors. */
function withoutSecrets(text: string, url: string): string {
  const { username, password } = new URL(url);
  const secrets = [username, password].flatMap((secret) => [secret, decodeURIComponent(secret)]);
  return secrets.filter((secret) => secret !== "").reduce((clean, secret) => clean.replaceAll(secret, "…"), text);
}

/** Milliseconds until a broker counts as gone: the library waits forever if there never was a connection. */
const longestAnswer = 6_000;

/** Errors that only mean that there is no answer. */
const silence = /^(no answer|Command timed out|Stream isn't writeable|Connection is closed)/;

/** Sends requests to the broker, and reports once when it is gone and when it is back. */
export class BrokerWatch {
  readonly #broker: Pick<Broker, "shown">;
  readonly #log: Log;
  readonly #signal: AbortSignal;
  #isGone = false;

  /** `signal` ends every wait. */
  constructor(broker: Pick<Broker, "shown">, log: Log, signal: AbortSignal) {
    this.#broker = broker;
    this.#log = log;
    this.#signal = signal;
  }

  /** Asks the broker to do some work; returns whether it did. Does not throw, because the next round asks again. */
  async ask(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await inTime(work(), longestAnswer, this.#signal);
      if (this.#isGone) this.#log("info", `the broker ${this.#broker.shown} is back: documents are handed out again`);
      this.#isGone = false;
    } catch (error) {
      if (this.#signal.aborted) return false;
      if (!this.#isGone) this.#log("warn", this.#problemOf(error));
      this.#isGone = true;
    }
    return !this.#isGone;
  }

  #problemOf(error: unknown): string {
    const text = problemText(error);
    const reason = silence.test(text) ? "does not answer" : `refuses a command (${text})`;
    return `the broker ${this.#broker.shown} ${reason}: no document is handed out until it is back`;
  }
}

/** Milliseconds for a last command to a broker that may be gone: several of them must fit in the time that an interrupted process has. */
const longestLast = 1_500;

/** Waits a short time for a command of the broker, and ignores failures. */
export async function atMost(command: Promise<unknown>): Promise<void> {
  await inTime(command, longestLast).catch(() => {});
}

/** Waits for a command. Rejects if there is no answer within this many milliseconds, and as soon as the signal is aborted. */
async function inTime(command: Promise<unknown>, milliseconds: number, signal?: AbortSignal): Promise<void> {
  const ends = new AbortController();
  const late = delay(milliseconds, undefined, { signal: AbortSignal.any([ends.signal, ...(signal ? [signal] : [])]) });
  const noAnswer = late.then(() => {
    throw new Error(`no answer within ${milliseconds / 1_000} s`);
  });
  await Promise.race([command, noAnswer]).finally(() => ends.abort());
}
