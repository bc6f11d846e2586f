import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { parseAllDocuments } from "yaml";

/** The path of every key in these objects, at any depth; the items of a list share one path. */
function keyPaths(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keyPaths(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [`${path}.${key}`, ...keyPaths(item, `${path}.${key}`)]);
}

const policy = "podFailurePolicy(\\.rules(\\[\\]\\.(action|onExitCodes(\\.(operator|values))?))?)?";
const template = `template(\\.spec(\\.(${[
  "restartPolicy|terminationGracePeriodSeconds|automountServiceAccountToken",
  "securityContext(\\.(runAsNonRoot|runAsUser|runAsGroup|fsGroup|fsGroupChangePolicy|seccompProfile(\\.type)?))?",
  `containers(\\[\\]\\.(${[
    "name|image|args",
    "env(\\[\\]\\.(name|valueFrom(\\.secretKeyRef(\\.(name|key))?)?))?",
    "resources(\\.(requests(\\.(cpu|memory))?|limits(\\.memory)?))?",
    "securityContext(\\.(allowPrivilegeEscalation|readOnlyRootFilesystem|capabilities(\\.drop)?))?",
    "volumeMounts(\\[\\]\\.(name|mountPath|readOnly))?",
  ].join("|")}))?`,
  "volumes(\\[\\]\\.(name|emptyDir|persistentVolumeClaim(\\.claimName)?|configMap(\\.name)?|secret(\\.(secretName|defaultMode|items(\\[\\]\\.(key|path))?))?))?",
].join("|")}))?)?`;

/** The fields of Kubernetes 1.33 that the manifests use; see https://kubernetes.io/docs/reference/kubernetes-api/ */
const known: Readonly<Record<string, RegExp>> = {
  ConfigMap: /^\.(apiVersion|kind|metadata(\.name)?|data(\.nightly\.yaml)?)$/,
  PersistentVolumeClaim:
    /^\.(apiVersion|kind|metadata(\.name)?|spec(\.(accessModes|resources(\.requests(\.storage)?)?))?)$/,
  CronJob: new RegExp(
    `^\\.(apiVersion|kind|metadata(\\.name)?|spec(\\.(schedule|timeZone|concurrencyPolicy|startingDeadlineSeconds|(successful|failed)JobsHistoryLimit|jobTemplate(\\.spec(\\.(backoffLimit|${policy}|${template}))?)?))?)$`,
  ),
  Job: new RegExp(
    `^\\.(apiVersion|kind|metadata(\\.name)?|spec(\\.(completionMode|completions|parallelism|suspend|backoffLimit|backoffLimitPerIndex|${policy}|${template}))?)$`,
  ),
};

/** The manifests in a file by kind; jobs by name. Fails for unknown keys. */
// biome-ignore lint/suspicious/noExplicitAny: the tests say which members they expect
export async function manifestsOf(name: string): Promise<Record<string, any>> {
  const text = await readFile(`jobs/kubernetes/${name}`, "utf8");
  const manifests = parseAllDocuments(text, { version: "1.1" }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
  for (const manifest of manifests)
    expect(keyPaths(manifest).filter((path) => !known[manifest.kind]?.test(path))).toEqual([]);
  return Object.fromEntries(
    manifests.map((manifest) => [manifest.kind === "Job" ? manifest.metadata.name : manifest.kind, manifest]),
  );
}

interface PodSpec {
  readonly containers: readonly [
    { readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[] },
  ];
  readonly volumes: readonly { readonly name: string }[];
}

/** Checks that the job file, the key and the output are on the volumes of the config map, the secret and the claim. */
export function expectMounted({ containers, volumes }: PodSpec, paths: readonly string[], claimName: string): void {
  const mountOf = (path: string) =>
    containers[0].volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`))?.name;
  expect(paths.map(mountOf)).toEqual(["job", "secret", "data"]);
  expect(Object.fromEntries(volumes.map(({ name, ...volume }) => [name, volume]))).toMatchObject({
    data: { persistentVolumeClaim: { claimName } },
    job: { configMap: { name: "kbdump" } },
    secret: { secret: { items: [{ key: "api_key", path: "api_key" }], defaultMode: 0o440 } },
  });
}
