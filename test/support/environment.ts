import hooks, { type AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** Event of jest's; those of a block of tests have the block. */
interface TestEvent {
  readonly name: string;
  readonly describeBlock?: { readonly name: string; readonly parent?: object };
}

/**
 * jest's environment for Node, which also forgets the contexts of asynchronous calls that a test file made. Node would
 * have each promise of every later file carry them: a connection of Temporal's makes one, and a process sees hundreds.
 */
export default class ForgetfulEnvironment extends TestEnvironment {
  private readonly original = Object.getOwnPropertyDescriptor(hooks, 'AsyncLocalStorage') ?? {};
  private readonly made: AsyncLocalStorage<unknown>[] = [];

  override async setup(): Promise<void> {
    const { made } = this;
    const value = new Proxy(hooks.AsyncLocalStorage, {
      construct: (target, options, maker) => {
        const context = Reflect.construct(target, options, maker) as AsyncLocalStorage<unknown>;
        made.push(context);
        return context;
      },
    });
    // Node 22 has a getter here, which takes no assignment.
    Object.defineProperty(hooks, 'AsyncLocalStorage', { value, configurable: true, writable: true });
    await super.setup();
  }

  handleTestEvent({ name, describeBlock: block }: TestEvent): void {
    if (name !== 'run_describe_finish' || block === undefined) return;
    // A block that holds a whole file: jest's own, or one of those that `together.ts` makes.
    if (block.parent === undefined || block.name.endsWith('.test.ts'))
      for (const context of this.made) context.disable();
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    Object.defineProperty(hooks, 'AsyncLocalStorage', this.original);
  }
}
