import type { Language } from "./language.js";

export const german: Language = {
  tag: "de",
  space: " ",
  sentences: {
    product: [
      ["Das Gateway", "Jeder Sensor", "Die mobile App", "Das Steuergerät", "Die Webkonsole", "Der Thermostat"],
      [
        "speichert die letzten {n} Messwerte",
        "prüft die Verbindung",
        "meldet den Ladestand der Batterie",
        "wechselt auf den Ersatzkanal",
        "zeigt ein gelbes Licht",
        "befolgt den hinterlegten Zeitplan",
      ],
      [
        "bis zur nächsten Synchronisierung.",
        ", sobald der Strom zurückkehrt.",
        "nach jedem Firmware-Update.",
        ", solange das Netz nicht erreichbar ist.",
        ", sofern der Wartungsmodus nicht aktiv ist.",
        "und schreibt einen Eintrag ins Protokoll.",
      ],
    ],
    policy: [
      [
        "Jede beschäftigte Person",
        "Die Führungskraft",
        "Wer im Homeoffice arbeitet,",
        "Wer in Teilzeit arbeitet,",
        "Eine neue Kollegin",
        "Wer auf Dienstreise ist,",
      ],
      [
        "beantragt bis zu {n} Urlaubstage",
        "erhält eine schriftliche Bestätigung",
        "erfasst die Arbeitszeit im Portal",
        "archiviert Belege {n} Monate lang",
        "besucht die Sicherheitsschulung",
        "übergibt geliehene Geräte an die IT",
      ],
      [
        "vor Ende des Quartals.",
        "innerhalb von {n} Arbeitstagen.",
        ", sofern der Vertrag nichts anderes regelt.",
        "in Absprache mit dem Team.",
        ", wie in der Reiserichtlinie beschrieben.",
        "und informiert die Personalabteilung.",
      ],
    ],
    support: [
      [
        "Unser Support",
        "Die Bestellannahme",
        "Ihre Kundenbetreuung",
        "Die Reparaturwerkstatt",
        "Der Helpdesk",
        "Die Buchhaltung",
      ],
      [
        "ersetzt das Gerät kostenlos",
        "erstattet den vollen Betrag",
        "sendet ein Rücksendeetikett",
        "erneuert das Passwort",
        "prüft die Rechnung",
        "entsperrt das Konto",
      ],
      [
        "innerhalb von {n} Stunden.",
        ", sobald die Seriennummer bestätigt ist.",
        ", falls die Garantie noch gilt.",
        "nach Bestätigung Ihrer E-Mail-Adresse.",
        "und informiert Sie per E-Mail.",
        ", auf Wunsch auch an Feiertagen.",
      ],
    ],
  },
  keywords: {
    product: ["Gateway", "Sensor", "Firmware", "Batterie", "Zeitplan", "Protokoll"],
    policy: ["Urlaub", "Arbeitszeit", "Dienstreise", "Vertrag", "Schulung", "Geräte"],
    support: ["Erstattung", "Garantie", "Rechnung", "Passwort", "Rücksendung", "Reparatur"],
  },
  questions: [
    "Wie ändere ich die Lieferadresse der Bestellung {n}?",
    "Warum zeigt die App den Fehler {n}?",
    "Kann ich ein Gerät nach {n} Tagen zurückgeben?",
    "Wo finde ich die Seriennummer?",
    "Wie lange dauert eine Reparatur?",
    "Wer sieht die Rechnung {n}?",
    "Wie setze ich mein Passwort zurück?",
    "Welche Garantie gilt für Modell {n}?",
  ],
};
