/**
 * An independent reader of Prometheus' text format, as strict as promtool and node_exporter:
 * https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details. Throws on any error.
 */
export interface Family {
  readonly type: string;
  readonly help: string;
  /** Values by sorted labels: `job=nightly,status=failed`. */
  readonly samples: Map<string, number>;
}

export function readPrometheus(text: string): ReadonlyMap<string, Family> {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line has no end");
  const families = new Map<string, Family>();
  const helps = new Map<string, string>();
  let current = "";
  for (const line of text.split("\n").slice(0, -1)) {
    const [, word, name = "", rest = ""] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? [];
    if (word === "HELP") {
      if (helps.has(name)) throw new Error(`second HELP of ${name}`);
      helps.set(name, rest);
    } else if (word === "TYPE") {
      if (families.has(name)) throw new Error(`second TYPE of ${name}, or its samples stand apart`);
      if (!["counter", "gauge", "histogram", "summary", "untyped"].includes(rest)) throw new Error(`type ${rest}`);
      families.set(name, { type: rest, help: helps.get(name) ?? "", samples: new Map() });
      current = name;
    } else {
      const { name: of, labels, value } = readSample(line);
      const family = families.get(of);
      if (!family || of !== current) throw new Error(`${of} does not stand behind its TYPE`);
      if (family.samples.has(labels)) throw new Error(`${of}{${labels}} stands there twice`);
      if (family.type === "counter" && !of.endsWith("_total")) throw new Error(`the counter ${of} has no _total`);
      if (family.type === "gauge" && /_(total|count|sum|bucket)$/.test(of))
        throw new Error(`${of} is named like a counter`);
      if (family.type === "counter" && !(value >= 0)) throw new Error(`${of} counts ${value}`);
      family.samples.set(labels, value);
    }
  }
  for (const name of helps.keys()) if (!families.get(name)?.samples.size) throw new Error(`${name} has no samples`);
  for (const [name, { help }] of families) if (help === "") throw new Error(`${name} has no HELP`);
  return families;
}

/** `name{label="value",…} number`, character by character. */
function readSample(line: string): { name: string; labels: string; value: number } {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  let at = name.length;
  const labels: string[] = [];
  if (line[at] === "{") {
    at++;
    while (line[at] !== "}") {
      const label = /^[a-zA-Z_][a-zA-Z0-9_]*(?==")/.exec(line.slice(at))?.[0];
      if (label === undefined) throw new Error(`no label at ${at}: ${line}`);
      at += label.length + 2;
      let value = "";
      for (; line[at] !== '"'; at++) {
        if (at >= line.length) throw new Error(`a label without an end: ${line}`);
        if (line[at] === "\\") {
          const meant = { "\\": "\\", '"': '"', n: "\n" }[line[++at] ?? ""];
          if (meant === undefined) throw new Error(`wrong escape: ${line}`);
          value += meant;
        } else value += line[at];
      }
      at++;
      if (line[at] === ",") at++;
      else if (line[at] !== "}") throw new Error(`no comma at ${at}: ${line}`);
      labels.push(`${label}=${value}`);
    }
    at++;
  }
  const number = /^ ([+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/.exec(line.slice(at))?.[1];
  if (number === undefined) throw new Error(`no value, or a time, which the textfile collector refuses: ${line}`);
  const value = number.endsWith("Inf") ? (number.startsWith("-") ? -Infinity : Infinity) : Number(number);
  return { name, labels: labels.sort().join(","), value };
}
