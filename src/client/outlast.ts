import { RetryError, SkipError, StopError } from "../errors.js";
import { type Absence, absenceOfAnswer, absenceOfError, kindOfList, placeOf, unreachable } from "./absence.js";
import { errorFromAnswer } from "./check-answer.js";
import type { SettingNames } from "./hint-for.js";
import { Outage } from "./outage.js";
import type { Answer, Request, Send } from "./send.js";

/** Milliseconds of an outage at the start of a run, by whether nobody can be there: the address may be wrong. */
const atStart = 1_000;
const atStartUnsure = 20_000;

export interface OutlastOptions {
  /** Milliseconds that an outage in the middle of a run may last. */
  readonly patience: number;
  readonly concurrency: number;
  readonly key: string;
  readonly names: SettingNames;
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
  /** Told when an outage begins and ends. */
  readonly say: (text: string) => void;
}

/** A service that does not answer in time is still away. */
const silence: Absence = { who: "service", isSure: false };

/** A request that was not sent, as another asks for all. */
class HeldBack extends Error {
  readonly outage: Outage;
  constructor(outage: Outage) {
    super("nobody is there");
    this.outage = outage;
  }
}

/**
 * Outlasts a service that is gone for a while, and a plugin daemon that is. `guard` wraps what is sent, `hold` is shown what
 * came of a try: true when it shall be made again and is not counted. The daemon is needed for some lists of some datasets:
 * only requests of a kind that it failed wait, all others go on; they wait once, and when its time is over their documents
 * fail, while an outage of the service that lasts too long ends the run.
 */
export class Outlast {
  readonly #options: OutlastOptions;
  readonly #service: Outage;
  readonly #daemon: Outage;
  readonly #needDaemon = new Set<string>();
  readonly #outages = new WeakMap<Error, Outage>();
  #isReached = false;

  constructor(options: OutlastOptions) {
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
          if (left > atStart) say(`${who} is away: ${reason}; waiting for it, ${seconds(left)} at the most`);
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

  /** Whether to read again, none of the tries used. Rejects when an outage has lasted too long. */
  async hold(error: unknown): Promise<boolean> {
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

  /** Lets nobody wait any longer. */
  end(): void {
    this.#service.end();
    this.#daemon.end();
  }

  /** Whether the error is one of an outage, or may be. */
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
    outage.missed(placeOf(request), absence.isSure, sentAt, error.message, probed.includes(outage));
    this.#outages.set(error, outage);
  }

  #daemonIsBack(): void {
    this.#needDaemon.clear();
    this.#daemon.met();
  }

  #givenUp(outage: Outage, error: Error): StopError | SkipError {
    const seconds = Math.round(this.#options.patience / 1_000);
    outage.end();
    if (outage === this.#daemon) return new SkipError(`${error.message} (away for ${seconds} s)`, { cause: error });
    if (!this.#isReached) return unreachable(error, this.#options.names);
    const { outage: setting } = this.#options.names;
    const patience = setting === null ? `${seconds} s` : `${seconds} s, which ${setting} sets`;
    const what = `the service was away for ${patience}: ${error.message}; what was read is kept`;
    return new StopError(what, { cause: error });
  }
}
