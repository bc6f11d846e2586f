import type { Tools } from "./install-tools.js";
import type { Comparison } from "./options.js";

/** A command to measure, and where to find the rows that it wrote. */
export interface Started {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The database file, or :memory: if `from` reads other files. */
  readonly database: string;
  /** SQL that names the table or the files with the rows. */
  readonly from: string;
  /** SQL for the id and for the text of a chunk. */
  readonly id: string;
  readonly content: string;
}

/** One line of the comparison. */
export interface Contestant {
  readonly name: string;
  /** Only contestants with the same output are compared. */
  readonly output: "jsonl" | "duckdb";
  /** The command that reads everything into an empty folder. */
  readonly start: (place: Place) => Started;
}

export interface Place {
  readonly tools: Tools;
  readonly comparison: Comparison;
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly folder: string;
}

const inChunks = { id: "id", content: "content" };

/** All contestants. The first of each output is the baseline for the others. */
export const contestants: readonly Contestant[] = [
  kbdump("jsonl", ["--consistency", "counts"]),
  kbdump("jsonl", []),
  dlt("jsonl"),
  elasticdump(100),
  elasticdump(1000),
  kbdump("duckdb", ["--consistency", "counts"]),
  kbdump("duckdb", []),
  dlt("duckdb"),
];

function kbdump(output: Contestant["output"], proof: readonly string[]): Contestant {
  return {
    name: proof.length > 0 ? `kbdump ${proof.join(" ")}` : "kbdump",
    output,
    start: ({ comparison: { dataset, inFlight }, origin, folder }) => {
      const flags = ["--base-url", `${origin}/v1`, "--dataset", dataset.id, "--document", "all", "--out", folder];
      const how = [
        "--child-chunks",
        "none",
        "--concurrency",
        String(inFlight),
        "--format",
        output,
        ...proof,
        "--quiet",
      ];
      return {
        command: [process.execPath, "dist/main.js", "run", "--name", "compare", ...flags, ...how],
        env: { KNOWLEDGE_API_KEY: "compare" },
        ...(output === "duckdb"
          ? { database: `${folder}/compare/compare.duckdb`, from: "chunks" }
          : inFiles(`${folder}/compare/runs/*/chunks.jsonl`)),
        ...inChunks,
      };
    },
  };
}

/** dlt with as many threads as kbdump's concurrent requests, and with uncompressed JSONL like the others. */
function dlt(output: Contestant["output"]): Contestant {
  const kind = output === "duckdb" ? "duckdb" : "filesystem";
  return {
    name: `dlt to ${kind}`,
    output,
    start: ({ tools, comparison: { dataset, inFlight }, origin, folder }) => ({
      command: [tools.python, `${import.meta.dirname}/pipeline.py`, `${origin}/v1/`, dataset.id, kind, folder],
      env: {
        EXTRACT__WORKERS: String(inFlight),
        NORMALIZE__DATA_WRITER__DISABLE_COMPRESSION: "true",
        RUNTIME__DLTHUB_TELEMETRY: "false",
      },
      ...(output === "duckdb"
        ? { database: `${folder}/chunks.duckdb`, from: "kb.chunks" }
        : inFiles(`${folder}/kb/chunks/*.jsonl`)),
      ...inChunks,
    }),
  };
}

function elasticdump(limit: number): Contestant {
  return {
    name: `elasticdump --limit ${limit}`,
    output: "jsonl",
    start: ({ tools, origin, folder }) => {
      const file = `${folder}/chunks.jsonl`;
      const flags = [`--input=${origin}/chunks`, `--output=${file}`, "--type=data", `--limit=${limit}`, "--quiet"];
      return {
        command: [process.execPath, tools.elasticdump, ...flags],
        env: {},
        ...inFiles(file),
        id: "_id",
        content: "_source.content",
      };
    },
  };
}

function inFiles(files: string): Pick<Started, "database" | "from"> {
  return { database: ":memory:", from: `read_json('${files}')` };
}
