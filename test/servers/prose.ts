import { integer, pick, type Random } from "./random.js";

const sentences: readonly [string, ...string[]] = [
  "The warranty covers defects in material and workmanship for twenty-four months from the date of delivery.",
  "Restart the gateway after changing the certificate; running connections are kept for thirty seconds.",
  'Ask for the "long form" of the report when the auditor wants to see every booking, not only the totals.',
  "Refunds are paid to the account that was used for the purchase, normally within five working days.",
  "Die Schlüsselübergabe erfolgt am Empfang; außerhalb der Öffnungszeiten hilft der Wachdienst weiter.",
  "Les congés non pris à la fin de l’année sont reportés jusqu’au 31 mars, sauf accord contraire.",
  "El límite de gastos por viaje es de 1.500 €, y debe justificarse con factura en un plazo de 30 días.",
  "Перед началом работ отключите питание и убедитесь, что индикатор погас.",
  "请在提交申请之前确认所有附件均已上传,否则系统会自动退回。",
  "この設定は再起動後に有効になります。変更前に必ずバックアップを取ってください。",
  "يُرجى الاحتفاظ بالإيصال حتى انتهاء فترة الضمان.",
  "Step 3: hold both buttons until the light turns green 🟢, then release them 👍🏽.",
];

const hazards: readonly [string, ...string[]] = [
  "line one\nline two\r\nline three\rand a tab\there",
  '=HYPERLINK("https://example.com","open")',
  "+49 30 1234567, or -5 % off",
  "a separator\u2028and another\u2029inside",
  "quotes \"inside\", commas, semi;colons and 'single' ones \\ backslashes \\n",
  "right to left: \u202eabc\u202c and \u200fmarks\u200e",
  "control \u0001\u0007\u001b[31mred\u001b[0m characters \u007f",
  "\ufefffirst a byte order mark, last a space ",
  "combining e\u0301 and a family 👨‍👩‍👧‍👦 and 𝒳 beyond the first plane",
];

/** Sentences in several languages, occasionally with text that breaks careless writers. */
export function prose(random: Random, least: number, most: number): string {
  const parts: string[] = [];
  for (let count = integer(random, least, most); count > 0; count--) parts.push(pick(random, sentences));
  if (random() < 0.05) parts.push(pick(random, hazards));
  return parts.join(random() < 0.2 ? "\n\n" : " ");
}

/** The number of code points, which a server in Python counts as characters. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
