import { integer, pick, type Random } from "../../servers/random.js";
import type { DocumentShape, JobShape, Refused, Scenario } from "../scenario.js";
import { chance } from "./stream.js";

const refusals: readonly [Refused, ...Refused[]] = [
  { status: 404, code: "not_found" },
  { status: 400, code: "provider_not_initialize" },
  { status: 403, code: "forbidden" },
];

/** Draws a document whose lists may or may not fill the last page. Large ones are rarer if every chunk costs a request. */
export function drawDocument(random: Random, { childChunks }: JobShape): DocumentShape {
  const small = () => pick(random, [0, 1, integer(random, 2, 12), integer(random, 2, 12), integer(random, 13, 60)]);
  const large = () => pick(random, [50, 51, 99, 100, 101, 150, integer(random, 100, 200), integer(random, 200, 350)]);
  const chunks = chance(random, childChunks === "all" ? 0.25 : 0.6) ? large() : small();
  return {
    chunks: childChunks === "none" && chance(random, 0.2) ? integer(random, 400, 900) : chunks,
    few: pick(random, [1, 1, 3, 4]),
    bigEvery: chunks <= 12 ? integer(random, 1, 6) : integer(random, 10, 60),
    big: chance(random, 0.5) ? pick(random, [50, 51, 100, 101, integer(random, 26, 99), integer(random, 101, 300)]) : 0,
    ties: chance(random, 0.2) ? integer(random, 2, 60) : 0,
    childTies: chance(random, 0.1),
    unreadable: drawUnreadable(random, chunks),
    refused: chance(random, 0.04) ? pick(random, refusals) : undefined,
    form: "text_model",
    embeds: false,
  };
}

/** Turns some jobs that read all child lists into `auto` jobs, with documents that give evidence for or against child chunks. */
export function withForms(
  random: Random,
  job: JobShape,
  documents: readonly DocumentShape[],
): Pick<Scenario, "job" | "documents"> {
  if (job.childChunks !== "all" || chance(random, 0.6)) return { job, documents };
  const withForm = (shape: DocumentShape): DocumentShape => {
    const form = pick(random, ["hierarchical_model", "hierarchical_model", "text_model"] as const);
    if (form === "text_model") return chance(random, 0.6) ? { ...shape, few: 1, big: 0 } : shape;
    const chunks = chance(random, 0.5) ? integer(random, 13, 70) : shape.chunks;
    return { ...shape, form, embeds: chance(random, 0.8), chunks, few: integer(random, 2, 5) };
  };
  return { job: { ...job, childChunks: "auto" }, documents: documents.map(withForm) };
}

/** Draws rows that the service cannot render. Few documents have any. */
export function drawUnreadable(random: Random, chunks: number): DocumentShape["unreadable"] {
  const count = chunks > 0 && chance(random, 0.05) ? integer(random, 1, 3) : 0;
  const status = pick(random, [400, 500]);
  return { chunks: Array.from({ length: count }, () => integer(random, 1, chunks)), status };
}
