import type { Payload, PayloadCodec } from '@temporalio/common';

/** Direction of a payload, as the worker sees it. */
export type Direction = 'encode' | 'decode';

/**
 * Holds a worker in the middle of a workflow task, at the first payload in the given direction that holds all of the
 * texts. Events that reach the server meanwhile come after everything that this task decided (`encode`) or knew
 * (`decode`).
 */
export class GateCodec implements PayloadCodec {
  private readonly reached = gate();
  private readonly opened = gate();

  constructor(
    private readonly direction: Direction,
    private readonly texts: readonly string[],
  ) {}

  /** Resolves when the worker is held. */
  async waitUntilReached(): Promise<void> {
    await this.reached.passed;
  }

  /** Lets the worker continue. */
  open(): void {
    this.opened.pass();
  }

  async encode(payloads: Payload[]): Promise<Payload[]> {
    if (this.direction === 'encode') await this.hold(payloads);
    return payloads;
  }

  async decode(payloads: Payload[]): Promise<Payload[]> {
    if (this.direction === 'decode') await this.hold(payloads);
    return payloads;
  }

  private async hold(payloads: readonly Payload[]): Promise<void> {
    if (!payloads.some((payload) => this.isMeant(payload))) return;
    this.reached.pass();
    await this.opened.passed;
  }

  private isMeant({ data }: Payload): boolean {
    const content = Buffer.from(data ?? []);
    return this.texts.every((text) => content.includes(text));
  }
}

interface Gate {
  readonly passed: Promise<void>;
  readonly pass: () => void;
}

function gate(): Gate {
  let pass: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return { passed, pass };
}
