import type { KnowledgeApi } from "../client/knowledge-api.js";
import { runIdFrom } from "../dump/manifest/run-id.js";
import { StopError } from "../errors.js";
import type { Log } from "../log.js";
import type { RowOptions } from "../rows/row-from-record.js";
import type { JobFolders } from "../run/work/job-folders.js";
import { countOf } from "../words.js";
import { endsWatch } from "./ends-watch.js";
import { type Outage, outageAfter } from "./outage.js";
import { type BatchReading, type BatchRef, failureText, readBatches } from "./read-batches.js";
import { leaveWaiting } from "./waiting-status.js";
import type { WatchOptions, WatchTally } from "./watch-options.js";
import { watchWarnings } from "./watch-warnings.js";
import { advance, isOver } from "./watched-documents.js";

export interface PollOptions extends Pick<WatchOptions, "onPoll"> {
  readonly now: () => Date;
  readonly log: Log;
  readonly folders: JobFolders;
  readonly tally: WatchTally;
  readonly drift: RowOptions["drift"];
}

/** So many documents are warned of after one poll at the most. */
const mostWarnings = 10;

/** The polls of one watch: reads every batch, keeps what is new, and says what is not as it should be. */
export class Poll {
  readonly #batches: readonly BatchRef[];
  readonly #options: PollOptions;
  readonly #read = new Set<BatchRef>();
  readonly #told = new Set<string>();
  #outage: Outage | undefined;

  constructor(batches: readonly BatchRef[], options: PollOptions) {
    this.#batches = batches;
    this.#options = options;
  }

  /** Reads every batch once; true when there is nothing to wait for any more. StopError where there is nothing to be had. */
  async next(api: Pick<KnowledgeApi, "indexingStatus">): Promise<boolean> {
    const { now, folders, tally, drift, onPoll } = this.#options;
    const readings = await readBatches(api, this.#batches, now, drift);
    const at = now().getTime();
    const { documents, changed } = advance(tally.documents, readings, at);
    const rows = changed.map(({ row }) => row);
    await leaveWaiting(folders, runIdFrom(now()), rows);
    tally.documents = documents;
    tally.polls++;
    tally.readings += rows.length;
    if (readings.every(({ error }) => !error)) tally.readAt = at;
    this.#refuse(readings);
    this.#tellOutage(readings, at);
    this.#warn(at);
    onPoll?.(changed);
    return this.#read.size === this.#batches.length && [...documents.values()].every(isOver);
  }

  /** Notes which batches could be read, and stops where one cannot be waited for. */
  #refuse(readings: readonly BatchReading[]): void {
    const service = this.#read.size > 0 || readings.some(({ error }) => !error);
    readings.forEach((reading, index) => {
      const ref = this.#batches[index] ?? reading;
      const { batch, error } = reading;
      if (error && endsWatch(error, { service, batch: this.#read.has(ref) })) {
        const hint =
          error.code === "not_found"
            ? "; the service names the batch in its answer to creating or updating a document"
            : "";
        throw new StopError(`${failureText(reading, error)}${hint}`, { cause: error });
      }
      if (error) return;
      if (!this.#read.has(ref) && reading.rows.length === 0) {
        throw new StopError(`batch ${JSON.stringify(batch)} contains no document: there is nothing to wait for`);
      }
      this.#read.add(ref);
    });
  }

  #tellOutage(readings: readonly BatchReading[], at: number): void {
    const failed = readings.flatMap((reading) => (reading.error ? [failureText(reading, reading.error)] : []));
    const { outage, tell } = outageAfter(this.#outage, failed.length > 0, at);
    const more = failed.length > 1 ? `; and ${failed.length - 1} more` : "";
    if (tell === "failed") this.#options.log("warn", `${failed[0]}${more}; still watching`);
    if (tell === "recovered") this.#options.log("info", "every batch can be read again");
    this.#outage = outage;
  }

  /** Warns once of everything. */
  #warn(at: number): void {
    const warnings = watchWarnings(this.#options.tally.documents, at).filter(({ about }) => !this.#told.has(about));
    for (const { about } of warnings) this.#told.add(about);
    for (const { text } of warnings.slice(0, mostWarnings)) this.#options.log("warn", text);
    const more = warnings.length - mostWarnings;
    if (more > 0) this.#options.log("warn", `… and ${countOf(more, "more document")} with warnings`);
  }
}
