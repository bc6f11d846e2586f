import { companyHandbook } from "./company-handbook.js";
import type { DatasetOutline } from "./outline.js";
import { productKnowledge } from "./product-knowledge.js";

/** Every dataset of the sample. */
export const outlines: readonly DatasetOutline[] = [productKnowledge, companyHandbook];
