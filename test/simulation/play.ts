import { drawScenario } from "./draw/draw-scenario.js";
import { Coverage } from "./judge/coverage.js";
import { judge } from "./judge/judge.js";
import { checkMild, leftBy, undisturbed } from "./judge/mild.js";
import type { Outcome } from "./outcome.js";
import type { Sabotage } from "./read-all.js";
import type { Scenario } from "./scenario.js";
import { isMild } from "./scenario-facts.js";
import { simulate } from "./simulate.js";

/** A simulation and the verdict on it. */
export interface Played {
  readonly scenario: Scenario;
  /** Broken promises; empty if all were kept. */
  readonly wrong: readonly string[];
  readonly trace: readonly string[];
}

/** Simulates the scenario drawn from a seed, and judges the outcome. */
export function playSeed(seed: number, coverage = new Coverage()): Promise<Played> {
  return play(drawScenario(seed), coverage);
}

/** Simulates a scenario and judges it. If all its trouble is temporary, first simulates it without trouble, to compare. */
export async function play(scenario: Scenario, coverage = new Coverage(), sabotage?: Sabotage): Promise<Played> {
  const calm = (outcome: Outcome) => ({ left: leftBy(outcome), wrong: judge(outcome, coverage) });
  const expected = isMild(scenario) ? await simulate(undisturbed(scenario), calm) : undefined;
  const verdict = (outcome: Outcome): Played => {
    const wrong = [...(expected?.wrong ?? []), ...judge(outcome, coverage)];
    if (expected) checkMild(outcome, expected.left, (text) => wrong.push(text), coverage);
    return { scenario, wrong, trace: outcome.trace };
  };
  return simulate(scenario, verdict, sabotage);
}
