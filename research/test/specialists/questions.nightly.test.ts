import fc from 'fast-check';
import {
  applyAll,
  type Composition,
  drawQuestion,
  HELD_OUT_PAIRS,
  HELD_OUT_TRIPLES,
  questionSet,
  readGiven,
  SINGLES,
  spell,
  TRAINED_PAIRS,
  TRAINED_TRIPLES,
} from '../../specialists/questions';
import { ALL_PHRASES, applySkill } from '../../specialists/skills';
import { diceFor } from '../../world/world';

const ALL = [...SINGLES, ...TRAINED_PAIRS, ...HELD_OUT_PAIRS, ...TRAINED_TRIPLES, ...HELD_OUT_TRIPLES];

test.each([
  ['add', [34, 58], '92'],
  ['max', [412, 873, 205], '873'],
  ['reverse', 'p l u m', 'm u l p'],
  ['reverse', '920', '029'],
  ['sort', 'p l u m', 'l m p u'],
  ['sort', '920', '029'],
  ['shift', 'a y z', 'b z a'],
  ['shift', '289', '390'],
  ['trim', 'p l u m', 'p l u'],
  ['trim', '920', '92'],
  ['trim', '9', null],
  ['mark', 'p l u m', 'p l u m a'],
  ['mark', '920', '9200'],
  ['count', 'a m n z', '2'],
  ['count', '0459', '2'],
  ['add', 'p l u m', null],
  ['sort', [34, 58], null],
] as const)('%s of %j is %s', (skill, given, made) => {
  expect(applySkill(skill, given)).toBe(made);
});

test('leaving out, reordering or replacing skills changes the answer, and the input can be read back', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...ALL),
      fc.constantFrom('train' as const, 'heldOut' as const),
      fc.nat(),
      (composition, split, seed) => {
        const drawn = drawQuestion(composition, split, diceFor('test', seed));
        expect(readGiven(drawn.question)).toEqual(drawn.given);
        expect(drawn.question).toContain(spell(drawn.given));
        expect(applyAll(composition, drawn.given)).toBe(drawn.answer);
        for (const left of composition.keys()) {
          const shorter = composition.filter((_, place) => place !== left);
          expect(applyAll(shorter, drawn.given)).not.toBe(drawn.answer);
        }
        const reversed = composition.toReversed();
        const others = [...ALL.filter(({ length }) => length <= composition.length), reversed].filter(
          (other) => other.join() !== composition.join(),
        );
        for (const other of others) expect(applyAll(other, drawn.given)).not.toBe(drawn.answer);
      },
    ),
    { numRuns: 300 },
  );
});

test('held-out questions share neither their inputs nor their pairs of skills with the training set', () => {
  const train = questionSet([...SINGLES, ...TRAINED_PAIRS, ...TRAINED_TRIPLES], 'train', 600, 1);
  const heldOut = questionSet(ALL, 'heldOut', 200, 1);
  const givens = new Set(train.map(({ question }) => spell(readGiven(question))));
  expect(heldOut.filter(({ question }) => givens.has(spell(readGiven(question))))).toEqual([]);
  const together = (compositions: readonly Composition[]) =>
    compositions.flatMap((skills) =>
      skills.flatMap((one, place) => skills.slice(place + 1).map((other) => [one, other].sort().join('-'))),
    );
  const trained = together([...TRAINED_PAIRS, ...TRAINED_TRIPLES]);
  expect(together(HELD_OUT_PAIRS).filter((pair) => trained.includes(pair))).toEqual([]);
});

test('every skill of a held-out pair was trained in the same position', () => {
  const places = (compositions: readonly Composition[]) =>
    new Set(compositions.flatMap((skills) => skills.map((skill, place) => `${skill} at ${place}`)));
  const trained = places(TRAINED_PAIRS);
  expect([...places(HELD_OUT_PAIRS)].filter((place) => !trained.has(place))).toEqual([]);
});

test('all eighty phrases are different, ten for each skill', () => {
  expect(new Set(ALL_PHRASES.map(({ template }) => template)).size).toBe(80);
});

test('the same seed draws the same questions, all of them different', () => {
  const drawn = questionSet(TRAINED_PAIRS, 'train', 100, 3);
  expect(questionSet(TRAINED_PAIRS, 'train', 100, 3)).toEqual(drawn);
  expect(questionSet(TRAINED_PAIRS, 'train', 100, 4)).not.toEqual(drawn);
  expect(new Set(drawn.map(({ question }) => question)).size).toBe(100);
});
