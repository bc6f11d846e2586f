import type { Notify } from "../job/job.js";
import { endNotice, eventOf, type NoticeEvent, newRunKey, noticeUrl, startNotice } from "./notice.js";
import type { RunOutcome } from "./run-outcome.js";
import { sendNotice } from "./send-notice.js";

/** Milliseconds that telling the end may take; that a start still under way then gets; that there is once a signal came. */
const [longest, forStart, whenInterrupted] = [20_000, 3_000, 2_500];

/** Tells the URLs of a job when a run starts and how it ends. Nothing of it rejects: what cannot be told is a warning. */
export class Notifier {
  readonly #notify: Notify;
  readonly #env: NodeJS.ProcessEnv;
  readonly #warn: (message: string) => void;
  readonly #runKey = newRunKey();
  readonly #startEnd = new AbortController();
  #start: Promise<void> = Promise.resolve();

  /** `env` names the proxies. */
  constructor(notify: Notify, env: NodeJS.ProcessEnv, warn: (message: string) => void) {
    this.#notify = notify;
    this.#env = env;
    this.#warn = warn;
  }

  /** Tells of the start while the run goes on. */
  start(job: string, runId: string): void {
    this.#start = this.#tell("start", startNotice(job, runId, this.#runKey, this.#notify.style), this.#startEnd.signal);
  }

  /** Tells how the run ended, after its start, so that a service sees them in this order. `interrupt` leaves little time. */
  async end(outcome: RunOutcome, interrupt: AbortSignal): Promise<void> {
    const interrupted = interrupt.aborted;
    const giveUp = setTimeout(() => this.#startEnd.abort(), interrupted ? 0 : forStart);
    await this.#start;
    clearTimeout(giveUp);
    const limit = AbortSignal.timeout(interrupted ? whenInterrupted : longest);
    const signal = interrupted ? limit : AbortSignal.any([limit, interrupt]);
    await this.#tell(eventOf(outcome), endNotice(outcome, this.#runKey, this.#notify.style), signal);
  }

  async #tell(event: NoticeEvent, body: string, signal: AbortSignal): Promise<void> {
    const url = noticeUrl(this.#notify.urls, event, this.#runKey);
    if (url === undefined) return;
    const reason = await sendNotice(url, body, { signal, env: this.#env });
    if (reason !== undefined) this.#warn(`could not notify ${new URL(url).host} (${event}): ${reason}`);
  }
}
