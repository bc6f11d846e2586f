import type { Language } from "./language.js";

export const english: Language = {
  tag: "en",
  space: " ",
  sentences: {
    product: [
      ["The gateway", "Each sensor", "The mobile app", "The control unit", "The web console", "A paired thermostat"],
      [
        "stores the last {n} readings",
        "restarts on its own",
        "reports its battery level",
        "switches to the backup channel",
        "shows a yellow light",
        "keeps the schedule it was given",
      ],
      [
        "until the next synchronisation.",
        "when the mains supply returns.",
        "after a firmware update.",
        "as long as the network is out of reach.",
        "unless maintenance mode is active.",
        "and writes an entry to the event log.",
      ],
    ],
    policy: [
      [
        "Every employee",
        "A part-time colleague",
        "The line manager",
        "Anyone who works remotely",
        "A new starter",
        "Whoever is on a business trip",
      ],
      [
        "may request up to {n} days of leave",
        "receives written confirmation",
        "records working hours in the portal",
        "keeps receipts for {n} months",
        "completes the safety training",
        "hands in borrowed equipment",
      ],
      [
        "before the end of the quarter.",
        "within {n} working days.",
        "unless the contract says otherwise.",
        "in agreement with the team.",
        "as described in the travel policy.",
        "and informs the HR department.",
      ],
    ],
    support: [
      [
        "Our support team",
        "The order desk",
        "Your account manager",
        "The repair centre",
        "The help desk",
        "The billing team",
      ],
      [
        "replaces the device free of charge",
        "refunds the full amount",
        "sends a return label",
        "resets the password",
        "checks the invoice",
        "unlocks the account",
      ],
      [
        "within {n} hours.",
        "as soon as the serial number is confirmed.",
        "if the warranty is still valid.",
        "after you have confirmed your e-mail address.",
        "and keeps you informed by e-mail.",
        "on request, even on public holidays.",
      ],
    ],
  },
  keywords: {
    product: ["gateway", "sensor", "firmware", "battery", "schedule", "event log"],
    policy: ["leave", "working hours", "travel", "contract", "training", "equipment"],
    support: ["refund", "warranty", "invoice", "password", "return label", "repair"],
  },
  questions: [
    "How do I change the delivery address of order {n}?",
    "Why does the app show error {n}?",
    "Can I return a device after {n} days?",
    "Where do I find the serial number?",
    "How long does a repair take?",
    "Who can see invoice {n}?",
    "How do I reset my password?",
    "What is the warranty on model {n}?",
  ],
};
