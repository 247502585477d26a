export interface Unit {
  readonly dimension: string;
  readonly factor: number;
}

/** Spellings and size of each unit, by dimension. */
const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  share: { '% percent pct percentage': 0.01 },
  angle: { 'rad radian': 1, '° deg degree': Math.PI / 180 },
  dollars: { '$ usd dollar us$': 1, '¢ cent': 0.01 },
  euros: { '€ eur euro': 1 },
  pounds: { '£ gbp': 1 },
  yen: { '¥ jpy yen': 1 },
  rupees: { '₹ inr rupee rs': 1 },
  length: {
    'm meter metre': 1,
    'nm nanometer nanometre': 1e-9,
    'μm um micrometer micrometre micron': 1e-6,
    'mm millimeter millimetre': 1e-3,
    'cm centimeter centimetre': 1e-2,
    'km kilometer kilometre': 1e3,
    'inch in inche': 0.0254,
    'ft foot feet': 0.3048,
    'yd yard': 0.9144,
    'mi mile': 1609.344,
  },
  mass: {
    'kg kilogram': 1,
    'g gram': 1e-3,
    'mg milligram': 1e-6,
    't tonne': 1e3,
    'lb lbs pound': 0.45359237,
    'oz ounce': 0.028349523125,
  },
  time: {
    's sec second': 1,
    'ms millisecond': 1e-3,
    'min minute': 60,
    'h hr hour': 3600,
    'day d': 86_400,
    week: 604_800,
  },
  years: { 'yr year': 1, month: 1 / 12 },
  volume: { 'l liter litre': 1, 'ml milliliter millilitre': 1e-3 },
  speed: { 'm/s': 1, 'km/h kph': 1 / 3.6, mph: 0.44704 },
  energy: {
    'j joule': 1,
    'kj kilojoule': 1e3,
    'cal calorie': 4.184,
    'kcal kilocalorie': 4184,
    'ev electronvolt': 1.602176634e-19,
  },
  power: { 'w watt': 1, 'kw kilowatt': 1e3 },
  force: { 'n newton': 1 },
  pressure: { 'pa pascal': 1, 'kpa kilopascal': 1e3 },
  frequency: { 'hz hertz': 1, 'khz kilohertz': 1e3 },
  voltage: { 'v volt': 1 },
  current: { 'a amp ampere': 1, 'ma milliampere': 1e-3 },
  resistance: { 'ω ohm': 1 },
  amount: { 'mol mole': 1 },
};

const BY_NAME = new Map(
  Object.entries(UNITS).flatMap(([dimension, units]) =>
    Object.entries(units).flatMap(([names, factor]) =>
      names.split(' ').map((name) => [name, { dimension, factor }] as const),
    ),
  ),
);

const WORD_BEFORE = /^(square|sq\.?|cubic)\s(.{1,20})$/;
const MARK_BEHIND = /^(.{1,20}?)\s?(?:\^\{?([23])\}?|([²³]))$/;

/** Reads a unit, including `cm^2`, `square metres` and plurals. Returns null for any other word. */
export function readUnit(word: string): Unit | null {
  const name = word
    .slice(0, 60)
    .trim()
    .toLowerCase()
    .replace(/\s{1,60}/g, ' ')
    .replace(/\.$/, '');
  const [, before, behindIt] = WORD_BEFORE.exec(name) ?? [];
  if (behindIt !== undefined) return raise(behindIt, before === 'cubic' ? 3 : 2);
  const [, base, digit, mark] = MARK_BEHIND.exec(name) ?? [];
  if (base !== undefined) return raise(base, digit === '3' || mark === '³' ? 3 : 2);
  return namedUnit(name);
}

function raise(name: string, power: number): Unit | null {
  const unit = namedUnit(name);
  return unit && { dimension: `${unit.dimension}^${power}`, factor: unit.factor ** power };
}

function namedUnit(name: string): Unit | null {
  return BY_NAME.get(name) ?? BY_NAME.get(name.replace(/s$/, '')) ?? null;
}

/**
 * Returns how two quantities can be compared: as written, converted to one unit, or both; not at all if they measure
 * different things. A missing unit counts as the other's; a share or an angle in radians may also be a plain number.
 */
export function comparableAs(right: Unit | null, answer: Unit | null): readonly ('written' | 'converted')[] {
  if (right !== null && answer !== null) {
    if (right.dimension !== answer.dimension) return [];
    return right.factor === answer.factor ? ['written'] : ['converted'];
  }
  const { dimension = '' } = right ?? answer ?? {};
  return ['share', 'angle'].includes(dimension) ? ['written', 'converted'] : ['written'];
}
