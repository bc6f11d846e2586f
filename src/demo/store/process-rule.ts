/** The way in which the texts of a document are cleaned and cut, as the service stores and answers it. */
export interface ProcessRule {
  readonly mode: "automatic" | "custom" | "hierarchical";
  readonly rules: ProcessRules;
}

export interface ProcessRules {
  readonly pre_processing_rules: readonly { readonly id: string; readonly enabled: boolean }[];
  readonly segmentation: Segmentation;
  readonly parent_mode?: "full-doc" | "paragraph" | null | undefined;
  readonly subchunk_segmentation?: Segmentation | null | undefined;
}

/** The automatic rule alone has a `delimiter` in place of a `separator`. */
export interface Segmentation {
  readonly separator?: string | null | undefined;
  readonly delimiter?: string;
  readonly max_tokens: number;
  readonly chunk_overlap?: number | null | undefined;
}

const preProcessing = [
  { id: "remove_extra_spaces", enabled: true },
  { id: "remove_urls_emails", enabled: false },
] as const;

/** The rule that stands where none is sent. */
export const automaticRule: ProcessRule = {
  mode: "automatic",
  rules: {
    pre_processing_rules: preProcessing,
    segmentation: { delimiter: "\n", max_tokens: 500, chunk_overlap: 50 },
  },
};

/** The rule of a sample document of this form. */
export function sampleRule(form: string, embedsChildren: boolean): ProcessRule {
  const segmentation = { separator: "\n\n", max_tokens: 1024, chunk_overlap: 50 };
  const rules = { pre_processing_rules: preProcessing, segmentation };
  if (form !== "hierarchical_model") return { mode: "custom", rules };
  const children = { separator: "\n", max_tokens: 512, chunk_overlap: 0 };
  const parent_mode = embedsChildren ? "paragraph" : "full-doc";
  return { mode: "hierarchical", rules: { ...rules, parent_mode, subchunk_segmentation: children } };
}

/** Whether the chunks that a rule makes embed their children: those of paragraph parents do. */
export function embedsChildren({ mode, rules }: ProcessRule): boolean {
  return mode === "hierarchical" && rules.parent_mode === "paragraph";
}
