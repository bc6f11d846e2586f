import { parseArgs } from "node:util";
import type { Behaviour } from "./behaviour.js";
import { type Fault, type Faults, firstOf, firstTimes, randomTransientFaults } from "./faults.js";
import type { RateLimit } from "./rate-limit.js";
import { startRealisticServer } from "./realistic-server.js";
import { growingBatch, makeDocument, makeStatusEntry, Store } from "./store.js";

const usage = `A knowledge service as real deployments are, with sample data, until it is interrupted.
Run it with: node test/servers/main.mjs [options]

  --port 0             --documents 3      --chunks 250         --children 2
  --has-more honest    --page-cap 100     --paging normal      --ties stable
  --gzip               --chunked          --latency 0 (ms)     --seed 1
  --per-second 20      --refusal 429-seconds (429, 429-seconds, 429-date, 403-sentence, 503)
  --fault-rate 0.1     random transient faults, at most --in-a-row 2 times for one URL
  --fault hang         one fault (kind, or JSON such as {"kind":"status","status":520,"body":"html"}),
                       the first --times 1 times of every URL that contains --at ""
`;

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const options = {
  port: { ...text, default: "0" },
  documents: { ...text, default: "3" },
  chunks: { ...text, default: "250" },
  children: { ...text, default: "2" },
  "has-more": { ...text, default: "honest" },
  "page-cap": { ...text, default: "100" },
  paging: { ...text, default: "normal" },
  ties: { ...text, default: "stable" },
  gzip: flag,
  chunked: flag,
  latency: { ...text, default: "0" },
  seed: { ...text, default: "1" },
  "per-second": text,
  refusal: { ...text, default: "429-seconds" },
  "fault-rate": { ...text, default: "0" },
  "in-a-row": { ...text, default: "2" },
  fault: text,
  times: { ...text, default: "1" },
  at: { ...text, default: "" },
  help: flag,
} as const;

function read() {
  return parseArgs({ options }).values;
}

type Flags = ReturnType<typeof read>;

/** Returns the given word if it is one of `words`. Otherwise throws an error that lists them. */
function oneOf<Word extends string>(name: string, given: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === given);
  if (found === undefined) throw new Error(`--${name} ${given}: expected one of ${words.join(", ")}`);
  return found;
}

function faultsFrom(flags: Flags): Faults {
  const random = randomTransientFaults(Number(flags.seed), Number(flags["fault-rate"]), Number(flags["in-a-row"]));
  if (flags.fault === undefined) return random;
  const fault: Fault = JSON.parse(flags.fault.startsWith("{") ? flags.fault : JSON.stringify({ kind: flags.fault }));
  return firstOf(firstTimes(Number(flags.times), fault, flags.at), random);
}

function behaviourFrom(flags: Flags): Behaviour {
  const hasMore = ["honest", "rows-equal-limit", "always-false", "always-true", "absent"] as const;
  const refusals: readonly RateLimit["answer"][] = ["429", "429-seconds", "429-date", "403-sentence", "503"];
  const refusal = oneOf("refusal", flags.refusal, refusals);
  return {
    hasMore: oneOf("has-more", flags["has-more"], hasMore),
    pageCap: Number(flags["page-cap"]),
    paging: oneOf("paging", flags.paging, ["normal", "ignored", "same-page"]),
    ties: oneOf("ties", flags.ties, ["stable", "shuffled"]),
    gzip: flags.gzip ?? false,
    chunked: flags.chunked ?? false,
    latency: Number(flags.latency),
    faults: faultsFrom(flags),
    seed: Number(flags.seed),
    ...(flags["per-second"] && { rateLimit: { perSecond: Number(flags["per-second"]), answer: refusal } }),
  };
}

function storeFrom(flags: Flags): Store {
  const store = new Store(Number(flags.seed));
  const forms = ["text_model", "hierarchical_model", "qa_model"];
  const documents = Array.from({ length: Number(flags.documents) }, (_, at) =>
    makeDocument({
      chunks: Number(flags.chunks),
      childrenPerChunk: Number(flags.children),
      docForm: forms[at % forms.length] ?? "text_model",
      seed: Number(flags.seed) * 1_000 + at,
    }),
  );
  const dataset = store.addDataset(...documents);
  const ids = [...dataset.documents.keys()];
  dataset.batches.set(
    "20250306132000100001",
    ids.map((id) => makeStatusEntry(id)),
  );
  dataset.batches.set("growing batch/2", growingBatch(ids, 100, 10));
  return store;
}

/** Starts the server, and prints the values for a job file as JSON. */
export async function main(): Promise<void> {
  const flags = read();
  if (flags.help) {
    process.stdout.write(usage);
    return;
  }
  const store = storeFrom(flags);
  const server = await startRealisticServer(store, behaviourFrom(flags), Number(flags.port));
  const datasets = [...store.datasets.values()].map(({ id, documents, batches }) => ({
    id,
    documents: [...documents.keys()],
    batches: [...batches.keys()],
  }));
  process.stdout.write(`${JSON.stringify({ base_url: server.url, key: server.key, datasets }, undefined, 2)}\n`);
  process.once("SIGINT", () => {
    const { requests, maxInFlight } = server;
    process.stdout.write(`${JSON.stringify({ requests: requests.length, maxInFlight })}\n`);
    void server.close();
  });
}
