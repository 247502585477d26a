import type { ModelBehaviour } from './behaviour';
import { SimulatedModel } from './simulated-model';

/** The models of a simulation by name; a name nobody gave a behaviour gets the fallback's. */
export class Cast {
  readonly #models: Map<string, SimulatedModel>;
  readonly #makeOther: () => SimulatedModel;

  constructor(behaviours: Readonly<Record<string, ModelBehaviour>>, fallback: ModelBehaviour, seed: number) {
    const make = (behaviour: ModelBehaviour): SimulatedModel => new SimulatedModel(behaviour, seed);
    this.#models = new Map(Object.entries(behaviours).map(([name, given]) => [name, make(given)]));
    this.#makeOther = () => make(fallback);
  }

  get names(): readonly string[] {
    return [...this.#models.keys()];
  }

  model(name: string): SimulatedModel {
    const model = this.#models.get(name) ?? this.#makeOther();
    this.#models.set(name, model);
    return model;
  }
}
