import { documentName, documentsOf } from "../../src/crawl/discovery.js";
import type { RunProgress } from "../../src/job/run-progress.js";

import type { Reading } from "../../src/run/reading.js";
import type { Calls } from "./calls.js";
import type { Scenario } from "./scenario.js";
import { documentId } from "./service/ids.js";
import type { SimulatedService } from "./service/service.js";
import type { Stored } from "./stored.js";

/** The result of a process that finished its work. */
export interface Through {
  readonly reading: Reading;
  readonly progress: RunProgress;
}

/** The outcome of a simulation, with everything that the judge needs. */
export interface Outcome {
  readonly scenario: Scenario;
  /** The result of the last process; undefined if that gave up too. */
  readonly through: Through | undefined;
  /** The errors of processes that ended early, except killed ones. */
  readonly errors: readonly unknown[];
  /** The number of processes. */
  readonly lives: number;
  /** The files that each process left for the next one; undefined after a power cut. */
  readonly left: readonly (Stored | undefined)[];
  readonly service: SimulatedService;
  readonly calls: Calls;
  /** The folder of segments. */
  readonly segments: string;
  /** Forbidden things that the client did. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

/** Every document of the run, from the job or from the service's list, with the name of its files. */
export function placesOf({ scenario, through }: Outcome): readonly { readonly id: string; readonly name: string }[] {
  if (through) return documentsOf(through.reading.discovery).map(({ ref, name }) => ({ id: ref.documentId, name }));
  if (scenario.job.documents === "all") return [];
  return scenario.documents.map((_, index) => ({ id: documentId(index), name: documentName(index) }));
}
