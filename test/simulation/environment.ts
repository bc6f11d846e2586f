import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Calls } from "./calls.js";
import { clientHeaders } from "./client-headers.js";
import { SimulatedClock } from "./clock.js";
import { streamOf } from "./draw/stream.js";
import type { ProcessEnvironment, Sabotage } from "./read-all.js";
import type { Scenario } from "./scenario.js";
import { SimulatedService } from "./service/service.js";

/** The parts that all processes of a simulation share. */
export interface Environment extends Omit<ProcessEnvironment, "life"> {
  /** Forbidden things that the client did. */
  readonly violations: readonly string[];
  readonly trace: readonly string[];
}

/** The environment of a scenario before its first process. Creates the folder of segments in `folder`. */
export async function environmentOf(
  scenario: Scenario,
  folder: string,
  sabotage: Sabotage | undefined,
): Promise<Environment> {
  const segments = join(folder, "segments");
  mkdirSync(segments);
  const clock = new SimulatedClock();
  const trace: string[] = [];
  const violations: string[] = [];
  const report = (line: string) => void trace.push(`${clock.now.toFixed(1)} ${line}`);
  const violated = (text: string) => {
    report(`VIOLATION ${text}`);
    violations.push(text);
  };
  const [service, calls, random] = [
    new SimulatedService(scenario, report),
    new Calls(),
    streamOf(scenario.seed, "world"),
  ];
  const usual = await clientHeaders();
  const headers = sabotage?.headers?.(usual) ?? usual;
  const reported = { report, violated, trace, violations };
  return { ...reported, scenario, clock, service, calls, random, headers, folder, segments, sabotage };
}
