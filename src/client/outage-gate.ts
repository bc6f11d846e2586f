import { GaveUpError, RetryError, SkipError, StopError } from "../errors.js";
import { isReset, jobFileNames, type MessageFacts } from "./failed-request.js";
import { errorFromAnswer, isPluginGone, ownError } from "./refused-answer.js";
import type { Answer, Request, Send } from "./retry.js";

/**
 * How many milliseconds an outage may last before the service has ever answered: `atStart` if the service is surely down,
 * `atStartUnsure` if one bad page may be the cause.
 */
const atStart = 1_000;
const atStartUnsure = 20_000;

interface OutageGateOptions extends MessageFacts {
  /** Milliseconds that an outage may last once the service has answered. */
  readonly patience: number;
  readonly concurrency: number;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Called when an outage begins and ends. */
  readonly say: (text: string) => void;
}

/**
 * Holds requests back while the service or its plugin daemon is down. Send requests through `guard`, and pass the error of a failed
 * request to `waitForService`. Only some lists of some datasets need the daemon: requests for such a list wait for it once, and
 * their documents fail if it does not come back in time. If the service does not come back in time, the run ends.
 */
export class OutageGate {
  readonly #options: OutageGateOptions;
  readonly #contact = { isReached: false };
  readonly #service: Gate;
  readonly #daemon: Gate;
  readonly #needDaemon = new Set<string>();
  /** For every error that an outage caused, the gate to wait at. Includes the errors of requests that were not sent because of it. */
  readonly #gates = new WeakMap<Error, Gate>();

  constructor(options: OutageGateOptions) {
    this.#options = options;
    this.#service = new Gate("the service", { ...options, contact: this.#contact });
    this.#daemon = new Gate("the plugin daemon", { ...options, contact: this.#contact });
  }

  guard(send: Send): Send {
    const { now } = this.#options;
    return async (request) => {
      const gates = this.#needsDaemon(request) ? [this.#service, this.#daemon] : [this.#service];
      const closed = gates.find(({ isClosed }) => isClosed);
      if (closed) throw this.#errorOf(closed, new Error("the request waits for the end of an outage"));
      const probed = gates.filter((gate) => gate.takeProbe());
      const sentAt = now();
      const missed = (gate: Gate, error: Error, isSure: boolean) => {
        gate.missed(error.message, { page: pageOf(request), isSure, sentAt, isProbe: probed.includes(gate) });
        return this.#errorOf(gate, error);
      };
      const sent = send(request).finally(() => {
        for (const gate of probed) gate.endProbe();
      });
      const answer = await sent.catch((error: unknown) => {
        const isSilent = probed.includes(this.#service) && error instanceof RetryError && error.status === undefined;
        throw isGone(error) || isSilent ? missed(this.#service, error, isGone(error) && !isReset(error.cause)) : error;
      });
      const isDaemonGone = isPluginGone(answer);
      if (!isDaemonGone && isFromGateway(answer, now() - sentAt))
        throw missed(this.#service, errorFromAnswer(answer, this.#options), false);
      this.#contact.isReached = true;
      this.#service.met();
      if (isDaemonGone) {
        this.#needDaemon.add(kindOfList(request));
        throw missed(this.#daemon, errorFromAnswer(answer, this.#options), true);
      }
      if (answer.status === 200 && this.#needsDaemon(request)) {
        this.#needDaemon.clear();
        this.#daemon.met();
      }
      return answer;
    };
  }

  /**
   * If an outage caused the error, waits until it ends and returns true: send again, and do not count the try. Rejects if the
   * outage lasts too long.
   */
  async waitForService(error: unknown): Promise<boolean> {
    const gate = error instanceof Error ? this.#gates.get(error) : undefined;
    if (!gate) return false;
    if (error instanceof RetryError && gate.state === "given up") throw this.#givenUp(gate, error);
    if (error instanceof RetryError && gate.state === "open") return false;
    await gate.wait();
    return true;
  }

  /** Ends every wait, because the client closes. */
  end(): void {
    this.#service.release("given up");
    this.#daemon.release("given up");
  }

  /** Whether an outage caused the error, or may have caused it. */
  isAbsence(error: Error): boolean {
    return this.#gates.has(error);
  }

  /**
   * If a request was given up before the service ever answered, returns the error that ends the run: trying the rest would
   * take hours. Otherwise returns undefined.
   */
  neverAnswered(error: unknown): StopError | undefined {
    if (!(error instanceof GaveUpError) || error.status !== undefined || this.#contact.isReached) return undefined;
    return unreachable(error, this.#options);
  }

  #errorOf(gate: Gate, error: Error): Error {
    this.#gates.set(error, gate);
    return error;
  }

  #needsDaemon(request: Request): boolean {
    return this.#needDaemon.size > 0 && this.#needDaemon.has(kindOfList(request));
  }

  #givenUp(gate: Gate, error: Error): StopError | SkipError {
    const seconds = secondsText(this.#options.patience);
    gate.release("given up");
    if (gate === this.#daemon) return new SkipError(`${error.message} (down for ${seconds})`, { cause: error });
    if (!this.#contact.isReached) return unreachable(error, this.#options);
    const { names = jobFileNames } = this.#options;
    const patience = names.outage === null ? seconds : `${seconds}, which ${names.outage} sets`;
    const what = `the service was down for ${patience}: ${error.message}; what was read is kept`;
    return new StopError(what, { cause: error });
  }
}

function secondsText(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`;
}

/** Milliseconds from the start of an outage to its first probe. The interval to the next one doubles every time. */
const firstProbe = 500;
const longestProbe = 5_000;
/** Failures on this many different pages mean that the service is down, rather than one page being bad. */
const manyPages = 3;

/** Failures since the last answer. */
interface Outage {
  /** When the first request that failed was sent. */
  readonly since: number;
  readonly pages: Set<string>;
  misses: number;
  isSure: boolean;
  isReported: boolean;
}

/** A failed request. `isSure`: the service is surely down. If not, the requested page may be the cause. */
interface Miss {
  readonly page: string;
  readonly isSure: boolean;
  readonly sentAt: number;
  readonly isProbe: boolean;
}

interface GateOptions extends OutageGateOptions {
  /** Whether the service ever answered. If not, an outage is reported at once, before a probe confirms it. */
  readonly contact: { readonly isReached: boolean };
}

/** Holds requests back during an outage, except one probe at a time. */
class Gate {
  /** given up: the outage lasted too long, so requests are sent and fail. */
  state: "open" | "closed" | "given up" = "open";
  readonly #who: string;
  readonly #options: GateOptions;
  #outage: Outage | undefined;
  #isProbeDue = false;
  /** Probes that wait for an answer: at most one of this outage, and any of earlier outages. */
  #probes = 0;
  #waiting: (() => void)[] = [];

  constructor(who: string, options: GateOptions) {
    this.#who = who;
    this.#options = options;
  }

  /** Whether no request may be sent, not even as a probe. */
  get isClosed(): boolean {
    return this.state === "closed" && !this.#isProbeDue;
  }

  /** Takes the permission to send a probe, if one is due. Returns whether it was due. */
  takeProbe(): boolean {
    const isProbe = this.#isProbeDue;
    this.#isProbeDue = false;
    if (isProbe) this.#probes++;
    return isProbe;
  }

  endProbe(): void {
    this.#probes--;
  }

  /** The service answered, which ends the outage. */
  met(): void {
    if (!this.#outage) return;
    const { now, say } = this.#options;
    const { since, isReported } = this.#outage;
    if (isReported && this.state === "closed") say(`${this.#who} is back after ${secondsText(now() - since)}`);
    this.#outage = undefined;
    this.release("open");
  }

  /** Reports a failed request. `reason`: a sentence. */
  missed(reason: string, { page, isSure, sentAt, isProbe }: Miss): void {
    if (this.state === "given up") return;
    this.#outage ??= { since: sentAt, pages: new Set(), misses: 0, isSure: false, isReported: false };
    const outage = this.#outage;
    outage.misses++;
    outage.pages.add(page);
    outage.isSure ||= isSure;
    if (this.state === "open" && !this.#isConfirmed(outage)) return;
    const { say, now } = this.#options;
    const patience = this.#patience(outage);
    if (now() - outage.since >= patience) {
      this.state = "given up"; // this failure ends the wait for all requests
      return;
    }
    if (!outage.isReported && (isProbe || !this.#options.contact.isReached) && patience > atStart) {
      outage.isReported = true;
      say(`${this.#who} is down: ${reason}; waiting for up to ${secondsText(patience)}`);
    }
    if (this.state === "open") void this.#probe(outage);
    this.state = "closed";
  }

  /** Resolves when the request may be sent: as the probe, or because the gate is open again. */
  async wait(): Promise<void> {
    if (this.isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Milliseconds until an outage ends the run. */
  #patience({ isSure }: Outage): number {
    const { patience } = this.#options;
    if (this.#options.contact.isReached) return patience;
    return Math.min(patience, isSure ? atStart : atStartUnsure);
  }

  /**
   * Whether the failures show that the service is down. A few in a row may be the fault of one page, unless the service has
   * never answered.
   */
  #isConfirmed({ isSure, misses, pages }: Outage): boolean {
    if (isSure || (!this.#options.contact.isReached && misses >= 3)) return true;
    return pages.size >= manyPages && misses >= Math.max(3, Math.min(9, this.#options.concurrency + 1));
  }

  /** Lets one request probe the service after every interval, unless the last probe is still under way. */
  async #probe(outage: Outage): Promise<void> {
    const { now, sleep } = this.#options;
    const isOver = () => this.state !== "closed" || this.#outage !== outage;
    try {
      for (let interval = firstProbe; ; interval = Math.min(longestProbe, 2 * interval)) {
        const left = outage.since + this.#patience(outage) - now();
        await sleep(left > 0 ? Math.min(interval, left) : interval);
        if (isOver()) return;
        if (this.#probes > 0) continue;
        this.#isProbeDue = true;
        // Releases the requests one by one until one of them is the probe: a request may have been cancelled.
        for (let go = this.#waiting.shift(); go; go = this.#waiting.shift()) {
          go();
          await sleep(firstProbe);
          if (isOver()) return;
          if (!this.#isProbeDue) break;
        }
      }
    } catch {} // the client was closed
  }

  /** Opens the gate, because the service is back or was given up, and releases all waiting requests. */
  release(state: "open" | "given up"): void {
    this.state = state;
    this.#isProbeDue = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}

/** Whether a request got no answer because the service is down. */
function isGone(error: unknown): error is RetryError {
  return error instanceof RetryError && (error.trouble === "gone" || error.trouble === "no proxy");
}

/**
 * A proxy error within this many milliseconds means that the service is down. A later one means that the proxy reached it, but
 * got no answer in time.
 */
const atOnce = 5_000;

/** Whether the answer is a proxy's quick error, which means that the service is down. */
function isFromGateway(answer: Answer, milliseconds: number): boolean {
  const { status, headers } = answer;
  const isProxy = [502, 503, 504].includes(status) && headers["retry-after"] === undefined && milliseconds < atOnce;
  return isProxy && typeof ownError(answer).code !== "string";
}

/** The page that a request is for. A page and its halves count as one. */
function pageOf({ path, query }: Request): string {
  const numberOf = (name: string) => Number(query.find(([key]) => key === name)?.[1] ?? 0);
  return `${path} ${Math.floor(((numberOf("page") - 1) * numberOf("limit")) / 100)}`;
}

/**
 * The kind of list that a request reads, and its dataset. Either all requests with the same result need the plugin daemon, or
 * none.
 */
function kindOfList({ path }: Request): string {
  const [, , dataset = "", ...rest] = path.split("/");
  return `${dataset} ${rest.at(-1) ?? ""}`;
}

/** The error of a run whose service never answered. The address may be wrong. */
export function unreachable(error: Error, { names = jobFileNames }: MessageFacts): StopError {
  const trouble = error instanceof GaveUpError ? error.last.trouble : error instanceof RetryError && error.trouble;
  const isRefused = error.message.includes(": connection refused by ");
  const hint = isRefused ? `check that the service runs and that ${names.baseUrl} is right` : `check ${names.baseUrl}`;
  const advice = trouble === "no proxy" ? "" : `; ${hint}`; // the proxy is unreachable, not the service
  return new StopError(`the service cannot be reached: ${error.message}${advice}`, { cause: error });
}
