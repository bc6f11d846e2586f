import * as v from "valibot";
import { looksLikeKey } from "../../safe-text.js";
import { isMapping } from "../../schema.js";
import { filePath, mapping, positiveNumber, trueOrFalse, wholeNumber } from "./shapes.js";

/** The variable with the key if a job names none. */
export const defaultKeyVariable = "KNOWLEDGE_API_KEY";

const urlText = "an http or https URL such as https://kb.example.com/v1, without user, password, query or fragment";
const variableText = "the name of an environment variable that holds the key, not the key itself";
const commandText = "a list of a program and its arguments, as in [pass, show, kbdump]";
const keyFileText = "the path of a file that holds the key, not the key itself";

const baseUrl = v.pipe(
  v.string(urlText),
  v.regex(/^[hH][tT][tT][pP][sS]?:\/\/[^\s\\/?#@]+(\/[^\s\\?#]*)?$/, urlText),
  v.check(URL.canParse, urlText),
  v.transform((url) => url.replace(/\/+$/, "")),
);

const entries = {
  demo: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: read the embedded service with sample data, instead of base_url and a key."),
  ),
  base_url: v.pipe(
    v.optional(baseUrl),
    v.description("Address of the knowledge service, version segment included: https://kb.example.com/v1."),
  ),
  api_key_env: v.pipe(
    v.nullish(v.pipe(v.string(variableText), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, variableText))),
    v.metadata({ default: defaultKeyVariable }),
    v.description("Name of the environment variable that holds the key. The key itself is never in this file."),
  ),
  api_key_file: v.pipe(
    v.optional(
      v.pipe(
        filePath(keyFileText),
        v.check((path) => !looksLikeKey(path), keyFileText),
      ),
    ),
    v.description("Path of a file that holds the key, instead of api_key_env. Relative to the working directory."),
  ),
  api_key_command: v.pipe(
    v.optional(
      v.pipe(
        v.array(v.pipe(v.string(commandText), v.check(isArgument, commandText)), commandText),
        v.minLength(1, commandText),
        v.check(([program]) => program !== "", commandText),
      ),
    ),
    v.description("A program and its arguments, run without a shell, that print the key, instead of api_key_env."),
  ),
  concurrency: v.pipe(
    v.nullish(wholeNumber(1, 64), 8),
    v.description("Maximum concurrent requests, over all documents together: 1 to 64."),
  ),
  max_rps: v.pipe(
    v.optional(positiveNumber(10_000)),
    v.description("Maximum requests per second. Absent: limited by concurrency only."),
  ),
  timeout: v.pipe(
    v.nullish(positiveNumber(3_600, "a number of seconds"), 60),
    v.description("Seconds that one request may take."),
  ),
  retries: v.pipe(v.nullish(wholeNumber(0, 20), 6), v.description("Retries per request: 0 to 20.")),
  outage: v.pipe(
    v.nullish(wholeNumber(0, 86_400, "a whole number of seconds"), 300),
    v.description("Seconds that the service may be down during a run: 0 to 86400."),
  ),
  max_body: v.pipe(
    v.nullish(wholeNumber(1, 1_024, "a whole number of MB"), 64),
    v.description("Maximum size of one answer, in MB of 1,000,000 bytes."),
  ),
  max_original: v.pipe(
    v.nullish(wholeNumber(1, 1_000_000, "a whole number of MB"), 2_000),
    v.description("Maximum size of one original file, in MB of 1,000,000 bytes."),
  ),
  ca_file: v.pipe(
    v.optional(filePath("the path of a PEM file")),
    v.description(
      "PEM file of the authority that signed the service's certificate. Relative to the working directory.",
    ),
  ),
  allow_http: v.pipe(
    v.nullish(trueOrFalse, false),
    v.description("true: send the key over plain http to a host that is not this machine."),
  ),
};

/** The address of the service, and the limits on requests. */
export const serviceSchema = v.pipe(
  mapping("a mapping with base_url, or with demo: true", entries),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!isMapping(dataset.value)) return;
    const input = { ...dataset.value };
    for (const [key, message] of conflicts(input)) {
      addIssue({ message, path: [{ type: "object", origin: "value", input, key, value: input[key] }] });
    }
  }),
);

const keySources = ["api_key_env", "api_key_file", "api_key_command"];

type Given = Readonly<Record<string, unknown>>;
type Conflict = readonly [key: string, expected: string];

/** Finds contradicting keys of `service`. Each is reported at the key to change. */
function conflicts(given: Given): readonly Conflict[] {
  if (given.demo === true) return besideDemo(given);
  const found: Conflict[] = [];
  if (given.demo === false && given.base_url === undefined) found.push(["base_url", urlText]);
  if (isOpenHttp(given.base_url) && given.allow_http !== true) {
    found.push([
      "base_url",
      "https, as http shows the key to the network; allow_http: true or --allow-http permits it",
    ]);
  }
  const [first, ...others] = keySources.filter((key) => isGiven(given[key]));
  for (const key of others) found.push([key, `nothing beside ${first}: the key comes from one place`]);
  return found;
}

function besideDemo(given: Given): readonly Conflict[] {
  const own = ["base_url", ...keySources, "ca_file", "allow_http"];
  return own
    .filter((key) => isGiven(given[key]))
    .map((key) => [key, "nothing beside demo: true, which brings its own service"] as const);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false;
}

/** Whether a text may be an argument: no zero character, which arguments cannot hold, and no key, because process lists show arguments. */
function isArgument(text: string): boolean {
  return !text.includes("\0") && !looksLikeKey(text);
}

function isOpenHttp(url: unknown): boolean {
  if (typeof url !== "string" || !URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
