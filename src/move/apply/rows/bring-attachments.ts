import { SkipError } from "../../../errors.js";
import { isSameSet } from "../../../restore/same-set.js";
import type { AttachmentPlan, FilePlan } from "../../move-plan.js";
import type { ChunkCopy, DocumentCopy } from "./document-copy.js";
import { bindAttachments } from "./update-chunk.js";

/** An attachment at the service, or why there is none. */
type Uploaded = { readonly id: string } | { readonly reason: string };

/** Brings the attachments of the chunks of one document. Each file is uploaded once. */
export class Attachments {
  readonly #copy: DocumentCopy;
  readonly #plans: ReadonlyMap<string, AttachmentPlan>;
  readonly #uploaded = new Map<string, Uploaded>();

  constructor(copy: DocumentCopy) {
    const { plan, options } = copy.work;
    this.#copy = copy;
    this.#plans = new Map(plan.attachments.map((attachment) => [attachment.id, attachment]));
    const { attachments } = options.journal.facts;
    for (const { id } of plan.attachments) {
      const known = attachments.get(id);
      if (known !== undefined) this.#uploaded.set(id, { id: known });
    }
  }

  /** Binds those of a chunk that can come. The chunk is as it stands then. What fails is noted as such. */
  async bring(chunk: ChunkCopy): Promise<ChunkCopy> {
    const uploaded: Uploaded[] = [];
    for (const id of chunk.row.attachment_ids) {
      const plan = this.#plans.get(id);
      if (plan) uploaded.push(await this.#upload(plan));
    }
    for (const each of uploaded) if ("reason" in each) this.#fail(chunk, each.reason);
    const ids = uploaded.flatMap((each) => ("id" in each ? [each.id] : []));
    if (ids.length === 0 || isSameSet(ids, chunk.attachment_ids)) return chunk;
    const updated = await bindAttachments(this.#copy, chunk, ids);
    if (updated.kind === "done") return { ...chunk, enabled: true, attachment_ids: ids };
    this.#fail(chunk, updated.reason);
    return chunk;
  }

  #fail({ row }: ChunkCopy, reason: string): void {
    this.#copy.fail("chunk", row, `its attachments did not all come: ${reason}`);
  }

  async #upload({ id, file }: AttachmentPlan): Promise<Uploaded> {
    if (file === null) return { id };
    const uploaded = this.#uploaded.get(id) ?? (await this.#send(id, file));
    this.#uploaded.set(id, uploaded);
    return uploaded;
  }

  async #send(id: string, file: FilePlan): Promise<Uploaded> {
    const prepared = this.#copy.work.options.writer.uploadFile(file);
    const find = async () => undefined; // no request lists uploads; one whose answer was lost stays unused
    try {
      const facts = { write: "upload file", old_id: id, name: file.name } as const;
      const carried = await this.#copy.carry(facts, prepared, find);
      const [uploaded] = carried.kind === "done" ? carried.ids : [];
      if (uploaded !== undefined) return { id: uploaded };
      return { reason: "reason" in carried ? carried.reason : "the service gave the file no id" };
    } catch (error) {
      if (error instanceof SkipError) return { reason: error.message };
      throw error;
    }
  }
}
