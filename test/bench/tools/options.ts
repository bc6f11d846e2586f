import { parseArgs } from "node:util";
import { type Dataset, datasetId } from "../dataset.js";

/** The settings of a comparison. */
export interface Comparison {
  readonly dataset: Dataset;
  /** Milliseconds that the service waits before each answer. */
  readonly latency: number;
  readonly inFlight: number;
  readonly rounds: number;
}

/** Parses the flags of `npm run compare`. Throws an error that names the wrong flag. */
export function optionsIn(args: readonly string[]): Comparison {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string", default: "200x150" },
      latency: { type: "string", default: "20" },
      "in-flight": { type: "string", default: "8" },
      rounds: { type: "string", default: "3" },
    },
  });
  const [, documents, chunks] = /^([1-9]\d*)x([1-9]\d*)$/.exec(values.data) ?? [];
  if (!documents || !chunks)
    throw new Error(`--data ${values.data} is not of the form DOCUMENTSxCHUNKS, as in 200x150.`);
  return {
    dataset: {
      id: datasetId,
      documents: Number(documents),
      chunks: Number(chunks),
      childLists: false,
      embedsChildren: false,
    },
    latency: whole("--latency", values.latency, 0),
    inFlight: whole("--in-flight", values["in-flight"], 1),
    rounds: whole("--rounds", values.rounds, 1),
  };
}

function whole(flag: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() === "" || !Number.isInteger(value) || value < least)
    throw new Error(`${flag} ${text} is no whole number from ${least} on.`);
  return value;
}
