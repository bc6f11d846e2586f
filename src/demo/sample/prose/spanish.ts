import type { Language } from "./language.js";

export const spanish: Language = {
  tag: "es",
  space: " ",
  sentences: {
    product: [
      ["La pasarela", "Cada sensor", "La aplicación móvil", "La unidad de control", "La consola web", "El termostato"],
      [
        "guarda las últimas {n} lecturas",
        "se reinicia automáticamente",
        "informa del nivel de batería",
        "cambia al canal de reserva",
        "muestra una luz amarilla",
        "mantiene el horario programado",
      ],
      [
        "hasta la próxima sincronización.",
        "cuando vuelve la corriente.",
        "después de cada actualización del firmware.",
        "mientras la red no esté disponible.",
        ", salvo en modo de mantenimiento.",
        "y añade una línea al registro.",
      ],
    ],
    policy: [
      [
        "Cada persona empleada",
        "La persona responsable",
        "Quien trabaja a distancia",
        "Quien trabaja a tiempo parcial",
        "Quien se incorpora",
        "Quien viaja por trabajo",
      ],
      [
        "solicita hasta {n} días de vacaciones",
        "recibe una confirmación por escrito",
        "anota sus horas en el portal",
        "conserva los recibos durante {n} meses",
        "completa el curso de seguridad",
        "devuelve el equipo prestado",
      ],
      [
        "antes de que acabe el trimestre.",
        "en un plazo de {n} días laborables.",
        ", salvo que el contrato diga otra cosa.",
        "de acuerdo con el equipo.",
        ", como indica la política de viajes.",
        "y avisa a recursos humanos.",
      ],
    ],
    support: [
      [
        "Nuestro equipo de soporte",
        "El servicio de pedidos",
        "Su gestor de cuenta",
        "El taller de reparación",
        "El centro de ayuda",
        "El equipo de facturación",
      ],
      [
        "sustituye el aparato sin coste",
        "reembolsa el importe completo",
        "envía una etiqueta de devolución",
        "restablece la contraseña",
        "revisa la factura",
        "desbloquea la cuenta",
      ],
      [
        "en un plazo de {n} horas.",
        "en cuanto se confirma el número de serie.",
        "si la garantía sigue vigente.",
        "tras confirmar su correo electrónico.",
        "y le informa por correo electrónico.",
        "a petición, incluso en días festivos.",
      ],
    ],
  },
  keywords: {
    product: ["pasarela", "sensor", "firmware", "batería", "horario", "registro"],
    policy: ["vacaciones", "jornada", "viaje", "contrato", "curso", "equipo"],
    support: ["reembolso", "garantía", "factura", "contraseña", "devolución", "reparación"],
  },
  questions: [
    "¿Cómo cambio la dirección de entrega del pedido {n}?",
    "¿Por qué la aplicación muestra el error {n}?",
    "¿Puedo devolver un aparato después de {n} días?",
    "¿Dónde encuentro el número de serie?",
    "¿Cuánto tarda una reparación?",
    "¿Quién puede ver la factura {n}?",
    "¿Cómo restablezco mi contraseña?",
    "¿Qué garantía tiene el modelo {n}?",
  ],
};
