/** The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All samples of one name. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge";
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** Renders metrics, each with HELP and TYPE; one without samples is left out. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(renderMetric)
    .join("");
}

function renderMetric({ name, type, help, samples }: Metric): string {
  const lines = samples.map(({ labels, value }) => `${sampleKey(name, labels)} ${numberText(value)}\n`);
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

/** A sample without its value, labels in the order given: `kbdump_rows{job="nightly",kind="chunks"}`. */
export function sampleKey(name: string, labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value).replaceAll('"', '\\"')}"`);
  return pairs.length > 0 ? `${name}{${pairs.join(",")}}` : name;
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** Reads back what `renderMetrics` wrote: values by sample key. Lines that it did not write are passed over. */
export function parseMetrics(text: string): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split("\n")) {
    const [, key, value] = /^([a-z_]+(?:\{.*\})?) ([-+.\deE]+)$/s.exec(line) ?? [];
    if (key !== undefined && Number.isFinite(Number(value))) values.set(key, Number(value));
  }
  return values;
}
