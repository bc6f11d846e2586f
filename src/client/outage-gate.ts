import { GaveUpError, RetryError, SkipError, StopError } from "../errors.js";
import { errorFromAnswer, isPluginGone, ownError } from "./check-answer.js";
import type { SettingNames } from "./failed-request.js";
import type { RequestCounts } from "./request-counts.js";
import type { Answer, Request, Send } from "./send.js";

/**
 * Milliseconds that an outage may last at the start of a run, depending on whether the service is surely down or a single page may
 * be the cause.
 */
const atStart = 1_000;
const atStartUnsure = 20_000;

interface OutageGateOptions {
  /** Milliseconds that an outage may last later in a run. */
  readonly patience: number;
  readonly concurrency: number;
  readonly key: string;
  readonly names: SettingNames;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Called when an outage begins and ends. */
  readonly say: (text: string) => void;
}

/** The service did not answer in time during an outage. */
const silence: Absence = { who: "service", isSure: false };

/** A request that was not sent, because another one is probing the service. */
class HeldBack extends Error {
  readonly outage: Outage;
  constructor(outage: Outage) {
    super("the service is down");
    this.outage = outage;
  }
}

/**
 * Waits for a service that is down for a while, and for its plugin daemon. Requests are sent through `guard`; `waitForService`
 * gets the error of a failed one. Only some lists of some datasets need the daemon: a kind of request that failed because of it
 * waits for it once, and its documents fail if it does not come back in time. If the service itself does not come back in time,
 * the run ends.
 */
export class OutageGate {
  readonly #options: OutageGateOptions;
  readonly #service: Outage;
  readonly #daemon: Outage;
  readonly #needDaemon = new Set<string>();
  readonly #outages = new WeakMap<Error, Outage>();
  #isReached = false;

  constructor(options: OutageGateOptions) {
    this.#options = options;
    const { patience, concurrency, now, sleep, say } = options;
    const seconds = (milliseconds: number) => `${Math.round(milliseconds / 1_000)} s`;
    const outageOf = (who: string, patienceFor: (isSure: boolean) => number) =>
      new Outage({
        patience: patienceFor,
        inVain: Math.max(3, Math.min(9, concurrency + 1)),
        now,
        sleep,
        isReached: () => this.#isReached,
        began: (reason, left) => {
          if (left > atStart) say(`${who} is down: ${reason}; waiting for up to ${seconds(left)}`);
          return left > atStart;
        },
        ended: (milliseconds) => say(`${who} is back after ${seconds(milliseconds)}`),
      });
    const forService = (isSure: boolean) => {
      if (this.#isReached) return patience;
      return Math.min(patience, isSure ? atStart : atStartUnsure);
    };
    this.#service = outageOf("the service", forService);
    this.#daemon = outageOf("the plugin daemon", () => patience);
  }

  guard(send: Send): Send {
    return async (request) => {
      const outages = this.#needsDaemon(request) ? [this.#service, this.#daemon] : [this.#service];
      const probed: Outage[] = [];
      for (const outage of outages) {
        const turn = outage.take();
        if (turn === "probe") probed.push(outage);
        if (turn !== "wait") continue;
        for (const other of probed) other.probedInVain();
        throw new HeldBack(outage);
      }
      try {
        return await this.#sendAndLook(send, request, probed);
      } finally {
        for (const outage of probed) outage.probedInVain();
      }
    };
  }

  /**
   * If the error belongs to an outage, waits until it ends and returns true: send again, and do not count the try. Rejects if the
   * outage lasts too long.
   */
  async waitForService(error: unknown): Promise<boolean> {
    if (error instanceof HeldBack) {
      await error.outage.wait();
      return true;
    }
    const outage = error instanceof Error ? this.#outages.get(error) : undefined;
    if (!outage) return false;
    if (outage.isOver && error instanceof Error) throw this.#givenUp(outage, error);
    if (!outage.isForAll) return false;
    await outage.wait();
    return true;
  }

  /** Ends all waiting. */
  end(): void {
    this.#service.end();
    this.#daemon.end();
  }

  /** Whether the error belongs to an outage, or may belong to one. */
  isAbsence(error: Error): boolean {
    return this.#outages.has(error);
  }

  async #sendAndLook(send: Send, request: Request, probed: readonly Outage[]): Promise<Answer> {
    const sentAt = this.#options.now();
    let answer: Answer;
    try {
      answer = await send(request);
    } catch (error) {
      const isSilent = probed.includes(this.#service) && error instanceof RetryError && error.status === undefined;
      const absence = absenceOfError(error) ?? (isSilent ? silence : undefined);
      this.#missed(absence, request, sentAt, error, probed);
      throw error;
    }
    const absence = absenceOfAnswer(answer, this.#options.now() - sentAt);
    if (absence?.who !== "service") {
      this.#isReached = true;
      this.#service.met();
    }
    if (absence) {
      const error = errorFromAnswer(answer, this.#options.key);
      this.#missed(absence, request, sentAt, error, probed);
      throw error;
    }
    if (answer.status === 200 && this.#needsDaemon(request)) this.#daemonIsBack();
    return answer;
  }

  #needsDaemon(request: Request): boolean {
    return this.#needDaemon.size > 0 && this.#needDaemon.has(kindOfList(request));
  }

  #missed(
    absence: Absence | undefined,
    request: Request,
    sentAt: number,
    error: unknown,
    probed: readonly Outage[],
  ): void {
    if (!absence || !(error instanceof Error)) return;
    const outage = absence.who === "service" ? this.#service : this.#daemon;
    if (absence.who === "plugin daemon") this.#needDaemon.add(kindOfList(request));
    outage.missed(pathOf(request), absence.isSure, sentAt, error.message, probed.includes(outage));
    this.#outages.set(error, outage);
  }

  #daemonIsBack(): void {
    this.#needDaemon.clear();
    this.#daemon.met();
  }

  #givenUp(outage: Outage, error: Error): StopError | SkipError {
    const seconds = Math.round(this.#options.patience / 1_000);
    outage.end();
    if (outage === this.#daemon) return new SkipError(`${error.message} (down for ${seconds} s)`, { cause: error });
    if (!this.#isReached) return unreachable(error, this.#options.names);
    const { outage: setting } = this.#options.names;
    const patience = setting === null ? `${seconds} s` : `${seconds} s, which ${setting} sets`;
    const what = `the service was down for ${patience}: ${error.message}; what was read is kept`;
    return new StopError(what, { cause: error });
  }
}

/** Milliseconds until the first probe. The interval doubles every time. */
const firstProbe = 500;
const longestProbe = 5_000;
/** Failures on this many different pages mean that the service is down, rather than one page being bad. */
const manyPaths = 3;

interface OutageOptions {
  /** Milliseconds until an outage ends the run. `isSure`: the service is surely down. */
  readonly patience: (isSure: boolean) => number;
  /** Consecutive failed requests that count as an outage. A single one may be the fault of a page. */
  readonly inVain: number;
  readonly now: () => number;
  /** Rejects when everything ends. */
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Whether the service ever answered. If not, the outage is reported at once, before a probe confirms it. */
  readonly isReached: () => boolean;
  /** Whether it was reported. */
  readonly began: (reason: string, patience: number) => boolean;
  readonly ended: (milliseconds: number) => void;
}

/** An outage: one request probes the service, and the others wait. */
class Outage {
  readonly #options: OutageOptions;
  #since: number | undefined;
  #isSure = false;
  #misses = 0;
  readonly #paths = new Set<string>();
  #isOn = false;
  #isReported = false;
  #isOver = false;
  #probe: "none" | "due" | "under way" = "none";
  #wait = firstProbe;
  #waiting: (() => void)[] = [];

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** go: send. probe: send, as the probe for all. wait: another request is probing. */
  take(): "go" | "probe" | "wait" {
    if (!this.#isOn || this.#isOver) return "go";
    if (this.#probe !== "due") return "wait";
    this.#probe = "under way";
    return "probe";
  }

  /** The service answered, which ends the outage. */
  met(): void {
    if (this.#since === undefined) return;
    const { now, ended } = this.#options;
    if (this.#isReported && !this.#isOver) ended(now() - (this.#since ?? now()));
    this.#since = undefined;
    this.#misses = 0;
    this.#wait = firstProbe;
    this.#probe = "none";
    this.#paths.clear();
    [this.#isSure, this.#isOn, this.#isReported, this.#isOver] = [false, false, false, false];
    this.#wake();
  }

  /** Reports that a request to this page, sent at `sentAt`, did not reach the service. */
  missed(place: string, isSure: boolean, sentAt: number, reason: string, isProbe: boolean): void {
    if (this.#isOver) return;
    const { patience, inVain, now, isReached, began } = this.#options;
    this.#since ??= sentAt;
    this.#isSure ||= isSure;
    this.#misses++;
    this.#paths.add(place);
    const isEnough = this.#misses >= inVain || (this.#paths.size === 1 && this.#misses >= 3);
    const isNew = !this.#isOn && (isSure || isEnough);
    this.#isOn ||= isNew;
    if (!this.#isOn) return;
    if (now() - this.#since >= patience(this.#isSure)) {
      this.#isOver = true; // this failure ends the wait for all requests
    } else if (isNew || isProbe) {
      if ((isProbe || !isReached()) && !this.#isReported) this.#isReported = began(reason, patience(this.#isSure));
      void this.#lookLater();
    }
  }

  /** Reports that the probe did not show whether the service is back. */
  probedInVain(): void {
    if (this.#isOn && this.#probe === "under way") void this.#lookLater();
  }

  /** Ends the wait for all requests. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Whether the outage lasted too long. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether failed requests are due to the outage, so that their tries do not count. */
  get isForAll(): boolean {
    const isOfMany = this.#paths.size >= manyPaths || !this.#options.isReached();
    return this.#isOn && (this.#isSure || isOfMany);
  }

  /** Resolves when this request may probe, the service is back, or the outage lasted too long. */
  wait(): Promise<void> {
    if (!this.#isOn || this.#isOver || (this.#probe === "due" && this.#waiting.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #lookLater(): Promise<void> {
    const { now, sleep, patience } = this.#options;
    this.#probe = "none";
    const left = patience(this.#isSure) - (now() - (this.#since ?? now()));
    const wait = Math.max(1, Math.min(this.#wait, left));
    this.#wait = Math.min(longestProbe, 2 * this.#wait);
    await sleep(wait).catch(() => {});
    if (!this.#isOn || this.#probe !== "none") return;
    this.#probe = "due";
    this.#waiting.shift()?.();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const go of waiting) go();
  }
}

/** What is down: the service, or the plugin daemon that some datasets need for their lists. */
interface Absence {
  readonly who: "service" | "plugin daemon";
  /** Whether the service is surely down. If not, one page may be the cause. */
  readonly isSure: boolean;
}

/** If a proxy takes longer than this many milliseconds to answer, it reached the service, but got no answer in time. */
const atOnce = 5_000;
const reset = /^(ECONNRESET|UND_ERR_SOCKET|EPIPE)$/;

/** Whether a request got no answer because the service is down. */
export function absenceOfError(error: unknown): Absence | undefined {
  if (!(error instanceof RetryError) || (error.trouble !== "gone" && error.trouble !== "no proxy")) return undefined;
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return { who: "service", isSure: !reset.test(code) };
}

/** Whether an answer means that the service or its plugin daemon is down. A proxy reports this immediately. */
function absenceOfAnswer(answer: Answer, milliseconds: number): Absence | undefined {
  const { status, headers } = answer;
  if (isPluginGone(answer)) return { who: "plugin daemon", isSure: true };
  const isProxy = [502, 503, 504].includes(status) && headers["retry-after"] === undefined && milliseconds < atOnce;
  return isProxy && typeof ownError(answer).code !== "string" ? { who: "service", isSure: false } : undefined;
}

/** The page that a request is for. A page and its halves count as one. */
function pathOf({ path, query }: Request): string {
  const numberOf = (name: string) => Number(query.find(([key]) => key === name)?.[1] ?? 0);
  return `${path} ${Math.floor(((numberOf("page") - 1) * numberOf("limit")) / 100)}`;
}

/** The kind of list and its dataset. Either all requests of this kind need the daemon, or none. */
function kindOfList({ path }: Request): string {
  const [, , dataset = "", ...rest] = path.split("/");
  return `${dataset} ${rest.at(-1) ?? ""}`;
}

/** The error of a run whose service never answered. The address may be wrong. */
export function unreachable(error: Error, { baseUrl }: SettingNames): StopError {
  const trouble = error instanceof GaveUpError ? error.last.trouble : error instanceof RetryError && error.trouble;
  const hint = trouble === "no proxy" ? "" : `; check ${baseUrl}`; // it is the proxy that cannot be reached
  return new StopError(`the service cannot be reached: ${error.message}${hint}`, { cause: error });
}

/** The error if a request was given up and the service never answered, because trying the rest would take hours. */
export function neverAnswered(error: unknown, progress: RequestCounts, names: SettingNames): StopError | undefined {
  if (!(error instanceof GaveUpError) || error.status !== undefined || progress.answered > 0) return undefined;
  return unreachable(error, names);
}
