import { GaveUpError, RetryError, SkipError, StopError } from "../errors.js";
import { errorFromAnswer, isPluginGone, ownError } from "./check-answer.js";
import { isReset } from "./error-codes.js";
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
    const { patience } = options;
    const forService = (isSure: boolean) => {
      if (this.#isReached) return patience;
      return Math.min(patience, isSure ? atStart : atStartUnsure);
    };
    const isReached = () => this.#isReached;
    this.#service = new Outage({ ...options, who: "the service", patience: forService, isReached });
    this.#daemon = new Outage({ ...options, who: "the plugin daemon", patience: () => patience, isReached });
  }

  guard(send: Send): Send {
    return async (request) => {
      const probed: Outage[] = [];
      try {
        for (const outage of this.#needsDaemon(request) ? [this.#service, this.#daemon] : [this.#service]) {
          const turn = outage.take();
          if (turn === "wait") throw new HeldBack(outage);
          if (turn === "probe") probed.push(outage);
        }
        return await this.#sendAndLook(send, request, probed);
      } finally {
        for (const outage of probed) outage.probed();
      }
    };
  }

  /**
   * If the error belongs to an outage, waits until it ends and returns true: send again, and do not count the try. Rejects if the
   * outage lasts too long.
   */
  async waitForService(error: unknown): Promise<boolean> {
    if (!(error instanceof Error)) return false;
    const outage = error instanceof HeldBack ? error.outage : this.#outages.get(error);
    if (!outage) return false;
    if (!(error instanceof HeldBack)) {
      if (outage.isOver) throw this.#givenUp(outage, error);
      if (!outage.isOn) return false;
    }
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
    const missed = (absence: Absence, error: unknown) => {
      if (!(error instanceof Error)) return;
      const outage = absence.who === "service" ? this.#service : this.#daemon;
      if (absence.who === "plugin daemon") this.#needDaemon.add(kindOfList(request));
      outage.missed(pathOf(request), absence.isSure, sentAt, error.message, probed.includes(outage));
      this.#outages.set(error, outage);
    };
    const answer = await send(request).catch((error: unknown) => {
      const isSilent = probed.includes(this.#service) && error instanceof RetryError && error.status === undefined;
      const absence = absenceOfError(error) ?? (isSilent ? { who: "service" as const, isSure: false } : undefined);
      if (absence) missed(absence, error);
      throw error;
    });
    const absence = absenceOfAnswer(answer, this.#options.now() - sentAt);
    if (absence?.who !== "service") {
      this.#isReached = true;
      this.#service.met();
    }
    if (absence) {
      const error = errorFromAnswer(answer, this.#options.key);
      missed(absence, error);
      throw error;
    }
    if (answer.status === 200 && this.#needsDaemon(request)) {
      this.#needDaemon.clear();
      this.#daemon.met();
    }
    return answer;
  }

  #needsDaemon(request: Request): boolean {
    return this.#needDaemon.size > 0 && this.#needDaemon.has(kindOfList(request));
  }

  #givenUp(outage: Outage, error: Error): StopError | SkipError {
    const seconds = secondsText(this.#options.patience);
    outage.end();
    if (outage === this.#daemon) return new SkipError(`${error.message} (down for ${seconds})`, { cause: error });
    if (!this.#isReached) return unreachable(error, this.#options.names);
    const { outage: setting } = this.#options.names;
    const patience = setting === null ? seconds : `${seconds}, which ${setting} sets`;
    const what = `the service was down for ${patience}: ${error.message}; what was read is kept`;
    return new StopError(what, { cause: error });
  }
}

function secondsText(milliseconds: number): string {
  return `${Math.round(milliseconds / 1_000)} s`;
}

/** Milliseconds until the first probe. The interval doubles every time. */
const firstProbe = 500;
const longestProbe = 5_000;
/** Failures on this many different pages mean that the service is down, rather than one page being bad. */
const manyPaths = 3;

interface OutageOptions extends Pick<OutageGateOptions, "concurrency" | "now" | "sleep" | "say"> {
  readonly who: string;
  /** Milliseconds until an outage ends the run. `isSure`: the service is surely down. */
  readonly patience: (isSure: boolean) => number;
  /** Whether the service ever answered. If not, the outage is reported at once, before a probe confirms it. */
  readonly isReached: () => boolean;
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
  #isProbeDue = false;
  #wait = firstProbe;
  #waiting: (() => void)[] = [];

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Whether requests wait, so that the tries of failed ones do not count. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Whether the outage lasted too long. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** go: send. probe: send, as the probe for all. wait: another request is probing. */
  take(): "go" | "probe" | "wait" {
    if (!this.#isOn || this.#isOver) return "go";
    if (!this.#isProbeDue) return "wait";
    this.#isProbeDue = false;
    return "probe";
  }

  /** The probe has ended. If it did not show that the service is back, another one follows. */
  probed(): void {
    if (this.#isOn && !this.#isOver) void this.#probeLater();
  }

  /** The service answered, which ends the outage. */
  met(): void {
    if (this.#since === undefined) return;
    const { who, now, say } = this.#options;
    if (this.#isReported && !this.#isOver) say(`${who} is back after ${secondsText(now() - this.#since)}`);
    this.#since = undefined;
    this.#misses = 0;
    this.#wait = firstProbe;
    this.#paths.clear();
    [this.#isSure, this.#isOn, this.#isReported, this.#isOver, this.#isProbeDue] = [false, false, false, false, false];
    this.#wake();
  }

  /** Reports that a request to this page, sent at `sentAt`, did not reach the service. */
  missed(page: string, isSure: boolean, sentAt: number, reason: string, isProbe: boolean): void {
    if (this.#isOver) return;
    this.#since ??= sentAt;
    this.#isSure ||= isSure;
    this.#misses++;
    this.#paths.add(page);
    const isNew = !this.#isOn && this.#isOutage();
    this.#isOn ||= isNew;
    if (!this.#isOn) return;
    const { patience, now } = this.#options;
    if (now() - this.#since >= patience(this.#isSure))
      this.#isOver = true; // this failure ends the wait for all requests
    else this.#report(reason, isProbe);
    if (isNew && !this.#isOver) void this.#probeLater();
  }

  /** Ends the wait for all requests. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** Resolves when this request may probe, the service is back, or the outage lasted too long. */
  wait(): Promise<void> {
    if (!this.#isOn || this.#isOver || (this.#isProbeDue && this.#waiting.length === 0)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A few failures in a row may be the fault of one page, unless the service has never answered. */
  #isOutage(): boolean {
    const { concurrency, isReached } = this.#options;
    if (this.#isSure || (!isReached() && this.#misses >= 3)) return true;
    return this.#paths.size >= manyPaths && this.#misses >= Math.max(3, Math.min(9, concurrency + 1));
  }

  /** Reports the outage once: when a probe has confirmed it, or at once if the service has never answered. */
  #report(reason: string, isProbe: boolean): void {
    const { who, patience, isReached, say } = this.#options;
    const left = patience(this.#isSure);
    if (this.#isReported || (isReached() && !isProbe) || left <= atStart) return;
    this.#isReported = true;
    say(`${who} is down: ${reason}; waiting for up to ${secondsText(left)}`);
  }

  async #probeLater(): Promise<void> {
    const { now, sleep, patience } = this.#options;
    const since = this.#since ?? now();
    const left = patience(this.#isSure) - (now() - since);
    const wait = Math.max(1, Math.min(this.#wait, left));
    this.#wait = Math.min(longestProbe, 2 * this.#wait);
    await sleep(wait).catch(() => {});
    if (!this.#isOn || since !== this.#since) return;
    this.#isProbeDue = true;
    // One whose request was cancelled meanwhile does not probe: then the next one does.
    while (this.#isProbeDue && this.#waiting.length > 0) {
      this.#waiting.shift()?.();
      await sleep(firstProbe).catch(() => {});
    }
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

/** Whether a request got no answer because the service is down. */
export function absenceOfError(error: unknown): Absence | undefined {
  if (!(error instanceof RetryError) || (error.trouble !== "gone" && error.trouble !== "no proxy")) return undefined;
  return { who: "service", isSure: !isReset(error.cause) };
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
  const isRefused = error.message.includes(": connection refused by ");
  const hint = isRefused ? `check that the service runs and that ${baseUrl} is right` : `check ${baseUrl}`;
  const advice = trouble === "no proxy" ? "" : `; ${hint}`; // it is the proxy that cannot be reached
  return new StopError(`the service cannot be reached: ${error.message}${advice}`, { cause: error });
}

/** The error if a request was given up and the service never answered, because trying the rest would take hours. */
export function neverAnswered(error: unknown, progress: RequestCounts, names: SettingNames): StopError | undefined {
  if (!(error instanceof GaveUpError) || error.status !== undefined || progress.answered > 0) return undefined;
  return unreachable(error, names);
}
