import { hash } from "node:crypto";

export type Topic = "product" | "policy" | "support";

/** Beginnings, middles and ends of sentences, to combine freely. `{n}` becomes a number. */
type Fragments = readonly (readonly string[])[];

/** The material for sentences in one language. */
export interface Language {
  /** The language code, by BCP 47. */
  readonly tag: string;
  /** The separator between words and between sentences. */
  readonly space: string;
  readonly sentences: Readonly<Record<Topic, Fragments>>;
  readonly keywords: Readonly<Record<Topic, readonly string[]>>;
  /** Questions that users ask; `{n}` is a number. */
  readonly questions: readonly string[];
}

export const english: Language = {
  tag: "en",
  space: " ",
  sentences: {
    product: fragments(`
      The gateway | Each sensor | The mobile app | The control unit | The web console | A paired thermostat
      stores the last {n} readings | restarts on its own | reports its battery level | switches to the backup channel | shows a yellow light | keeps the schedule it was given
      until the next synchronisation. | when the mains supply returns. | after a firmware update. | as long as the network is out of reach. | unless maintenance mode is active. | and writes an entry to the event log.`),
    policy: fragments(`
      Every employee | A part-time colleague | The line manager | Anyone who works remotely | A new starter | Whoever is on a business trip
      may request up to {n} days of leave | receives written confirmation | records working hours in the portal | keeps receipts for {n} months | completes the safety training | hands in borrowed equipment
      before the end of the quarter. | within {n} working days. | unless the contract says otherwise. | in agreement with the team. | as described in the travel policy. | and informs the HR department.`),
    support: fragments(`
      Our support team | The order desk | Your account manager | The repair centre | The help desk | The billing team
      replaces the device free of charge | refunds the full amount | sends a return label | resets the password | checks the invoice | unlocks the account
      within {n} hours. | as soon as the serial number is confirmed. | if the warranty is still valid. | after you have confirmed your e-mail address. | and keeps you informed by e-mail. | on request, even on public holidays.`),
  },
  keywords: {
    product: ["gateway", "sensor", "firmware", "battery", "schedule", "event log"],
    policy: ["leave", "working hours", "travel", "contract", "training", "equipment"],
    support: ["refund", "warranty", "invoice", "password", "return label", "repair"],
  },
  questions: choices(`
    How do I change the delivery address of order {n}? | Why does the app show error {n}? |
    Can I return a device after {n} days? | Where do I find the serial number? | How long does a repair take? |
    Who can see invoice {n}? | How do I reset my password? | What is the warranty on model {n}?`),
};

const chinese: Language = {
  tag: "zh",
  space: "",
  sentences: {
    product: fragments(`
      固件更新后， | 恢复供电时， | 网络中断期间， | 在下次同步之前， | 维护模式关闭时， | 正常情况下，
      网关 | 每个传感器 | 手机应用 | 控制器 | 网页控制台 | 已配对的温控器
      会保存最近{n}条读数。 | 会自动重新启动。 | 会报告电池电量。 | 会切换到备用通道。 | 会亮起黄色指示灯。 | 会按既定计划运行。`),
    policy: fragments(`
      在季度结束之前， | 在{n}个工作日内， | 除非合同另有约定， | 经团队同意后， | 按照差旅制度， | 通知人力资源部之后，
      每位员工 | 直属经理 | 远程办公的员工 | 兼职员工 | 新入职的员工 | 出差的员工
      可以申请最多{n}天假期。 | 会收到书面确认。 | 应在系统中登记工时。 | 应将票据保存{n}个月。 | 应完成安全培训。 | 应归还借用的设备。`),
    support: fragments(`
      {n}小时内， | 确认序列号之后， | 在保修期内， | 验证您的邮箱之后， | 应您的要求， | 即使在节假日，
      客服团队 | 订单部门 | 您的客户经理 | 维修中心 | 服务台 | 账单部门
      会免费更换设备。 | 会全额退款。 | 会寄出退货标签。 | 会重置密码。 | 会核对发票。 | 会解锁账户。`),
  },
  keywords: {
    product: ["网关", "传感器", "固件", "电池", "计划", "日志"],
    policy: ["假期", "工时", "差旅", "合同", "培训", "设备"],
    support: ["退款", "保修", "发票", "密码", "退货", "维修"],
  },
  questions: choices(`
    如何修改订单{n}的收货地址？ | 应用为什么显示错误{n}？ | 购买{n}天后还能退货吗？ | 在哪里可以找到序列号？ | 维修需要多长时间？ | 谁可以查看发票{n}？ | 如何重置密码？ |
    型号{n}的保修政策是什么？`),
};

const arabic: Language = {
  tag: "ar",
  space: " ",
  sentences: {
    product: fragments(`
      الموجّه | كل مستشعر | التطبيق | جهاز التحكم | منظّم الحرارة | النظام
      يحفظ آخر القراءات | يعيد التشغيل تلقائيًا | يعرض شحن البطارية بنسبة {n}% | ينتقل إلى القناة الاحتياطية | يضيء المؤشر الأصفر | يلتزم بالجدول المحدد
      حتى المزامنة التالية. | عند عودة التيار الكهربائي. | بعد كل تحديث للبرنامج الثابت. | ما دامت الشبكة غير متاحة. | ما لم يكن وضع الصيانة مفعّلًا. | ويضيف سطرًا إلى السجل.`),
    policy: fragments(`
      كل موظف | المدير المباشر | الموظف عن بُعد | الموظف بدوام جزئي | الزميل الجديد | الموظف المسافر
      يطلب الإجازة عبر البوابة | يحصل على تأكيد خطي | يسجّل ساعات العمل | يحتفظ بالإيصالات | يحضر تدريب السلامة | يعيد المعدات المستعارة
      قبل نهاية الربع. | خلال المهلة المحددة. | ما لم ينص العقد على خلاف ذلك. | بالاتفاق مع الفريق. | وفق البند رقم {n} من سياسة السفر. | ويُبلغ قسم الموارد البشرية.`),
    support: fragments(`
      فريق الدعم | قسم الطلبات | مدير حسابك | مركز الصيانة | مكتب المساعدة | قسم الفواتير
      يستبدل الجهاز مجانًا | يعيد المبلغ كاملًا | يرسل ملصق الإرجاع | يعيد ضبط كلمة المرور | يراجع الفاتورة رقم {n} | يفتح الحساب المقفل
      في أقرب وقت. | بعد تأكيد الرقم التسلسلي. | إذا كان الضمان ساريًا. | بعد تأكيد بريدك الإلكتروني. | ويُبلغك بالنتيجة. | حتى في أيام العطل.`),
  },
  keywords: {
    product: ["الموجّه", "مستشعر", "تحديث", "البطارية", "الجدول", "السجل"],
    policy: ["إجازة", "ساعات العمل", "سفر", "عقد", "تدريب", "معدات"],
    support: ["استرداد", "ضمان", "فاتورة", "كلمة المرور", "إرجاع", "صيانة"],
  },
  questions: choices(`
    كيف أغيّر عنوان التسليم للطلب رقم {n}؟ | لماذا يعرض التطبيق الخطأ رقم {n}؟ | هل يمكنني إرجاع الجهاز بعد شهر؟ |
    أين أجد الرقم التسلسلي؟ | كم يستغرق الإصلاح؟ | من يستطيع رؤية الفاتورة رقم {n}؟ | كيف أعيد ضبط كلمة المرور؟ |
    ما الضمان على الطراز رقم {n}؟`),
};

/**
 * The languages of the chunks, in turn. Most chunks are English, including all manually edited ones, so that a reader can judge
 * what a re-index loses. Chinese and Arabic cover text without spaces and text from right to left.
 */
export const languages: readonly Language[] = [english, english, chinese, english, arabic];

/** Parses three lines: beginnings, middles and ends. */
function fragments(text: string): Fragments {
  return text.trim().split("\n").map(choices);
}

function choices(text: string): readonly string[] {
  return text.split(" |").map((choice) => choice.trim());
}

/** Returns `count` sentences about the topic. */
export function sentences(random: Random, language: Language, topic: Topic, count: number): readonly string[] {
  const [firsts = [], seconds = [], thirds = []] = language.sentences[topic];
  return Array.from({ length: count }, () => {
    const third = pick(random, thirds);
    return withNumbers(random, [pick(random, firsts), pick(random, seconds), third].join(language.space));
  });
}

/** A question that a user asks. */
export function question(random: Random, language: Language): string {
  return withNumbers(random, pick(random, language.questions));
}

/** Two or three distinct keywords of the topic. */
export function keywords(random: Random, language: Language, topic: Topic): readonly string[] {
  const all = language.keywords[topic];
  const count = wholeFrom(random, 2, 3);
  const first = wholeFrom(random, 0, all.length - count);
  return all.slice(first, first + count);
}

function withNumbers(random: Random, text: string): string {
  return text.includes("{n}") ? text.replaceAll("{n}", () => String(wholeFrom(random, 12, 90))) : text;
}

/** Random numbers from 0 up to, but not including, 1. */
export type Random = () => number;

/** A random sequence that is the same for the same seed on every machine (mulberry32). Suitable for sample data, not for secrets. */
export function randomFrom(seed: string): Random {
  let state = hash("sha256", seed, "buffer").readUInt32LE();
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A whole number from `least` to `most`, inclusive. */
export function wholeFrom(random: Random, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1));
}

/** Picks one of the items. Throws if there is none. */
function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new RangeError("nothing to pick from");
  return item;
}
