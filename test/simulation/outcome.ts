import { documentName, documentsOf } from "../../src/crawl/discovery.js";
import type { RunProgress } from "../../src/job/run-progress.js";

import type { Reading } from "../../src/run/reading.js";
import type { Calls } from "./calls.js";
import type { Scenario } from "./scenario.js";
import { documentId } from "./service/ids.js";
import type { SimulatedService } from "./service/service.js";
import type { Stored } from "./stored.js";

/** The result of a process that got through. */
export interface Through {
  readonly reading: Reading;
  readonly progress: RunProgress;
}

/** The outcome of a simulation, with everything that is needed to judge it. */
export interface Outcome {
  readonly scenario: Scenario;
  /** The result of the last process; undefined when it gave up, too. */
  readonly through: Through | undefined;
  /** Why processes ended before they were through, those that were killed aside. */
  readonly errors: readonly unknown[];
  /** Processes that there were. */
  readonly lives: number;
  /** The files that each process but the last left for the next one; undefined from a power cut on. */
  readonly left: readonly (Stored | undefined)[];
  readonly service: SimulatedService;
  readonly calls: Calls;
  /** The folder of the parts. */
  readonly segments: string;
  /** Things that the client did and must never do. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

/** Every document of the run, and the name of its files: those of the job, or those that the service listed. */
export function placesOf({ scenario, through }: Outcome): readonly { readonly id: string; readonly name: string }[] {
  if (through) return documentsOf(through.reading.discovery).map(({ ref, name }) => ({ id: ref.documentId, name }));
  if (scenario.job.documents === "all") return [];
  return scenario.documents.map((_, index) => ({ id: documentId(index), name: documentName(index) }));
}
